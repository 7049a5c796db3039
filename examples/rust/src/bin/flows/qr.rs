use kassa::{Decimal, PaymentError, QrCode, QrLevel, QrPayment};

use super::shop;

/// Shows a QR code for some som in the terminal, and waits until it is paid.
pub(crate) fn show(som: Decimal) -> Result<(), PaymentError> {
    let gateway = shop::open()?;
    let payment = QrPayment::new(kassa::som_to_tyiyn(som)?);
    let data = gateway.create_qr_data(payment)?; // in the journal before the code is shown
    match data.payload {
        Some(payload) if data.payment.can_be_checked() => {
            println!("{}\nscan it, or open: {payload}", QrCode::encode(&payload, QrLevel::default())?.text());
            shop::follow(&gateway, data.payment)
        }
        _ => {
            println!("this gateway's response needs a dialect: {}", data.raw);
            Ok(())
        }
    }
}
