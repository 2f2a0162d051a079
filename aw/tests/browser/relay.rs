//! A network between the browser and the server, which can be cut.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use crate::world::free_listener;

/// Passes everything on, until it is cut.
pub struct Relay {
    pub url: String,
    wires: Arc<Mutex<Wires>>,
}

#[derive(Default)]
struct Wires {
    is_cut: bool,
    open: Vec<TcpStream>,
    tries: Vec<Instant>,
}

impl Relay {
    /// To the server at this address.
    pub fn to(url: &str) -> Self {
        let listener = free_listener();
        let wires = Arc::<Mutex<Wires>>::default();
        let relay = Relay {
            url: format!("http://{}", listener.local_addr().unwrap()),
            wires: wires.clone(),
        };
        let server = url.trim_start_matches("http://").to_owned();
        // It ends with the process; nobody is connected by then.
        thread::spawn(move || pass_on(&listener, &server, &wires));
        relay
    }

    /// Ends every connection and takes no more.
    pub fn cut(&self) {
        let mut wires = self.wires.lock().unwrap();
        wires.is_cut = true;
        wires.tries.clear();
        for wire in wires.open.drain(..) {
            // The other end may have gone already.
            let _ = wire.shutdown(Shutdown::Both);
        }
    }

    /// Takes connections again.
    pub fn join(&self) {
        self.wires.lock().unwrap().is_cut = false;
    }

    /// When somebody tried to connect since it was cut.
    pub fn tries(&self) -> Vec<Instant> {
        self.wires.lock().unwrap().tries.clone()
    }
}

fn pass_on(listener: &TcpListener, server: &str, wires: &Arc<Mutex<Wires>>) {
    for near in listener.incoming().flatten() {
        let mut wires = wires.lock().unwrap();
        wires.tries.push(Instant::now());
        if wires.is_cut {
            continue;
        }
        let Ok(far) = TcpStream::connect(server) else { continue };
        for (mut from, mut to) in
            [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)]
        {
            wires.open.push(from.try_clone().unwrap());
            thread::spawn(move || {
                let _ = io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
        }
    }
}
