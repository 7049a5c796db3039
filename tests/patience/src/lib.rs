//! Timeouts of tests. A test does not sleep for a fixed time and then look: it polls a condition until a timeout. The environment
//! variable `KASSA_PATIENCE` multiplies all of them, for a slow machine: `KASSA_PATIENCE=3 cargo test`.
//!
//! ```
//! let thread = std::thread::spawn(|| 2 + 2);
//! kassa_test_patience::wait_until("the thread ends", || thread.is_finished());
//! ```

use std::{
    env,
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

/// The timeout of a test that has no reason for another one.
const USUAL: Duration = Duration::from_secs(60);
/// The pause between two polls of a condition.
const PAUSE: Duration = Duration::from_millis(10);
const VARIABLE: &str = "KASSA_PATIENCE";
/// The largest factor. A larger one is a typing error, and could overflow a time.
const MAX_FACTOR: f64 = 1000.0;

/// The timeout for what has to happen: 60 s, multiplied by `KASSA_PATIENCE`. Nothing takes so long, so only a bug reaches it.
///
/// # Panics
/// If `KASSA_PATIENCE` is not a decimal number above 0.
pub fn patience() -> Duration {
    patient(USUAL)
}

/// Another timeout, multiplied by `KASSA_PATIENCE`.
///
/// # Panics
/// If `KASSA_PATIENCE` is not a decimal number above 0.
pub fn patient(usual: Duration) -> Duration {
    usual.mul_f64(factor())
}

/// Polls a condition until it is true.
///
/// # Panics
/// With `what`, if the condition is still false after [`patience`].
#[track_caller]
pub fn wait_until(what: &str, condition: impl FnMut() -> bool) {
    wait_until_within(patience(), what, condition);
}

/// Polls a condition until it is true, with another timeout.
///
/// # Panics
/// With `what`, if the condition is still false after `timeout`.
#[track_caller]
pub fn wait_until_within(timeout: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    wait_for_within(timeout, what, || condition().then_some(()));
}

/// Polls until there is a value, and returns it.
///
/// # Panics
/// With `what`, if there is no value after [`patience`].
#[track_caller]
pub fn wait_for<T>(what: &str, condition: impl FnMut() -> Option<T>) -> T {
    wait_for_within(patience(), what, condition)
}

#[track_caller]
fn wait_for_within<T>(timeout: Duration, what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        check(begun, timeout, what);
        thread::sleep(PAUSE);
    }
}

/// [`wait_until`] in an async test: other tasks run between two polls. It needs tokio's timer.
///
/// # Panics
/// With `what`, if the condition is still false after [`patience`].
pub async fn wait_until_async(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !condition().await {
        check(begun, patience(), what);
        tokio::time::sleep(PAUSE).await;
    }
}

/// [`wait_for`] in an async test: other tasks run between two polls. It needs tokio's timer.
///
/// # Panics
/// With `what`, if there is no value after [`patience`].
pub async fn wait_for_async<T>(what: &str, mut condition: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = condition().await {
            return value;
        }
        check(begun, patience(), what);
        tokio::time::sleep(PAUSE).await;
    }
}

#[track_caller]
fn check(begun: Instant, timeout: Duration, what: &str) {
    assert!(begun.elapsed() < timeout, "did not happen within {timeout:?}: {what}");
}

/// Read from the environment once.
fn factor() -> f64 {
    static FACTOR: OnceLock<f64> = OnceLock::new();
    *FACTOR.get_or_init(|| env::var_os(VARIABLE).map_or(1.0, |text| parse(&text.to_string_lossy())))
}

fn parse(text: &str) -> f64 {
    let factor = text.parse::<f64>().ok().filter(|factor| *factor > 0.0 && *factor <= MAX_FACTOR);
    factor.unwrap_or_else(|| {
        panic!("{VARIABLE} must be a decimal number above 0 and up to {MAX_FACTOR}, such as 3 or 0.5, and is {text:?}")
    })
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn factor_is_a_decimal_number_above_0() {
        for (text, factor) in [("3", 3.0), ("0.5", 0.5), ("1000", 1000.0)] {
            assert_eq!(parse(text).to_bits(), f64::to_bits(factor), "{text}");
        }
        for text in ["", "0", "-1", "1001", "inf", "NaN", "2x", "1,5", "three"] {
            let message = *catch_unwind(|| parse(text)).expect_err(text).downcast::<String>().expect("a message");
            assert!(message.contains("KASSA_PATIENCE") && message.contains(&format!("{text:?}")), "{message}");
        }
    }

    #[test]
    fn one_factor_multiplies_every_timeout() {
        assert_eq!(patience(), patient(Duration::from_secs(60)));
        assert!(patient(Duration::from_secs(2)) > patient(Duration::from_secs(1)));
    }

    #[test]
    fn value_is_returned_once_it_is_there() {
        let mut polls = 0;
        let value = wait_for("the third poll", || {
            polls += 1;
            (polls == 3).then_some("here")
        });
        assert_eq!((value, polls), ("here", 3));
    }

    /// A condition that is true at the first poll needs no time at all.
    #[test]
    fn condition_is_polled_before_timeout() {
        wait_until_within(Duration::ZERO, "nothing", || true);
    }

    #[test]
    #[should_panic(expected = "did not happen within 0ns: the door opens")]
    fn what_did_not_happen_is_named() {
        wait_until_within(Duration::ZERO, "the door opens", || false);
    }

    #[tokio::test]
    async fn other_tasks_run_between_two_polls() {
        let task = tokio::spawn(async { 2 + 2 });
        wait_until_async("the task ends", async || task.is_finished()).await;
        assert_eq!(wait_for_async("a value", async || Some(7)).await, 7);
    }
}
