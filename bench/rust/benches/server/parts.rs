//! Work that several processes share: each prepares itself, begins at a word, and ends when its part is done.

use std::{
    io::{BufRead as _, BufReader, Write as _, stdin},
    ops::Range,
    process::{Child, ChildStdout, Stdio},
    time::Instant,
};

use crate::place::Place;

/// How many of all the work they do a second, all together.
pub fn a_second(place: &Place, measurement: &str, processes: usize, numbers: Range<usize>) -> f64 {
    let each = numbers.len() / processes;
    let begin = |number: usize| begin(place, measurement, numbers.start + number * each, each);
    let mut parts: Vec<Part> = (0..processes).map(begin).collect();
    parts.iter_mut().for_each(Part::wait);
    let started = Instant::now();
    parts.iter_mut().for_each(Part::go);
    parts.iter_mut().for_each(Part::wait);
    let a_second = (each * processes) as f64 / started.elapsed().as_secs_f64();
    for mut part in parts {
        assert!(part.process.wait().expect("a process").success(), "{measurement}");
    }
    a_second
}

struct Part {
    process: Child,
    output: BufReader<ChildStdout>,
}

fn begin(place: &Place, measurement: &str, first: usize, many: usize) -> Part {
    let mut command = place.process(measurement);
    command.arg(first.to_string()).arg(many.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().expect("a process");
    let output = BufReader::new(process.stdout.take().expect("a pipe"));
    Part { process, output }
}

impl Part {
    fn go(&mut self) {
        self.process.stdin.as_mut().expect("a pipe").write_all(b"\n").expect("a process that listens");
    }

    fn wait(&mut self) {
        let read = self.output.read_line(&mut String::new()).expect("a pipe");
        assert!(read > 0, "a part ended too early");
    }
}

/// Which part this process has.
pub fn mine() -> Range<usize> {
    let number = |at: usize| std::env::args().nth(at).and_then(|text| text.parse::<usize>().ok()).expect("a number");
    number(4)..number(4) + number(5)
}

/// Says that it is ready, does the work when it may, and says that it is done.
pub fn take_part(work: impl FnOnce()) {
    println!("ready");
    stdin().read_line(&mut String::new()).expect("a pipe");
    work();
    println!("done");
}

/// Says that it is ready; then, for each line that comes, tells how many microseconds each took.
pub fn rounds(mut round: impl FnMut() -> f64) {
    println!("ready");
    for line in stdin().lines() {
        line.expect("a pipe");
        println!("{}", round());
    }
}
