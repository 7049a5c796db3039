//! The screen of the hosted page, as one pure function of the checkout and its payments.

use crate::{
    checkouts::CheckoutView,
    payments::{MOST_REPLACED, Payment},
    values::{CheckoutState, Method, PaymentState},
};

/// The screen that the page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Screen<'a> {
    /// The ways to pay.
    Choose,
    /// A payment is on its way to the gateway.
    UnderWay,
    /// The form for the one-time password.
    EnterCode(&'a Payment),
    /// No password may be tried any more, and the payment has not ended.
    NoCodesLeft,
    /// The gateway's page is to be opened.
    OpenPage(&'a Payment, &'a str),
    /// The code is to be scanned.
    ShowQr(&'a Payment, &'a str),
    /// The payer says that they have paid, and the gateway has not confirmed it yet. The way to pay is collapsed, as a second payment
    /// would be charged as well.
    Claimed(&'a Payment),
    /// The gateway declined what the payer tried on its page. The way to pay is collapsed here as well: they may have tried again
    /// since, and no callback has named that yet.
    Declined(&'a Payment),
    /// The gateway's report is waited for.
    Waiting,
    /// It may have happened, and is being found out.
    Unknown,
    Paid,
    /// The gateway reports a charge that cannot be believed: the payer must not pay again.
    PersonNeeded,
    Expired,
    Cancelled,
    /// It is over, and what the payer was shown can still be paid: who has just paid must not pay again.
    Late,
}

impl<'a> Screen<'a> {
    /// A charge comes before everything else, then whatever could make somebody pay twice.
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

    /// What the payer needs to pay it without this server: the gateway's page, or a code.
    fn payable(payment: &'a Payment) -> Option<Self> {
        match payment.method {
            Method::Qr => payment.qr_text.as_deref().map(|text| Self::ShowQr(payment, text)),
            _ => page_of(payment).map(|url| Self::OpenPage(payment, url)),
        }
    }

    /// The gateway's page that can be opened.
    pub(super) fn page_url(self) -> Option<&'a str> {
        match self.to_pay() {
            Self::OpenPage(_, url) => Some(url),
            _ => None,
        }
    }

    /// The text of the code that can be scanned.
    pub(super) fn qr_text(self) -> Option<&'a str> {
        match self.to_pay() {
            Self::ShowQr(_, text) => Some(text),
            _ => None,
        }
    }

    /// The payment that can be paid without this server.
    pub(super) fn payable_payment(self) -> Option<&'a Payment> {
        match self.to_pay() {
            Self::OpenPage(payment, _) | Self::ShowQr(payment, _) => Some(payment),
            _ => None,
        }
    }

    /// The screen that shows how to pay: where the payer says that they have paid, or was declined, the one that was shown before.
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

    /// The payment that another one can be begun instead of: its payer may have typed somebody else's number, or have no app for
    /// its code.
    pub(super) fn replaceable(self, view: &'a CheckoutView) -> Option<&'a Payment> {
        let (Self::EnterCode(payment) | Self::ShowQr(payment, _)) = self.to_pay() else { return None };
        let replaced = view.payments.iter().filter(|payment| payment.is_replaced).count();
        Some(payment).filter(|payment| payment.can_be_replaced() && replaced < MOST_REPLACED)
    }

    /// Whether the payer has something to do.
    pub(super) fn awaits_payer(self) -> bool {
        matches!(self, Self::Choose | Self::EnterCode(_) | Self::OpenPage(..) | Self::ShowQr(..))
    }

    /// Whether something is awaited that the page should show by itself.
    pub(super) fn can_change(self) -> bool {
        !matches!(self, Self::Paid | Self::Expired | Self::Cancelled)
    }

    /// After how many seconds a page without scripts looks again. Never while its payer may be typing.
    pub(super) fn reload_after(self) -> Option<u32> {
        match self {
            Self::UnderWay | Self::Waiting => Some(3),
            Self::ShowQr(..) | Self::Claimed(_) | Self::Declined(_) | Self::NoCodesLeft | Self::Late => Some(10),
            Self::Unknown | Self::PersonNeeded => Some(15),
            _ => None,
        }
    }
}

/// The payment that the payer is about: the one that may take money, else a pay-form whose page can be opened. None that the payer
/// left for another.
fn current(view: &CheckoutView) -> Option<&Payment> {
    let may_take_money = |payment: &&Payment| !payment.is_replaced && payment.state.may_take_money();
    let newest = || view.payments.iter().rev().filter(may_take_money);
    newest().find(|payment| payment.method != Method::PayForm).or_else(|| newest().next())
}

/// Whether something that the payer was shown can still be paid: also a QR code that was left. A payment that was left before its
/// code was sent is never confirmed.
fn can_be_paid(view: &CheckoutView) -> bool {
    let is_left = |payment: &Payment| payment.is_replaced && payment.method.is_confirmed_by_code();
    view.payments.iter().any(|payment| payment.state.may_take_money() && !is_left(payment))
}

/// The end of the last try, if it ended and no money was taken.
pub(super) fn last_failed(view: &CheckoutView) -> Option<&Payment> {
    view.payments.last().filter(|last| matches!(last.state, PaymentState::NotMade | PaymentState::Rejected))
}

/// The gateway's page of a payment, where a browser can open it.
pub(super) fn page_of(payment: &Payment) -> Option<&str> {
    payment.page_url.as_deref().filter(|url| is_web(url))
}

/// An address that a browser opens.
pub(super) fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// The ways to pay that the page offers. Cards are none: their form would put it under PCI DSS. MegaPay is one where the server
/// takes it still.
pub(super) fn offered(view: &CheckoutView, takes_megapay: bool) -> impl Iterator<Item = Method> {
    let is_offered = move |method: &Method| match method {
        Method::Card => false,
        Method::Megapay => takes_megapay,
        Method::PayForm | Method::Qr | Method::Mbank => true,
    };
    view.checkout.methods.iter().copied().filter(is_offered)
}
