//! What a page of a payer works with.

use crate::{messages::Message, pages::frame::Frame, state::State, store::payments::Record};

/// What a page works with.
pub(crate) struct View<'a> {
    pub(super) state: &'a State,
    pub(super) record: &'a Record,
    pub(super) frame: &'a Frame,
    /// The test payer the form is to be filled with.
    pub(super) fill: Option<&'a str>,
}

impl View<'_> {
    /// A message in the page's language.
    pub(super) fn say(&self, message: Message) -> String {
        self.frame.say(message)
    }

    /// The address of the next page of this payment.
    pub(super) fn next_page(&self, path: &str) -> String {
        let url = self.state.page_url(path, &self.record.payment.gateway_number);
        match self.frame.chosen {
            Some(language) => format!("{url}&language={}", language.code()),
            None => url,
        }
    }
}
