//! What a test of a user's relies on: each endpoint, each fault, and the clock.

use std::task::Poll;

use super::*;
use crate::{
    Callback, NextStep, PaymentKind, PollPolicy, ReturnRedirect, Verdict, WatchReport,
    testing::scripted::{card_payment, mbank_payment, pay_form, qr_payment},
};

fn fake() -> (FakeGateway, Gateway) {
    let fake = FakeGateway::new().unwrap();
    let gateway = fake.gateway();
    (fake, gateway)
}

fn run<T>(test: impl Future<Output = T>) -> T {
    pollster::block_on(test)
}

#[test]
fn card_payment_after_confirmation_is_charged() {
    let (fake, gateway) = fake();
    let created = run(gateway.create_card_payment(card_payment("order-1", "4000000000002016"))).unwrap();
    let NextStep::OpenConfirmation { url } = &created.next_step else { panic!("{created:?}") };
    assert!(matches!(run(gateway.check(&created.payment)), Ok(Verdict::Pending { .. })));
    let notice = fake.charge(url).unwrap();
    let callback = Callback::parse(&notice.callback).unwrap();
    assert!(run(gateway.verify_callback(&callback, &created.payment)).unwrap().is_charged());
    assert_eq!(notice.return_url, None, "it has no address to return to");
    assert!(matches!(fake.reject("order-1"), Err(PaymentError::Invalid { .. })), "it is final");
}

#[test]
fn mbank_payment_is_charged_only_by_correct_otp() {
    let (fake, gateway) = fake();
    let payment = run(gateway.create_mbank_payment(mbank_payment("order-1"))).unwrap().payment;
    assert!(matches!(run(gateway.confirm_mbank_payment(&payment, "000000")), Err(PaymentError::Refused { .. })));
    assert!(matches!(run(gateway.check(&payment)), Ok(Verdict::Pending { .. })));
    run(gateway.confirm_mbank_payment(&payment, &fake.otp())).unwrap();
    assert!(run(gateway.check(&payment)).unwrap().is_charged());
}

#[test]
fn pay_form_is_verified_by_callback_and_return() {
    let (fake, gateway) = fake();
    let created = run(gateway.create_pay_form(pay_form())).unwrap();
    let notice = fake.charge(&created.pay_form_url).unwrap();
    let callback = Callback::parse(&notice.callback).unwrap();
    assert!(run(gateway.verify_callback(&callback, &created.payment)).unwrap().is_charged());
    let back = ReturnRedirect::parse(&notice.return_url.unwrap()).unwrap();
    assert!(run(gateway.verify_return(&back, &created.payment)).unwrap().is_charged());
    // A cheaper one's callback does not pay for a dearer one.
    let dearer = crate::PaymentRef::pay_form(crate::Decimal::from(500));
    assert!(!run(gateway.verify_callback(&callback, &dearer)).unwrap().is_charged());
}

#[test]
fn qr_payments_are_charged_as_data_and_as_image() {
    let (fake, gateway) = fake();
    let data = run(gateway.create_qr_data(qr_payment())).unwrap();
    fake.charge(data.payload.as_deref().unwrap()).unwrap();
    assert!(run(gateway.check(&data.payment)).unwrap().is_charged());
    let picture = run(gateway.create_qr_image(qr_payment())).unwrap();
    let id = fake.payments().pop().unwrap().transaction_id.unwrap();
    let callback = Callback::parse(&fake.charge(&id).unwrap().callback).unwrap();
    assert!(run(gateway.verify_callback(&callback, &picture.payment)).unwrap().is_charged());
}

#[test]
fn order_number_makes_one_payment() {
    let (fake, gateway) = fake();
    run(gateway.create_mbank_payment(mbank_payment("order-1"))).unwrap();
    let again = run(gateway.create_mbank_payment(mbank_payment("order-1"))).unwrap_err();
    assert!(again.payment_may_exist(), "{again}");
    assert_eq!(fake.payments().len(), 1);
}

