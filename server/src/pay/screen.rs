//! The screen of the hosted page, as one pure function of the checkout and its payments.

use crate::{
    checkouts::CheckoutView,
    payments::{MOST_REPLACED, Payment},
    values::{CheckoutState, Method, PaymentState},
};

/// The screen that the page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Screen<'a> {
    /// The choice of payment methods.
    Choose,
    /// A payment is being sent to the gateway.
    UnderWay,
    /// The form for the one-time password.
    EnterCode(&'a Payment),
    /// No attempts are left, and the payment has not ended.
    NoCodesLeft,
    /// A link to the gateway's page.
    OpenPage(&'a Payment, &'a str),
    /// The QR code to scan.
    ShowQr(&'a Payment, &'a str),
    /// The payer says that they have paid, and the gateway has not confirmed it yet. The payment is collapsed, because a second
    /// payment would be charged as well.
    Claimed(&'a Payment),
    /// The gateway declined the payer's attempt on its page. The payment is collapsed here as well: the payer may have tried
    /// again since, without a callback yet.
    Declined(&'a Payment),
    /// Waiting for the gateway's report.
    Waiting,
    /// The outcome is unknown, and is being polled.
    Unknown,
    Paid,
    /// The gateway reports a charge that cannot be trusted: the payer must not pay again.
    PersonNeeded,
    Expired,
    Cancelled,
    /// The checkout has ended, and its page or code can still be paid: a payer who has just paid must not pay again.
    Late,
}

impl<'a> Screen<'a> {
    /// The screen of a checkout. A charge has priority, then anything that could make a payer pay twice.
    pub(super) fn of(view: &'a CheckoutView) -> Self {
        let any = |state| view.payments.iter().any(|payment| payment.state == state);
        let in_doubt = |payment: &Payment| payment.state.is_in_doubt();
        let nobody_ends_it = |payment: &Payment| payment.state == PaymentState::Confirming && payment.is_stuck;
        match view.checkout.state {
            CheckoutState::Paid => Self::Paid,
            _ if view.payments.iter().any(in_doubt) || view.payments.iter().any(nobody_ends_it) => Self::PersonNeeded,
            _ if any(PaymentState::Unknown) => Self::Unknown,
            CheckoutState::Expired | CheckoutState::Cancelled if can_be_paid(view) => Self::Late,
            CheckoutState::Expired => Self::Expired,
            CheckoutState::Cancelled => Self::Cancelled,
            CheckoutState::Open => current(view).map_or(Self::Choose, Self::of_payment),
        }
    }

    fn of_payment(payment: &'a Payment) -> Self {
        match (payment.state, payment.method) {
            (PaymentState::Prepared | PaymentState::Sending, _) => Self::UnderWay,
            (PaymentState::Awaiting, method) if method.is_confirmed_by_code() => match payment.attempts_left {
                0 => Self::NoCodesLeft,
                _ => Self::EnterCode(payment),
            },
            (PaymentState::Awaiting, _) => match Self::payable(payment) {
                Some(_) if payment.is_declined_on_page() => Self::Declined(payment),
                Some(_) if payment.claimed_at.is_some() => Self::Claimed(payment),
                Some(shown) => shown,
                None => Self::Waiting,
            },
            _ => Self::Waiting,
        }
    }

    /// The screen to pay it outside this server: the gateway's page, or a code.
    fn payable(payment: &'a Payment) -> Option<Self> {
        match payment.method {
            Method::Qr => payment.qr_text.as_deref().map(|text| Self::ShowQr(payment, text)),
            _ => page_of(payment).map(|url| Self::OpenPage(payment, url)),
        }
    }

    /// The gateway's page, if the screen has one.
    pub(super) fn page_url(self) -> Option<&'a str> {
        match self.to_pay() {
            Self::OpenPage(_, url) => Some(url),
            _ => None,
        }
    }

    /// The text of the QR code, if the screen has one.
    pub(super) fn qr_text(self) -> Option<&'a str> {
        match self.to_pay() {
            Self::ShowQr(_, text) => Some(text),
            _ => None,
        }
    }

    /// The payment that can be paid outside this server.
    pub(super) fn payable_payment(self) -> Option<&'a Payment> {
        match self.to_pay() {
            Self::OpenPage(payment, _) | Self::ShowQr(payment, _) => Some(payment),
            _ => None,
        }
    }

    /// The screen that shows how to pay. If the payer claims to have paid, or was declined, it is the previous one.
    fn to_pay(self) -> Self {
        match self {
            Self::Claimed(payment) | Self::Declined(payment) => Self::payable(payment).unwrap_or(self),
            other => other,
        }
    }

    /// Its name, for the script and the stylesheet.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Choose => "choose",
            Self::UnderWay => "under-way",
            Self::EnterCode(_) => "enter-code",
            Self::NoCodesLeft => "no-codes-left",
            Self::OpenPage(..) => "open-page",
            Self::ShowQr(..) => "show-qr",
            Self::Claimed(_) => "claimed",
            Self::Declined(_) => "declined",
            Self::Waiting => "waiting",
            Self::Unknown => "unknown",
            Self::Paid => "paid",
            Self::PersonNeeded => "person-needed",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Late => "late",
        }
    }

    /// Whether a payment can be begun.
    pub(super) fn offers_ways(self) -> bool {
        matches!(self.to_pay(), Self::Choose | Self::OpenPage(..))
    }

    /// The payment that can be replaced: its payer may have typed a wrong number, or have no app for its code.
    pub(super) fn replaceable(self, view: &'a CheckoutView) -> Option<&'a Payment> {
        let (Self::EnterCode(payment) | Self::ShowQr(payment, _)) = self.to_pay() else { return None };
        let replaced = view.payments.iter().filter(|payment| payment.is_replaced).count();
        Some(payment).filter(|payment| payment.can_be_replaced() && replaced < MOST_REPLACED)
    }

    /// Whether the payer has something to do.
    pub(super) fn awaits_payer(self) -> bool {
        matches!(self, Self::Choose | Self::EnterCode(_) | Self::OpenPage(..) | Self::ShowQr(..))
    }

    /// Whether the state can change without the payer, so that the page updates itself.
    pub(super) fn can_change(self) -> bool {
        !matches!(self, Self::Paid | Self::Expired | Self::Cancelled)
    }

    /// The seconds after which a page without scripts reloads. Never while its payer may be typing.
    pub(super) fn reload_after(self) -> Option<u32> {
        match self {
            Self::UnderWay | Self::Waiting => Some(3),
            Self::ShowQr(..) | Self::Claimed(_) | Self::Declined(_) | Self::NoCodesLeft | Self::Late => Some(10),
            Self::Unknown | Self::PersonNeeded => Some(15),
            _ => None,
        }
    }
}

