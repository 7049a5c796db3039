//! The README's first program, as it stands there.

use std::time::Duration;

use kassa::{
    BlockingDeliveryHandler, BlockingGateway, GatewayConfig, Journal, JournalEntry, MbankPayment, PaymentError,
    Recovered, RecoveryPolicy,
};

struct Shop;

impl BlockingDeliveryHandler for Shop {
    type Error = std::io::Error;

    fn deliver(&mut self, entry: JournalEntry) -> std::io::Result<()> {
        println!("paid: deliver {:?}", entry.note); // the only reason to ship
        Ok(())
    }

    fn otherwise(&mut self, recovered: Recovered) -> std::io::Result<()> {
        println!("not paid, or for a person: {recovered:?}");
        Ok(())
    }
}

fn main() -> Result<(), PaymentError> {
    let gateway = BlockingGateway::new(GatewayConfig::from_environment()?)? // KASSA_URL, KASSA_LOGIN, KASSA_PASSWORD
        .with_journal(Journal::open("payments")?); // the journal has every payment before it is sent

    let payment = MbankPayment::new(kassa::new_order_number(), 250, "996555000101", "Two tickets"); // 250 som
    let sent = gateway.with_note("cart 17")?.create_mbank_payment(payment).and_then(|created| {
        let mut attempts = 1..=3;
        loop {
            let mut otp = String::new();
            println!("The code from the SMS?");
            std::io::stdin().read_line(&mut otp).expect("a terminal");
            match gateway.confirm_mbank_payment(&created.payment, otp.trim()) {
                // Such as a mistyped code: nothing was paid, and it can be typed again.
                Err(refused @ PaymentError::Refused { .. }) if attempts.next() < Some(3) => println!("{refused}"),
                result => return result,
            }
        }
    });
    if let Err(error) = sent {
        println!("{error}"); // it says whether money may have moved; if so, the gateway is queried below
    }
    // Everything unfinished, including payments of a crashed process. Here it waits for 15 seconds at most.
    let summary = gateway.deliver_unfinished(RecoveryPolicy::default().with_deadline(Duration::from_secs(15)), Shop)?;
    println!("{summary}"); // what is left open is for the next run, or for a person
    Ok(())
}
