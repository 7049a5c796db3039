//! The state machine of a checkout, without any I/O: the known data, and the events that change it.

mod screen_state;

use std::collections::BTreeSet;

use crate::{
    checkout::{
        message::{CheckoutMessage, MessageTopic},
        state::{CheckoutDetails, CheckoutState, PaymentMethod},
        view::{Failure, Payment, Problem, StateOfCheckout, StateOfPayment, View},
    },
    config::peer::is_https_or_loopback_text,
    error::PaymentError,
    rule::Rule,
};

#[derive(Default)]
pub(super) struct Model {
    view: Option<View>,
    /// A payment in it may be older or newer than the rest: the answer of an action has no version.
    is_view_doubtful: bool,
    /// An action is being sent.
    is_sending: bool,
    /// The payment that an action of this object began.
    begun_here: Option<String>,
    /// The payment from whose page the payer came back.
    returned_from: Option<String>,
    /// The payer came back before the first view arrived, for example if a deep link started the app.
    came_back_early: bool,
    /// The problem with the server or the network.
    call_error: Option<CheckoutMessage>,
    /// The result of the last action, if no payment shows it.
    action_message: Option<CheckoutMessage>,
    /// Methods with no attempts left at the server.
    used_up: BTreeSet<PaymentMethod>,
    /// The open payment that the payer is replacing with another number or method.
    choosing_instead_of: Option<String>,
    /// The payment that the action in flight replaces.
    sending_instead_of: Option<String>,
    /// Methods that the server refused as a replacement of an open payment. It may accept them if no payment is open.
    refused_instead: BTreeSet<PaymentMethod>,
    is_token_refused: bool,
    /// The app renews tokens on request.
    pub(super) is_token_renewed: bool,
}

/// An action of the payer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Pay(PaymentMethod),
    Confirm,
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Self::Pay(PaymentMethod::PayForm) => "pay_by_form",
            Self::Pay(PaymentMethod::Qr) => "pay_by_qr",
            Self::Pay(PaymentMethod::Mbank) => "pay_by_mbank",
            Self::Pay(PaymentMethod::Megapay) => "pay_by_megapay",
            Self::Pay(PaymentMethod::Card) => "pay_by_card",
            Self::Confirm => "confirm",
        }
    }
}

impl Model {
    pub(super) fn details(&self) -> Option<CheckoutDetails> {
        self.view.as_ref().map(View::details)
    }

    /// The version that a long poll can start from. None while the screen says that the server cannot be reached: a long poll would
    /// leave that message there for 25 s after the server is back.
    pub(super) fn version(&self) -> Option<i64> {
        let is_sure = !self.is_view_doubtful && !self.has_call_error();
        self.view.as_ref().filter(|_| is_sure).map(|view| view.version)
    }

    /// Whether the screen reports a problem with the server or the network.
    pub(super) fn has_call_error(&self) -> bool {
        self.call_error.is_some()
    }