/// The payer's current payment: the one that may take money, else a pay-form whose page can be opened. Never a replaced one.
fn current(view: &CheckoutView) -> Option<&Payment> {
    let may_take_money = |payment: &&Payment| !payment.is_replaced && payment.state.may_take_money();
    let newest = || view.payments.iter().rev().filter(may_take_money);
    newest().find(|payment| payment.method != Method::PayForm).or_else(|| newest().next())
}

/// Whether a page or code that the payer was shown can still be paid, including a replaced QR code. A payment that was replaced
/// before its code was sent is never confirmed.
fn can_be_paid(view: &CheckoutView) -> bool {
    let is_left = |payment: &Payment| payment.is_replaced && payment.method.is_confirmed_by_code();
    view.payments.iter().any(|payment| payment.state.may_take_money() && !is_left(payment))
}

/// The last attempt, if it ended without a charge.
pub(super) fn last_failed(view: &CheckoutView) -> Option<&Payment> {
    view.payments.last().filter(|last| matches!(last.state, PaymentState::NotMade | PaymentState::Rejected))
}

/// The gateway's page of a payment, if a browser can open it.
pub(super) fn page_of(payment: &Payment) -> Option<&str> {
    payment.page_url.as_deref().filter(|url| is_web(url))
}

/// Whether a browser can open an address.
pub(super) fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// The payment methods that the page offers. It never offers cards: their form would put it under PCI DSS. It offers MegaPay only
/// if the server still accepts it.
pub(super) fn offered(view: &CheckoutView, takes_megapay: bool) -> impl Iterator<Item = Method> {
    let is_offered = move |method: &Method| match method {
        Method::Card => false,
        Method::Megapay => takes_megapay,
        Method::PayForm | Method::Qr | Method::Mbank => true,
    };
    view.checkout.methods.iter().copied().filter(is_offered)
}
