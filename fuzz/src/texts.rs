//! Texts that come from strangers, payers and disks.

use std::sync::Arc;

use kassa::{Callback, Dialect, Elqr, PaymentRef, QR_PNG_SIDE, QrCode, QrLevel, ReturnRedirect};

use crate::responses;

/// Read, it has a key that does not depend on how it is written, and no empty order number.
pub fn callback(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(callback) = Callback::parse(text) {
        assert!(!callback.order_number.trim().is_empty(), "it names no order");
        assert_eq!(callback.raw, text, "it is kept as it came");
        let has_no_status = callback.missing.iter().any(|field| field == "status");
        assert_eq!(callback.dedup_key().is_none(), has_no_status, "every other one has a key");
        let again = Callback::parse(&format!(" {text}\n")).expect("the same with white space around it");
        assert_eq!(callback.dedup_key(), again.dedup_key());
        let _ = callback.payment_ref();
    }
}

/// Read, it names an order.
pub fn redirect(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(redirect) = ReturnRedirect::parse(text) {
        assert!(!redirect.order_number.trim().is_empty(), "it names no order");
    }
}

/// Read, it can be written and read again, and used on any response; here on itself.
pub fn dialect(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(dialect) = Dialect::from_json(text) {
        let written = dialect.to_json();
        let again = Dialect::from_json(&written).expect("what was written is read");
        assert_eq!(again.to_json(), written);
        responses::to_every_operation(bytes, &Arc::new(dialect));
    }
}

/// Read, it survives its text.
pub fn payment_ref(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(payment) = text.parse::<PaymentRef>() {
        assert_eq!(payment.to_string().parse::<PaymentRef>().expect("what was written is read"), payment);
    }
}

/// Encoded, the text is drawn. The first byte picks the level.
pub fn qr_code(bytes: &[u8]) {
    let [level, text @ ..] = bytes else { return };
    let Ok(text) = str::from_utf8(text) else { return };
    let level = [QrLevel::Low, QrLevel::Medium, QrLevel::Quartile, QrLevel::High][usize::from(level % 4)];
    if let Ok(code) = QrCode::encode(text, level) {
        let modules = code.modules();
        assert!(modules.iter().all(|row| row.len() == modules.len()), "it is no square");
        code.png(QR_PNG_SIDE).expect("a picture");
    }
}

/// Read, a whole code is written and read again as the same one. Codes are read more leniently than they are written.
pub fn elqr(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(code) = Elqr::parse(text) else { return };
    assert!(!code.provider.is_empty() && !code.payee.is_empty(), "the required values are there");
    let Ok(written) = code.text() else { return };
    let again = Elqr::parse(&written).expect("what was written is read");
    // What is unknown is not written, and the checksum is made anew.
    assert_eq!((again.amount_tyiyn, again.payee, again.recipient), (code.amount_tyiyn, code.payee, code.recipient));
    assert!(again.checksum_ok, "its own checksum is right");
}
