//! The state of the payment screen, derived from the model of a checkout.

use super::{Model, ended, is_refused, page_of};
use crate::{
    checkout::{
        message::{CheckoutMessage, MessageTopic},
        state::{CheckoutState, PaymentMethod},
        view::{Failure, Payment, StateOfCheckout, StateOfPayment, View},
    },
    config::dialect::decline_reason::DeclineReason,
};

impl Model {
    pub(in crate::checkout) fn state(&self) -> CheckoutState {
        let message = self.call_error.clone();
        let Some(view) = &self.view else {
            return if self.is_locked_out() { CheckoutState::TokenExpired } else { CheckoutState::Opening { message } };
        };
        match view.state {
            StateOfCheckout::Paid => CheckoutState::Paid { amount: view.amount, currency: view.currency.clone() },
            _ if self.is_locked_out() => CheckoutState::TokenExpired,
            _ if self.is_sending => CheckoutState::Sending { message },
            StateOfCheckout::Expired => self.late(view).unwrap_or(CheckoutState::Expired),
            StateOfCheckout::Cancelled => self
                .late(view)
                .unwrap_or_else(|| CheckoutState::NotPaid { reason: CheckoutMessage::new(MessageTopic::Cancelled) }),
            StateOfCheckout::Open => match view.current() {
                Some(payment) if self.is_to_be_replaced(view, payment) => self.choosing_again(view, payment),
                Some(payment) => self.during(view, payment),
                None => self.ready(view),
            },
            StateOfCheckout::Other => CheckoutState::Waiting { page_url: None, methods: Vec::new(), message },
        }
    }

    /// The token was rejected, and the app does not renew tokens.
    fn is_locked_out(&self) -> bool {
        self.is_token_refused && !self.is_token_renewed
    }

    /// A charge may have arrived after the end: the payer must not pay again before that is known.
    fn late(&self, view: &View) -> Option<CheckoutState> {
        let payment = view.current()?;
        let may_have_paid = match payment.state {
            StateOfPayment::Mismatch | StateOfPayment::Unverifiable => return Some(self.during(view, payment)),
            StateOfPayment::Awaiting => self.returned_from.as_ref() == Some(&payment.id),
            _ => true,
        };
        let unknown = || CheckoutMessage::new(MessageTopic::OutcomeUnknown);
        may_have_paid.then(|| CheckoutState::Waiting {
            page_url: None,
            methods: Vec::new(),
            message: self.call_error.clone().or_else(|| Some(unknown())),
        })
    }

    fn ready(&self, view: &View) -> CheckoutState {
        let methods = self.methods(view, None);
        // If no method is left, the shop has to open another checkout.
        if methods.is_empty() && !self.used_up.is_empty() {
            return CheckoutState::NotPaid { reason: CheckoutMessage::new(MessageTopic::TooManyTries) };
        }
        CheckoutState::Ready { methods, message: self.news(view), can_keep_method: false }
    }

    fn choosing_again(&self, view: &View, payment: &Payment) -> CheckoutState {
        let methods = self.other_methods(view, payment);
        CheckoutState::Ready { methods, message: self.news(view), can_keep_method: true }
    }

    /// The open payment that the payer is replacing, while it can be replaced.
    pub(super) fn to_be_replaced(&self) -> Option<&Payment> {
        let view = self.view.as_ref().filter(|view| view.state == StateOfCheckout::Open)?;
        view.current().filter(|payment| self.is_to_be_replaced(view, payment))
    }

    fn is_to_be_replaced(&self, view: &View, payment: &Payment) -> bool {
        self.choosing_instead_of.as_ref() == Some(&payment.id) && self.can_change(view, payment)
    }

    /// Whether the payer can replace a payment with another number or method.
    fn can_change(&self, view: &View, payment: &Payment) -> bool {
        view.can_replace(payment) && !self.other_methods(view, payment).is_empty()
    }

    /// Whether the payer can replace the current payment.
    pub(super) fn can_change_current(&self) -> bool {
        let view = self.view.as_ref();
        view.is_some_and(|view| view.current().is_some_and(|payment| self.can_change(view, payment)))
    }