/// Each fault, whether the payment was made under it, and which error its caller got.
#[test]
fn each_fault_has_its_effect() {
    let hour = Duration::from_secs(3600);
    let refused = FakeFault::Refused { code: "51".into(), reason: "NO_MONEY".into() };
    let faults = [
        (FakeFault::NoConnection, 0, "Unavailable"),
        (FakeFault::RequestLost, 0, "OutcomeUnknown"),
        (FakeFault::ResponseLost, 1, "OutcomeUnknown"),
        (FakeFault::NoResponse, 1, "OutcomeUnknown"),
        (refused, 0, "Refused"),
        (FakeFault::Unauthorized, 0, "Unauthorized"),
        (FakeFault::ServerError, 0, "OutcomeUnknown"),
        (FakeFault::TooManyRequests { retry_after: hour }, 0, "Unavailable"),
    ];
    for (fault, made, kind) in faults {
        let (fake, gateway) = fake();
        fake.fail_next(fault.clone());
        let error = run(gateway.create_mbank_payment(mbank_payment("order-1"))).unwrap_err();
        assert_eq!((fake.payments().len(), error.kind()), (made, kind), "{fault:?}: {error}");
        let status = run(gateway.qr_status("transaction-1"));
        assert!(matches!(status, Err(PaymentError::Refused { .. })), "one call alone goes wrong: {status:?}");
    }
}

#[test]
fn running_clock_keeps_no_watch_waiting() {
    let (fake, gateway) = fake();
    fake.plan(FakePlan::Charge { after: Duration::from_secs(45) });
    let payment = run(gateway.create_card_payment(card_payment("order-1", "4000000000002016"))).unwrap().payment;
    let end = run(gateway.watch(payment, PollPolicy::default()).unwrap().outcome());
    assert!(end.unwrap().unwrap().is_charged());
    assert_eq!(fake.now(), Duration::from_secs(50), "the first tick after it was paid");
    fake.plan(FakePlan::StayPending);
    let payment = run(gateway.create_card_payment(card_payment("order-2", "4000000000002016"))).unwrap().payment;
    let end = run(gateway.watch(payment, PollPolicy::default()).unwrap().outcome());
    assert!(matches!(end, Err(PaymentError::DeadlineExpired { last: Some(_) })), "{end:?}");
}

#[test]
fn stopped_clock_moves_by_the_test_alone() {
    let (fake, gateway) = fake();
    fake.stop_clock();
    fake.plan(FakePlan::Reject { after: Duration::from_secs(15) });
    let payment = run(gateway.create_card_payment(card_payment("order-1", "4000000000002016"))).unwrap().payment;
    assert_eq!(payment.kind, PaymentKind::Card);
    let watch = gateway.watch(payment, PollPolicy::default()).unwrap();
    let is_open = |report| matches!(report, Ok(Some(WatchReport::Status { verdict: Verdict::Pending { .. } })));
    assert!(is_open(run(watch.next())));
    let mut next = Box::pin(watch.next());
    for seconds in [9, 1] {
        let polled = run(std::future::poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))));
        assert!(polled.is_pending(), "{:?}", fake.now());
        fake.advance(Duration::from_secs(seconds));
    }
    assert!(is_open(run(next)));
    fake.advance(Duration::from_secs(10));
    assert!(matches!(run(watch.outcome()), Ok(Some(Verdict::Rejected { .. }))));
}

/// A phone's clock is no reason for a callback that cannot be read.
#[test]
fn callbacks_have_a_date_at_any_time() {
    for passed in [Duration::ZERO, Duration::from_secs(86_400 * 59), Duration::MAX] {
        let (fake, gateway) = fake();
        let form = run(gateway.create_pay_form(pay_form())).unwrap();
        fake.advance(passed);
        let callback = Callback::parse(&fake.reject(&form.pay_form_url).unwrap().callback).unwrap();
        assert!(callback.date_created.is_some(), "{callback:?}");
    }
}
