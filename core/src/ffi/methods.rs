//! Methods of values that hold an amount, exported as fallible ones. Other languages can pass an amount that is not a
//! valid number here (NaN, too many digits). The conversion then fails, and in a method without an error the generated
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
    /// The payment reference. Store it **before** sending, so that you can query the payment whatever happens.
    "payment_ref" exported_payment_ref: PaymentRef = |payment| payment.payment_ref();
    /// Advice about the request, to review before sending. It blocks nothing.
    "advice" exported_advice: Vec<Advice> = |payment| payment.advice();
});

export_fallible!(MegapayPayment {
    /// The payment reference. Store it **before** sending, so that you can query the payment whatever happens.
    "payment_ref" exported_payment_ref: PaymentRef = |payment| payment.payment_ref();
    /// Advice about the request, to review before sending. It blocks nothing.
    "advice" exported_advice: Vec<Advice> = |payment| payment.advice();
});

export_fallible!(PayForm {
    /// The payment reference, with the requested amount. Store it **before** sending. The payer chooses the method, so the payment has no
    /// number until a callback or a return claims one.
    "payment_ref" exported_payment_ref: PaymentRef = |form| form.payment_ref();
    /// Advice about the request, to review before sending. It blocks nothing.
    "advice" exported_advice: Vec<Advice> = |form| form.advice();
});

export_fallible!(Callback {
    /// Idempotency key of the notification: the same text for every copy of it, however it is formatted. Store it, to recognize repeated
    /// and replayed callbacks. **Absent if the callback has no status**: then the next one about the same payment may look the same and
    /// report something new, so treat every such callback as new.
    "dedup_key" exported_dedup_key: Option<String> = |callback| callback.dedup_key();
    /// A reference of the payment, for a merchant who has stored none; absent for a QR payment, whose callback has no number to query by.
    /// **Its number is only claimed**, and the requested amount is not known, so no check of it ever reports a charge: query with the
    /// reference that was made at the sale.
    "payment_ref" exported_payment_ref: Option<PaymentRef> = |callback| callback.payment_ref();
});

#[uniffi::export]
impl Callback {
    /// The status that the callback claims, by the words of the gateway's dialect, if given. The field `status` uses only the default
    /// words. The lists of the whole dialect apply; for a callback about a QR payment, also the lists of the endpoint `qr_status`.
    #[uniffi::method(name = "status_by")]
    fn exported_status_by(&self, dialect: Arc<Dialect>) -> Result<Option<PaymentStatus>, PaymentError> {
        Ok(self.status_by(&dialect))
    }
}

export_fallible!(PaymentRef {
    /// The short text form. Store it unchanged.
    "as_text" exported_as_text: String = |payment| payment.to_string();
    /// True if the payment has a number to query by: the transaction of a QR payment, the gateway's number, or an order number. Only such a
    /// payment can be checked or watched.
    "can_be_checked" exported_can_be_checked: bool = |payment| payment.can_be_checked();
});

export_fallible!(PaymentEntry {
    /// The short text form. Store it unchanged. Its checksum shows whether it is complete.
    "as_text" exported_as_text: String = |entry| entry.to_string();
});

export_fallible!(CardPaymentCreated {
    /// The entry to store in place of the reference: it also holds the confirmation page, if any.
    "entry" exported_entry: PaymentEntry = |created| created.entry();
});

export_fallible!(MbankPaymentCreated {
    /// The entry to store in place of the reference.
    "entry" exported_entry: PaymentEntry = |created| created.entry();
});

export_fallible!(MegapayChecked {
    /// The entry to store in place of the reference.
    "entry" exported_entry: PaymentEntry = |checked| checked.entry();
});

export_fallible!(PayFormCreated {
    /// The entry to store in place of the reference: it also holds the page.
    "entry" exported_entry: PaymentEntry = |created| created.entry();
});

export_fallible!(QrData {
    /// The entry to store in place of the reference: it also holds the text of the code, if the dialect finds it.
    "entry" exported_entry: PaymentEntry = |data| data.entry();
    /// Advice on values that the dialect does not find in the response. It blocks nothing.
    "advice" exported_advice: Vec<Advice> = |data| data.advice();
});

export_fallible!(Verdict {
    /// True if the money was taken, and the report does not contradict the request.
    "is_charged" exported_is_charged: bool = |verdict| verdict.is_charged();
});

export_fallible!(PaymentError {
    /// True if **this call** may have moved money: only for an unknown outcome.
    "payment_may_exist" exported_payment_may_exist: bool = |error| error.payment_may_exist();
    /// True if the same call can be made again later.
    "is_retryable" exported_is_retryable: bool = |error| error.is_retryable();
    /// The error in one English sentence or two: what happened, and what to do.
    "describe" exported_describe: String = |error| error.describe();
    /// The variant's name, the same in every language.
    "kind" exported_kind: String = |error| error.kind().to_owned();
});

// Constructors of payment references, as functions: records have none in the generated code. Functions with an amount are fallible, because
// other languages can pass a number that is invalid here.

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

/// A payment by a dynamic QR code, with the amount in whole tyiyn if the code has one. It has no transaction yet.
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

    /// The same QR payment, with the identifier of its transaction, from the response to the request for the code.
    #[uniffi::method(name = "with_transaction_id")]
    fn and_transaction_id(&self, transaction_id: String) -> Result<Self, PaymentError> {
        Ok(self.clone().with_transaction_id(transaction_id))
    }

    /// The same payment, with the order number and the provider that a callback or a return claims. Without a provider,
    /// every provider is queried. One payment pays for one order: accept a claimed number only once.
    #[uniffi::method(name = "with_claimed_number")]
    fn and_claimed_number(&self, order_number: String, provider: Option<Provider>) -> Result<Self, PaymentError> {
        Ok(self.clone().with_claimed_number(order_number, provider))
    }
}
