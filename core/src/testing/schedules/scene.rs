//! The scene in memory: requests go to the simulated gateway on a virtual clock, and every word is compared with its
//! books at once.

use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use fastrand::Rng;

use super::{
    super::requests,
    coverage::Coverage,
    ending::Ending,
    line::Line,
    merchant::{Broken, Call, End, Pace, Scene},
    world::{self, World},
};
use crate::{CardPayment, MbankPayment, PayForm, PayFormCreated, PaymentError, PaymentRef, PollPolicy, QrPayment};

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
    pub(super) line: Arc<Line>,
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
        requests::card_payment(order, if with_page { "4111111111111111" } else { "4000000000002016" })
    }

    fn mbank_payment(&self, order: &str) -> (MbankPayment, String) {
        (requests::mbank_payment(order), world::OTP.to_owned())
    }

    fn pay_form(&self) -> PayForm {
        requests::pay_form()
    }

    fn qr_payment(&self) -> QrPayment {
        requests::qr_payment()
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

    fn told_final(&self, key: &str, charged: bool) -> Result<(), Broken> {
        if !charged && self.world.takes_back() {
            return Ok(());
        }
        let told = if charged { Ending::Charged } else { Ending::Rejected };
        let books = self.world.payment(key).and_then(|payment| payment.end);
        if books == Some(told) { Ok(()) } else { Err(format!("{key} was said to be {told:?}, and is {books:?}")) }
    }
}
