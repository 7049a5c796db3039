//! Settling for callers of the blocking gateway in other languages, which have no iterators of Rust's.

use crate::{BlockingSettling, PaymentError, Settled};

#[uniffi::export]
impl BlockingSettling {
    /// See [`Settling::next`].
    ///
    /// # Errors
    /// See [`Settling::next`].
    #[uniffi::method(name = "next")]
    fn next_settled(&self) -> Result<Option<Settled>, PaymentError> {
        self.clone().next().transpose()
    }
}
