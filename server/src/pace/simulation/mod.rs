//! A fleet at internet scale, simulated (discrete time): a hundred million open payments on 200 servers, and a gateway that slows
//! down, goes away for an hour and comes back. When a payment is queried again, in which class, and at which rate are the real
//! functions; workers and leases are written after the server's, the database answers at once, and the gateway is a model.
//!
//! The tests run a thousandth of it. All of it takes five minutes and 3 GB, and draws the pictures of `docs/`: `make simulate`.

mod fleet;
mod gateway;
mod report;

use std::{env, path::Path};

use fleet::Fleet;
use gateway::Phase;
use report::{Figures, Second};

/// Discrete time, in which everything happens: 10 ms.
pub(super) type Step = u32;
pub(super) const STEP_MS: i64 = 10;
pub(super) const SECOND: Step = 100;
pub(super) const MINUTE: Step = 60 * SECOND;

/// The size of a simulation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Open payments, evenly begun over the last three days.
    pub(super) payments: u32,
    pub(super) servers: u32,
    /// The limit of queries a second, of the whole fleet.
    pub(super) per_second: u32,
}

impl Size {
    /// A hundred million need 154,000 queries a second.
    fn of(payments: u32, servers: u32) -> Self {
        Self { payments, servers, per_second: payments / 500 }
    }
}

fn play(size: Size) -> Figures {
    let mut fleet = Fleet::new(size);
    let mut figures = Figures::default();
    for second in 0..Phase::END / SECOND {
        for step in second * SECOND..(second + 1) * SECOND {
            fleet.step(step);
        }
        figures.seconds.push(fleet.second((second + 1) * SECOND));
    }
    figures
}

#[test]
fn gateway_outage_recovers_without_poll_storm() {
    let size = Size::of(100_000, 20);
    let figures = play(size);
    println!("{}", figures.text(size));
    check(&figures, size);
}

/// Whatever the size is.
fn check(figures: &Figures, size: Size) {
    let limit = f64::from(size.per_second);
    let worst = |seconds: &[Second], of: fn(&Second) -> f64| seconds.iter().map(of).fold(0.0, f64::max);
    let polls: fn(&Second) -> f64 = |second| f64::from(second.polls);
    // A full bucket, and its inflow during that time; on average the limit.
    assert!(worst(&figures.seconds, polls) <= 2.0 * limit);
    for minute in figures.seconds.chunks(60) {
        let mean = minute.iter().map(polls).sum::<f64>() / minute.len() as f64;
        assert!(mean <= 1.02 * limit, "{mean} a second");
    }
    let steady = figures.of(Phase::Steady);
    assert!(worst(&steady[60..], |second| second.oldest_fresh) <= 1.0, "a payer waits for it");
    assert!(worst(&steady[60..], |second| second.oldest_old) <= 2.0);
    // After a minute the unreachable gateway gets almost no queries.
    let away = figures.of(Phase::Away);
    assert!(worst(&away[60..], polls) <= 0.2 * limit, "{}", worst(&away[60..], polls));
    // When it is back, the poll rate grows, and polls are not refused for long.
    let back = figures.of(Phase::Back);
    assert!(worst(&back[..10], polls) <= 0.4 * limit, "{}", worst(&back[..10], polls));
    assert!(back[60..].iter().any(|second| f64::from(second.polls) > 0.5 * limit));
    let (refused, all) = back
        .iter()
        .fold((0.0, 0.0), |(refused, all), second| (refused + f64::from(second.failed), all + f64::from(second.polls)));
    assert!(refused <= 0.1 * all, "{refused} of {all} questions were refused while it was weak");
    let last = figures.seconds.last().expect("seconds");
    assert!(last.oldest_fresh <= 1.0 && last.oldest_old <= 60.0, "{last:?}");
    assert!(figures.in_time_after_return().is_some_and(|seconds| seconds <= 30 * 60), "nothing is late");
    // Of those without a callback, some were polled in vain just before the return, and are polled an hour later.
    assert!(figures.noticed_after_return().is_some_and(|seconds| seconds <= 80 * 60), "what ended is known");
}

/// All of it, or as many payments as `KASSA_SIMULATED` says.
#[test]
#[ignore = "takes five minutes and 3 GB"]
fn simulation_with_100m_payments_on_200_servers() {
    let size = Size::of(env::var("KASSA_SIMULATED").map_or(100_000_000, |count| count.parse().expect("a number")), 200);
    let figures = play(size);
    println!("{}", figures.text(size));
    if let Some(folder) = env::var_os("KASSA_PICTURES") {
        report::draw(&figures, size, Path::new(&folder));
    }
    check(&figures, size);
}
