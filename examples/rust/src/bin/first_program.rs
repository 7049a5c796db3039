//! The README's first program, as it stands there.

use kassa::{
    BlockingGateway, GatewayConfig, Journal, JournalState, MbankPayment, PaymentError, Recovered, RecoveryPolicy,
};

fn main() -> Result<(), PaymentError> {
    let gateway = BlockingGateway::new(GatewayConfig::from_environment()?)? // KASSA_URL, KASSA_LOGIN, KASSA_PASSWORD
        .with_journal(Journal::open("payments")?); // the journal has every payment before it is sent

    let payment = MbankPayment::new(kassa::new_order_number(), 250, "996555000101", "Two tickets"); // 250 som
    let sent = gateway.with_note("cart 17")?.create_mbank_payment(payment).and_then(|created| {
        let mut otp = String::new();
        println!("The code from the SMS?");
        std::io::stdin().read_line(&mut otp).expect("a terminal");
        gateway.confirm_mbank_payment(&created.payment, otp.trim())
    });
    if let Err(error) = sent {
        println!("{error}"); // it says whether money may have moved; if so, recover() asks the gateway
    }
    // Everything unfinished, including payments of a crashed process.
    for recovered in gateway.recover(RecoveryPolicy::default())? {
        match recovered? {
            Recovered::Payment { entry } if entry.state == JournalState::Charged => {
                println!("paid: deliver {:?}", entry.note); // the only reason to ship
                gateway.finish(&entry.id)?;
            }
            other => println!("not paid, or for a person: {other:?}"),
        }
    }
    Ok(())
}
