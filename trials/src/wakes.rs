//! A soak test of wakes: one side writes and the other side's wait is answered, a million times. No
//! wake is lost, and none comes twice.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aw_trials::figures::Figures;
use aw_trials::line::Line;
use aw_trials::talk::Talk;
use tokio::task::JoinSet;

use crate::Trial;
use crate::ground::Ground;

/// The number of concurrent debates.
const DEBATES: u64 = 32;

/// A missed wake takes longer than this: the wait is then answered only at its end, after a minute.
const LOST: Duration = Duration::from_secs(20);

pub async fn run(trial: &Trial) -> Figures {
    let ground = Ground::new(trial).await;
    let server = ground.start(trial, 0);
    let share = usize::try_from(trial.times() / DEBATES + 2).unwrap();
    let mut pairs = JoinSet::new();
    for number in 0..DEBATES {
        pairs.spawn(debates(server.address, share, number % 2 == 0));
    }
    let mut times: Vec<Duration> = pairs.join_all().await.into_iter().flatten().collect();
    assert_eq!(server.stop().code(), Some(0));
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    Figures::default()
        .count(times.len() as u64, "submits, each delivered to its waiter once")
        .peak(at(0.5), "ms from the submit to the answer of the wait, p50")
        .peak(at(0.99), "ms p99")
}

/// Holds one debate after the other, with points or without, until this many waits were answered.
async fn debates(server: SocketAddr, share: usize, points: bool) -> Vec<Duration> {
    let mut times = Vec::new();
    while times.len() < share {
        let left = (share - times.len()) as u64 + 2;
        let mut talk = match points {
            true => Talk::with_points(left.clamp(5, 40), 0),
            false => Talk::new(left, 0),
        };
        let (motion, other) = (talk.next(), talk.other_side());
        let mut line = Line::to(server);
        let written = line.post(&motion.path, &motion.body).await.unwrap().data();
        talk.acknowledge(&motion, &written);
        let said = Arc::new(Mutex::new(Instant::now()));
        let opponent =
            Side { role: "opponent", talk: other, line: Line::to(server), said: said.clone() };
        let proposer = Side { role: "proposer", talk, line, said };
        let (one, two) = tokio::join!(opponent.debate(), proposer.debate());
        times.extend(one);
        times.extend(two);
    }
    times
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
