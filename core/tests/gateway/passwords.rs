//! Unlucky passwords: words that the gateway uses itself, in its addresses, fields and responses. They cost a merchant no
//! payment; a password that is really echoed is not handed on.

use kassa::{Card, CardPaymentCreated, Credentials, Gateway, NextStep, PaymentError};

use crate::support::{self, CVC, LOGIN, Op, PAN, PASSWORD, Server, changed};

const UNLUCKY: [&str; 14] = [
    "token", "3ds", "form", "payment", "api", "checkout", "pay-form", "code", "data", "status", "110", "gw-1", "KGS",
    "CHARGE",
];

const PAGE: &str = "https://pay.example.kg/api/payment/form/3ds?token=gw-1&type=checkout";

fn gateway(server: &Server, password: &str) -> Gateway {
    Gateway::new(server.config().with_credentials(Credentials::basic(LOGIN, password))).unwrap()
}

fn created(page: &str) -> Server {
    Server::responding(
        200,
        &format!(r#"{{"code":"110","message":"CREATED","data":{{"currency":"KGS","ConfirmationUrl":"{page}"}}}}"#),
    )
}

async fn pay(page: &str, password: &str) -> Result<CardPaymentCreated, PaymentError> {
    gateway(&created(page), password).create_card_payment(support::card_payment()).await
}

#[tokio::test]
async fn unlucky_password_costs_no_payment() {
    for password in UNLUCKY {
        let created = pay(PAGE, password).await.unwrap_or_else(|error| panic!("{password}: {error}"));
        assert_eq!(created.next_step, NextStep::open_confirmation(PAGE), "{password}");
        assert_eq!(created.payment.gateway_number.as_deref(), Some("gw-1"), "{password}");
        assert_eq!(created.currency.as_deref(), Some("KGS"), "{password}");
        for op in Op::all() {
            let server = Server::responding(200, &op.success_body());
            if let Err(error) = op.run(&gateway(&server, password)).await {
                panic!("{password}, {op:?}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn report_is_read_whatever_the_password_is() {
    for password in UNLUCKY {
        let server = Server::responding(200, &Op::PaymentStatus.success_body());
        let report = gateway(&server, password).payment_status("gw-1", None).await.unwrap();
        assert_eq!(report.status, kassa::PaymentStatus::Charged, "{password}");
        assert_eq!(report.order_number.as_deref(), Some("order-1"), "{password}");
        assert_eq!((report.currency.as_deref(), report.code.as_deref()), (Some("KGS"), Some("200")), "{password}");
    }
}

#[tokio::test]
async fn page_with_a_secret_in_it_is_not_handed_on() {
    let echoes = [
        (PASSWORD, format!("password={PASSWORD}")),
        (PASSWORD, format!("x={PASSWORD}")),
        (PASSWORD, "x=swordfish%2D77".to_owned()),
        ("token", "Passwd=token".to_owned()),
        ("api", "login=shop&password=api".to_owned()),
        (PASSWORD, format!("cvc={CVC}")),
        (PASSWORD, format!("c={CVC}")),
        (PASSWORD, format!("pan={PAN}")),
        (PASSWORD, "pan=4111%201111%201111%201111".to_owned()),
    ];
    for (password, echo) in echoes {
        let error = pay(&format!("{PAGE}&{echo}"), password).await.unwrap_err();
        assert_eq!(error.kind(), "OutcomeUnknown", "{echo}: {error}");
        let text = format!("{error:?} {error}");
        assert!(text.contains("ConfirmationUrl holds a secret") && !text.contains(&echo), "{text}");
    }
}

/// An amount or a number of three digits may equal the CVC.
#[tokio::test]
async fn digits_equal_to_cvc_do_not_fail_payment() {
    for parameter in
        ["amount", "orderSum"].map(|name| format!("{name}={CVC}")).into_iter().chain([format!("id={CVC}-1")])
    {
        let page = format!("{PAGE}&{parameter}");
        let created = pay(&page, PASSWORD).await.unwrap_or_else(|error| panic!("{parameter}: {error}"));
        assert_eq!(created.next_step, NextStep::open_confirmation(page));
    }
    // A som's number, and a sum of as much.
    let cvc = "417";
    let body = format!(r#"{{"code":"110","data":{{"currency":"{cvc}","amount":{cvc}}}}}"#);
    let server = Server::responding(200, &body);
    let card = Card::new(PAN, "12", 2099, cvc, "Aibek Usenov");
    let payment = changed(support::card_payment().with_card(card), |it| it.amount = cvc.parse().unwrap());
    let created = server.gateway().create_card_payment(payment).await.unwrap();
    assert_eq!(created.currency.as_deref(), Some(cvc));
    assert_eq!(created.amount, Some(cvc.parse().unwrap()));
    assert_eq!(created.raw, format!(r#"{{"code":"110","data":{{"currency":"***","amount":{cvc}}}}}"#));
}
