//! The web servers of an attacker. One of them uses the port of the server at another address and does
//! DNS rebinding: its name first leads to the attacker, who serves a page, and then to the server.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The script of a hostile page.
pub const SCRIPT: &str = include_str!("attack.js");

/// A web server of the attacker. It ends with the process.
pub struct AttackerServer {
    shared: Arc<AttackerState>,
}

struct AttackerState {
    /// The address of the server.
    server: String,
    /// Whether connections are forwarded to the server.
    is_rebound: AtomicBool,
    heads: Mutex<Vec<String>>,
}

impl AttackerServer {
    /// Serves at this listener.
    pub fn at(listener: TcpListener, server: &str) -> Self {
        let shared = Arc::new(AttackerState {
            server: server.to_owned(),
            is_rebound: AtomicBool::new(false),
            heads: Mutex::default(),
        });
        let server = AttackerServer { shared: shared.clone() };
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let shared = shared.clone();
                thread::spawn(move || shared.take(near));
            }
        });
        server
    }

    /// Forwards connections to the server, or no longer.
    pub fn rebind(&self, to_the_server: bool) {
        self.shared.is_rebound.store(to_the_server, Ordering::SeqCst);
    }

    /// The heads of the requests to the attacker.
    pub fn heads(&self) -> Vec<String> {
        self.shared.heads.lock().unwrap().clone()
    }
}

impl AttackerState {
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
        // The browser may have closed the connection.
        let _ = near.write_all(answer.as_bytes());
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

/// A page that attacks, by itself or by a frame without an origin.
fn page(path: &str) -> String {
    let own = format!(
        "<!doctype html><meta charset=utf-8><link rel=icon href='data:,'><body><script>{SCRIPT}</script>"
    );
    let inner = format!(
        "{own}<script>onmessage = async ({{data}}) => parent.postMessage(await attack(data), '*')</script>"
    );
    let script = "<script>
        const frame = document.querySelector('iframe');
        const attack = plan => new Promise(done => {
            onmessage = ({data}) => done(data);
            frame.contentWindow.postMessage(plan, '*');
        });
        </script>";
    let around = |frame: &str| {
        format!(
            "<!doctype html><meta charset=utf-8><link rel=icon href='data:,'><body>{frame}{script}"
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
