//! The states of a checkout that a payment screen shows to its payer (state machine).

use std::time::SystemTime;

use rust_decimal::Decimal;
use strum::{Display, EnumString, IntoStaticStr};

use crate::checkout::message::CheckoutMessage;

/// A payment method.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumString)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum PaymentMethod {
    /// The gateway's own page, where the payer chooses: [`Checkout::pay_by_form`](crate::Checkout::pay_by_form).
    PayForm,
    /// A QR code, which an app of a bank scans: [`Checkout::pay_by_qr`](crate::Checkout::pay_by_qr).
    Qr,
    /// The mobile bank, confirmed by a one-time password: [`Checkout::pay_by_mbank`](crate::Checkout::pay_by_mbank).
    Mbank,
    /// A MegaPay wallet, confirmed by a PIN that is sent to the payer, if the merchant's server accepts it:
    /// [`Checkout::pay_by_megapay`](crate::Checkout::pay_by_megapay).
    Megapay,
    /// A card, if the merchant's server accepts cards: [`Checkout::pay_by_card`](crate::Checkout::pay_by_card).
    Card,
}

impl PaymentMethod {
    /// Whether the payer types a code from a message to pay by it.
    pub(crate) fn is_confirmed_by_code(self) -> bool {
        matches!(self, Self::Mbank | Self::Megapay)
    }
}

/// The amount and description of a checkout. They never change.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckoutDetails {
    /// The shop's own reference, such as an order number, which a payer can give to the shop's support.
    pub reference: String,
    /// The amount, in units of the currency.
    #[cfg_attr(feature = "serde", serde(with = "crate::serialized::decimal"))]
    pub amount: Decimal,
    /// The currency's three letters.
    pub currency: String,
    /// What is paid for.
    pub description: String,
    /// The methods that the shop allows, without those that this version does not know.
    pub methods: Vec<PaymentMethod>,
    /// The URL that the payer returns to from a page: a page of the shop, or a deep link of the app.
    pub return_url: String,
    /// When it expires, by the server's clock.
    #[cfg_attr(feature = "serde", serde(rename = "expires_at_ms", with = "crate::serialized::moment"))]
    pub expires_at: SystemTime,
}

