//! What a benchmark found out, as `kassa_bench` reads it.

use serde::{Serialize, Serializer};

/// Kassa beside its peers: one figure a round for each, Kassa's first.
#[derive(Serialize)]
pub struct Comparison {
    /// What was compared.
    pub title: String,
    /// The unit of the figures.
    pub unit: &'static str,
    /// A figure a round.
    #[serde(serialize_with = "in_order")]
    pub samples: Vec<(&'static str, Vec<f64>)>,
    /// The most that Kassa's figure may be, as a part of the peer's.
    #[serde(serialize_with = "in_order")]
    pub bars: Vec<(&'static str, f64)>,
    /// A remark beside a figure.
    #[serde(serialize_with = "in_order")]
    pub facts: Vec<(&'static str, String)>,
}

/// Figures that stand for themselves: what, how much, and the bar where there is one.
#[derive(Serialize)]
pub struct Figures {
    /// What they are about.
    pub title: String,
    /// What, how much, the bar.
    pub rows: Vec<(String, String, String)>,
}

impl Comparison {
    /// Prints it.
    pub fn print(&self) {
        print(self);
    }
}

impl Figures {
    /// None yet.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), rows: Vec::new() }
    }

    /// One more, without a bar.
    pub fn add(&mut self, what: impl Into<String>, figure: impl Into<String>) {
        self.rows.push((what.into(), figure.into(), String::new()));
    }

    /// One more, which must not be above its bar. Both are written by the same hand.
    pub fn add_with_bar(&mut self, what: impl Into<String>, figure: f64, bar: f64, write: impl Fn(f64) -> String) {
        let verdict = if figure <= bar { "met" } else { "**missed**" };
        self.rows.push((what.into(), write(figure), format!("{}, {verdict}", write(bar))));
    }

    /// One more, which must not be below its bar.
    pub fn add_with_floor(&mut self, what: impl Into<String>, figure: f64, bar: f64, write: impl Fn(f64) -> String) {
        let verdict = if figure >= bar { "met" } else { "**missed**" };
        self.rows.push((what.into(), write(figure), format!("at least {}, {verdict}", write(bar))));
    }

    /// Prints them.
    pub fn print(&self) {
        print(self);
    }
}

fn print(finding: &impl Serialize) {
    println!("{}", serde_json::to_string(finding).expect("a finding is plain data"));
}

/// As an object whose members stand as they were given: who comes first is who is compared.
fn in_order<V: Serialize, S: Serializer>(members: &[(&'static str, V)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(members.iter().map(|(name, value)| (name, value)))
}
