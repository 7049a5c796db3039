//! The scene in memory: requests go to the simulated gateway on a virtual clock, and every word is compared with its
//! books at once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use fastrand::Rng;
use strum::VariantArray;

use crate::{
    CardPayment, MbankPayment, MegapayPayment, PayForm, PayFormCreated, PaymentError, PaymentRef, PollPolicy,
    QrPayment,
    operations::dialect::ENDPOINTS,
    testing::{
        schedules::{
            merchant::{Broken, Call, End, Pace, Scene},
            transport::WorldTransport,
            world::{self, Ending, Fault, World},
        },
        scripted,
    },
};

/// What the programs keep on disk, to be read after a crash.
#[derive(Default)]
pub(super) struct Disk {
    pub(super) payments: Vec<PaymentRef>,
    /// Calls whose errors said that they moved no money.
    pub(super) clean_calls: Vec<(usize, PaymentError)>,
    pub(super) coverage: Coverage,
}

pub(super) struct InMemory {
    pub(super) world: Arc<World>,
    pub(super) line: Arc<WorldTransport>,
    pub(super) disk: Arc<Mutex<Disk>>,
}

impl InMemory {
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().expect("nothing panics in here")
    }
}

impl Scene for InMemory {
    type Id = usize;

    fn random<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        self.world.random(draw)
    }

    fn pace(&self) -> Pace {
        Pace {
            short: Duration::from_millis(1_500),
            long: Duration::from_secs(12),
            poll: PollPolicy { deadline: Duration::from_secs(90), ..PollPolicy::default() },
        }
    }

    fn card_payment(&self, order: &str) -> CardPayment {
        let with_page = self.random(Rng::bool);
        scripted::card_payment(order, if with_page { "4111111111111111" } else { "4000000000002016" })
    }

    fn mbank_payment(&self, order: &str) -> (MbankPayment, String) {
        (scripted::mbank_payment(order), world::OTP.to_owned())
    }

    fn megapay_payment(&self, order: &str) -> (MegapayPayment, String) {
        (scripted::megapay_payment(order), world::OTP.to_owned())
    }

    fn pay_form(&self) -> PayForm {
        scripted::pay_form()
    }

    fn qr_payment(&self) -> QrPayment {
        scripted::qr_payment()
    }

    fn store(&self, payment: &PaymentRef) {
        self.disk().payments.push(payment.clone());
    }

    fn begin(&self, _call: &Call) -> usize {
        self.line.begin_call()
    }

    fn end(&self, id: usize, call: Call, end: End<'_>) -> Result<(), Broken> {
        let record = self.world.call(id);
        let gave_up = matches!(end, End::GivenUp);
        for fault in record.faults {
            self.disk().coverage.count((call.endpoint, fault, gave_up));
        }
        if !call.moves_money {
            return Ok(());
        }
        if record.sent > 1 {
            return Err(format!("{} of {} was sent twice", call.endpoint, call.key));
        }
        match end {
            End::Answered if record.effects == 0 => {
                Err(format!("{} of {} succeeded, and nothing was done", call.endpoint, call.key))
            }
            End::Clean(error) => {
                self.disk().clean_calls.push((id, error.clone()));
                Ok(())
            }
            End::Answered | End::Unknown | End::GivenUp => Ok(()),
        }
    }

    fn made_page(&self, _page: &PayFormCreated) {}

    fn gateway_repeats_itself(&self) -> bool {
        self.world.repeats_itself()
    }

    fn reported_final(&self, key: &str, charged: bool) -> Result<(), Broken> {
        if !charged && self.world.takes_back() {
            return Ok(());
        }
        let reported = if charged { Ending::Charged } else { Ending::Rejected };
        let books = self.world.payment(key).and_then(|payment| payment.end);
        if books == Some(reported) {
            Ok(())
        } else {
            Err(format!("{key} was reported as {reported:?}, and is {books:?}"))
        }
    }
}

// Which operations met which faults.

/// How often an operation has to meet a fault, with a caller who waits and with one who gives up.
const OFTEN_ENOUGH: u32 = 20;
/// The same in fewer schedules, with either caller.
const AT_LEAST: u32 = 5;

/// An operation, a fault, and whether the caller gave up.
type Meeting = (&'static str, Fault, bool);

#[derive(Debug, Default, PartialEq)]
pub(super) struct Coverage(HashMap<Meeting, u32>);

impl Coverage {
    pub(super) fn count(&mut self, meeting: Meeting) {
        *self.0.entry(meeting).or_default() += 1;
    }

    pub(super) fn add(&mut self, other: Self) {
        for (meeting, count) in other.0 {
            *self.0.entry(meeting).or_default() += count;
        }
    }

    /// Each operation met each fault.
    pub(super) fn check_faults(&self) {
        for endpoint in ENDPOINTS.map(|endpoint| endpoint.name) {
            for fault in Fault::VARIANTS.iter().copied() {
                let count: u32 = [false, true].map(|gave_up| self.times(endpoint, fault, gave_up)).iter().sum();
                assert!(count >= AT_LEAST, "{endpoint} met {fault:?} only {count} times");
            }
        }
    }

    /// The same often, with a caller who waits and with one who gives up.
    pub(super) fn check_callers(&self) {
        for endpoint in ENDPOINTS.map(|endpoint| endpoint.name) {
            for fault in Fault::VARIANTS.iter().copied() {
                for gave_up in [false, true] {
                    let count = self.times(endpoint, fault, gave_up);
                    assert!(count >= OFTEN_ENOUGH, "{endpoint} met {fault:?} (gave up: {gave_up}) only {count} times");
                }
            }
        }
    }

    fn times(&self, endpoint: &'static str, fault: Fault, gave_up: bool) -> u32 {
        self.0.get(&(endpoint, fault, gave_up)).copied().unwrap_or_default()
    }
}
