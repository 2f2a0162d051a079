//! Fills the disk of the runs, and frees it again.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::thread;
use std::time::Duration;

use aw_trials::dice::Dice;
use aw_trials::figures::Figures;

use super::desk::Desk;
use super::ended;
use crate::full::SmallDisk;

/// The agent in whose turn the disk fills; none: at any moment.
const TURNS: [Option<&str>; 4] = [Some("proposer"), Some("opponent"), Some("arbitrator"), None];

/// Plays this many runs for each agent, and as many in which the disk fills at any moment.
pub(super) fn full(binary: &Path, rounds: u64, mut dice: Dice) -> Figures {
    let disk = match SmallDisk::mount() {
        Ok(disk) => disk,
        Err(why) => {
            return Figures::left_out(&format!("this machine forbids mounting a disk: {why}"));
        }
    };
    let desk = Desk::new(binary);
    symlink(disk.path(""), desk.runs()).unwrap();
    let (mut runs, mut arguments) = (0, 0);
    for _ in 0..rounds {
        for agent in TURNS {
            let project = desk.project(&mut dice);
            let big = disk.path("big");
            if let Some(agent) = agent {
                let once = format!(
                    "if [ ! -e \"$0.filled\" ] && [ $point = P1 ]; then\n\
                     touch \"$0.filled\"\nsleep 0.5\ncat /dev/zero > '{}' 2>/dev/null\nfi\n",
                    big.display()
                );
                project.before_answer(agent, &once);
            }
            let mut child = project.start(None);
            if agent.is_none() {
                while project.debate().is_none() {
                    thread::sleep(Duration::from_millis(5));
                }
                thread::sleep(Duration::from_millis(dice.below(2_500)));
                disk.fill();
            }
            let status = ended(&project, &mut child, &[]);
            let answer = project.answer(&mut child);
            let debate = project.debate().expect("the run has begun");
            if !(status.success() && agent.is_none()) {
                assert_eq!(status.code(), Some(3), "{agent:?}: {answer}\n{}", project.said());
            }
            if let Some(agent) = agent {
                let said = project.arguments(&debate);
                let newest = said.last().unwrap();
                assert_eq!(newest["role"], agent, "the text in hand is lost: {answer}\n{newest}");
            }
            fs::remove_file(&big).unwrap();
            loop {
                let mut child = project.start(Some(&debate));
                let status = ended(&project, &mut child, &[]);
                if status.success() {
                    break;
                }
                let answer = project.answer(&mut child);
                assert_eq!(status.code(), Some(8), "{agent:?}: {answer}\n{}", project.said());
            }
            arguments += project.sound(&debate, "a full disk", 1);
            runs += 1;
        }
    }
    Figures::default().count(runs, "runs with a full disk").count(arguments, "arguments")
}
