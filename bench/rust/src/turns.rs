//! Taking figures in turn.

use std::{hint::black_box, time::Instant};

/// One who is measured: a name, and what takes a figure.
type Subject<'a> = (&'static str, Box<dyn FnMut() -> f64 + 'a>);

/// Each subject's figure once a round, after one round that does not count.
pub fn in_turn(rounds: usize, mut subjects: Vec<Subject<'_>>) -> Vec<(&'static str, Vec<f64>)> {
    let mut samples: Vec<(&'static str, Vec<f64>)> = subjects.iter().map(|(name, _)| (*name, Vec::new())).collect();
    for round in 0..=rounds {
        for ((_, measure), (_, figures)) in subjects.iter_mut().zip(&mut samples) {
            let figure = measure();
            if round > 0 {
                figures.push(figure);
            }
        }
    }
    samples
}

/// How long one of many takes.
pub fn microseconds<T>(times: u32, mut work: impl FnMut() -> T) -> f64 {
    let started = Instant::now();
    for _ in 0..times {
        black_box(work());
    }
    started.elapsed().as_secs_f64() * 1e6 / f64::from(times)
}
