//! The shop's receiver of events, which has its bad days.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use fastrand::Rng;

/// An event that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    pub id: String,
    pub body: String,
}

/// A shop that listens.
pub struct Shop {
    pub url: String,
    inner: Arc<Inner>,
}

struct Inner {
    arrived: Mutex<Vec<Arrived>>,
    random: Mutex<Rng>,
    /// How many of a hundred events go wrong.
    fails: AtomicU32,
    /// Nobody is answered.
    hangs: AtomicBool,
    is_closed: AtomicBool,
}

impl Shop {
    pub fn open(seed: u64) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/events", listener.local_addr().unwrap());
        let inner = Arc::new(Inner {
            arrived: Mutex::default(),
            random: Mutex::new(Rng::with_seed(seed)),
            fails: AtomicU32::new(0),
            hangs: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
        });
        let served = inner.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                if served.is_closed.load(Ordering::Relaxed) {
                    return;
                }
                let served = served.clone();
                thread::spawn(move || stream.and_then(|stream| served.take(&stream)));
            }
        });
        Self { url, inner }
    }

    pub fn fails(&self, percent: u32) {
        self.inner.fails.store(percent, Ordering::Relaxed);
    }

    pub fn hangs(&self, does: bool) {
        self.inner.hangs.store(does, Ordering::Relaxed);
    }

    /// Everything that arrived, in its order.
    pub fn arrived(&self) -> Vec<Arrived> {
        self.inner.arrived.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        self.inner.is_closed.store(true, Ordering::Relaxed);
        let address = self.url.trim_start_matches("http://").trim_end_matches("/events");
        // Its listener looks up.
        let _ = TcpStream::connect(address);
    }
}

impl Inner {
    fn take(&self, mut stream: &TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        let (mut id, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            match line.trim_end().split_once(": ") {
                // Who called is dead.
                _ if line.is_empty() => return Ok(()),
                _ if line.trim_end().is_empty() => break,
                Some((name, value)) if name.eq_ignore_ascii_case("webhook-id") => value.clone_into(&mut id),
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().unwrap_or(0);
                }
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let arrived = Arrived { id, body: String::from_utf8_lossy(&body).into_owned() };
        let fails = self.with_random(|random| random.u32(0..100)) < self.fails.load(Ordering::Relaxed);
        let how = if fails { self.with_random(|random| random.u32(0..4)) } else { 4 };
        if how > 0 {
            self.arrived.lock().unwrap_or_else(PoisonError::into_inner).push(arrived);
        }
        while self.hangs.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(20));
        }
        match how {
            // Refused before it was looked at; taken, and refused; taken, and no answer; taken, and slow.
            0 | 1 => stream.write_all(b"HTTP/1.1 500 Sorry\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"),
            2 => Ok(()),
            _ => {
                if how == 3 {
                    thread::sleep(Duration::from_millis(200));
                }
                stream.write_all(b"HTTP/1.1 204 Taken\r\nconnection: close\r\n\r\n")
            }
        }
    }

    fn with_random<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.random.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
