//! A proxy that adds distance: it delivers every byte a while after it came, in both directions.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Starts a proxy to this address and returns its own. It runs until the program ends. It has threads
/// of its own, because the timers of the runtime are exact to a millisecond only.
pub fn far_away(from: SocketAddr, delay: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for near in listener.incoming() {
            let (near, far) = (near.unwrap(), TcpStream::connect(from).unwrap());
            for stream in [&near, &far] {
                stream.set_nodelay(true).unwrap();
            }
            carry(near.try_clone().unwrap(), far.try_clone().unwrap(), delay);
            carry(far, near, delay);
        }
    });
    address
}

/// Carries bytes in one direction. They may pass each other on the way, so the rate is not limited.
fn carry(from: TcpStream, to: TcpStream, delay: Duration) {
    let (sent, due) = channel();
    thread::spawn(move || send(from, &sent, delay));
    thread::spawn(move || deliver(&due, to));
}

fn send(mut from: TcpStream, sent: &Sender<(Instant, Vec<u8>)>, delay: Duration) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if sent.send((Instant::now() + delay, bytes[..read].to_vec())).is_err() {
            return;
        }
    }
}

fn deliver(due: &Receiver<(Instant, Vec<u8>)>, mut to: TcpStream) {
    for (at, bytes) in due {
        thread::sleep(at.saturating_duration_since(Instant::now()));
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    // The other side has closed, or this one.
    let _ = to.shutdown(Shutdown::Both);
}
