//! The states of a payment (state machine), as one pure function: a trigger and a state give the next state and its event. The
//! storage writes both in one transaction, or neither.

use strum::EnumIter;

use crate::{
    events::EventKind,
    values::{Method, PaymentState},
};

/// The triggers of a payment's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
pub enum Trigger {
    /// Its sender starts to send it.
    SendingTaken,
    /// The gateway accepted it; its page or code exists. Only its sender can report this.
    Accepted,
    /// Certainly nothing happened. Only its sender can report this.
    CertainlyNothing,
    /// It was sent, and no trustworthy response arrived.
    OutcomeUnknown,
    /// It was recorded and not sent for so long that nobody will send it any more.
    PreparedTooLong,
    /// It was being sent, and by now its sender is dead or has no response.
    SendingTooLong,
    /// The payer's one-time password is about to be sent.
    ConfirmationBegun,
    /// The one-time password was refused, or certainly not sent.
    NotConfirmed,
    /// The gateway's report: pending.
    ReportedOpen,
    /// The gateway's report: charged, and nothing contradicts the request.
    ReportedCharged,
    /// The gateway's report: rejected.
    ReportedRejected,
    /// The gateway's reports: another order, amount or currency than requested.
    ReportedMismatch,
    /// The gateway's reports: a charge that cannot be verified.
    ReportedUnverifiable,
    /// A person found out that it was charged.
    ResolvedCharged,
    /// A person found out that it was not.
    ResolvedNotCharged,
}

/// True if a person may decide its outcome: it has not ended, and no request of the server is being sent.
pub fn is_for_a_person(state: PaymentState) -> bool {
    matches!(state, PaymentState::Unknown | PaymentState::Awaiting | PaymentState::Confirming) || state.is_in_doubt()
}

/// A change of state, with its one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The state from now on.
    pub to: PaymentState,
    /// The event to record.
    pub event: EventKind,
    /// The previous state, if a charge came after an end without one, or if a person decided.
    pub after: Option<PaymentState>,
}

/// The transition; `None` if the trigger comes too late or does not apply.
///
/// - **Charged is absorbing**, and the gateway's own report makes it from every other state.
/// - **Unknown ends by a report or a person**, or by the late response of its own sender; never by time. A report that
///   contradicts the person is a charge after an end, and has an event.
/// - What moves no money (a pay-form, a QR code) and was interrupted becomes not made: nobody has seen its page or code.
pub fn next(state: PaymentState, method: Method, trigger: Trigger) -> Option<Transition> {
    use PaymentState as S;
    use Trigger as H;
    let to = match (state, trigger) {
        (S::Charged, _) => return None,
        (_, H::ReportedCharged) => S::Charged,
        (S::Prepared, H::SendingTaken) => S::Sending,
        (S::Prepared, H::CertainlyNothing | H::PreparedTooLong) => S::NotMade,
        (S::Sending | S::Unknown, H::Accepted) => S::Awaiting,
        (S::Sending | S::Unknown, H::CertainlyNothing) => S::NotMade,
        (S::Sending, H::OutcomeUnknown | H::SendingTooLong) => {
            if method.moves_money() {
                S::Unknown
            } else {
                S::NotMade
            }
        }
        (S::Unknown, H::ReportedOpen) => S::Awaiting,
        (S::Awaiting, H::ConfirmationBegun) if method.is_confirmed_by_code() => S::Confirming,
        (S::Confirming, H::NotConfirmed) => S::Awaiting,
        (S::Unknown | S::Awaiting | S::Confirming, H::ReportedRejected) => S::Rejected,
        // Also after an end: the gateway reports a charge of which only a person can say whether it paid.
        (S::Unknown | S::Awaiting | S::Confirming | S::Rejected | S::NotMade, H::ReportedMismatch) => S::Mismatch,
        (S::Unknown | S::Awaiting | S::Confirming | S::Rejected | S::NotMade, H::ReportedUnverifiable) => {
            S::Unverifiable
        }
        (state, H::ResolvedCharged) if is_for_a_person(state) => S::Charged,
        (state, H::ResolvedNotCharged) if is_for_a_person(state) => S::Rejected,
        _ => return None,
    };
    if matches!(trigger, H::ResolvedCharged | H::ResolvedNotCharged) {
        return Some(Transition { to, event: EventKind::PaymentResolved, after: Some(state) });
    }
    let after = (to == S::Charged && state.is_final()).then_some(state);
    Some(Transition { to, event: event_of(state, to), after })
}

