use std::path::Path;

use kassa::{BlockingGateway, GatewayConfig, Journal, JournalState, Recovered, RecoveryPolicy};

pub fn deliver_what_is_paid(config: GatewayConfig, folder: &Path) -> Result<(), kassa::PaymentError> {
    let journal = Journal::open(folder)?; // such as /var/lib/shop/payments
    let gateway = BlockingGateway::new(config)?.with_journal(journal);
    // Everything unfinished, including payments of a crashed process.
    for recovered in gateway.recover(RecoveryPolicy::default())? {
        match recovered? {
            Recovered::Payment { entry } if entry.state == JournalState::Charged => {
                // Deliver what `entry.note` says, then:
                gateway.finish(&entry.id)?;
            }
            other => println!("for the payer, or for a person: {other:?}"),
        }
    }
    Ok(())
}
