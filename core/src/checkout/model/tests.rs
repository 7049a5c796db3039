use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::*;
use crate::config::dialect::decline_reason::DeclineReason;

const FORM: PaymentMethod = PaymentMethod::PayForm;
const MBANK: Action = Action::Pay(PaymentMethod::Mbank);

fn view(version: i64, state: &str, payments: &[Value]) -> View {
    serde_json::from_value(json!({
        "id": "co_1", "reference": "order-1", "amount": "390.50", "currency": "KGS", "description": "Tea",
        "methods": ["pay_form", "qr", "mbank", "of-tomorrow"], "return_url": "shop://paid", "state": state,
        "version": version, "expires_at_ms": 1, "payments": payments, "of_tomorrow": true,
    }))
    .unwrap()
}

fn payment(id: &str, method: &str, state: &str, more: Value) -> Value {
    let mut payment = json!({"id": id, "method": method, "state": state});
    payment.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    payment
}

fn model(payments: &[Value]) -> Model {
    let mut model = Model::default();
    model.seen(view(1, "open", payments));
    model
}

fn state(payments: &[Value]) -> CheckoutState {
    model(payments).state()
}

fn topic(state: &CheckoutState) -> Option<MessageTopic> {
    use CheckoutState::*;
    let message = match state {
        Opening { message } | Ready { message, .. } | Sending { message } | EnterOtp { message, .. } => message.clone(),
        OpenPage { message, .. } | ShowQr { message, .. } | Waiting { message, .. } => message.clone(),
        NotPaid { reason } => Some(reason.clone()),
        PersonNeeded { message } => Some(message.clone()),
        Paid { .. } | Expired | TokenExpired => None,
    };
    message.map(|message| message.topic)
}

fn problem(name: &str) -> Problem {
    serde_json::from_value(json!({
        "type": format!("urn:kassa:problem:{name}"), "title": "No.", "status": 409,
        "violations": [{"field": "phone", "rule": "format", "text": "phone must be a phone number"}],
    }))
    .unwrap()
}

/// If nothing has changed, a long poll lasts 25 s, and the screen would say for as long that there is no network.
#[test]
fn first_query_after_reconnect_is_no_long_poll() {
    let mut model = model(&[]);
    assert_eq!(model.version(), Some(1));
    model.hindered(CheckoutMessage::new(MessageTopic::NoNetwork));
    assert_eq!(model.version(), None);
    model.seen(view(1, "open", &[]));
    assert_eq!((topic(&model.state()), model.version()), (None, Some(1)));
}

/// Every state of a payment, by every method, leads to a state of the screen, and only one that took money is called paid.
#[test]
fn every_state_of_a_payment_has_its_screen() {
    let page = json!({"page_url": "https://pay.example.kg/3ds"});
    let qr = json!({"qr_text": "0002..."});
    let otp = json!({"attempts_left": 2});
    for (method, more, awaiting) in [
        ("mbank", &otp, "enter_otp"),
        ("mbank", &json!({"attempts_left": 0}), "waiting"),
        ("megapay", &otp, "enter_otp"),
        ("qr", &qr, "show_qr"),
        ("pay_form", &page, "open_page"),
        ("card", &page, "open_page"),
        ("card", &json!({}), "waiting"),
        ("card", &json!({"page_url": "javascript:alert(1)"}), "waiting"),
        ("of-tomorrow", &json!({}), "waiting"),
    ] {
        for (of_payment, expected) in [
            ("prepared", "sending"),
            ("sending", "sending"),
            ("not_made", "ready"),
            ("unknown", "waiting"),
            ("awaiting", awaiting),
            ("confirming", "waiting"),
            ("charged", "waiting"),
            ("rejected", "ready"),
            ("mismatch", "person_needed"),
            ("unverifiable", "person_needed"),
            ("of-tomorrow", "waiting"),
        ] {
            let state = state(&[payment("p1", method, of_payment, more.clone())]);
            assert_eq!(state.kind(), expected, "{method} {of_payment}");
        }
    }
}

