//! The sandbox beside general mock servers, which answer the same requests with what was put into them, and beside a floor:
//! a server that answers without looking.

use std::{
    fs,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use kassa_bench::{Comparison, Sandbox, processor_time_of};
use serde::Deserialize;

use crate::{CLIENTS, CREATE, QUERY, line::Line};

const ROUNDS: usize = 15;
/// Requests of a kind in a round.
const REQUESTS: u64 = 1_000;
/// Rounds that do not count: a virtual machine compiles what is called often.
const WARM_UP: usize = 10;
/// The one that does no work, and so has no bar.
const FLOOR: &str = "the floor";

/// Somebody beside whom it is measured.
#[derive(Deserialize)]
pub struct Peer {
    name: String,
    /// Its process; what it starts counts, too.
    pid: u32,
    url: String,
    authorization: String,
    query: Call,
    create: Call,
}

#[derive(Deserialize)]
struct Call {
    method: String,
    path: String,
    content_type: String,
    body: String,
}

/// One request by its number.
type Ask<'a> = Box<dyn Fn(&mut Line, u64) + Sync + 'a>;

/// One who is measured.
struct Subject<'a> {
    name: &'static str,
    url: &'a str,
    authorization: &'a str,
    processes: Vec<u32>,
    ask: Ask<'a>,
}

pub fn beside(sandbox: &Sandbox, peers: &[Peer]) {
    let created = AtomicU64::new(0);
    let create = |line: &mut Line, _| {
        let number = created.fetch_add(1, Relaxed);
        let body = format!(r#"{{"orderNumber":"M-{number}","phone":"996555000101","amount":100,"comment":"tea"}}"#);
        assert!(line.post(CREATE, &body).contains("CREATED"));
    };
    compare("Creates", sandbox, Box::new(create), peers, |peer| &peer.create);
    let stored = created.load(Relaxed);
    let query = |line: &mut Line, number: u64| {
        let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % stored;
        let response = line.post(QUERY, &format!(r#"{{"orderNumber":"M-{number}","provider":"MBank"}}"#));
        assert!(response.contains(&format!("\"M-{number}\"")));
    };
    compare("Status queries", sandbox, Box::new(query), peers, |peer| &peer.query);
}

fn compare<'a>(what: &str, sandbox: &'a Sandbox, ask: Ask<'a>, peers: &'a [Peer], call: fn(&'a Peer) -> &'a Call) {
    let Sandbox { url, authorization, .. } = sandbox;
    let ours = Subject { name: "Kassa's sandbox", url, authorization, processes: vec![sandbox.process_id()], ask };
    let others = peers.iter().map(|peer| {
        let Call { method, path, content_type, body } = call(peer);
        let ask: Ask<'_> = Box::new(move |line, _| drop(line.send(method, path, content_type, body)));
        let name: &'static str = peer.name.clone().leak();
        Subject { name, url: &peer.url, authorization: &peer.authorization, processes: family(peer.pid), ask }
    });
    let subjects: Vec<_> = [ours].into_iter().chain(others).collect();
    let mut took: Vec<(&'static str, Vec<f64>)> = subjects.iter().map(|one| (one.name, Vec::new())).collect();
    let mut busy = took.clone();
    for round in 0..WARM_UP + ROUNDS {
        for (index, subject) in subjects.iter().enumerate() {
            let (each, processor) = subject.round();
            if round >= WARM_UP {
                took[index].1.push(each);
                busy[index].1.push(processor);
            }
        }
    }
    let bars: Vec<_> =
        subjects[1..].iter().map(|one| one.name).filter(|name| *name != FLOOR).map(|name| (name, 1.0)).collect();
    for (title, samples) in
        [(format!("{what}, the time of each"), took), (format!("{what}, processor time of each"), busy)]
    {
        Comparison { title, unit: "us", samples, bars: bars.clone(), facts: Vec::new() }.print();
    }
}

impl Subject<'_> {
    /// How long each request took, over all connections, and what it cost the server; in microseconds.
    fn round(&self) -> (f64, f64) {
        let (started, before) = (Instant::now(), self.busy());
        let next = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    let mut line = Line::to(self.url, self.authorization);
                    loop {
                        let number = next.fetch_add(1, Relaxed);
                        if number >= REQUESTS {
                            return;
                        }
                        (self.ask)(&mut line, number);
                    }
                });
            }
        });
        let each = |time: Duration| time.as_secs_f64() * 1e6 / REQUESTS as f64;
        (each(started.elapsed()), each(self.busy() - before))
    }

    fn busy(&self) -> Duration {
        self.processes.iter().map(processor_time_of).sum()
    }
}

/// A process and all that come from it.
fn family(process: u32) -> Vec<u32> {
    let mut all = vec![process];
    let known: Vec<(u32, u32)> =
        fs::read_dir("/proc").expect("Linux").flatten().filter_map(|entry| parent(&entry)).collect();
    let mut next = 0;
    while let Some(one) = all.get(next).copied() {
        all.extend(known.iter().filter(|(_, parent)| *parent == one).map(|(child, _)| *child));
        next += 1;
    }
    all
}

/// A process and its parent.
fn parent(entry: &fs::DirEntry) -> Option<(u32, u32)> {
    let process = entry.file_name().to_str()?.parse().ok()?;
    let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
    let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()?;
    Some((process, parent))
}
