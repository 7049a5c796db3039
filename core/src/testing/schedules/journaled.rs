//! The journal in a schedule: its disk may be full for a moment, or dead from some step on, and forgets what was not
//! flushed when the power goes. Whatever happens, what was charged is recovered or still listed.

use std::{path::Path, sync::Arc, time::Duration};

use super::{
    merchant::{Broken, key_of},
    transport::Process,
};
use crate::{
    Gateway, JournalState, PaymentRef, Recovered, RecoveryPolicy, Unfinished,
    journal::{
        Journal,
        tests::memory_disk::{Crash, MemoryDisk},
    },
    testing::schedules::{
        play::{Policy, open},
        world::{Ending, World},
    },
};

/// More steps than most schedules take.
const STEPS: usize = 80;

pub(super) struct Journaled(MemoryDisk);

impl Journaled {
    /// Every other schedule has a journal.
    pub(super) fn draw(world: &World) -> Option<Self> {
        world.random(|rng| rng.bool()).then(|| Self(MemoryDisk::default()))
    }

    pub(super) fn open(&self) -> Journal {
        Journal::on(Box::new(self.0.clone()), Path::new("shop")).expect("a disk that works")
    }

    pub(super) fn draw_fault(&self, world: &World) {
        let (kind, step, is_done) = world.random(|rng| (rng.u8(..4), rng.usize(..STEPS), rng.bool()));
        match kind {
            0 => self.0.fail_at(step),
            1 => self.0.crash_at(step, is_done),
            _ => {}
        }
    }

    /// The program is started again, perhaps because the power had gone.
    pub(super) fn restart(&self, world: &World) {
        let has_lost = world.random(|rng| rng.bool());
        self.0.restart(if has_lost { Crash::Power } else { Crash::Process });
    }

    /// A new process recovers what is unfinished, an hour later and once more a day later; what it says is true, and nothing that was
    /// charged is missing, also where it was reported as rejected at first.
    pub(super) async fn recover(&self, world: &Arc<World>, policy: Policy) -> Result<(), Broken> {
        let (line, gateway) = open(world, &Process::default(), policy);
        line.begin_call();
        let gateway = gateway.with_journal(self.open());
        let mut ends = Vec::new();
        for hours in [1, 24] {
            self.0.pass(Duration::from_secs(hours * 60 * 60));
            ends.extend(recovered(&gateway).await?);
        }
        let listed = unfinished(&gateway)?;
        for (key, state) in &ends {
            let books = world.payment(key).and_then(|payment| payment.end);
            // Its payer sent no code: it is set aside, and stays for the next recovery. That is no end.
            if *state == JournalState::Pending {
                let has_ended = ends.iter().any(|(other, end)| other == key && *end != JournalState::Pending);
                if !has_ended && (books.is_some() || !listed.contains(key)) {
                    return Err(format!(
                        "{key} was set aside as {state:?}, and is {books:?}, listed: {}",
                        listed.contains(key)
                    ));
                }
                continue;
            }
            let reported = if *state == JournalState::Charged { Ending::Charged } else { Ending::Rejected };
            // If the owner of a number is not known, a person decides.
            let is_doubted = *state == JournalState::Mismatch && world.repeats_itself();
            if books != Some(reported) && !is_doubted {
                return Err(format!("{key} was recovered as {state:?}, and is {books:?}"));
            }
        }
        let charged = world.payments().into_iter().filter(|(_, payment)| payment.times_charged > 0);
        for (key, payment) in charged {
            let has_ended = ends.iter().any(|(recovered, end)| *recovered == key && *end != JournalState::Pending);
            if !has_ended && !listed.contains(&key) {
                return Err(format!("the journal has forgotten {key}: {payment:?}"));
            }
        }
        Ok(())
    }
}

async fn recovered(gateway: &Gateway) -> Result<Vec<(String, JournalState)>, Broken> {
    let policy = RecoveryPolicy::default().with_deadline(Duration::from_secs(600));
    let recovery = gateway.recover(policy).map_err(|error| format!("no recovery: {error}"))?;
    let mut ends = Vec::new();
    while let Some(recovered) = recovery.next().await.map_err(|error| format!("the recovery ended: {error}"))? {
        // An empty file is one that nothing was sent for.
        if let Recovered::Payment { entry } = recovered {
            ends.push((key_of(&entry.payment), entry.state));
        }
    }
    Ok(ends)
}

fn unfinished(gateway: &Gateway) -> Result<Vec<String>, Broken> {
    let listed = gateway.unfinished().map_err(|error| error.to_string())?;
    let payments = listed.filter_map(|item| match item {
        Ok(Unfinished::Payment { entry }) => Some(Ok(key_of(&PaymentRef::clone(&entry.payment)))),
        Ok(Unfinished::Unreadable { .. }) => None,
        Err(error) => Some(Err(error.to_string())),
    });
    payments.collect()
}
