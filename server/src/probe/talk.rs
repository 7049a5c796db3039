//! The seam between the probe and the person who runs it, so that tests need no terminal.

use crate::runtime::Boxed;

/// The person who runs the probe: reads findings, and permits what moves money.
pub trait ProbeTalk: Send {
    /// Shows a line.
    fn say(&mut self, line: &str);

    /// Asks for permission to create or confirm a payment. Nothing of the kind is sent without it.
    fn may<'a>(&'a mut self, question: &'a str) -> Boxed<'a, bool>;

    /// Waits for a person to do something on a page; false if nobody is there.
    fn wait_for<'a>(&'a mut self, what: &'a str) -> Boxed<'a, bool>;
}
