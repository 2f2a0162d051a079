//! Hostile clients, all at once: slow, silent, greedy and lying ones. Meanwhile other clients debate:
//! their submits must stay quick, and the server's memory bounded.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use aw_trials::dice::Dice;
use aw_trials::figures::Figures;
use aw_trials::line::Line;
use aw_trials::record;
use aw_trials::server::{Server, database_in};
use aw_trials::talk::{RecordedArgument, Talk};
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::connect_async;

use crate::{Trial, megabytes, milliseconds, readers};

/// The limits that docs/reliability.md promises.
pub struct Bounds {
    /// The limit of a submit's p99.
    pub slow: Duration,
    /// The limit of the server's memory.
    pub memory: u64,
}

impl Bounds {
    /// The promise is for a release build. The short form runs a debug build on a busy machine, where a
    /// submit may take eight times as long.
    fn of(trial: &Trial) -> Self {
        let times = if trial.long { 1 } else { 8 };
        Bounds { slow: times * Duration::from_millis(250), memory: 283 << 20 }
    }
}

/// What an attacker does with a connection.
#[derive(Debug, Clone, Copy)]
enum Attack {
    /// Connects and sends nothing.
    Silence,
    /// Sends a head byte by byte.
    SlowHead,
    /// Sends a body byte by byte.
    SlowBody,
    /// Sends an endless head.
    HugeHead,
    /// Announces a body of ten gigabytes and sends it as fast as possible.
    HugeBody,
    /// Sends a compression bomb.
    Bomb,
    /// Sends JSON a hundred thousand levels deep.
    DeepJson,
    /// Sends random bytes.
    Noise,
    /// Waits for a debate in which nothing happens.
    Wait,
    /// Opens a socket on the busiest debate and never reads it.
    DeafSocket,
    /// Requests long answers and never reads them.
    DeafReader,
}

const ATTACKS: [(Attack, usize); 11] = [
    (Attack::Silence, 300),
    (Attack::SlowHead, 200),
    (Attack::SlowBody, 200),
    (Attack::HugeHead, 8),
    (Attack::HugeBody, 8),
    (Attack::Bomb, 4),
    (Attack::DeepJson, 4),
    (Attack::Noise, 8),
    (Attack::Wait, 1000),
    (Attack::DeafSocket, 300),
    (Attack::DeafReader, 100),
];

/// The state that attackers share.
struct AttackTarget {
    address: SocketAddr,
    /// A busy debate.
    busy: String,
    until: Instant,
    tries: AtomicU64,
    bomb: Vec<u8>,
}

pub async fn run(trial: &Trial) -> Figures {
    let bounds = Bounds::of(trial);
    let read = readers::run(trial, &bounds).await;
    besieged(trial, &bounds).await.and(&read)
}

async fn besieged(trial: &Trial, bounds: &Bounds) -> Figures {
    let siege = Duration::from_secs(trial.times());
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(&trial.binary, home.path());
    let (mut dice, mut line) = (trial.dice(), server.line());
    let mut busy = Talk::new(u64::MAX, 2000);
    let mut kept = Vec::new();
    for _ in 0..200 {
        kept.push(say(&mut line, &mut busy).await);
    }
    let quiet = submits(server.address, Instant::now() + siege / 8).await;
    let (memory_before, handles_before) = (server.memory(), server.handles());

    let until = Instant::now() + siege;
    let bomb = bomb();
    let target = Arc::new(AttackTarget {
        address: server.address,
        busy: busy.debate.clone(),
        until,
        tries: AtomicU64::new(0),
        bomb,
    });
    let mut attackers = JoinSet::new();
    for (attack, many) in ATTACKS {
        for _ in 0..many {
            attackers.spawn(besiege(attack, target.clone(), dice.another()));
        }
    }
    let mut debaters = JoinSet::new();
    for _ in 0..4 {
        debaters.spawn(submits(server.address, until));
    }
    let mut memory = 0;
    while Instant::now() < until {
        memory = memory.max(server.memory());
        kept.push(say(&mut line, &mut busy).await);
        sleep(Duration::from_millis(20)).await;
    }
    let mut times: Vec<Duration> = Vec::new();
    for submitted in debaters.join_all().await {
        times.extend(submitted.0);
        kept.extend(submitted.1);
    }
    kept.extend(quiet.1);
    attackers.shutdown().await;
    let began = Instant::now();
    while server.handles() > handles_before + 20 {
        assert!(
            began.elapsed() < Duration::from_secs(90),
            "connections stay: {}",
            server.handles()
        );
        sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(server.stop().code(), Some(0));
    let found = record::sound(&database_in(home.path()));
    let found: std::collections::HashSet<&str> =
        found.iter().map(|kept| kept.id.as_str()).collect();
    assert!(kept.iter().all(|kept| found.contains(kept.id.as_str())), "something is lost");

    let (before, p50, p99) = (at(&quiet.0, 0.99), at(&times, 0.5), at(&times, 0.99));
    assert!(memory < bounds.memory, "memory grew to {} MB", memory >> 20);
    // A machine that other programs keep busy is slow without attackers, too.
    let slow = if trial.long { bounds.slow } else { bounds.slow.max(before * 20) };
    assert!(p99 < slow, "the p99 of a submit is {p99:?}, and {before:?} without attackers");
    Figures::default()
        .count(target.tries.load(Ordering::Relaxed), "attacks")
        .count(ATTACKS.iter().map(|(_, many)| *many as u64).sum(), "attackers")
        .count(siege.as_secs(), "seconds")
        .count(times.len() as u64, "submits meanwhile, none lost")
        .peak(milliseconds(p50), "ms a submit, p50")
        .peak(milliseconds(p99), &format!("ms p99 ({} allowed)", slow.as_millis()))
        .peak(milliseconds(before), "ms p99 before")
        .peak(megabytes(memory_before), "MB before")
        .peak(megabytes(memory), &format!("MB ({} allowed)", bounds.memory >> 20))
}

pub async fn say(line: &mut Line, talk: &mut Talk) -> RecordedArgument {
    let saying = talk.next();
    let written = line.post(&saying.path, &saying.body).await.unwrap().data();
    talk.acknowledge(&saying, &written)
}

/// Debates until then; returns the duration of each submit and the acknowledged arguments.
async fn submits(server: SocketAddr, until: Instant) -> (Vec<Duration>, Vec<RecordedArgument>) {
    let (mut line, mut talk) = (Line::to(server), Talk::new(u64::MAX, 500));
    let (mut times, mut kept) = (Vec::new(), Vec::new());
    while Instant::now() < until {
        let began = Instant::now();
        kept.push(say(&mut line, &mut talk).await);
        times.push(began.elapsed());
        sleep(Duration::from_millis(5)).await;
    }
    (times, kept)
}

pub fn at(times: &[Duration], part: f64) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[((times.len() - 1) as f64 * part) as usize]
}

