use kassa::{JournalState, PaymentError, Recovered, RecoveryPolicy};

use super::shop;

/// Recovers everything unfinished, including payments of a crashed process: for the start of a shop, and repeatedly.
pub(crate) fn resume() -> Result<(), PaymentError> {
    let gateway = shop::open()?;
    for recovered in gateway.recover(RecoveryPolicy::default())? {
        match recovered? {
            Recovered::Payment { entry } if entry.state == JournalState::Charged => {
                // A failure of one payment does not stop the others; it is tried again.
                if let Err(error) = shop::deliver(&gateway, &entry.payment) {
                    println!("{}: {error}", entry.id);
                }
            }
            Recovered::Payment { entry } if entry.state == JournalState::Rejected => {
                println!("not paid: {} {}", entry.id, entry.reason.unwrap_or_default());
            }
            other => println!("a person should look: {other:?}"),
        }
    }
    Ok(())
}