#[test]
fn every_state_of_a_checkout_has_its_screen() {
    assert_eq!(Model::default().state().kind(), "opening");
    for (of_checkout, expected) in [
        ("open", "ready"),
        ("paid", "paid"),
        ("expired", "expired"),
        ("cancelled", "not_paid"),
        ("of-tomorrow", "waiting"),
    ] {
        let mut model = Model::default();
        model.seen(view(1, of_checkout, &[]));
        assert_eq!(model.state().kind(), expected, "{of_checkout}");
    }
    let mut model = model(&[payment("p1", "qr", "awaiting", json!({"qr_text": "0002"}))]);
    model.seen(view(2, "paid", &[]));
    assert_eq!(model.state(), CheckoutState::Paid { amount: "390.50".parse().unwrap(), currency: "KGS".to_owned() });
}

#[test]
fn only_open_pay_form_allows_other_methods() {
    let form = payment("p1", "pay_form", "awaiting", json!({"page_url": "https://pay.example.kg/form"}));
    let with_form = state(std::slice::from_ref(&form));
    assert_eq!(with_form.methods(), [PaymentMethod::Qr, PaymentMethod::Mbank]);
    let qr = payment("p2", "qr", "awaiting", json!({"qr_text": "0002"}));
    let with_both = model(&[qr, form.clone()]);
    assert_eq!(with_both.state().kind(), "show_qr");
    assert!(with_both.check(Action::Pay(FORM)).is_err());
    let with_failed = state(&[form, payment("p2", "qr", "not_made", json!({"failure": {"kind": "Unavailable"}}))]);
    assert_eq!((with_failed.kind(), topic(&with_failed)), ("open_page", Some(MessageTopic::NotMade)));
}

#[test]
fn action_in_wrong_state_is_rejected() {
    let model = model(&[]);
    let Err(PaymentError::Invalid { violations }) = model.check(Action::Confirm) else { panic!("it was taken") };
    assert_eq!((violations[0].field.as_str(), violations[0].rule), ("confirm", Rule::State));
    assert_eq!(violations[0].limit.as_deref(), Some("ready"));
    assert!(model.check(MBANK).is_ok());
    assert!(model.check(Action::Pay(PaymentMethod::Card)).is_err());
    assert!(Model::default().check(MBANK).is_err());
}

#[test]
fn while_something_is_sent_nothing_else_fits() {
    let mut model = model(&[]);
    model.sends();
    assert_eq!(model.state().kind(), "sending");
    assert!(model.check(MBANK).is_err());
    // Another payer has paid in the meantime.
    model.seen(view(2, "paid", &[]));
    assert!(model.state().is_paid());
}

#[test]
fn last_failure_is_shown_until_next_attempt() {
    let refused = json!({"failure": {"kind": "Refused", "reason": "No money", "decline": "insufficient_funds"}});
    let mut model = model(&[payment("p1", "mbank", "not_made", refused)]);
    let CheckoutState::Ready { message: Some(message), .. } = model.state() else { panic!("{:?}", model.state()) };
    let declined = Some(DeclineReason::InsufficientFunds);
    assert_eq!((message.topic, message.reason, message.decline), (MessageTopic::Refused, None, declined));
    model.sends();
    assert_eq!(topic(&model.state()), None);
    model.refused(MBANK, &problem("invalid"));
    let CheckoutState::Ready { message: Some(message), .. } = model.state() else { panic!("{:?}", model.state()) };
    assert_eq!(
        (message.topic, message.reason.as_deref()),
        (MessageTopic::InputRefused, Some("phone must be a phone number"))
    );
}

#[test]
fn refused_and_unsent_otp_show_own_messages() {
    for (kind, expected) in [("Refused", MessageTopic::CodeRefused), ("Unavailable", MessageTopic::CodeNotSent)] {
        let more = json!({"attempts_left": 1, "failure": {"kind": kind}});
        let state = state(&[payment("p1", "mbank", "awaiting", more)]);
        assert_eq!((state.kind(), topic(&state)), ("enter_otp", Some(expected)));
    }
}

#[test]
fn reason_of_a_code_says_more_than_the_message() {
    for (decline, expected) in
        [("wrong_code", None), ("code_expired", Some(DeclineReason::CodeExpired)), ("of_a_newer_server", None)]
    {
        let more = json!({"attempts_left": 1, "failure": {"kind": "Refused", "decline": decline}});
        let state = state(&[payment("p1", "mbank", "awaiting", more)]);
        let CheckoutState::EnterOtp { message: Some(message), .. } = state else { panic!("{state:?}") };
        assert_eq!(message.decline, expected, "{decline}");
    }
}