/// Attacks again whenever the server ends the connection.
async fn besiege(attack: Attack, target: Arc<AttackTarget>, mut dice: Dice) {
    while Instant::now() < target.until {
        target.tries.fetch_add(1, Ordering::Relaxed);
        // Any outcome of the attack itself is fine.
        let _ = attempt(attack, &target, &mut dice).await;
        sleep(Duration::from_millis(20 + dice.below(200))).await;
    }
}

async fn attempt(attack: Attack, target: &AttackTarget, dice: &mut Dice) -> std::io::Result<()> {
    let busy = &target.busy;
    if let Attack::DeafSocket = attack {
        let url = format!("ws://{}/ws?debate_id={busy}&html=1", target.address);
        if let Ok((_deaf, _)) = connect_async(url).await {
            sleep(target.until.saturating_duration_since(Instant::now())).await;
        }
        return Ok(());
    }
    let mut stream = TcpStream::connect(target.address).await?;
    let host = format!("host: {}\r\n", target.address);
    let post = format!(
        "POST /debates/{busy}/arguments HTTP/1.1\r\n{host}content-type: application/json\r\n"
    );
    match attack {
        Attack::Silence => {}
        Attack::SlowHead => {
            for byte in format!("{post}content-length: 1000000\r\n\r\n").bytes() {
                stream.write_all(&[byte]).await?;
                sleep(Duration::from_millis(500)).await;
            }
        }
        Attack::SlowBody => {
            stream
                .write_all(
                    format!("{post}content-length: 100000\r\n\r\n{{\"content\":\"").as_bytes(),
                )
                .await?;
            loop {
                stream.write_all(b"x").await?;
                sleep(Duration::from_millis(500)).await;
            }
        }
        Attack::HugeHead => {
            stream.write_all(b"GET / HTTP/1.1\r\nx: ").await?;
            for _ in 0..10_000 {
                stream.write_all(&[b'x'; 4096]).await?;
            }
        }
        Attack::HugeBody => {
            stream
                .write_all(format!("{post}content-length: 10000000000\r\n\r\n").as_bytes())
                .await?;
            for _ in 0..10_000 {
                stream.write_all(&[b'x'; 65536]).await?;
            }
        }
        Attack::Bomb => {
            let head = format!(
                "{post}content-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
                target.bomb.len()
            );
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(&target.bomb).await?;
        }
        Attack::DeepJson => {
            let body = ["[", "{\"content\":"][dice.index(2)].repeat(100_000);
            stream
                .write_all(format!("{post}content-length: {}\r\n\r\n{body}", body.len()).as_bytes())
                .await?;
        }
        Attack::Noise => {
            let noise: Vec<u8> = (0..65536).map(|_| dice.below(256) as u8).collect();
            stream.write_all(&noise).await?;
        }
        Attack::Wait => {
            let wait =
                format!("GET /debates/{busy}/wait?role=arbitrator&wait=60 HTTP/1.1\r\n{host}\r\n");
            stream.write_all(wait.as_bytes()).await?;
        }
        Attack::DeafReader => {
            for _ in 0..50 {
                stream
                    .write_all(format!("GET /debates/{busy} HTTP/1.1\r\n{host}\r\n").as_bytes())
                    .await?;
            }
            sleep(target.until.saturating_duration_since(Instant::now())).await;
        }
        Attack::DeafSocket => {}
    }
    // Read until the server hangs up.
    let mut heard = [0; 4096];
    let left = target.until.saturating_duration_since(Instant::now());
    let _ =
        timeout(left, async { while !matches!(stream.read(&mut heard).await, Ok(0) | Err(_)) {} })
            .await;
    Ok(())
}

/// Fifty kilobytes that unpack to fifty megabytes.
fn bomb() -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let piece = vec![b' '; 1 << 20];
    for _ in 0..50 {
        std::io::Write::write_all(&mut packed, &piece).unwrap();
    }
    packed.finish().unwrap()
}
