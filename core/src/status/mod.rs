//! Follow-up: what happens to a payment after it was sent. Its verdict, polling, callbacks (webhooks), the
//! payer's return, and addresses that say which payment they are about.

pub(crate) mod callback;
pub(crate) mod callback_key;
pub(crate) mod check;
pub(crate) mod local_date_time;
pub(crate) mod recovery;
pub(crate) mod redirect;
mod source;
pub(crate) mod verdict;
pub(crate) mod verify;
pub(crate) mod watch;
