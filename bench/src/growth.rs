//! The cost of each request in a full file and in a long debate, compared with an empty file.

use std::time::Instant;

use aw_trials::server::Server;

use crate::Bench;
use crate::caller::{LoadClient, LoadDebate, get, post};
use crate::figures::{Figures, Promise};
use crate::fixture;
use crate::samples::Samples;

/// A server with a file of some size.
struct SizedServer {
    arguments: u64,
    _server: Server,
    caller: LoadClient,
    debate: LoadDebate,
}

/// A measured operation.
#[derive(Clone, Copy)]
enum Operation {
    Open,
    Submit,
    Poll,
    Context,
    List,
    SearchWord,
    SearchId,
    SearchTexts,
    SearchTextsId,
    KeepDocument,
}

const EVERYTHING: [(&str, Operation); 10] = [
    ("opening a debate", Operation::Open),
    ("a submit", Operation::Submit),
    ("a poll", Operation::Poll),
    ("get-context of 10", Operation::Context),
    ("a page of the list", Operation::List),
    ("a search of the list for a rare word", Operation::SearchWord),
    ("a search of the list for a piece of an id", Operation::SearchId),
    ("a search of all texts for a rare word", Operation::SearchTexts),
    ("a search of all texts for a piece of an id", Operation::SearchTextsId),
    ("keeping a document", Operation::KeepDocument),
];

impl SizedServer {
    async fn with(bench: &Bench, arguments: u64, home: &std::path::Path) -> Self {
        let server = Server::start(bench.aw(), home);
        let mut caller = LoadClient::to(server.address).await;
        let mut debate = LoadDebate::open(&mut caller).await;
        for _ in 0..60 {
            // A full page of debates, and more than ten arguments in one.
            LoadDebate::open(&mut caller).await;
            debate.goes_on(&mut caller).await;
        }
        // A file that was just written is indexed first.
        loop {
            let found = caller.ask(&get("/search?q=cost&limit=1")).await;
            let found: serde_json::Value = serde_json::from_slice(found).unwrap();
            if found["data"]["is_complete"] == true {
                break;
            }
        }
        SizedServer { arguments, _server: server, caller, debate }
    }

    async fn ask(&mut self, asked: Operation) -> f64 {
        let request = match asked {
            Operation::Open => {
                let began = Instant::now();
                LoadDebate::open(&mut self.caller).await;
                return began.elapsed().as_secs_f64() * 1e3;
            }
            Operation::Submit => {
                let began = Instant::now();
                self.debate.goes_on(&mut self.caller).await;
                return began.elapsed().as_secs_f64() * 1e3;
            }
            Operation::Poll => self.debate.poll(),
            Operation::Context => self.debate.context(10),
            Operation::List => get("/debates"),
            Operation::SearchWord => get("/debates?q=cost"),
            Operation::SearchId => get(&format!("/debates?q={}", &self.debate.id[..13])),
            Operation::SearchTexts => get("/search?q=cost"),
            Operation::SearchTextsId => get(&format!("/search?q={}", &self.debate.id[..13])),
            Operation::KeepDocument => post(
                "/documents",
                &format!(
                    r##"{{"summary":"A plan","content":"# A plan","client_request_id":"{}"}}"##,
                    uuid::Uuid::new_v4()
                ),
            ),
        };
        let began = Instant::now();
        self.caller.ask(&request).await;
        began.elapsed().as_secs_f64() * 1e3
    }
}

pub async fn measure(bench: &Bench, figures: &mut Figures) {
    let mut sizes = vec![1_000, 10_000, 100_000];
    if !bench.quick {
        sizes.push(1_000_000);
    }
    let empty = tempfile::tempdir_in(fixture::folder()).unwrap();
    let mut places = vec![SizedServer::with(bench, 0, empty.path()).await];
    for arguments in &sizes {
        let home = fixture::full(*arguments).await;
        places.push(SizedServer::with(bench, *arguments, &home).await);
    }
    let largest = *sizes.last().expect("some");
    for (name, asked) in EVERYTHING {
        let costs = in_turns(bench, &mut places, asked).await;
        let curve = places.iter().zip(&costs);
        let curve = curve.map(|(place, cost)| (place.arguments.max(100) as f64, cost.median()));
        figures.curve("growth", name, curve.collect());
        let worst = costs[1..].iter().max_by(|one, other| one.median().total_cmp(&other.median()));
        let name = format!("{name}, at worst up to {largest} arguments, beside an empty file");
        figures.beside(name, "ms", worst.expect("some"), costs[0].median(), Promise::Times(1.3));
    }
    drop(places);
    in_a_long_debate(bench, figures).await;
}

/// Measures the same in one long debate.
async fn in_a_long_debate(bench: &Bench, figures: &mut Figures) {
    let long = 10_000;
    let empty = tempfile::tempdir_in(fixture::folder()).unwrap();
    let home = fixture::long(long).await;
    let mut places = vec![
        SizedServer::with(bench, 0, empty.path()).await,
        SizedServer::with(bench, long, &home).await,
    ];
    let place = &mut places[1];
    place.debate = longest(&mut place.caller).await;
    for (name, asked) in &EVERYTHING[1..4] {
        let costs = in_turns(bench, &mut places, *asked).await;
        let name = format!("{name} in a debate of {long}, beside one of a hundred");
        figures.beside(name, "ms", &costs[1], costs[0].median(), Promise::Times(1.3));
    }
    drop(places);
}

/// The debate with the most arguments.
async fn longest(caller: &mut LoadClient) -> LoadDebate {
    let list: serde_json::Value =
        serde_json::from_slice(caller.ask(&get("/debates?limit=500")).await).unwrap();
    let longest = list["data"]["debates"].as_array().unwrap().iter();
    let longest = longest.max_by_key(|debate| debate["last_argument"]["seq"].as_u64()).unwrap();
    LoadDebate::resumed(
        longest["id"].as_str().unwrap(),
        longest["last_argument"]["id"].as_str().unwrap(),
        longest["last_argument"]["seq"].as_u64().unwrap(),
    )
}

/// Measures the servers in turns, so that a disturbance of the machine affects all of them.
async fn in_turns(bench: &Bench, places: &mut [SizedServer], asked: Operation) -> Vec<Samples> {
    let mut costs = vec![Samples::default(); places.len()];
    for round in 0..bench.times(60, 400) {
        for (place, cost) in places.iter_mut().zip(&mut costs) {
            let took = place.ask(asked).await;
            // The first rounds warm the caches.
            if round >= 10 {
                cost.add(took);
            }
        }
    }
    costs
}
