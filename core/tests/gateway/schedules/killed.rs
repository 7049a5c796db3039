//! Crash testing: a merchant's program in a process of its own, which is killed at some moment.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use kassa_test_patience::patience;

use super::{
    journal::{Event, Journal, MARK},
    scene::play_merchants,
};

/// The environment variable that tells a child its seed and address.
const CHILD_VARIABLE: &str = "KASSA_SCHEDULES_CHILD";
/// The test in which a child plays.
const TEST: &str = "schedules::process_that_is_killed";

/// In the child: plays what the parent said, if there is one.
pub async fn play_if_child() {
    let Ok(order) = env::var(CHILD_VARIABLE) else { return };
    let (seed, url) = order.split_once(' ').expect("a seed and an address");
    play_merchants(seed.parse().expect("a seed"), url, &Journal::Printed).await;
}

/// In the parent: starts the merchants of a seed, kills them a while after their first line, and gives what they wrote.
pub fn play_and_kill(seed: u64, url: &str, after: Duration) -> Result<Vec<Event>, String> {
    let mut child = Command::new(env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", TEST, "--nocapture"])
        .env(CHILD_VARIABLE, format!("{seed} {url}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let out = BufReader::new(child.stdout.take().expect("its output"));
    let (line, lines) = channel();
    let reader = thread::spawn(move || {
        for text in out.lines().map_while(Result::ok) {
            // The harness prints a name before the first line, and no line break.
            if let Some((_, event)) = text.split_once(MARK) {
                let _ = line.send(event.to_owned());
            }
        }
    });
    let mut journal = Vec::new();
    let mut ended = false;
    let mut until = None;
    loop {
        let wait = until.map_or_else(patience, |until: Instant| until.saturating_duration_since(Instant::now()));
        match lines.recv_timeout(wait) {
            Ok(text) => {
                until.get_or_insert_with(|| Instant::now() + after);
                journal.push(text);
            }
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => {
                ended = true;
                break;
            }
        }
    }
    // One that has ended in the meantime cannot be killed any more.
    let _ = child.kill();
    let status = child.wait().expect("its end");
    reader.join().expect("a reader");
    if ended && !status.success() {
        return Err(format!("the merchants' process failed: {status}"));
    }
    journal.extend(lines.try_iter());
    journal.iter().map(|text| text.parse()).collect()
}
