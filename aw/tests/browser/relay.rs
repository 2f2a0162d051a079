//! A network between the browser and the server, which can be cut.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::world::free_listener;

/// Forwards connections until it is cut.
pub struct Relay {
    pub url: String,
    lines: Arc<Mutex<Lines>>,
}

#[derive(Default)]
struct Lines {
    is_cut: bool,
    open: Vec<TcpStream>,
}

impl Relay {
    /// A relay to the server at this address.
    pub fn to(url: &str) -> Self {
        let listener = free_listener();
        let lines = Arc::<Mutex<Lines>>::default();
        let relay = Relay {
            url: format!("http://{}", listener.local_addr().unwrap()),
            lines: lines.clone(),
        };
        let server = url.trim_start_matches("http://").to_owned();
        // The thread ends with the process.
        thread::spawn(move || forward(&listener, &server, &lines));
        relay
    }

    /// Closes every connection and refuses new ones.
    pub fn cut(&self) {
        let mut lines = self.lines.lock().unwrap();
        lines.is_cut = true;
        for line in lines.open.drain(..) {
            // The other end may have closed it already.
            let _ = line.shutdown(Shutdown::Both);
        }
    }

    /// Accepts connections again.
    pub fn join(&self) {
        self.lines.lock().unwrap().is_cut = false;
    }
}

fn forward(listener: &TcpListener, server: &str, lines: &Mutex<Lines>) {
    for near in listener.incoming().flatten() {
        let mut lines = lines.lock().unwrap();
        if lines.is_cut {
            continue;
        }
        let Ok(far) = TcpStream::connect(server) else { continue };
        for (mut from, mut to) in
            [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)]
        {
            lines.open.push(from.try_clone().unwrap());
            thread::spawn(move || {
                let _ = io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
        }
    }
}
