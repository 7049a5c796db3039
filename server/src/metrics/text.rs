//! Prometheus' text form, version 0.0.4.

use std::fmt::{Display, Write};

/// What its answer is said to be.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A text of metrics as it grows. Each family is begun once, and its samples follow it.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    /// Begins a family: its name, its type, and what it is.
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    /// A sample of the family that was begun. Labels and their values are words of this program's: nothing is to be escaped.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &dyn Display)], value: impl Display) {
        let mut shown = String::new();
        for (at, (label, word)) in labels.iter().enumerate() {
            let opening = if at == 0 { "{" } else { "," };
            let _ = write!(shown, "{opening}{label}=\"{word}\"");
        }
        let closing = if labels.is_empty() { "" } else { "}" };
        self.line(format_args!("{name}{shown}{closing} {value}"));
    }

    /// A family of one sample.
    pub(super) fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "gauge", help);
        self.sample(name, &[], value);
    }

    pub(super) fn end(self) -> String {
        self.0
    }

    /// Writing to a text does not fail.
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.0, "{line}");
    }
}
