use kassa::{PaymentError, PaymentRef, Verdict};

use super::shop;

/// Queries a payment once by its stored reference: for a support desk, which delivers nothing.
pub(crate) fn check(stored: &str) -> Result<(), PaymentError> {
    let payment: PaymentRef = stored.parse()?;
    match shop::open()?.check(&payment)? {
        Verdict::Charged { payment, .. } => println!("charged: {payment}"),
        Verdict::Rejected { report, .. } => println!("not paid: {}", report.reason.unwrap_or_default()),
        Verdict::Pending { .. } => println!("still pending"),
        other => println!("a person should look: {other:?}"),
    }
    Ok(())
}