#[test]
fn way_that_is_used_up_is_offered_no_more() {
    let mut model = model(&[]);
    for method in [FORM, PaymentMethod::Qr] {
        model.sends();
        model.refused(Action::Pay(method), &problem("no_attempts_left"));
    }
    assert_eq!(
        (model.state().methods(), topic(&model.state())),
        (&[PaymentMethod::Mbank][..], Some(MessageTopic::TooManyTries))
    );
    model.sends();
    model.refused(MBANK, &problem("no_attempts_left"));
    assert_eq!((model.state().kind(), topic(&model.state())), ("not_paid", Some(MessageTopic::TooManyTries)));
}

#[test]
fn page_begun_here_opens_at_once_and_on_request() {
    let form = |id: &str| payment(id, "pay_form", "awaiting", json!({"page_url": "https://pay.example.kg/form"}));
    let mut model = model(&[form("p1")]);
    assert!(matches!(model.state(), CheckoutState::OpenPage { begun_here: false, .. }));
    model.sends();
    model.began(Action::Pay(FORM), serde_json::from_value(form("p1")).unwrap());
    assert!(matches!(model.state(), CheckoutState::OpenPage { begun_here: true, .. }));
    model.came_back();
    let CheckoutState::Waiting { page_url: Some(_), methods, .. } = model.state() else {
        panic!("{:?}", model.state())
    };
    assert_eq!(methods, [PaymentMethod::Qr, PaymentMethod::Mbank]);
    // Requested once more, it is opened once more.
    model.sends();
    model.began(Action::Pay(FORM), serde_json::from_value(form("p1")).unwrap());
    assert_eq!(model.state().kind(), "open_page");
}

#[test]
fn answer_that_comes_late_changes_nothing() {
    let mut model = model(&[]);
    model.seen(view(5, "paid", &[]));
    model.seen(view(4, "open", &[]));
    assert!(model.state().is_paid());
}

/// Its payer went another way, on the hosted page or on another device.
#[test]
fn replaced_payment_is_not_shown_again() {
    let left = payment("p1", "mbank", "awaiting", json!({"attempts_left": 3, "is_replaced": true}));
    let rejected = payment("p2", "mbank", "rejected", json!({}));
    let page = payment("p2", "pay_form", "awaiting", json!({"page_url": "https://pay.example.kg/form"}));
    assert_eq!(state(&[left.clone(), rejected]).kind(), "ready");
    assert_eq!(state(&[left, page]).kind(), "open_page");
}

#[test]
fn code_of_a_wallet_has_its_cost_and_end() {
    let costs = json!({"attempts_left": 3, "commission": "7.80", "total": "397.80", "code_expires_at_ms": 1_700_000_180_000_u64});
    let mut model = model(&[payment("p1", "megapay", "awaiting", costs)]);
    let CheckoutState::EnterOtp { method, commission, total, code_expires_at, .. } = model.state() else { panic!() };
    assert_eq!(method, PaymentMethod::Megapay);
    assert_eq!((commission, total), (Some(Decimal::new(780, 2)), Some(Decimal::new(39780, 2))));
    let since = code_expires_at.unwrap().duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(since.as_millis(), 1_700_000_180_000);
    assert_eq!((model.awaits_otp(), model.check(Action::Confirm)), (Some("p1"), Ok(())));
    model.began(Action::Confirm, serde_json::from_value(payment("p1", "megapay", "confirming", json!({}))).unwrap());
    assert_eq!(model.awaits_otp(), None);
}

fn mbank(id: &str, phone_last2: &str) -> Value {
    payment(id, "mbank", "awaiting", json!({"attempts_left": 3, "phone_last2": phone_last2, "can_be_replaced": true}))
}

fn shown_qr(id: &str) -> Value {
    payment(id, "qr", "awaiting", json!({"qr_text": "0002", "can_be_replaced": true}))
}

/// One whose payer chooses another number or way instead of its first payment.
fn choosing_again(first: Value) -> Model {
    let mut model = model(&[first]);
    model.change_method().unwrap();
    model
}

/// The rule and the state of an action that did not fit.
fn unfit(result: Result<(), PaymentError>) -> Option<(Rule, Option<String>)> {
    let Err(PaymentError::Invalid { violations }) = result else { return None };
    violations.into_iter().next().map(|violation| (violation.rule, violation.limit))
}

fn can_change(state: &CheckoutState) -> bool {
    use CheckoutState::{EnterOtp, ShowQr};
    matches!(state, EnterOtp { can_change_method: true, .. } | ShowQr { can_change_method: true, .. })
}

