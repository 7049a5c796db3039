//! Invariants (test oracle): what the sandbox's records and a merchant's journal must agree on, in every schedule.

use std::collections::HashSet;

use kassa::_internals::schedules::merchant::Broken;
use kassa_sandbox::{EndpointName, Payment, PaymentKind, PaymentStatus, Sandbox};

use super::journal::Event;

/// Compares the two. `by_payer` are the payments, by the gateway's number, that their payer decided, and not a
/// merchant's call.
pub fn check(sandbox: &Sandbox, journal: &[Event], by_payer: &HashSet<String>) -> Result<(), Broken> {
    let books = Books { payments: sandbox.payments(), journal, by_payer };
    books.nothing_broke()?;
    books.nobody_was_charged_twice()?;
    books.every_request_was_sent_once(sandbox)?;
    books.what_is_said_to_be_nothing_is_nothing()?;
    books.what_succeeded_exists()?;
    books.what_is_said_to_be_final_is()
}

struct Books<'a> {
    payments: Vec<Payment>,
    journal: &'a [Event],
    by_payer: &'a HashSet<String>,
}

/// The calls of one endpoint about one order, or about all.
#[derive(Default)]
struct Calls {
    began: usize,
    clean: Vec<String>,
    answered: usize,
}

impl Books<'_> {
    fn nothing_broke(&self) -> Result<(), Broken> {
        let broken = self.journal.iter().find_map(|event| match event {
            Event::Broken { sentence } => Some(sentence.clone()),
            _ => None,
        });
        broken.map_or(Ok(()), Err)
    }

    fn nobody_was_charged_twice(&self) -> Result<(), Broken> {
        for payment in &self.payments {
            let number = &payment.order_number;
            let made = self.payments.iter().filter(|other| other.order_number == *number).count();
            if made > 1 || payment.times_charged > 1 {
                return Err(format!("{number} was charged twice: made {made} times, {payment:?}"));
            }
        }
        Ok(())
    }

    /// At-most-once delivery: all but queries, which may be retried.
    fn every_request_was_sent_once(&self, sandbox: &Sandbox) -> Result<(), Broken> {
        let requests = sandbox.requests();
        for endpoint in EndpointName::ALL {
            if is_query(endpoint) {
                continue;
            }
            let at_endpoint = || requests.iter().filter(|request| request.endpoint == endpoint.path());
            let (came, began) = (at_endpoint().count(), self.calls(endpoint, None).began);
            if came > began {
                return Err(format!("{endpoint}: {began} calls made {came} requests"));
            }
            for order in at_endpoint().filter_map(|request| request.order_number.as_deref()) {
                let came = at_endpoint().filter(|request| request.order_number.as_deref() == Some(order)).count();
                let began = self.calls(endpoint, Some(order)).began;
                if came > began {
                    return Err(format!("{endpoint} of {order} was sent twice: {began} calls made {came} requests"));
                }
            }
        }
        Ok(())
    }

    fn what_is_said_to_be_nothing_is_nothing(&self) -> Result<(), Broken> {
        for payment in &self.payments {
            let order = &payment.order_number;
            let confirmation = match payment.kind {
                PaymentKind::Mbank => Some(EndpointName::MbankConfirm),
                PaymentKind::Megapay => Some(EndpointName::MegaPay),
                _ => None,
            };
            let confirmed = confirmation.is_some()
                && payment.status != PaymentStatus::Created
                && !self.by_payer.contains(&payment.gateway_number)
                // Too many wrong passwords end it, too; each of them was refused, and said so.
                && payment.otp_attempts_left > 0;
            let made_by = match payment.kind {
                PaymentKind::Card => Some(EndpointName::Payment),
                PaymentKind::Mbank => Some(EndpointName::MbankPay),
                PaymentKind::Megapay => Some(EndpointName::MegaCheck),
                PaymentKind::PayForm | PaymentKind::Qr => None,
            };
            for endpoint in made_by.into_iter().chain(confirmation.filter(|_| confirmed)) {
                let calls = self.calls(endpoint, Some(order));
                if calls.clean.len() >= calls.began {
                    return Err(format!("{endpoint} of {order} took effect, and was said not to: {:?}", calls.clean));
                }
            }
        }
        Ok(())
    }

    fn what_succeeded_exists(&self) -> Result<(), Broken> {
        for event in self.journal {
            let exists = match event {
                Event::Answered {
                    endpoint: EndpointName::Payment | EndpointName::MbankPay | EndpointName::MegaCheck,
                    key,
                } => self.payment(key).is_some(),
                Event::Answered { endpoint: EndpointName::MbankConfirm | EndpointName::MegaPay, key } => {
                    self.payment(key).is_some_and(|payment| payment.status != PaymentStatus::Created)
                }
                Event::Page { token } => self.payments.iter().any(|payment| payment.gateway_number == *token),
                _ => true,
            };
            if !exists {
                return Err(format!("nothing was done, and yet: {event}"));
            }
        }
        let answered = [EndpointName::QrDynamic, EndpointName::QrDynamicData].map(|it| self.calls(it, None).answered);
        let codes = self.payments.iter().filter(|payment| payment.kind == PaymentKind::Qr).count();
        if codes < answered.iter().sum() { Err("a QR code was given, and none was made".into()) } else { Ok(()) }
    }

    fn what_is_said_to_be_final_is(&self) -> Result<(), Broken> {
        for event in self.journal {
            let Event::Said { key, charged } = event else { continue };
            let due = if *charged { PaymentStatus::Charged } else { PaymentStatus::Rejected };
            let status = self.payment(key).map(|payment| payment.status);
            if status != Some(due) {
                return Err(format!("{key} was said to be {due}, and is {status:?}"));
            }
        }
        Ok(())
    }

    fn payment(&self, key: &str) -> Option<&Payment> {
        self.payments.iter().find(|payment| payment.order_number == key)
    }

    fn calls(&self, of: EndpointName, about: Option<&str>) -> Calls {
        let mut calls = Calls::default();
        let counts = |endpoint: &EndpointName, key: &str| *endpoint == of && about.is_none_or(|about| about == key);
        for event in self.journal {
            match event {
                Event::Began { endpoint, key } if counts(endpoint, key) => calls.began += 1,
                Event::Answered { endpoint, key } if counts(endpoint, key) => calls.answered += 1,
                Event::Clean { endpoint, key, detail } if counts(endpoint, key) => calls.clean.push(detail.clone()),
                _ => {}
            }
        }
        calls
    }
}

pub fn is_query(endpoint: EndpointName) -> bool {
    matches!(endpoint, EndpointName::Status | EndpointName::GetStatus | EndpointName::QrTransactionStatus)
}