fn event_of(from: PaymentState, to: PaymentState) -> EventKind {
    match (from, to) {
        (_, PaymentState::Prepared) => EventKind::PaymentCreated,
        (_, PaymentState::Sending) => EventKind::PaymentSending,
        (_, PaymentState::NotMade) => EventKind::PaymentNotMade,
        (_, PaymentState::Unknown) => EventKind::PaymentUnknown,
        (PaymentState::Confirming, PaymentState::Awaiting) => EventKind::PaymentNotConfirmed,
        (_, PaymentState::Awaiting) => EventKind::PaymentAccepted,
        (_, PaymentState::Confirming) => EventKind::PaymentConfirming,
        (_, PaymentState::Charged) => EventKind::PaymentCharged,
        (_, PaymentState::Rejected) => EventKind::PaymentRejected,
        (_, PaymentState::Mismatch) => EventKind::PaymentMismatch,
        (_, PaymentState::Unverifiable) => EventKind::PaymentUnverifiable,
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator;

    use super::{PaymentState::*, Trigger::*, *};

    /// All that changes anything; whatever else happens changes nothing.
    const BY_CODE: [(PaymentState, Trigger, PaymentState); 44] = [
        (Prepared, SendingTaken, Sending),
        (Prepared, CertainlyNothing, NotMade),
        (Prepared, PreparedTooLong, NotMade),
        (Prepared, ReportedCharged, Charged),
        (Sending, Accepted, Awaiting),
        (Sending, CertainlyNothing, NotMade),
        (Sending, OutcomeUnknown, Unknown),
        (Sending, SendingTooLong, Unknown),
        (Sending, ReportedCharged, Charged),
        (Unknown, Accepted, Awaiting),
        (Unknown, CertainlyNothing, NotMade),
        (Unknown, ReportedOpen, Awaiting),
        (Unknown, ReportedCharged, Charged),
        (Unknown, ReportedRejected, Rejected),
        (Unknown, ReportedMismatch, Mismatch),
        (Unknown, ReportedUnverifiable, Unverifiable),
        (Unknown, ResolvedCharged, Charged),
        (Unknown, ResolvedNotCharged, Rejected),
        (Awaiting, ConfirmationBegun, Confirming),
        (Awaiting, ReportedCharged, Charged),
        (Awaiting, ReportedRejected, Rejected),
        (Awaiting, ReportedMismatch, Mismatch),
        (Awaiting, ReportedUnverifiable, Unverifiable),
        (Awaiting, ResolvedCharged, Charged),
        (Awaiting, ResolvedNotCharged, Rejected),
        (Confirming, NotConfirmed, Awaiting),
        (Confirming, ReportedCharged, Charged),
        (Confirming, ReportedRejected, Rejected),
        (Confirming, ReportedMismatch, Mismatch),
        (Confirming, ReportedUnverifiable, Unverifiable),
        (Confirming, ResolvedCharged, Charged),
        (Confirming, ResolvedNotCharged, Rejected),
        (NotMade, ReportedCharged, Charged),
        (NotMade, ReportedMismatch, Mismatch),
        (NotMade, ReportedUnverifiable, Unverifiable),
        (Rejected, ReportedCharged, Charged),
        (Rejected, ReportedMismatch, Mismatch),
        (Rejected, ReportedUnverifiable, Unverifiable),
        (Mismatch, ReportedCharged, Charged),
        (Mismatch, ResolvedCharged, Charged),
        (Mismatch, ResolvedNotCharged, Rejected),
        (Unverifiable, ReportedCharged, Charged),
        (Unverifiable, ResolvedCharged, Charged),
        (Unverifiable, ResolvedNotCharged, Rejected),
    ];

    #[test]
    fn transition_table_covers_states_and_triggers() {
        for (state, trigger) in PaymentState::iter().flat_map(|state| Trigger::iter().map(move |it| (state, it))) {
            let listed = BY_CODE.iter().find(|row| (row.0, row.1) == (state, trigger)).map(|row| row.2);
            for method in [Method::Mbank, Method::Megapay] {
                let actual = next(state, method, trigger).map(|change| change.to);
                assert_eq!(actual, listed, "{method} {state} {trigger:?}");
            }
            let by_card = next(state, Method::Card, trigger).map(|change| change.to);
            let is_otp = (state, trigger) == (Awaiting, ConfirmationBegun);
            assert_eq!(by_card, listed.filter(|_| !is_otp), "by card {state} {trigger:?}");
            for method in [Method::PayForm, Method::Qr] {
                let actual = next(state, method, trigger).map(|change| change.to);
                let expected = match (state, trigger) {
                    (Sending, OutcomeUnknown | SendingTooLong) => Some(NotMade),
                    (Awaiting, ConfirmationBegun) => None,
                    _ => listed,
                };
                assert_eq!(actual, expected, "{method} {state} {trigger:?}");
            }
        }
    }

    #[test]
    fn unknown_never_times_out_and_charged_is_final() {
        for trigger in [PreparedTooLong, SendingTooLong, OutcomeUnknown, SendingTaken] {
            assert_eq!(next(Unknown, Method::Mbank, trigger), None, "{trigger:?}");
        }
        assert!(Trigger::iter().all(|trigger| next(Charged, Method::Mbank, trigger).is_none()));
    }

    #[test]
    fn late_charge_after_final_state_emits_event() {
        for state in [NotMade, Rejected, Mismatch] {
            let change = next(state, Method::Mbank, ReportedCharged).unwrap();
            assert_eq!((change.event, change.after), (EventKind::PaymentCharged, Some(state)));
        }
        assert_eq!(next(Awaiting, Method::Mbank, ReportedCharged).unwrap().after, None);
    }

    #[test]
    fn resolution_event_records_previous_state() {
        for trigger in [ResolvedCharged, ResolvedNotCharged] {
            let change = next(Unknown, Method::Mbank, trigger).unwrap();
            assert_eq!((change.event, change.after), (EventKind::PaymentResolved, Some(Unknown)));
        }
        for state in PaymentState::iter() {
            let decided = [Unknown, Awaiting, Confirming, Mismatch, Unverifiable].contains(&state);
            assert_eq!(is_for_a_person(state), decided, "{state}");
        }
    }
}