    pub(super) fn is_paid(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.state == StateOfCheckout::Paid)
    }

    pub(super) fn is_token_refused(&self) -> bool {
        self.is_token_refused
    }

    /// The payment that awaits a code from the payer.
    pub(super) fn awaits_otp(&self) -> Option<&str> {
        let payment = self.view.as_ref()?.current()?;
        let awaits = payment.is_confirmed_by_code() && payment.state == StateOfPayment::Awaiting;
        awaits.then_some(payment.id.as_str())
    }

    /// Whether an action fits the state.
    pub(super) fn check(&self, action: Action) -> Result<(), PaymentError> {
        let state = self.state();
        let fits = match action {
            Action::Pay(method) => state.methods().contains(&method),
            Action::Confirm => matches!(state, CheckoutState::EnterOtp { .. }),
        };
        let why = || match action {
            Action::Pay(method) => format!("{method} is not one of the ways to pay that can be begun now"),
            Action::Confirm => "no one-time password is awaited".to_owned(),
        };
        if fits { Ok(()) } else { Err(does_not_fit(action.name(), &state, &why())) }
    }

    /// The payer chooses another number or method in place of the open payment.
    pub(super) fn change_method(&mut self) -> Result<(), PaymentError> {
        let state = self.state();
        let fits = matches!(
            state,
            CheckoutState::EnterOtp { can_change_method: true, .. }
                | CheckoutState::ShowQr { can_change_method: true, .. }
        );
        if !fits {
            return Err(does_not_fit("change_method", &state, "no payment is open that can be replaced"));
        }
        self.choosing_instead_of = self.view.as_ref().and_then(View::current).map(|payment| payment.id.clone());
        self.action_message = None;
        Ok(())
    }

    /// The payer keeps the open payment.
    pub(super) fn keep_method(&mut self) -> Result<(), PaymentError> {
        let state = self.state();
        if !matches!(state, CheckoutState::Ready { can_keep_method: true, .. }) {
            return Err(does_not_fit("keep_method", &state, "no open payment is being replaced"));
        }
        self.choosing_instead_of = None;
        Ok(())
    }

    /// The payment that is replaced by the one that is begun now.
    pub(super) fn instead_of(&self) -> Option<&str> {
        self.to_be_replaced().map(|payment| payment.id.as_str())
    }

    /// An action is being sent. The result of the previous one is no longer shown, and the choice of a method is made.
    pub(super) fn sends(&mut self) {
        self.is_sending = true;
        self.action_message = None;
        self.sending_instead_of = self.instead_of().map(str::to_owned);
        self.choosing_instead_of = None;
    }

    /// The server accepted the action, and returned its payment.
    pub(super) fn began(&mut self, action: Action, payment: Payment) {
        self.is_sending = false;
        self.call_error = None;
        if matches!(action, Action::Pay(_)) {
            self.begun_here = Some(payment.id.clone());
            self.returned_from = None;
        }
        let replaced = self.sending_instead_of.take().filter(|id| *id != payment.id);
        let is_made = payment.state != StateOfPayment::NotMade;
        if replaced.is_some() && !is_made {
            // The payment that was open may be shown again, and it does not show this failure.
            self.action_message = ended(&payment);
        }
        let Some(view) = &mut self.view else { return };
        self.is_view_doubtful = true;
        // The next view shows whether a payment that was not made has replaced it.
        if let Some(left) = view.payments.iter_mut().find(|known| is_made && replaced.as_ref() == Some(&known.id)) {
            left.is_replaced = true;
        }
        match view.payments.iter_mut().find(|known| known.id == payment.id) {
            Some(known) => *known = payment,
            None => view.payments.push(payment),
        }
    }

    /// The server refused the action. The next view shows why, if another payment is the reason.
    pub(super) fn refused(&mut self, action: Action, problem: &Problem) {
        self.is_sending = false;
        self.call_error = None;
        let is_replacement = self.sending_instead_of.take().is_some();
        let mut topic = match problem.name() {
            Some("not_open") => return,
            Some("no_attempts_left") => MessageTopic::TooManyTries,
            Some("invalid") => MessageTopic::InputRefused,
            // The payer sees the open payment again, or one that was begun on another device, and has to know why.
            _ if is_replacement => MessageTopic::ChangeRefused,
            Some("under_way" | "not_awaited") => return,
            _ => MessageTopic::InputRefused,
        };
        if let (Action::Pay(method), MessageTopic::TooManyTries) = (action, topic) {
            if is_replacement {
                self.refused_instead.insert(method);
                if !self.can_change_current() {
                    // Nothing is left to choose.
                    topic = MessageTopic::ChangeRefused;
                }
            } else {
                self.used_up.insert(method);
            }
        }
        let words = (topic == MessageTopic::InputRefused).then(|| problem.words());
        self.action_message = Some(CheckoutMessage::new(topic).with_reason(words));
    }

    /// The server returned this view; true if it changed something. A late answer with an older view changes nothing.
    pub(super) fn seen(&mut self, view: View) -> bool {
        if self.view.as_ref().is_some_and(|known| known.id != view.id) {
            // The new token opens another checkout: the two must not be mixed.
            self.call_error = Some(CheckoutMessage::new(MessageTopic::NotTheServer));
            return false;
        }
        self.call_error = None;
        let is_doubtful = self.is_view_doubtful;
        let is_news = |known: &View| known.version < view.version || (is_doubtful && known.version == view.version);
        if !self.view.as_ref().is_none_or(is_news) {
            return false;
        }
        let ends = |view: &View| view.payments.iter().filter(|payment| ended(payment).is_some()).count();
        if ends(&view) > self.view.as_ref().map_or(0, ends) {
            // The end of a payment is newer than the result of an earlier action.
            self.action_message = None;
        }
        self.view = Some(view);
        self.is_view_doubtful = false;
        if self.to_be_replaced().is_none() {
            // The payment has ended or changed its state, and must not be replaced if it opens again.
            self.choosing_instead_of = None;
        }
        if std::mem::take(&mut self.came_back_early) {
            self.came_back();
        }
        true
    }

    /// The server cannot be reached, or gave no usable answer.
    pub(super) fn hindered(&mut self, message: CheckoutMessage) {
        self.call_error = Some(message);
    }

    /// The app has opened the page, and need not open it again.
    pub(super) fn page_opened(&mut self) {
        self.begun_here = None;
    }

    pub(super) fn token_refused(&mut self) {
        self.is_token_refused = true;
    }

    pub(super) fn token_renewed(&mut self) {
        self.is_token_refused = false;
        self.call_error = None;
    }

    /// The payer came back from the page that they were sent to.
    pub(super) fn came_back(&mut self) {
        self.came_back_early = self.view.is_none();
        let current = self.view.as_ref().and_then(View::current);
        self.returned_from = current.filter(|payment| page_of(payment).is_some()).map(|payment| payment.id.clone());
    }
}

fn does_not_fit(action: &str, state: &CheckoutState, why: &str) -> PaymentError {
    let sentence = format!("does not fit the state {}: {why}", state.kind());
    PaymentError::invalid(action, Rule::State, Some(state.kind()), &sentence)
}

/// The page that a payer can be sent to.
fn page_of(payment: &Payment) -> Option<&str> {
    payment.page_url.as_deref().filter(|url| is_https_or_loopback_text(url))
}

/// The message for a payment that ended without a charge.
fn ended(payment: &Payment) -> Option<CheckoutMessage> {
    let failure = payment.failure.as_ref();
    let topic = match payment.state {
        StateOfPayment::Rejected => MessageTopic::Rejected,
        StateOfPayment::NotMade if failure.is_some_and(is_refused) => MessageTopic::Refused,
        StateOfPayment::NotMade => MessageTopic::NotMade,
        _ => return None,
    };
    Some(CheckoutMessage::new(topic).declined_for(failure.and_then(|failure| failure.decline)))
}

/// Whether the gateway refused it. All other failures are technical.
fn is_refused(failure: &Failure) -> bool {
    failure.kind == "Refused"
}

#[cfg(test)]
mod tests;
