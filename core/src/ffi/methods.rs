//! Methods of values that hold an amount, exported as fallible ones. Other languages can put a number into an amount
//! that is none here (NaN, too many digits). The conversion then fails, and in a method without an error the generated
//! code has no way to say so: in Swift it would end the host's process
//! (<https://github.com/mozilla/uniffi-rs/issues/2416>).

use std::sync::Arc;

use rust_decimal::Decimal;

use crate::{
    Advice, Callback, CardPayment, CardPaymentCreated, Dialect, MbankPaymentCreated, MegapayChecked, MegapayPayment,
    PayForm, PayFormCreated, PaymentEntry, PaymentError, PaymentRef, PaymentStatus, Provider, QrData, Verdict,
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
    /// What to store before sending, so that the payment can be queried whatever happens.
    "payment_ref" exported_payment_ref: PaymentRef = |payment| payment.payment_ref();
    /// What is worth a second look before sending. It blocks nothing.
    "advice" exported_advice: Vec<Advice> = |payment| payment.advice();
});

export_fallible!(MegapayPayment {
    /// What to store before sending, so that the payment can be queried whatever happens.
    "payment_ref" exported_payment_ref: PaymentRef = |payment| payment.payment_ref();
    /// What is worth a second look before sending. It blocks nothing.
    "advice" exported_advice: Vec<Advice> = |payment| payment.advice();
});

export_fallible!(PayForm {
    /// What to store before sending: what was requested. The payer chooses how to pay, so the payment has no number until
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
    /// What to query the payment with, for a merchant who has stored nothing; nothing for a QR payment, whose
    /// callback has no number to query by. **Its number is only claimed**, and what was requested is not known, so no check
    /// of it ever says that it was charged: query with the reference that was made at the sale.
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
    /// True where there is something to query the gateway with: the transaction of a QR payment, the gateway's number, or
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

export_fallible!(MegapayChecked {
    /// What to store in place of the reference.
    "entry" exported_entry: PaymentEntry = |checked| checked.entry();
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
    /// True where the money was taken, and nothing contradicts the request.
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

// Constructors of payment references, as functions: records have none in the generated code. What takes or holds an amount is fallible,
// because other languages can put a number into it that is none here.

/// A card payment, by the merchant's order number, with the requested amount.
#[uniffi::export]
fn card_payment_ref(order_number: String, amount: Decimal, currency: String) -> Result<PaymentRef, PaymentError> {
    Ok(PaymentRef::card(order_number, amount, currency))
}

/// A mobile-bank payment, by the merchant's order number, with the amount in whole som.
#[uniffi::export]
fn mbank_payment_ref(order_number: String, amount_som: i64) -> PaymentRef {
    PaymentRef::mbank(order_number, amount_som)
}

/// A payment from a MegaPay wallet, by the merchant's order number, with the amount in KGS without the commission.
#[uniffi::export]
fn megapay_payment_ref(order_number: String, amount: Decimal) -> Result<PaymentRef, PaymentError> {
    Ok(PaymentRef::megapay(order_number, amount))
}

/// A payment on a pay-form, with the amount in KGS. It has no number until a callback or a return claims one.
#[uniffi::export]
fn pay_form_payment_ref(amount: Decimal) -> Result<PaymentRef, PaymentError> {
    Ok(PaymentRef::pay_form(amount))
}

/// A payment by a dynamic QR code, with the amount in whole tyiyn where the code has one. It has no transaction yet.
#[uniffi::export]
fn qr_payment_ref(sum_tyiyn: Option<i64>) -> PaymentRef {
    PaymentRef::qr(sum_tyiyn)
}

#[uniffi::export]
impl PaymentRef {
    /// The same payment, with the gateway's own order number.
    #[uniffi::method(name = "with_gateway_number")]
    fn and_gateway_number(&self, gateway_number: String) -> Result<Self, PaymentError> {
        Ok(self.clone().with_gateway_number(gateway_number))
    }

    /// The same QR payment, with the identifier of its transaction, as the response to the request for the code told it.
    #[uniffi::method(name = "with_transaction_id")]
    fn and_transaction_id(&self, transaction_id: String) -> Result<Self, PaymentError> {
        Ok(self.clone().with_transaction_id(transaction_id))
    }

    /// The same payment, with the order number and the provider that a callback or a return claims. Without a provider,
    /// each one is queried. One payment pays for one order: accept a claimed number only once.
    #[uniffi::method(name = "with_claimed_number")]
    fn and_claimed_number(&self, order_number: String, provider: Option<Provider>) -> Result<Self, PaymentError> {
        Ok(self.clone().with_claimed_number(order_number, provider))
    }
}
