//! Questions with an optional text, which the generator takes owned alone.

use crate::{Gateway, PaymentError, StatusReport};

#[uniffi::export]
impl Gateway {
    /// Asks for the status of a payment by the **gateway's** own number (the `token` of the confirmation page).
    ///
    /// `language` (ISO 639-1) is that of the gateway's messages; the merchant's default without it.
    ///
    /// # Errors
    /// None of them says anything about the payment itself. A number that the gateway does not know is
    /// [`PaymentError::Refused`].
    ///
    /// Source: `GET /api/v1.1.0/status` (`docs/interface.md#status-request`).
    #[uniffi::method(name = "payment_status")]
    async fn exported_payment_status(
        &self,
        gateway_number: &str,
        language: Option<String>,
    ) -> Result<StatusReport, PaymentError> {
        self.payment_status(gateway_number, language.as_deref()).await
    }
}