#[test]
fn method_changes_only_for_replaceable_payment() {
    let without = |mut payment: Value| {
        payment.as_object_mut().unwrap().remove("can_be_replaced");
        payment
    };
    let form = payment("p1", "pay_form", "awaiting", json!({"page_url": "https://pay.example.kg/form"}));
    for (open, kind, others) in [
        (mbank("p1", "01"), "enter_otp", Some(&[FORM, PaymentMethod::Qr, PaymentMethod::Mbank][..])),
        (shown_qr("p1"), "show_qr", Some(&[FORM, PaymentMethod::Mbank][..])),
        (without(mbank("p1", "01")), "enter_otp", None),
        (without(shown_qr("p1")), "show_qr", None),
        (form, "open_page", None),
    ] {
        let mut model = model(std::slice::from_ref(&open));
        let before = model.state();
        assert_eq!((before.kind(), can_change(&before)), (kind, others.is_some()), "{open}");
        assert_eq!(unfit(model.keep_method()), Some((Rule::State, Some(kind.to_owned()))));
        let Some(others) = others else {
            assert_eq!(unfit(model.change_method()), Some((Rule::State, Some(kind.to_owned()))));
            assert_eq!(model.state(), before);
            continue;
        };
        model.change_method().unwrap();
        let CheckoutState::Ready { methods, message: None, can_keep_method: true } = model.state() else {
            panic!("{:?}", model.state())
        };
        assert_eq!(methods, others);
        assert!(model.check(Action::Confirm).is_err() && unfit(model.change_method()).is_some());
        model.keep_method().unwrap();
        assert_eq!((model.state(), model.instead_of()), (before, None));
    }
}

#[test]
fn payment_with_corrected_phone_replaces_old_one() {
    let mut model = choosing_again(mbank("p1", "99"));
    // A network that fails, and an answer without news, end no choice.
    model.hindered(CheckoutMessage::new(MessageTopic::NoNetwork));
    model.seen(view(1, "open", &[mbank("p1", "99")]));
    assert_eq!((model.instead_of(), model.check(MBANK)), (Some("p1"), Ok(())));
    model.sends();
    assert_eq!((model.state().kind(), model.instead_of()), ("sending", None));
    model.began(MBANK, serde_json::from_value(mbank("p2", "01")).unwrap());
    let CheckoutState::EnterOtp { phone_last2, can_change_method: true, message: None, .. } = model.state() else {
        panic!("{:?}", model.state())
    };
    assert_eq!((phone_last2.as_deref(), model.awaits_otp()), (Some("01"), Some("p2")));
    // It ends before there is another view: the wrong one is not shown again.
    model.began(Action::Confirm, serde_json::from_value(payment("p2", "mbank", "rejected", json!({}))).unwrap());
    assert_eq!((model.state().kind(), topic(&model.state())), ("ready", Some(MessageTopic::Rejected)));
}

/// Whatever becomes of the open payment while its payer chooses is shown at once, and is not left when it is open again.
#[test]
fn method_choice_hides_no_open_payment_change() {
    let p1 = |state: &str, more: Value| payment("p1", "mbank", state, more);
    let replaced = || p1("awaiting", json!({"attempts_left": 3, "is_replaced": true}));
    for (of_checkout, payments, kind, message) in [
        ("paid", vec![p1("charged", json!({}))], "paid", None),
        ("expired", vec![mbank("p1", "01")], "expired", None),
        ("cancelled", vec![mbank("p1", "01")], "not_paid", Some(MessageTopic::Cancelled)),
        ("open", vec![p1("confirming", json!({}))], "waiting", None),
        ("open", vec![p1("charged", json!({}))], "waiting", None),
        ("open", vec![p1("unknown", json!({}))], "waiting", Some(MessageTopic::OutcomeUnknown)),
        ("open", vec![p1("mismatch", json!({}))], "person_needed", Some(MessageTopic::Mismatch)),
        ("open", vec![p1("rejected", json!({}))], "ready", Some(MessageTopic::Rejected)),
        ("open", vec![p1("awaiting", json!({"attempts_left": 1}))], "enter_otp", None),
        ("open", vec![replaced(), shown_qr("p2")], "show_qr", None),
    ] {
        let mut model = choosing_again(mbank("p1", "01"));
        model.seen(view(2, of_checkout, &payments));
        let state = model.state();
        assert_eq!((state.kind(), topic(&state)), (kind, message), "{of_checkout} {payments:?}");
        assert!(!matches!(state, CheckoutState::Ready { can_keep_method: true, .. }));
        assert!(model.instead_of().is_none() && unfit(model.keep_method()).is_some());
        model.seen(view(3, "open", &[mbank("p1", "01")]));
        assert_eq!(model.state().kind(), "enter_otp", "{of_checkout} {payments:?}");
    }
    // The old payment is charged while its replacement is being sent.
    let mut model = choosing_again(mbank("p1", "01"));
    model.sends();
    model.seen(view(2, "paid", &[payment("p1", "mbank", "charged", json!({}))]));
    assert!(model.state().is_paid());
    model.refused(MBANK, &problem("not_open"));
    assert!(model.state().is_paid());
}

