//! A soak test of wakes: one side writes and the other side's wait is answered, a million times. No
//! wake is lost, and none comes twice.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aw_trials::line::Line;
use aw_trials::talk::Talk;
use tokio::task::JoinSet;

use crate::Trial;
use crate::ground::Ground;

/// The number of concurrent debates.
const DEBATES: u64 = 32;

/// A missed wake takes longer than this: the wait is then answered only at its end, after a minute.
const LOST: Duration = Duration::from_secs(20);

pub async fn run(trial: &Trial) -> String {
    let pairs = trial.times(4_000, 1_000_000);
    let ground = Ground::new(trial).await;
    let server = ground.start(trial, 0);
    let mut sides = JoinSet::new();
    for _ in 0..DEBATES {
        let mut talk = Talk::new(pairs / DEBATES + 2, 0);
        let (motion, other) = (talk.next(), talk.other_side());
        let written = server.line().post(&motion.path, &motion.body).await.unwrap().data();
        talk.acknowledge(&motion, &written);
        let said = Arc::new(Mutex::new(Instant::now()));
        let side = |role, talk| Side { role, talk, line: server.line(), said: said.clone() };
        sides.spawn(side("opponent", other).debate());
        sides.spawn(side("proposer", talk).debate());
    }
    let mut times: Vec<Duration> = sides.join_all().await.into_iter().flatten().collect();
    assert_eq!(server.stop().code(), Some(0));
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    format!(
        "{} submits, each delivered to its waiter: lost 0, double 0; from sending the submit to \
         the answer of the wait p50 {:.2} ms, p99 {:.2} ms, at most {:.0} ms",
        times.len(),
        at(0.5),
        at(0.99),
        at(1.0),
    )
}

/// One side of a debate: it waits, answers, and waits again.
struct Side {
    role: &'static str,
    talk: Talk,
    line: Line,
    /// When the newest argument was sent.
    said: Arc<Mutex<Instant>>,
}

impl Side {
    /// Debates, and returns the duration of each wake.
    async fn debate(mut self) -> Vec<Duration> {
        let mut times = Vec::new();
        loop {
            let news = self.line.get(&self.talk.wait(self.role)).await.unwrap().data();
            let took = self.said.lock().unwrap().elapsed();
            assert!(took < LOST, "a wake was missed: {}", self.talk.debate);
            times.push(took);
            if !self.talk.receive(&news) {
                return times;
            }
            let saying = self.talk.next();
            *self.said.lock().unwrap() = Instant::now();
            let written = self.line.post(&saying.path, &saying.body).await.unwrap().data();
            self.talk.acknowledge(&saying, &written);
            if saying.last {
                return times;
            }
        }
    }
}
