//! A server's line to PostgreSQL, which has its bad days: commits get lost on the way there, their answers on the way back, it
//! breaks, or nothing gets through (a partition).

use std::{
    io::{self, BufReader, Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

const BREATH: Duration = Duration::from_millis(5);
/// What asks for TLS comes before what is the first message else.
const ASKS_FOR_TLS: [u8; 4] = 80_877_103_u32.to_be_bytes();

/// The line.
pub struct Line {
    pub port: u16,
    inner: Arc<Inner>,
}

struct Inner {
    to: SocketAddr,
    is_closed: AtomicBool,
    is_parted: AtomicBool,
    commits: Losses,
    answers: Losses,
    streams: Mutex<Vec<TcpStream>>,
}

/// What gets lost.
#[derive(Default)]
struct Losses {
    to_come: AtomicU64,
    met: AtomicU64,
}

impl Losses {
    fn strikes(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        self.to_come.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok()
    }
}

impl Line {
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let inner = Arc::new(Inner {
            to: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            is_closed: AtomicBool::new(false),
            is_parted: AtomicBool::new(false),
            commits: Losses::default(),
            answers: Losses::default(),
            streams: Mutex::default(),
        });
        let (port, served) = (listener.local_addr().expect("its address").port(), inner.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                if served.is_closed.load(Ordering::Relaxed) {
                    return;
                }
                let served = served.clone();
                thread::spawn(move || stream.and_then(|stream| served.connect(stream)));
            }
        });
        Self { port, inner }
    }

    /// Who sends the next commits is told nothing of them, and PostgreSQL either.
    pub fn loses_commits(&self, count: u64) {
        self.inner.commits.to_come.store(count, Ordering::Release);
    }

    /// The next commits are carried out, and who sends them is told nothing.
    pub fn loses_answers(&self, count: u64) {
        self.inner.answers.to_come.store(count, Ordering::Release);
    }

    /// Nothing gets through, in neither direction, until it does again.
    pub fn is_parted(&self, is: bool) {
        self.inner.is_parted.store(is, Ordering::Release);
    }

    /// All connections end, wherever they are.
    pub fn breaks(&self) {
        for stream in self.inner.streams().drain(..) {
            // Somebody else was faster.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// How many commits got lost, and how many answers to commits.
    pub fn met(&self) -> (u64, u64) {
        (self.inner.commits.met.load(Ordering::Acquire), self.inner.answers.met.load(Ordering::Acquire))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.inner.is_closed.store(true, Ordering::Relaxed);
        self.is_parted(false);
        self.breaks();
        // Its listener looks up.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

impl Inner {
    fn streams(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(self: Arc<Self>, client: TcpStream) -> io::Result<()> {
        self.wait_while_parted();
        let server = TcpStream::connect(self.to)?;
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
            self.streams().push(stream.try_clone()?);
        }
        let is_deaf = Arc::new(AtomicBool::new(false));
        let (inner, back, deaf) = (self.clone(), (server.try_clone()?, client.try_clone()?), is_deaf.clone());
        thread::spawn(move || {
            let _broken = inner.carry_back(&back.0, &back.1, &deaf);
            end(&back.0, &back.1);
        });
        let carried = self.carry(&client, &server, &is_deaf);
        // Who is deaf still waits for the commit.
        if !is_deaf.load(Ordering::Acquire) {
            end(&client, &server);
        }
        carried
    }

    /// Message by message.
    fn carry(&self, client: &TcpStream, mut server: &TcpStream, is_deaf: &AtomicBool) -> io::Result<()> {
        let mut reader = BufReader::new(client);
        // The first message has no type.
        let mut head = 4;
        loop {
            let message = read_message(&mut reader, head)?;
            self.wait_while_parted();
            if message[4..] != ASKS_FOR_TLS {
                head = 5;
            }
            if is_commit(&message) {
                if self.commits.strikes() {
                    self.commits.met.fetch_add(1, Ordering::AcqRel);
                    return Ok(());
                }
                is_deaf.store(self.answers.strikes(), Ordering::Release);
            }
            server.write_all(&message)?;
        }
    }

    fn carry_back(&self, mut server: &TcpStream, mut client: &TcpStream, is_deaf: &AtomicBool) -> io::Result<()> {
        let (mut bytes, mut swallowed) = ([0; 8192], Vec::new());
        loop {
            let count = server.read(&mut bytes)?;
            self.wait_while_parted();
            if count == 0 {
                return Ok(());
            }
            if !is_deaf.load(Ordering::Acquire) {
                client.write_all(&bytes[..count])?;
                continue;
            }
            swallowed.extend_from_slice(&bytes[..count]);
            let contains = |word: &[u8]| swallowed.windows(word.len()).any(|part| part == word);
            if contains(b"COMMIT\0") {
                self.answers.met.fetch_add(1, Ordering::AcqRel);
                return Ok(());
            }
            if contains(b"ROLLBACK\0") {
                return Ok(());
            }
        }
    }

    fn wait_while_parted(&self) {
        while self.is_parted.load(Ordering::Acquire) {
            thread::sleep(BREATH);
        }
    }
}

fn end(one: &TcpStream, other: &TcpStream) {
    for stream in [one, other] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

/// With a head of so many bytes, which end with the length of all but the type.
fn read_message(reader: &mut impl Read, head: usize) -> io::Result<Vec<u8>> {
    let mut message = vec![0; head];
    reader.read_exact(&mut message)?;
    let length = u32::from_be_bytes(message[head - 4..].try_into().expect("four bytes")) as usize;
    message.resize(head + length.saturating_sub(4), 0);
    reader.read_exact(&mut message[head..])?;
    Ok(message)
}

fn is_commit(message: &[u8]) -> bool {
    message.first() == Some(&b'Q') && message[5..] == *b"COMMIT\0"
}