#[test]
fn refused_change_is_shown_with_open_payment() {
    for (open, kind) in [(mbank("p1", "01"), "enter_otp"), (shown_qr("p1"), "show_qr")] {
        for (name, expected) in [
            ("under_way", MessageTopic::ChangeRefused),
            ("of_tomorrow", MessageTopic::ChangeRefused),
            ("no_attempts_left", MessageTopic::TooManyTries),
            ("invalid", MessageTopic::InputRefused),
        ] {
            let mut model = choosing_again(open.clone());
            model.sends();
            model.refused(MBANK, &problem(name));
            let state = model.state();
            assert_eq!((state.kind(), topic(&state), can_change(&state)), (kind, Some(expected), true), "{name}");
            assert!(unfit(model.keep_method()).is_some());
            model.change_method().unwrap();
            assert_eq!(topic(&model.state()), None);
            // So often is not too often where no payment is open.
            assert_eq!(model.state().methods().contains(&PaymentMethod::Mbank), name != "no_attempts_left");
            model.seen(view(2, "open", &[payment("p1", "qr", "rejected", json!({}))]));
            assert!(model.state().methods().contains(&PaymentMethod::Mbank));
        }
    }
    // Where nothing else can be chosen, no message says to choose.
    let mut model = model(&[shown_qr("p1")]);
    for method in [FORM, PaymentMethod::Mbank] {
        model.change_method().unwrap();
        model.sends();
        model.refused(Action::Pay(method), &problem("no_attempts_left"));
    }
    let state = model.state();
    assert_eq!((topic(&state), can_change(&state)), (Some(MessageTopic::ChangeRefused), false));
}

/// Its code was taken on another device, just before.
#[test]
fn refused_change_is_shown_until_final_status() {
    let mut model = choosing_again(mbank("p1", "01"));
    model.sends();
    model.refused(MBANK, &problem("under_way"));
    model.seen(view(2, "open", &[payment("p1", "mbank", "confirming", json!({}))]));
    assert_eq!((model.state().kind(), topic(&model.state())), ("waiting", Some(MessageTopic::ChangeRefused)));
    model.seen(view(3, "open", &[payment("p1", "mbank", "rejected", json!({}))]));
    assert_eq!((model.state().kind(), topic(&model.state())), ("ready", Some(MessageTopic::Rejected)));
}

/// The server keeps what was open where the other one was not even sent.
#[test]
fn failed_replacement_is_shown_with_open_payment() {
    let mut model = choosing_again(mbank("p1", "01"));
    model.sends();
    let other = payment("p2", "mbank", "not_made", json!({"failure": {"kind": "Unavailable"}}));
    model.began(MBANK, serde_json::from_value(other.clone()).unwrap());
    for _ in 0..2 {
        assert_eq!((model.state().kind(), topic(&model.state())), ("enter_otp", Some(MessageTopic::NotMade)));
        assert_eq!(model.awaits_otp(), Some("p1"));
        model.seen(view(2, "open", &[mbank("p1", "01"), other.clone()]));
    }
}

#[test]
fn replaced_payments_stay_within_server_limit() {
    let left = |id: usize| payment(&format!("p{id}"), "mbank", "awaiting", json!({"is_replaced": true}));
    for (count, expected) in [(4, true), (5, false)] {
        let mut payments: Vec<_> = (0..count).map(left).collect();
        payments.push(mbank("p9", "01"));
        let mut model = model(&payments);
        assert_eq!((can_change(&model.state()), model.change_method().is_ok()), (expected, expected), "{count}");
    }
}

