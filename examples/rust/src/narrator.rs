//! Tells a person what happens: short lines with a label in front, and a spinner while something is awaited.

use std::{
    io::{self, IsTerminal, Write},
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::failure::{AS_EXPECTED, NOT_KNOWN};

const LABEL_WIDTH: usize = 9;
const SPINNER_PAUSE: Duration = Duration::from_millis(120);

/// Where the story goes: to standard output, or to standard error where that is kept for JSON.
#[derive(Clone)]
pub(crate) struct Narrator {
    to_stderr: bool,
    colours: bool,
    spinners: MultiProgress,
    about: Option<String>,
}

impl Narrator {
    /// A narrator that leaves standard output to JSON, or not.
    pub(crate) fn new(json: bool) -> Self {
        let terminal = if json { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
        let colours = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { to_stderr: json, colours, spinners: MultiProgress::new(), about: None }
    }

    /// The same narrator, telling about one of several payments.
    pub(crate) fn about(&self, subject: &str) -> Self {
        Self { about: Some(subject.to_owned()), ..self.clone() }
    }

    /// True where colours are understood.
    pub(crate) fn has_colours(&self) -> bool {
        self.colours
    }

    /// A title, with an empty line before it.
    pub(crate) fn title(&self, text: &str) {
        self.print(&if self.colours { format!("\n\x1b[1m{text}\x1b[0m") } else { format!("\n{text}") });
    }

    /// One step: who does it, and what.
    pub(crate) fn step(&self, label: &str, text: &str) {
        self.labelled(label, text, "36");
    }

    /// A step that deserves a second look.
    pub(crate) fn warn(&self, label: &str, text: &str) {
        self.labelled(label, text, "1;33");
    }

    /// The end of a flow.
    pub(crate) fn end(&self, exit_code: u8, text: &str) {
        let (label, colour) = match exit_code {
            AS_EXPECTED => ("done", "1;32"),
            NOT_KNOWN => ("open", "1;33"),
            _ => ("failed", "1;31"),
        };
        self.labelled(label, text, colour);
    }

    /// Any text as it is.
    pub(crate) fn print(&self, text: &str) {
        self.spinners.suspend(|| {
            // A closed pipe is no reason to stop in the middle of a payment.
            let _told = if self.to_stderr {
                writeln!(io::stderr().lock(), "{text}")
            } else {
                let mut out = io::stdout().lock();
                writeln!(out, "{text}").and_then(|()| out.flush())
            };
        });
    }

    /// Shows that something is awaited until the returned guard is dropped: a spinner on a terminal, one line
    /// elsewhere.
    pub(crate) fn waiting(&self, text: &str) -> Waiting {
        if self.spinners.is_hidden() {
            self.step("waiting", text);
            return Waiting(None);
        }
        let spinner = self.spinners.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("  {spinner} waiting {msg} ({elapsed})") {
            spinner.set_style(style);
        }
        spinner.set_message(text.to_owned());
        spinner.enable_steady_tick(SPINNER_PAUSE);
        Waiting(Some(spinner))
    }

    fn labelled(&self, label: &str, text: &str, colour: &str) {
        let about = self.about.as_ref().map(|subject| format!("{subject}: ")).unwrap_or_default();
        let label = format!("{label:<LABEL_WIDTH$}");
        let label = if self.colours { format!("\x1b[{colour}m{label}\x1b[0m") } else { label };
        self.print(&format!("  {label} {about}{text}"));
    }
}

/// Something is awaited.
pub(crate) struct Waiting(Option<ProgressBar>);

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(spinner) = self.0.take() {
            spinner.finish_and_clear();
        }
    }
}
