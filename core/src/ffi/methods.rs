//! Methods of values that hold an amount, exported as fallible ones. Other languages can put a number into an amount
//! that is none here (NaN, too many digits). The conversion then fails, and in a method without an error the generated
//! code has no way to say so: in Swift it would end the host's process
//! (<https://github.com/mozilla/uniffi-rs/issues/2416>).

use std::sync::Arc;

use crate::{
    Advice, Callback, CardPayment, CardPaymentCreated, Dialect, MbankPaymentCreated, PayForm, PayFormCreated,
    PaymentEntry, PaymentError, PaymentRef, PaymentStatus, QrData, Verdict,
};

/// Exports methods of one value, each with its own documentation.
macro_rules! export_fallible {
    ($value:ty { $($(#[$doc:meta])* $name:literal $method:ident: $result:ty = |$this:ident| $answer:expr;)* }) => {
        #[uniffi::export]
        impl $value {
            $(
                $(#[$doc])*
                #[uniffi::method(name = $name)]
                fn $method(&self) -> Result<$result, PaymentError> {
                    let $this = self;
                    Ok($answer)
                }
            )*
        }
    };
}

export_fallible!(CardPayment {
    /// What to store before sending, so that the payment can be asked about whatever happens.
    "payment_ref" exported_payment_ref: PaymentRef = |payment| payment.payment_ref();
    /// What is worth a second look before sending. It blocks nothing.
    "advice" exported_advice: Vec<Advice> = |payment| payment.advice();
});

export_fallible!(PayForm {
    /// What to store before sending: what was asked for. The payer chooses how to pay, so the payment has no number until
    /// a callback or a return claims one.
    "payment_ref" exported_payment_ref: PaymentRef = |form| form.payment_ref();
    /// What is worth a second look before sending. It blocks nothing.
    "advice" exported_advice: Vec<Advice> = |form| form.advice();
});

export_fallible!(Callback {
    /// Idempotency key of the notification: the same text for every copy of it, however it is formatted. Remember it,
    /// to recognize repeated and replayed ones. **Nothing where the callback has no status**: then the next one about the
    /// same payment may look the same and tell of something new, so treat every such callback as a new one.
    "dedup_key" exported_dedup_key: Option<String> = |callback| callback.dedup_key();
    /// What to ask about the payment with, for a merchant who has stored nothing; nothing for a QR payment, whose
    /// callback has no number to ask by. **Its number is only claimed**, and what was asked for is not known, so no check
    /// of it ever says that it was charged: ask with the reference that was made at the sale.
    "payment_ref" exported_payment_ref: Option<PaymentRef> = |callback| callback.payment_ref();
});

#[uniffi::export]
impl Callback {
    /// The status that the callback claims, by the words of the gateway's dialect, where it is given. The field `status` is by the
    /// default words alone. The lists of the whole dialect count, not those of one endpoint.
    #[uniffi::method(name = "status_by")]
    fn exported_status_by(&self, dialect: Arc<Dialect>) -> Result<Option<PaymentStatus>, PaymentError> {
        Ok(self.status_by(&dialect))
    }
}

export_fallible!(PaymentRef {
    /// The short text form, which is meant to be stored as it is.
    "as_text" exported_as_text: String = |payment| payment.to_string();
    /// True where there is something to ask the gateway with: the transaction of a QR payment, the gateway's number, or
    /// an order number. Only such a payment can be checked or watched.
    "can_be_checked" exported_can_be_checked: bool = |payment| payment.can_be_checked();
});

export_fallible!(PaymentEntry {
    /// The short text form, which is meant to be stored as it is. Its checksum tells whether it is whole.
    "as_text" exported_as_text: String = |entry| entry.to_string();
});

export_fallible!(CardPaymentCreated {
    /// What to store in place of the reference: it also holds the confirmation page, where there is one.
    "entry" exported_entry: PaymentEntry = |created| created.entry();
});

export_fallible!(MbankPaymentCreated {
    /// What to store in place of the reference.
    "entry" exported_entry: PaymentEntry = |created| created.entry();
});

export_fallible!(PayFormCreated {
    /// What to store in place of the reference: it also holds the page.
    "entry" exported_entry: PaymentEntry = |created| created.entry();
});

export_fallible!(QrData {
    /// What to store in place of the reference: it also holds the text of the code, where the dialect finds it.
    "entry" exported_entry: PaymentEntry = |data| data.entry();
    /// What the dialect does not find in the response, and what that means. It blocks nothing.
    "advice" exported_advice: Vec<Advice> = |data| data.advice();
});

export_fallible!(Verdict {
    /// True where the money was taken, and nothing contradicts what was asked for.
    "is_charged" exported_is_charged: bool = |verdict| verdict.is_charged();
});

export_fallible!(PaymentError {
    /// True where **this call** may have moved money: for an unknown outcome alone.
    "payment_may_exist" exported_payment_may_exist: bool = |error| error.payment_may_exist();
    /// True where the same call may simply be made again, later.
    "is_retryable" exported_is_retryable: bool = |error| error.is_retryable();
    /// The error in one English sentence or two: what happened, and what to do.
    "describe" exported_describe: String = |error| error.describe();
    /// The variant's name, the same in every language.
    "kind" exported_kind: String = |error| error.kind().to_owned();
});
