//! Dynamic QR code as the gateway's own image: a PNG in base64.

use std::{fmt, io::Cursor, sync::Arc};

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use http::Method;
use png::{Decoder, DecodingError, Limits};

use super::qr_payment::QrPayment;
use crate::{
    config::endpoint::{Endpoint, ResponseField},
    error::PaymentError,
    operations::{CheckSettings, Kind, Operation, RequestParts, WireSettings},
    payment_entry::PaymentEntry,
    payment_ref::PaymentRef,
    response::reader::{NotAnAnswer, ResponseReader},
    validation::Checks,
};

/// The side of the picture in pixels, as `docs/interface.md#qr-responses` promises.
const SIDE: u32 = 400;

/// The decoder's memory limit, against decompression bombs. A picture of the right size needs 640,000 bytes at four
/// channels.
const MOST_MEMORY: usize = 8 * 1024 * 1024;

const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A dynamic QR code as the gateway's own picture: a PNG of 400x400 pixels, validated.
///
/// It carries no identifier: see [`QrPayment`].
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QrImage {
    /// The payment reference, to verify the callback. Store it.
    pub payment: PaymentRef,
    /// The PNG file.
    #[cfg_attr(feature = "serde", serde(with = "serialized"))]
    pub png: Vec<u8>,
    /// The whole response as text.
    pub raw: String,
}

impl QrImage {
    /// A minimal answer, for a [`PaymentGateway`](crate::PaymentGateway) of your own. The picture is not validated.
    pub fn new(payment: PaymentRef, png: Vec<u8>) -> Self {
        Self { payment, png, raw: String::new() }
    }
}

impl fmt::Debug for QrImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QrImage({SIDE}x{SIDE}, {} bytes)", self.png.len())
    }
}

pub(crate) struct QrImageRequest(pub(crate) QrPayment);

pub(crate) static ENDPOINT: Endpoint = Endpoint {
    name: "qr_image",
    method: Method::POST,
    path: "gen/qr/dynamic",
    response_fields: &[ResponseField::Code, ResponseField::Reason, ResponseField::Image],
    success_codes: &[],
};

impl Operation for QrImageRequest {
    type Answer = QrImage;

    const ENDPOINT: &'static Endpoint = &ENDPOINT;

    const KIND: Kind<Self> = Kind::Creates;

    fn check(&self, checks: &mut Checks, _settings: &CheckSettings) {
        self.0.check(checks, true);
    }

    fn log_name(&self) -> Option<Arc<str>> {
        None
    }

    fn parts(&self, _settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        self.0.parts()
    }

    fn journal_entry(answer: &QrImage) -> Option<(PaymentEntry, Option<&str>)> {
        Some((PaymentEntry::new(answer.payment.clone()), None))
    }

    fn payment(answer: &mut QrImage) -> Option<&mut PaymentRef> {
        Some(&mut answer.payment)
    }

    fn read(&self, response: &ResponseReader<'_>) -> Result<QrImage, NotAnAnswer> {
        if response.code().is_some() {
            response.accepted()?;
        }
        Ok(QrImage { payment: self.0.payment_ref(), png: find_png(response)?, raw: response.raw() })
    }
}

/// The picture as base64 in the body or in JSON, or as the body itself.
fn find_png(response: &ResponseReader<'_>) -> Result<Vec<u8>, NotAnAnswer> {
    let body = response.bytes()?;
    if body.starts_with(PNG_SIGNATURE) {
        return checked(body.to_vec());
    }
    let in_json = response.find_all(ResponseField::Image).find_map(|text| decode(&text));
    let png = in_json.or_else(|| decode(std::str::from_utf8(body).ok()?));
    let none = || response.compressed().unwrap_or_else(|| NotAnAnswer::because("the response holds no PNG in base64"));
    checked(png.ok_or_else(none)?)
}

/// Base64 with or without a data-URL prefix, line breaks and padding.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    let encoded = if text.starts_with("data:") { text.split_once(";base64,")?.1 } else { text };
    let encoded: String = encoded.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    BASE64.decode(encoded).ok().filter(|bytes| bytes.starts_with(PNG_SIGNATURE))
}

/// The whole picture is decoded, so that damage is found here and not on the payer's screen.
fn checked(png: Vec<u8>) -> Result<Vec<u8>, NotAnAnswer> {
    match decoded_size(&png) {
        Ok((SIDE, SIDE)) => Ok(png),
        Ok((width, height)) => Err(NotAnAnswer::because(format!("the PNG is {width}x{height}, not {SIDE}x{SIDE}"))),
        Err(problem) => Err(NotAnAnswer::because(format!("the PNG is damaged: {problem}"))),
    }
}

/// Width and height. A picture of the right size is decoded to its end; of any other, only the header is read.
fn decoded_size(png: &[u8]) -> Result<(u32, u32), DecodingError> {
    let mut reader = Decoder::new_with_limits(Cursor::new(png), Limits { bytes: MOST_MEMORY }).read_info()?;
    let size = reader.info().size();
    if size == (SIDE, SIDE) {
        while reader.next_row()?.is_some() {}
        reader.finish()?;
    }
    Ok(size)
}

/// Serialization (serde): the picture as base64, checked again when it is read.
#[cfg(feature = "serde")]
mod serialized {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(png: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(png))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let png = super::decode(&text).ok_or_else(|| D::Error::custom("a picture is a PNG in base64"))?;
        super::checked(png).map_err(|_| D::Error::custom("a picture is a PNG of 400x400, whole"))
    }
}
