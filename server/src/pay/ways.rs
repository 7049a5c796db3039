//! The payment methods that a screen offers, each with the fields of its form.

use super::{
    context::RejectedInput,
    receipt::method_name,
    screen::{Screen, last_failed, offered},
    texts::Texts,
};
use crate::{checkouts::CheckoutView, values::Method};

/// A payment method.
pub(super) struct MethodChoice {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) hint: &'static str,
    pub(super) is_picked: bool,
    pub(super) phone: Option<PhoneInput>,
}

/// The phone field of a payment method.
pub(super) struct PhoneInput {
    pub(super) field: &'static str,
    pub(super) hint: &'static str,
    pub(super) typed: String,
    pub(super) problem: Option<&'static str>,
}

/// The name of that field. Each method has its own, because the form sends the fields of all methods.
pub(super) fn phone_field(method: Method) -> &'static str {
    if method == Method::Megapay { "wallet-phone" } else { "phone" }
}

/// The offered methods. Next to an open page: all others, because a pay-form does not block them. Instead of a payment whose code
/// is awaited: all, because the code may have gone to a wrong number. Instead of a QR code: all others.
pub(super) fn choices(view: &CheckoutView, screen: Screen<'_>, takes_megapay: bool) -> Vec<Method> {
    let offered = |view| offered(view, takes_megapay);
    let others = |than: Method| offered(view).filter(|method| *method != than).collect();
    match screen {
        Screen::Choose => offered(view).collect(),
        Screen::EnterCode(_) if screen.replaceable(view).is_some() => offered(view).collect(),
        Screen::OpenPage(payment, _)
        | Screen::ShowQr(payment, _)
        | Screen::Claimed(payment)
        | Screen::Declined(payment) => match payment.method {
            Method::PayForm => others(Method::PayForm),
            Method::Qr if screen.replaceable(view).is_some() => others(Method::Qr),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

pub(super) fn ways(
    offered: &[Method],
    t: &Texts,
    typed: &RejectedInput,
    preselected: Option<Method>,
) -> Vec<MethodChoice> {
    let picked = typed.method.or(preselected);
    let picked = picked.filter(|method| offered.contains(method)).or(offered.first().copied());
    let way = |method: &Method| {
        let hint = match method {
            Method::PayForm => t.pay_form_hint,
            Method::Qr => t.qr_hint,
            Method::Mbank | Method::Card => t.mbank_hint,
            Method::Megapay => t.megapay_hint,
        };
        let phone = |hint, value: &str| PhoneInput {
            field: phone_field(*method),
            hint,
            typed: value.to_owned(),
            problem: typed.phone_problem.filter(|_| typed.method == Some(*method)),
        };
        let phone = match method {
            Method::Mbank => Some(phone(t.phone_hint, &typed.phone)),
            Method::Megapay => Some(phone(t.megapay_phone_hint, &typed.wallet_phone)),
            Method::PayForm | Method::Qr | Method::Card => None,
        };
        MethodChoice {
            name: method.into(),
            title: method_name(*method, t),
            hint,
            is_picked: picked == Some(*method),
            phone,
        }
    };
    offered.iter().map(way).collect()
}

/// The preselected method: that of the last attempt, whose payer may only have mistyped; while a one-time password is awaited,
/// the same one for another number.
pub(super) fn preselected(view: &CheckoutView, screen: Screen<'_>) -> Option<Method> {
    match screen {
        Screen::EnterCode(payment) => Some(payment.method),
        _ => last_failed(view).map(|payment| payment.method),
    }
}
