//! The figures of a simulation.

use std::{fmt::Write, fs, path::Path};

use charts_rs::{AxisType, LineChart, Series, Symbol, svg_with_accessibility};

use super::{MINUTE, SECOND, Size, gateway::Phase};

/// One second of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Second {
    pub(super) polls: u32,
    pub(super) failed: u32,
    /// For how many seconds the oldest one has been due: of those whose payers may be waiting, and of the others.
    pub(super) oldest_fresh: f64,
    pub(super) oldest_old: f64,
    /// The payments that ended at the gateway, unnoticed by the servers.
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
            "| Phase | Queries a second: mean | most | failed | oldest fresh, s | oldest old, s | unnoticed, most |"
        );
        let _ = writeln!(text, "|---|---|---|---|---|---|---|");
        for (phase, _) in Phase::ALL {
            let seconds = self.of(phase);
            let sum = |of: fn(&Second) -> u32| seconds.iter().map(|second| u64::from(of(second))).sum::<u64>();
            let most = |of: fn(&Second) -> f64| seconds.iter().map(of).fold(0.0, f64::max);
            let (polls, failed) = (sum(|second| second.polls), sum(|second| second.failed));
            let _ = writeln!(
                text,
                "| {phase:?} | {} | {} | {:.1} % | {:.1} | {:.0} | {} |",
                polls / seconds.len() as u64,
                most(|second| f64::from(second.polls)),
                100.0 * failed as f64 / polls.max(1) as f64,
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

// The results, drawn minute by minute, for `docs/`.

const WIDTH: f32 = 960.0;
const HEIGHT: f32 = 320.0;
/// On a white card, so that they can be read on a dark page, too.
const THEME: &str = "light";

/// A line: what it is called, and a minute's worth of it.
type Line = (&'static str, fn(&[Second]) -> f64);

struct Picture {
    file: &'static str,
    title: &'static str,
    lines: [Line; 2],
}

const PICTURES: [Picture; 3] = [
    Picture {
        file: "fleet-questions.svg",
        title: "Questions a second, the mean of each minute",
        lines: [
            ("all   ", |minute| mean(minute, |second| f64::from(second.polls))),
            ("failed", |minute| mean(minute, |second| f64::from(second.failed))),
        ],
    },
    Picture {
        file: "fleet-oldest.svg",
        title: "Minutes for which the oldest question has been due",
        lines: [
            ("of a young one, or one hinted at   ", |minute| most(minute, |second| second.oldest_fresh / 60.0)),
            ("of an older one", |minute| most(minute, |second| second.oldest_old / 60.0)),
        ],
    },
    Picture {
        file: "fleet-unnoticed.svg",
        title: "Payments that have ended at the gateway, and nobody here knows",
        lines: [
            ("all   ", |minute| most(minute, |second| f64::from(second.unnoticed))),
            ("ended before the gateway came back", |minute| most(minute, |second| f64::from(second.lost))),
        ],
    },
];

fn mean(minute: &[Second], of: fn(&Second) -> f64) -> f64 {
    minute.iter().map(of).sum::<f64>() / minute.len() as f64
}

fn most(minute: &[Second], of: fn(&Second) -> f64) -> f64 {
    minute.iter().map(of).fold(0.0, f64::max)
}

/// Into this folder.
pub(super) fn draw(figures: &Figures, size: Size, folder: &Path) {
    for picture in &PICTURES {
        let svg = picture.svg(figures, size);
        fs::write(folder.join(picture.file), svg + "\n").expect("room for a picture");
    }
}

impl Picture {
    fn svg(&self, figures: &Figures, size: Size) -> String {
        let minutes: Vec<&[Second]> = figures.seconds.chunks(60).collect();
        let series = self.lines.iter().map(|(name, of)| {
            Series::new((*name).to_owned(), minutes.iter().map(|minute| of(minute) as f32).collect())
        });
        let mut chart = LineChart::new_with_theme(series.collect(), Vec::new(), THEME);
        chart.width = WIDTH;
        chart.height = HEIGHT;
        self.title.clone_into(&mut chart.title.text);
        chart.series.symbol = Some(Symbol::None);
        chart.x_axis.kind = AxisType::Value;
        chart.x_axis.values = (0..minutes.len()).map(|minute| minute as f64).collect();
        chart.x_axis.max = Some(f64::from(Phase::END / MINUTE));
        let phases = Phase::ALL.map(|(phase, begin)| format!("from {} on {}", begin / MINUTE, phase.name()));
        chart.x_axis.title = format!("minutes; the gateway is {}", phases.join(", "));
        for axis in &mut chart.y_axis_configs {
            axis.min = Some(0.0);
        }
        let svg = chart.svg().expect("a picture of plain figures");
        let about = format!("{} open payments, {} servers; by minute of the simulation.", size.payments, size.servers);
        svg_with_accessibility(&svg, self.title, &about)
    }
}
