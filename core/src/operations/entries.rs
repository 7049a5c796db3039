//! What to store of an answer, so that an app that was killed shows the payer's page or code again.

use super::{
    card_payment::{CardPaymentCreated, NextStep},
    mbank_payment::MbankPaymentCreated,
    pay_form::PayFormCreated,
    qr_data::QrData,
};
use crate::payment_entry::PaymentEntry;

impl CardPaymentCreated {
    /// What to store in place of the reference: it also holds the confirmation page, where there is one.
    pub fn entry(&self) -> PaymentEntry {
        let entry = PaymentEntry::new(self.payment.clone());
        match &self.next_step {
            NextStep::OpenConfirmation { url } => entry.with_page_url(url),
            NextStep::CheckStatus { .. } => entry,
        }
    }
}

impl MbankPaymentCreated {
    /// What to store in place of the reference.
    pub fn entry(&self) -> PaymentEntry {
        PaymentEntry::new(self.payment.clone())
    }
}

impl PayFormCreated {
    /// What to store in place of the reference: it also holds the page.
    pub fn entry(&self) -> PaymentEntry {
        PaymentEntry::new(self.payment.clone()).with_page_url(&self.pay_form_url)
    }
}

impl QrData {
    /// What to store in place of the reference: it also holds the text of the code, where the dialect finds it.
    pub fn entry(&self) -> PaymentEntry {
        let entry = PaymentEntry::new(self.payment.clone());
        match &self.payload {
            Some(text) => entry.with_qr_text(text),
            None => entry,
        }
    }
}
