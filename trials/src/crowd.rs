//! Clients that continue to debate whatever happens to the server: they wait, answer, and send again
//! what was not acknowledged. Afterwards the record is compared with the acknowledged writes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aw_trials::dice::Dice;
use aw_trials::figures::Figures;
use aw_trials::line::{CEILING, Line};
use aw_trials::talk::{RecordedArgument, Saying, Talk};
use hyper::StatusCode;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The addresses of the servers now.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ServerPlace {
    Away,
    /// Any of these.
    At(Vec<SocketAddr>),
    /// The trial ends.
    Over,
}

/// The acknowledgements of all clients.
#[derive(Debug, Default)]
struct Promises {
    kept: Mutex<Vec<RecordedArgument>>,
    made: AtomicU64,
    /// Replays of writes whose first answer was lost.
    replays: AtomicU64,
    /// Refusals because of a fault of the server.
    refused: AtomicU64,
    /// Answered waits.
    heard: AtomicU64,
    /// Answered waits that had been cut off before.
    resumed: AtomicU64,
}

/// The clients of concurrent debates: in each, one side writes and the other waits.
pub struct Crowd {
    place: watch::Sender<ServerPlace>,
    promises: Arc<Promises>,
    people: JoinSet<()>,
    checked: usize,
}

impl Crowd {
    pub fn gather(debates: usize, dice: &mut Dice) -> Self {
        let (place, _) = watch::channel(ServerPlace::Away);
        let (promises, mut people) = (Arc::new(Promises::default()), JoinSet::new());
        for _ in 0..debates {
            let (opened, open) = mpsc::unbounded_channel();
            let mut side = |role| Side {
                role,
                place: place.subscribe(),
                promises: promises.clone(),
                dice: dice.another(),
            };
            people.spawn(side("proposer").propose(opened));
            people.spawn(side("opponent").oppose(open));
        }
        Crowd { place, promises, people, checked: 0 }
    }

    /// Sets the address of the server.
    pub fn at(&self, server: SocketAddr) {
        self.at_any(vec![server]);
    }

    /// Sets the addresses of the servers; each call goes to any of them.
    pub fn at_any(&self, servers: Vec<SocketAddr>) {
        self.place.send_replace(ServerPlace::At(servers));
    }

    /// Announces that there is no server for a while.
    pub fn away(&self) {
        self.place.send_replace(ServerPlace::Away);
    }

    /// Waits until `more` writes were acknowledged.
    pub async fn goes_on(&mut self, more: u64) {
        let promises = self.promises.clone();
        let made = || promises.made.load(Ordering::SeqCst);
        let (enough, began) = (made() + more, Instant::now());
        while made() < enough {
            assert!(began.elapsed() < CEILING, "the clients are stuck: {} acknowledged", made());
            if let Some(left) = self.people.try_join_next() {
                left.unwrap();
                panic!("a client ended early");
            }
            sleep(Duration::from_millis(1)).await;
        }
    }

    /// All acknowledged arguments.
    pub fn promised(&self) -> Vec<RecordedArgument> {
        self.promises.kept.lock().unwrap().clone()
    }

    pub fn refused(&self) -> u64 {
        self.promises.refused.load(Ordering::SeqCst)
    }

    /// Checks over HTTP the arguments acknowledged since the last call.
    pub async fn finds_everything(&mut self, line: &mut Line) {
        let new: Vec<RecordedArgument> =
            self.promises.kept.lock().unwrap()[self.checked..].to_vec();
        self.checked += new.len();
        let mut debates: BTreeMap<&str, Vec<&RecordedArgument>> = BTreeMap::new();
        for kept in &new {
            debates.entry(&kept.debate).or_default().push(kept);
        }
        for (debate, promised) in debates {
            let mut whole = line.get(&format!("/debates/{debate}")).await.unwrap().data();
            let mut all = vec![whole["motion"].take()];
            all.extend(whole["arguments"].take().as_array().unwrap().clone());
            for (place, argument) in all.iter().enumerate() {
                assert_eq!(
                    argument["seq"],
                    place + 1,
                    "{debate}: a position is missing or doubled"
                );
            }
            for kept in promised {
                let there = all.get(usize::try_from(kept.seq).unwrap() - 1);
                let there = there.unwrap_or_else(|| panic!("{debate}: {} is lost", kept.seq));
                assert_eq!(there["id"], kept.id.as_str(), "{debate}: {} differs", kept.seq);
                assert_eq!(there["content"], kept.content.as_str());
            }
        }
    }

    /// Lets all clients finish on a working server.
    pub async fn leaves(&mut self) {
        self.goes_on(4 * self.people.len() as u64).await;
        self.place.send_replace(ServerPlace::Over);
        while let Some(one) = self.people.join_next().await {
            one.unwrap();
        }
    }

