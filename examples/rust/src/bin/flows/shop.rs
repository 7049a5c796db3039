//! What all of them need: a gateway with a journal, and what to do about a verdict.

use std::{
    env,
    io::{self, Write as _},
};

use kassa::{BlockingGateway, GatewayConfig, Journal, JournalState, PaymentError, PaymentRef, PollPolicy, Verdict};

/// The gateway of the environment, with a journal: what it sends is on the disk before, with what it is for.
pub(crate) fn open() -> Result<BlockingGateway, PaymentError> {
    let journal = Journal::open(setting("FLOWS_JOURNAL", "payments"))?;
    BlockingGateway::new(GatewayConfig::from_environment()?)?.with_journal(journal).with_note("two coffees")
}

// docs: begin follow
/// Asks until a payment has come to its end. Whoever stops before that runs `flows resume`.
pub(crate) fn follow(gateway: &BlockingGateway, payment: PaymentRef) -> Result<(), PaymentError> {
    match gateway.watch(payment, PollPolicy::default())?.outcome()? {
        Some(verdict) => act(gateway, &verdict),
        None => Ok(()), // cancelled from another thread
    }
}

/// What to do about a payment, however it was asked about.
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

/// Hands over the goods, which is where a shop would mark its cart as paid. **Yours has to do nothing when it is repeated**: a program may
/// die before the payment is finished, and a callback may come while `resume` delivers.
pub(crate) fn deliver(gateway: &BlockingGateway, payment: &PaymentRef) -> Result<(), PaymentError> {
    // It has one, by `open`: without it nothing of this would be known.
    let entry = gateway.journal().map(|journal| journal.entry(payment)).transpose()?.flatten();
    match entry {
        Some(entry) if entry.is_finished => println!("delivered before"),
        // What the journal was told is about the very request that was sent, whatever amount this reference names.
        Some(entry) if entry.state == JournalState::Charged => {
            println!("paid, deliver: {}", entry.note.unwrap_or_default());
            gateway.finish(&entry.id)?;
        }
        other => println!("paid, and a person should look: {payment}, {other:?}"),
    }
    Ok(())
}

/// A variable of the environment, or what stands in for it.
pub(crate) fn setting(name: &str, otherwise: &str) -> String {
    env::var(name).unwrap_or_else(|_| otherwise.to_owned())
}

/// What the payer types.
pub(crate) fn ask(for_what: &str) -> String {
    print!("{for_what}: ");
    let mut typed = String::new();
    let asked = io::stdout().flush().and_then(|()| io::stdin().read_line(&mut typed));
    asked.map(|_| typed.trim().to_owned()).unwrap_or_default()
}