/// Whatever is wrong with the network, the state is the last one that was known, with a message.
#[test]
fn network_that_fails_is_a_message_and_no_end() {
    let otp = payment("p1", "mbank", "awaiting", json!({"attempts_left": 3}));
    let qr = payment("p1", "qr", "awaiting", json!({"qr_text": "0002"}));
    let page = payment("p1", "card", "awaiting", json!({"page_url": "https://pay.example.kg/3ds"}));
    let unknown = payment("p1", "card", "unknown", json!({}));
    for (payments, kind) in [
        (vec![], "ready"),
        (vec![otp], "enter_otp"),
        (vec![qr], "show_qr"),
        (vec![page], "open_page"),
        (vec![unknown], "waiting"),
    ] {
        let mut model = model(&payments);
        assert_eq!(model.state().kind(), kind);
        model.hindered(CheckoutMessage::new(MessageTopic::NoNetwork));
        assert_eq!((model.state().kind(), topic(&model.state())), (kind, Some(MessageTopic::NoNetwork)));
        model.seen(view(1, "open", &payments));
        assert_ne!(topic(&model.state()), Some(MessageTopic::NoNetwork));
    }
}

#[test]
fn expired_token_without_renewal_ends_screen() {
    let mut model = model(&[]);
    model.token_refused();
    assert_eq!(model.state(), CheckoutState::TokenExpired);
    assert!(model.check(MBANK).is_err());
    model.is_token_renewed = true;
    assert_eq!(model.state().kind(), "ready");
    model.is_token_renewed = false;
    model.token_renewed();
    assert_eq!(model.state().kind(), "ready");
}

/// The answer of an action has no version, so it may be older than what was seen before it came.
#[test]
fn late_action_answer_is_corrected_by_next_view() {
    let of = |state: &str| payment("p1", "mbank", state, json!({"attempts_left": 2}));
    let mut model = model(&[of("awaiting")]);
    model.sends();
    model.seen(view(2, "open", &[of("rejected")]));
    model.began(Action::Confirm, serde_json::from_value(of("confirming")).unwrap());
    assert_eq!((model.state().kind(), model.version()), ("waiting", None));
    assert!(model.seen(view(2, "open", &[of("rejected")])));
    assert_eq!((model.state().kind(), model.version()), ("ready", Some(2)));
    assert!(!model.seen(view(2, "open", &[of("rejected")])));
}

#[test]
fn expired_checkout_with_open_form_shows_waiting() {
    let form = |state: &str| payment("p1", "pay_form", state, json!({"page_url": "https://pay.example.kg/form"}));
    for ended in ["expired", "cancelled"] {
        let mut model = model(&[form("awaiting")]);
        model.seen(view(2, ended, &[form("awaiting")]));
        assert!(["expired", "not_paid"].contains(&model.state().kind()));
        model.came_back();
        assert_eq!((model.state().kind(), topic(&model.state())), ("waiting", Some(MessageTopic::OutcomeUnknown)));
        model.seen(view(3, ended, &[form("unverifiable")]));
        assert_eq!(model.state().kind(), "person_needed");
        model.seen(view(4, "paid", &[form("charged")]));
        assert!(model.state().is_paid());
    }
}

#[test]
fn page_is_opened_by_itself_once() {
    let form = payment("p1", "pay_form", "awaiting", json!({"page_url": "https://pay.example.kg/form"}));
    let mut model = model(&[]);
    model.sends();
    model.began(Action::Pay(FORM), serde_json::from_value(form).unwrap());
    assert!(matches!(model.state(), CheckoutState::OpenPage { begun_here: true, .. }));
    model.page_opened();
    model.hindered(CheckoutMessage::new(MessageTopic::NoNetwork));
    assert!(matches!(model.state(), CheckoutState::OpenPage { begun_here: false, .. }));
}

#[test]
fn return_before_first_view_is_remembered() {
    let mut model = Model::default();
    model.came_back();
    model.seen(view(
        1,
        "open",
        &[payment("p1", "card", "awaiting", json!({"page_url": "https://pay.example.kg/3ds"}))],
    ));
    assert_eq!(model.state().kind(), "waiting");
}

#[test]
fn two_checkouts_are_not_mixed() {
    let mut model = model(&[]);
    let mut other = view(9, "paid", &[]);
    other.id = "co_2".to_owned();
    assert!(!model.seen(other));
    assert_eq!((model.state().kind(), topic(&model.state())), ("ready", Some(MessageTopic::NotTheServer)));
}