    /// Compares the file with the acknowledged arguments.
    pub fn account(&self, kept: &[RecordedArgument]) -> Figures {
        let found: HashMap<&str, &RecordedArgument> =
            kept.iter().map(|kept| (kept.id.as_str(), kept)).collect();
        let promised = self.promises.kept.lock().unwrap();
        let lost = promised.iter().filter(|one| found.get(one.id.as_str()) != Some(one)).count();
        assert_eq!(lost, 0, "of {} acknowledged arguments", promised.len());
        // Every text was sent once, so a text that is there twice was doubled.
        let said = kept.iter().filter(|kept| kept.content != aw_core::AUTOMATIC_RULING);
        let words: Vec<&str> = said.map(|kept| kept.content.as_str()).collect();
        let doubled = words.len() - words.iter().collect::<HashSet<_>>().len();
        assert_eq!(doubled, 0, "of {} words", words.len());
        assert_eq!(
            words.len(),
            promised.len(),
            "the record has arguments that were not acknowledged"
        );
        let count = |count: &AtomicU64| count.load(Ordering::SeqCst);
        Figures::default()
            .count(promised.len() as u64, "acknowledged writes")
            .count(count(&self.promises.replays), "of them by a retry")
            .count(count(&self.promises.refused), "refusals")
            .count(count(&self.promises.heard), "waits answered")
            .count(count(&self.promises.resumed), "of them cut off before")
            .count(lost as u64, "lost")
            .count(doubled as u64, "doubled")
    }
}

/// One side of one debate after the other, until the trial ends: it waits for the other side, then
/// answers.
struct Side {
    role: &'static str,
    place: watch::Receiver<ServerPlace>,
    promises: Arc<Promises>,
    dice: Dice,
}

impl Side {
    async fn propose(mut self, opened: mpsc::UnboundedSender<Talk>) {
        loop {
            let length = 15 + self.dice.below(20);
            let mut talk = match self.dice.one_in(2) {
                true => Talk::with_points(length, 0),
                false => Talk::new(length, 0),
            };
            let other = talk.other_side();
            if !self.say(&mut talk).await {
                return;
            }
            opened.send(other).expect("somebody opposes");
            while self.hear(&mut talk).await {
                if !self.say(&mut talk).await {
                    break;
                }
            }
        }
    }

    async fn oppose(mut self, mut opened: mpsc::UnboundedReceiver<Talk>) {
        while let Some(mut talk) = opened.recv().await {
            while self.hear(&mut talk).await && self.say(&mut talk).await {}
        }
    }

    /// Sends the next argument; returns whether the debate goes on.
    async fn say(&mut self, talk: &mut Talk) -> bool {
        let saying = talk.next();
        let Some(written) = self.insist(&saying).await else { return false };
        let kept = talk.acknowledge(&saying, &written);
        self.promises.kept.lock().unwrap().push(kept);
        self.promises.made.fetch_add(1, Ordering::SeqCst);
        // A replay shows the current state, and the other side may have closed the debate since.
        if written["replayed"] == false {
            assert_eq!(written["debate"]["state"] == "CLOSED", saying.last, "{written}");
        }
        !saying.last
    }

    /// Sends an argument until a server acknowledges it; `None` if the trial ends first.
    async fn insist(&mut self, saying: &Saying) -> Option<Value> {
        let mut sent_before = false;
        loop {
            let Some(address) = self.server().await else {
                // An unacknowledged argument may have been written, so the trial must not end here.
                assert!(!sent_before, "the trial ended before the answer");
                return None;
            };
            match Line::to(address).post(&saying.path, &saying.body).await {
                Ok(answer) if answer.status.is_success() => {
                    let replayed = answer.status == StatusCode::OK;
                    let data = answer.data();
                    assert_eq!(data["replayed"], replayed);
                    if replayed {
                        assert!(sent_before, "a replay of what was never sent: {data}");
                        self.promises.replays.fetch_add(1, Ordering::SeqCst);
                    }
                    return Some(data);
                }
                Ok(answer) => {
                    let code = answer.code();
                    let faults = ["SERVER_ERROR", "SERVER_BUSY", "STORAGE_FULL"];
                    assert!(faults.contains(&code), "{}: {}", answer.status, answer.body);
                    self.promises.refused.fetch_add(1, Ordering::SeqCst);
                }
                Err(_) => {}
            }
            sent_before = true;
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits for the other side; returns whether the debate goes on.
    async fn hear(&mut self, talk: &mut Talk) -> bool {
        let mut cut = false;
        loop {
            let Some(address) = self.server().await else { return false };
            let (mut line, path) = (Line::to(address), talk.wait(self.role));
            let answer = tokio::select! {
                answer = line.get(&path) => answer,
                _ = self.place.wait_for(|place| *place == ServerPlace::Over) => return false,
            };
            if let Ok(answer) = answer
                && answer.status.is_success()
            {
                self.promises.resumed.fetch_add(u64::from(cut), Ordering::SeqCst);
                self.promises.heard.fetch_add(1, Ordering::SeqCst);
                return talk.receive(&answer.data());
            }
            cut = true;
            sleep(Duration::from_millis(2)).await;
        }
    }

    async fn server(&mut self) -> Option<SocketAddr> {
        let place = self.place.wait_for(|place| *place != ServerPlace::Away).await.unwrap().clone();
        match place {
            ServerPlace::At(addresses) => Some(addresses[self.dice.index(addresses.len())]),
            ServerPlace::Away | ServerPlace::Over => None,
        }
    }
}
