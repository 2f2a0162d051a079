//! The attacker's own web servers. One of them has a name of its own on the server's port: the name first
//! leads to the attacker, who serves a page, and then to the server, as when somebody changes what a name
//! leads to (DNS rebinding).

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// What a hostile page tries.
pub const STRIKE: &str = include_str!("strike.js");

/// A listener of the attacker's. It ends with the process.
pub struct Lair {
    shared: Arc<Shared>,
}

struct Shared {
    /// Where the server is.
    server: String,
    /// Whether everything goes there from now on.
    is_rebound: AtomicBool,
    heads: Mutex<Vec<String>>,
}

impl Lair {
    /// At this listener, near the server at this address.
    pub fn at(listener: TcpListener, server: &str) -> Self {
        let shared = Arc::new(Shared {
            server: server.to_owned(),
            is_rebound: AtomicBool::new(false),
            heads: Mutex::default(),
        });
        let lair = Lair { shared: shared.clone() };
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let shared = shared.clone();
                thread::spawn(move || shared.take(near));
            }
        });
        lair
    }

    /// From now on it leads to the server, or to the attacker again.
    pub fn rebind(&self, to_the_server: bool) {
        self.shared.is_rebound.store(to_the_server, Ordering::SeqCst);
    }

    /// The heads of the requests that came to the attacker.
    pub fn heads(&self) -> Vec<String> {
        self.shared.heads.lock().unwrap().clone()
    }
}

impl Shared {
    fn take(&self, mut near: TcpStream) {
        if self.is_rebound.load(Ordering::SeqCst) {
            let Ok(far) = TcpStream::connect(&self.server) else { return };
            let back = (far.try_clone().unwrap(), near.try_clone().unwrap());
            thread::spawn(move || pass(back.0, back.1));
            pass(near, far);
            return;
        }
        let mut head = Vec::new();
        let mut some = [0; 4096];
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            match near.read(&mut some) {
                Ok(0) | Err(_) => return,
                Ok(read) => head.extend_from_slice(&some[..read]),
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let page = page(head.split(' ').nth(1).unwrap_or("/"));
        self.heads.lock().unwrap().push(head);
        let length = page.len();
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{page}"
        );
        // The browser may have gone.
        let _ = near.write_all(answer.as_bytes());
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

/// A page that strikes when it is told to, by itself or by a frame of no origin.
fn page(path: &str) -> String {
    let own = format!(
        "<!doctype html><meta charset=utf-8><link rel=icon href='data:,'><body><script>{STRIKE}</script>"
    );
    let inner = format!(
        "{own}<script>onmessage = async ({{data}}) => parent.postMessage(await strike(data), '*')</script>"
    );
    let told = "<script>
        const frame = document.querySelector('iframe');
        const strike = plan => new Promise(done => {
            onmessage = ({data}) => done(data);
            frame.contentWindow.postMessage(plan, '*');
        });
        </script>";
    let around = |frame: &str| {
        format!(
            "<!doctype html><meta charset=utf-8><link rel=icon href='data:,'><body>{frame}{told}"
        )
    };
    match path {
        "/" => own,
        "/inner" => inner,
        "/sandbox" => around(
            "<iframe sandbox='allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox' \
             src='/inner'></iframe>",
        ),
        "/data" => around(&format!(
            "<iframe src='data:text/html;charset=utf-8;base64,{}'></iframe>",
            STANDARD.encode(inner)
        )),
        _ => String::new(),
    }
}
