//! The traits: the gateway behind a trait object is the gateway, and a watch over a function is a watch.

use std::{future::pending, sync::Arc, time::Duration};

use kassa::{
    BlockingGateway, BlockingPaymentGateway, BlockingStatusWatch, Gateway, GatewayConfig, PaymentError, PaymentGateway,
    PaymentRef, PaymentStatus, PollPolicy, StatusReport, StatusWatch, Verdict, WatchReport,
};

use crate::support::{Op, Server, card_payment, mbank_payment};

fn card() -> PaymentRef {
    card_payment().payment_ref()
}

/// Once, so that both kinds of references must fit.
async fn sell(gateway: impl PaymentGateway) -> PaymentRef {
    let created = gateway.create_mbank_payment(mbank_payment()).await.unwrap();
    gateway.confirm_mbank_payment(&created.payment, "918273").await.unwrap().payment
}

#[tokio::test]
async fn gateway_behind_its_trait_is_that_gateway() {
    let server = Server::responding(200, &Op::MbankPayment.success_body());
    let shared: Arc<dyn PaymentGateway> = Arc::new(server.gateway());
    assert_eq!(sell(&*shared).await, mbank_payment().payment_ref());
    assert_eq!(sell(shared.clone()).await, mbank_payment().payment_ref());
    assert_eq!(server.received().len(), 4);
    shared.close().await;
    assert!(matches!(shared.check(&card()).await, Err(PaymentError::Misconfigured { .. })));
}

#[test]
fn blocking_gateway_trait_calls_the_gateway() {
    let server = Server::responding(200, &Op::PaymentStatus.success_body());
    let gateway: Box<dyn BlockingPaymentGateway> = Box::new(BlockingGateway::from(server.gateway()));
    assert!(gateway.check(&card()).unwrap().is_charged());
    let mut watch = gateway.watch(card(), PollPolicy::default()).unwrap();
    assert!(matches!(watch.next(), Some(Ok(WatchReport::Status { verdict: Verdict::Charged { .. }, .. }))));
    assert!(watch.next().is_none());
}

#[test]
fn watch_over_function_polls_until_final_status() {
    let queries = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = queries.clone();
    let policy = PollPolicy::default().with_interval(Duration::from_millis(1));
    let watch = StatusWatch::polling(card(), policy, move |payment| {
        let number = counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        async move {
            match number {
                0 => Err(PaymentError::unavailable("nobody there")),
                1 => Ok(Verdict::pending(payment, StatusReport::new(PaymentStatus::Other("NEW".into())))),
                _ => Ok(Verdict::charged(payment, StatusReport::new(PaymentStatus::Charged))),
            }
        }
    });
    let reports: Vec<_> = BlockingStatusWatch::from(watch.unwrap()).map(Result::unwrap).collect();
    assert!(matches!(
        &reports[..],
        [
            WatchReport::QueryFailed { .. },
            WatchReport::Status { verdict: Verdict::Pending { .. }, .. },
            WatchReport::Status { verdict: Verdict::Charged { .. }, .. }
        ]
    ));
    assert_eq!(queries.load(std::sync::atomic::Ordering::SeqCst), 3);
}

/// On an executor that knows no timers.
#[test]
fn watch_over_hanging_function_meets_deadline() {
    let policy = PollPolicy::default().with_deadline(Duration::from_millis(20));
    let watch = StatusWatch::polling(card(), policy, |_| pending()).unwrap();
    let outcome = pollster::block_on(watch.outcome());
    assert!(matches!(outcome, Err(PaymentError::DeadlineExpired { last: None, .. })), "{outcome:?}");
    let nothing = StatusWatch::polling(PaymentRef::pay_form(5.into()), PollPolicy::default(), |_| pending());
    assert!(matches!(nothing, Err(PaymentError::Invalid { .. })));
}

/// What was needed and not set is named before anything is sent.
#[tokio::test]
async fn what_was_not_set_is_named() {
    let gateway = Gateway::new(GatewayConfig::new("http://127.0.0.1:1", kassa::Credentials::basic("a", "b"))).unwrap();
    let payment = kassa::CardPayment::new("1", 5.into(), "KGS", crate::support::card(), "https://shop.example.kg/cb");
    let form = kassa::PayForm::new(5.into(), "Shop", "https://shop.example.kg/cb");
    let errors = [
        (gateway.create_card_payment(payment).await.unwrap_err(), vec!["description", "language", "ip"]),
        (gateway.create_pay_form(form).await.unwrap_err(), vec!["returnURL"]),
    ];
    for (error, expected) in errors {
        let PaymentError::Invalid { violations, .. } = error else { panic!("{error}") };
        assert_eq!(violations.iter().map(|violation| violation.field.as_str()).collect::<Vec<_>>(), expected);
    }
}
