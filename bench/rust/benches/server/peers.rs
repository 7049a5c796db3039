//! Kassa beside others that take work out of PostgreSQL, all on the same one, each in a database of its own with a million waiting.

use std::{
    cell::RefCell,
    env,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdout, Command, Stdio},
    sync::Arc,
    time::Instant,
};

use kassa_bench::{Comparison, in_turn};
use kassa_server::{
    Storage,
    storage::{
        inputs::{PollResult, Report, StatusReport},
        outputs::{DuePoll, StatusQuery},
    },
};
use kassa_test_postgres::sibling;

use crate::{
    fill::fill_overdue,
    leases::{claim_all, lease},
    parts::rounds,
    place::Place,
    recording::said,
    runtime,
};

pub const A_ROUND: usize = 20_000;
const ROUNDS: usize = 7;

pub fn measure(place: &Place) {
    fill_overdue(place);
    let url = place.url.as_deref().expect("a database");
    let others = ["plain", "river", "graphile"].map(|name| sibling(url, name));
    let own = |measurement: &str| place.process(measurement);
    let plain = Place { folder: place.folder.clone(), url: Some(others[0].clone()) };
    let lease_rounds = in_rounds(vec![("Kassa", own("lease-rounds")), ("a plain loop", plain.process("plain-rounds"))]);
    print(
        "A lease of one of a million, 100 a statement, 4 workers",
        lease_rounds,
        vec![
            ("Kassa", "looks what is due, takes out of the fleet's bucket, leases, reads the payments".to_owned()),
            ("a plain loop", "`UPDATE ... WHERE id IN (SELECT ... FOR UPDATE SKIP LOCKED) RETURNING id`".to_owned()),
        ],
    );
    let river = other("KASSA_BENCH_RIVER", &others[1]);
    let graphile = other("KASSA_BENCH_GRAPHILE", &others[2]);
    let jobs = in_rounds(vec![("Kassa", own("job-rounds")), ("River", river), ("graphile-worker", graphile)]);
    print(
        "One of a million taken, and put down as done",
        jobs,
        vec![
            ("Kassa", "leased, and put down as still open, with what the gateway said, by 4 workers".to_owned()),
            ("River", "a job that does nothing, with the settings of River's own benchmark".to_owned()),
            (
                "graphile-worker",
                "a job that does nothing, 100 at once, a local queue of 500, completed in batches".to_owned(),
            ),
        ],
    );
}

/// A peer's program, as the environment names it.
fn other(variable: &str, url: &str) -> Command {
    let words = env::var(variable).unwrap_or_else(|_| panic!("{variable} names no program"));
    let mut words = words.split(' ');
    let mut command = Command::new(words.next().expect("a program"));
    command.args(words).arg(url);
    command
}

fn print(title: &str, samples: Vec<(&'static str, Vec<f64>)>, facts: Vec<(&'static str, String)>) {
    Comparison { title: title.to_owned(), unit: "us", samples, bars: Vec::new(), facts }.print();
}

fn in_rounds(programs: Vec<(&'static str, Command)>) -> Vec<(&'static str, Vec<f64>)> {
    let subjects = programs.into_iter().map(|(name, command)| {
        let program = RefCell::new(Program::start(command));
        let figure: Box<dyn FnMut() -> f64> = Box::new(move || program.borrow_mut().round());
        (name, figure)
    });
    in_turn(ROUNDS, subjects.collect())
}

/// A program that does a round for each line.
struct Program {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Program {
    fn start(mut command: Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a program");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut program = Self { process, output };
        assert_eq!(program.line(), "ready");
        program
    }

    fn round(&mut self) -> f64 {
        self.process.stdin.as_mut().expect("a pipe").write_all(b"\n").expect("a program that listens");
        self.line().parse().expect("a figure")
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a pipe");
        line.trim().to_owned()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ended = self.process.wait();
    }
}

pub fn lease_rounds(place: &Place) {
    let runtime = runtime();
    let storage = runtime.block_on(place.storage());
    rounds(|| {
        let started = Instant::now();
        runtime.block_on(lease(&storage, A_ROUND));
        started.elapsed().as_secs_f64() * 1e6 / A_ROUND as f64
    });
}

pub fn job_rounds(place: &Place) {
    let runtime = runtime();
    let storage = runtime.block_on(place.storage());
    rounds(|| {
        let started = Instant::now();
        runtime.block_on(claim_all(&storage, A_ROUND, |questions| put_down(storage.clone(), questions)));
        started.elapsed().as_secs_f64() * 1e6 / A_ROUND as f64
    });
}

async fn put_down(storage: Arc<dyn Storage>, questions: Vec<DuePoll>) {
    let answers = questions.into_iter().map(still_open).collect();
    storage.record_poll_results(answers).await.expect("a database");
}

fn still_open(question: DuePoll) -> PollResult {
    let report = |ask: StatusQuery| StatusReport {
        claim: ask.claim,
        report: Report::Pending(Box::new(ask.reference)),
        exchange: said(),
    };
    PollResult {
        payment: question.payment,
        checkout: question.checkout,
        method: question.method,
        leased_until: question.leased_until,
        reports: question.queries.into_iter().map(report).collect(),
        random: 7,
    }
}