    /// The methods that can replace a payment: also the same method with another number, and no second QR code.
    fn other_methods(&self, view: &View, payment: &Payment) -> Vec<PaymentMethod> {
        let mut methods = self.methods(view, payment.method.filter(|method| *method == PaymentMethod::Qr));
        methods.retain(|method| !self.refused_instead.contains(method));
        methods
    }

    fn during(&self, view: &View, payment: &Payment) -> CheckoutState {
        let message = self.call_error.clone();
        let waiting = |message| CheckoutState::Waiting { page_url: None, methods: Vec::new(), message };
        match payment.state {
            StateOfPayment::Mismatch | StateOfPayment::Unverifiable => {
                CheckoutState::PersonNeeded { message: CheckoutMessage::new(MessageTopic::Mismatch) }
            }
            StateOfPayment::Prepared | StateOfPayment::Sending => CheckoutState::Sending { message },
            StateOfPayment::Unknown => {
                waiting(message.or_else(|| Some(CheckoutMessage::new(MessageTopic::OutcomeUnknown))))
            }
            StateOfPayment::Awaiting => {
                self.awaiting(view, payment).unwrap_or_else(|| waiting(message.or_else(|| self.change_refused())))
            }
            _ => waiting(message.or_else(|| self.change_refused())),
        }
    }

    /// The state for an action that the payer has to take, if any.
    fn awaiting(&self, view: &View, payment: &Payment) -> Option<CheckoutState> {
        let can_change_method = self.can_change(view, payment);
        if let Some(method) = payment.method.filter(|method| method.is_confirmed_by_code()) {
            let failed = || payment.failure.as_ref().map(code_not_taken);
            return Some(CheckoutState::EnterOtp {
                method,
                attempts_left: payment.attempts_left.filter(|left| *left > 0)?,
                message: self.own_message().or_else(failed),
                phone_last2: payment.phone_last2.clone(),
                commission: payment.commission,
                total: payment.total,
                code_expires_at: payment.code_expires_at(),
                can_change_method,
            });
        }
        if let Some(text) = payment.qr_text.clone() {
            return Some(CheckoutState::ShowQr { text, message: self.own_message(), can_change_method });
        }
        let url = page_of(payment)?.to_owned();
        let is_form = payment.method == Some(PaymentMethod::PayForm);
        let methods = if is_form { self.methods(view, Some(PaymentMethod::PayForm)) } else { Vec::new() };
        let is_this = |id: &Option<String>| id.as_ref() == Some(&payment.id);
        let message = self.news(view);
        Some(if is_this(&self.returned_from) {
            CheckoutState::Waiting { page_url: Some(url), methods, message }
        } else {
            CheckoutState::OpenPage { url, begun_here: is_this(&self.begun_here), methods, message }
        })
    }

    fn methods(&self, view: &View, but: Option<PaymentMethod>) -> Vec<PaymentMethod> {
        let left = |method: &PaymentMethod| !self.used_up.contains(method) && Some(*method) != but;
        view.methods.iter().copied().filter(left).collect()
    }

    /// The problem with the server, else the result of the last action, else of the last payment.
    fn news(&self, view: &View) -> Option<CheckoutMessage> {
        self.own_message().or_else(|| view.payments.last().and_then(ended))
    }

    /// The problem with the server, else the result of the last action.
    fn own_message(&self) -> Option<CheckoutMessage> {
        self.call_error.clone().or_else(|| self.action_message.clone())
    }

    /// The refusal of a change: the only result of an action that matters while the payer waits.
    fn change_refused(&self) -> Option<CheckoutMessage> {
        self.action_message.clone().filter(|message| message.topic == MessageTopic::ChangeRefused)
    }
}

fn code_not_taken(failure: &Failure) -> CheckoutMessage {
    let topic = if is_refused(failure) { MessageTopic::CodeRefused } else { MessageTopic::CodeNotSent };
    // The message already says that the code was wrong.
    CheckoutMessage::new(topic).declined_for(failure.decline.filter(|reason| *reason != DeclineReason::WrongCode))
}