/// The state of a checkout, which a payment screen shows. Its message, if any, is for the payer to read ([`CheckoutMessage::text_in`]). A
/// message about the network stays while the problem lasts, and **never means that the payment failed**.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[derive(Clone, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum CheckoutState {
    /// The server has not answered yet.
    #[non_exhaustive]
    Opening {
        /// Why not, if there is a problem with the server.
        message: Option<CheckoutMessage>,
    },
    /// The payer chooses a method.
    #[non_exhaustive]
    Ready {
        /// The methods. The list may be empty.
        methods: Vec<PaymentMethod>,
        /// The result of the last attempt, if any.
        message: Option<CheckoutMessage>,
        /// True while the payer chooses again although a payment is open: they can go back to it
        /// ([`Checkout::keep_method`](crate::Checkout::keep_method)).
        can_keep_method: bool,
    },
    /// The payer's action is being sent. No other action is possible until it ends.
    #[non_exhaustive]
    Sending {
        /// The problem with the server.
        message: Option<CheckoutMessage>,
    },
    /// The payer enters the code from a message, which is the one-time password of the mobile bank or the PIN of a MegaPay wallet:
    /// [`Checkout::confirm`](crate::Checkout::confirm). **With it the payer agrees to the total**: show it first, as
    /// [`CheckoutTexts::cost`](crate::CheckoutTexts::cost) formats it.
    #[non_exhaustive]
    EnterOtp {
        /// The method that is confirmed.
        method: PaymentMethod,
        /// The number of attempts left.
        attempts_left: u32,
        /// Why the last code was not accepted, if any.
        message: Option<CheckoutMessage>,
        /// The last two digits of the phone that receives the code, if the server has them.
        phone_last2: Option<String>,
        /// The commission that the payer pays in addition to the amount, in units of the currency, if the gateway's response has one.
        #[cfg_attr(feature = "serde", serde(default, with = "crate::serialized::optional_decimal"))]
        commission: Option<Decimal>,
        /// The amount that the payer pays in all, if the gateway's response has a commission.
        #[cfg_attr(feature = "serde", serde(default, with = "crate::serialized::optional_decimal"))]
        total: Option<Decimal>,
        /// When the code expires, by the server's clock, if the gateway's response says so.
        #[cfg_attr(
            feature = "serde",
            serde(rename = "code_expires_at_ms", default, with = "crate::serialized::optional_moment")
        )]
        code_expires_at: Option<SystemTime>,
        /// Whether the payer can choose another number or another method
        /// ([`Checkout::change_method`](crate::Checkout::change_method)).
        can_change_method: bool,
    },
    /// The payer pays, or confirms a card payment (3DS), on a page of the gateway.
    #[non_exhaustive]
    OpenPage {
        /// The page: https, or loopback.
        url: String,
        /// True if an action of this object led here: open the page at once, and call [`page_opened`](crate::Checkout::page_opened). False
        /// after that, after a restart of the app, and if another device began the payment: show a button that opens it.
        begun_here: bool,
        /// Other methods that the payer can use instead.
        methods: Vec<PaymentMethod>,
        /// The result of another attempt.
        message: Option<CheckoutMessage>,
    },
    /// The payer scans a code with the app of a bank: draw the text with [`QrCode`](crate::QrCode). On the phone itself, the text opens
    /// that app if it is a link.
    #[non_exhaustive]
    ShowQr {
        /// The text of the code.
        text: String,
        /// The problem with the server, or the result of the last action.
        message: Option<CheckoutMessage>,
        /// Whether the payer can choose another method ([`Checkout::change_method`](crate::Checkout::change_method)). **An abandoned code
        /// can still be paid**, so warn a payer who may have paid by it.
        can_change_method: bool,
    },
    /// The payer has nothing more to do, and the payment is polled.
    #[non_exhaustive]
    Waiting {
        /// The page that the payer came back from, which a button can open again.
        page_url: Option<String>,
        /// Other methods that the payer can use instead.
        methods: Vec<PaymentMethod>,
        /// The result so far, or the problem with the server.
        message: Option<CheckoutMessage>,
    },
    /// **Paid**, by the gateway's own report to the merchant's server. Final.
    #[non_exhaustive]
    Paid {
        /// The paid amount.
        #[cfg_attr(feature = "serde", serde(with = "crate::serialized::decimal"))]
        amount: Decimal,
        /// The currency's three letters.
        currency: String,
    },
    /// Not paid, and it cannot be paid any more.
    #[non_exhaustive]
    NotPaid {
        /// Why.
        reason: CheckoutMessage,
    },
    /// The merchant's staff must find out whether the money was taken. **The payer must not pay again.**
    #[non_exhaustive]
    PersonNeeded {
        /// The message for the payer.
        message: CheckoutMessage,
    },
    /// It was not paid in time.
    Expired,
    /// The client token is invalid, expired or revoked, and no new one was provided
    /// ([`Checkout::renew_token`](crate::Checkout::renew_token)). **It says nothing about the money.**
    TokenExpired,
}

impl CheckoutState {
    /// True if the checkout is paid, which is final.
    pub fn is_paid(&self) -> bool {
        matches!(self, Self::Paid { .. })
    }

    /// The state's name, the same in every language, such as `enter_otp`.
    pub fn kind(&self) -> &'static str {
        self.into()
    }

    /// The methods that the payer can use in this state.
    pub(crate) fn methods(&self) -> &[PaymentMethod] {
        match self {
            Self::Ready { methods, .. } | Self::OpenPage { methods, .. } | Self::Waiting { methods, .. } => methods,
            _ => &[],
        }
    }
}
