//! The switch that says what a reused order number does.

use kassa_sandbox::{ReusedOrderNumber, Sandbox};

use crate::common::{
    CARD, MBANK_CONFIRM, MBANK_PAY, card_body, confirm_body, get_status, mbank_body, post, start_with, submit,
};

fn start(policy: ReusedOrderNumber) -> Sandbox {
    start_with(|options| options.reused_order_number = policy)
}

#[test]
fn it_is_rejected() {
    let sandbox = start(ReusedOrderNumber::Refuse);
    for (path, body) in [(CARD, card_body("R-1")), (MBANK_PAY, mbank_body("R-2"))] {
        assert_eq!(post(&sandbox, path, &body).status, 200);
        let again = post(&sandbox, path, &body);
        assert_eq!((again.status, again.code().as_str()), (409, "409"));
        assert_eq!(again.message(), "This order number was used before");
    }
    assert_eq!(post(&sandbox, MBANK_PAY, &mbank_body("R-1")).status, 409);
    assert_eq!(sandbox.payments().len(), 2);
    // A request that is invalid used nothing up.
    let invalid = card_body("R-3").with("amount", "0");
    assert_eq!(post(&sandbox, CARD, &invalid).status, 400);
    assert_eq!(post(&sandbox, CARD, &card_body("R-3")).status, 200);
}

#[test]
fn replay_needs_the_same_request() {
    let sandbox = start(ReusedOrderNumber::Replay);
    let charged = card_body("P-1").with("pan", "\"4000000000002016\"");
    for (path, body) in [
        (CARD, charged),
        (CARD, card_body("P-2")),
        (CARD, card_body("P-3").with("pan", "\"4000000000002057\"")),
        (MBANK_PAY, mbank_body("P-4")),
    ] {
        let first = post(&sandbox, path, &body);
        let again = post(&sandbox, path, &body);
        assert_eq!((again.status, again.body), (first.status, first.body));
    }
    assert_eq!(sandbox.payments().len(), 4);
    assert_eq!(sandbox.payment("P-1").map(|p| p.times_charged), Some(1));
    for different in [card_body("P-2").with("amount", "100.11"), card_body("P-2").with("currency", "\"USD\"")] {
        assert_eq!(post(&sandbox, CARD, &different).status, 409);
    }
    assert_eq!(post(&sandbox, MBANK_PAY, &mbank_body("P-2")).status, 409);
}

#[test]
fn reused_number_charges_twice_in_the_ledger() {
    let sandbox = start(ReusedOrderNumber::ChargeTwice);
    let urls: Vec<_> = (0..2).map(|_| post(&sandbox, CARD, &card_body("T-1")).data("ConfirmationUrl")).collect();
    assert_ne!(urls[0], urls[1]);
    for (url, charged) in urls.iter().zip([1, 2]) {
        assert_eq!(submit(url, &[("otp", "123456")]).status, 303);
        assert_eq!(sandbox.payment("T-1").map(|p| p.times_charged), Some(charged));
    }
    assert_eq!(sandbox.payments().len(), 2);
}

#[test]
fn number_of_two_kinds_resolves_by_endpoint() {
    let sandbox = start(ReusedOrderNumber::ChargeTwice);
    post(&sandbox, MBANK_PAY, &mbank_body("B-1"));
    post(&sandbox, CARD, &card_body("B-1"));
    let confirmed = post(&sandbox, MBANK_CONFIRM, &confirm_body("B-1", "101101"));
    assert_eq!((confirmed.status, confirmed.data("status").as_str()), (200, "CHARGE"));
    assert_eq!(get_status(&sandbox, "B-1", "MBank").data("status"), "CHARGE");
    assert_eq!(get_status(&sandbox, "B-1", "Cards").data("status"), "CREATED");
    assert_eq!(get_status(&sandbox, "B-1", "MegaPay").status, 404);
}
