//! What came out.

use std::fmt::Write;

use super::{SECOND, Size, gateway::Phase};

/// One second of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Second {
    pub(super) asked: u32,
    pub(super) troubled: u32,
    /// For how many seconds the oldest one has been due: of those whose payers may be waiting, and of the others.
    pub(super) oldest_fresh: f64,
    pub(super) oldest_old: f64,
    /// How many have ended at the gateway, and nobody here knows.
    pub(super) unnoticed: u32,
    /// Of those, how many had ended before the gateway came back.
    pub(super) lost: u32,
}

#[derive(Default)]
pub(super) struct Figures {
    pub(super) seconds: Vec<Second>,
}

impl Figures {
    pub(super) fn of(&self, phase: Phase) -> &[Second] {
        &self.seconds[(phase.begin() / SECOND) as usize..(phase.end() / SECOND) as usize]
    }

    /// After how many seconds from its return all is known that had ended by then.
    pub(super) fn noticed_after_return(&self) -> Option<usize> {
        self.seconds[(Phase::Back.begin() / SECOND) as usize..].iter().position(|second| second.lost == 0)
    }

    /// After how many nothing is later any more than an operator is woken for.
    pub(super) fn in_time_after_return(&self) -> Option<usize> {
        let back = &self.seconds[(Phase::Back.begin() / SECOND) as usize..];
        let late = back.iter().rposition(|second| second.oldest_fresh > 60.0 || second.oldest_old > 60.0);
        Some(late.map_or(0, |last| last + 1)).filter(|seconds| *seconds < back.len())
    }

    pub(super) fn text(&self, size: Size) -> String {
        let mut text = format!(
            "{} open payments, {} servers, {} questions a second at most\n",
            size.payments, size.servers, size.per_second
        );
        let _ = writeln!(
            text,
            "| Phase | asked a second: mean | most | in trouble | oldest fresh, s | oldest old, s | unnoticed, most |"
        );
        let _ = writeln!(text, "|---|---|---|---|---|---|---|");
        for (phase, _) in Phase::ALL {
            let seconds = self.of(phase);
            let sum = |of: fn(&Second) -> u32| seconds.iter().map(|second| u64::from(of(second))).sum::<u64>();
            let most = |of: fn(&Second) -> f64| seconds.iter().map(of).fold(0.0, f64::max);
            let (asked, troubled) = (sum(|second| second.asked), sum(|second| second.troubled));
            let _ = writeln!(
                text,
                "| {phase:?} | {} | {} | {:.1} % | {:.1} | {:.0} | {} |",
                asked / seconds.len() as u64,
                most(|second| f64::from(second.asked)),
                100.0 * troubled as f64 / asked.max(1) as f64,
                most(|second| second.oldest_fresh),
                most(|second| second.oldest_old),
                most(|second| f64::from(second.unnoticed)),
            );
        }
        let _ = writeln!(
            text,
            "after its return: all that had ended is known after {:?} s, and nothing is late by a minute after {:?} s",
            self.noticed_after_return(),
            self.in_time_after_return()
        );
        text
    }
}
