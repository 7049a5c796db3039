//! Common to all of them: a gateway with a journal, and the handling of a verdict.

use std::{
    env,
    io::{self, Write as _},
};

use kassa::{BlockingGateway, GatewayConfig, Journal, JournalState, PaymentError, PaymentRef, PollPolicy, Verdict};

/// The gateway from the environment, with a journal: each payment and its purpose are on the disk before it is sent.
pub(crate) fn open() -> Result<BlockingGateway, PaymentError> {
    let journal = Journal::open(setting("FLOWS_JOURNAL", "payments"))?;
    BlockingGateway::new(GatewayConfig::from_environment()?)?.with_journal(journal).with_note("two coffees")
}

// docs: begin follow
/// Polls a payment until it is final. After an interruption, run `flows resume`.
pub(crate) fn follow(gateway: &BlockingGateway, payment: PaymentRef) -> Result<(), PaymentError> {
    match gateway.watch(payment, PollPolicy::default())?.outcome()? {
        Some(verdict) => act(gateway, &verdict),
        None => Ok(()), // cancelled from another thread
    }
}

/// Handles a verdict, however it was obtained.
pub(crate) fn act(gateway: &BlockingGateway, verdict: &Verdict) -> Result<(), PaymentError> {
    match verdict {
        Verdict::Charged { payment, .. } => deliver(gateway, payment)?,
        Verdict::Rejected { .. } => println!("not paid"),
        Verdict::Pending { payment, .. } => println!("still pending, watch it: {payment}"),
        other => println!("a person should look: {other:?}"),
    }
    Ok(())
}
// docs: end follow

/// Delivers the goods; a shop would mark its cart as paid here. **Make it idempotent**: a program may die before the
/// payment is finished, and a callback may come while `resume` delivers.
pub(crate) fn deliver(gateway: &BlockingGateway, payment: &PaymentRef) -> Result<(), PaymentError> {
    // It always has one, from `open`.
    let entry = gateway.journal().map(|journal| journal.entry(payment)).transpose()?.flatten();
    match entry {
        Some(entry) if entry.is_finished => println!("delivered before"),
        // The journal has the request that was really sent, whatever amount this reference names.
        Some(entry) if entry.state == JournalState::Charged => {
            println!("paid, deliver: {}", entry.note.unwrap_or_default());
            gateway.finish(&entry.id)?;
        }
        other => println!("paid, and a person should look: {payment}, {other:?}"),
    }
    Ok(())
}

/// An environment variable, or its default.
pub(crate) fn setting(name: &str, otherwise: &str) -> String {
    env::var(name).unwrap_or_else(|_| otherwise.to_owned())
}

/// Reads a line from the payer.
pub(crate) fn ask(for_what: &str) -> String {
    print!("{for_what}: ");
    let mut typed = String::new();
    let asked = io::stdout().flush().and_then(|()| io::stdin().read_line(&mut typed));
    asked.map(|_| typed.trim().to_owned()).unwrap_or_default()
}
