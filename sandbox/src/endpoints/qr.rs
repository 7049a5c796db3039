//! QR payments: `POST /gen/qr/dynamic/data` returns the text of a code, `POST /gen/qr/dynamic` the code as a PNG in base64, and
//! `GET /gen/qr/transaction/status` the status of the transaction.

use std::io::Cursor;

use axum::http::Method;
use base64::{Engine, engine::general_purpose::STANDARD};
use image::{GrayImage, ImageFormat, Luma};
use qrcode::{Color, EcLevel};
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::{EndpointName, Payment, PaymentKind, Provider, amount::Amount, codes},
    encoding::elqr::LARGEST_AMOUNT,
    endpoints::{
        Description, Endpoint, Fields, Input, Rejection, RejectionKind, Response, SuccessBody, finipay,
        status::{STATUS_CODES, status_response, status_schema},
    },
    pages,
    payments::{
        pending,
        qr_code::QrCode,
        transition::{RegisterError, register},
    },
    rules,
    state::{State, new_gateway_number},
    store::payments::{self, NewPayment, Record},
};

pub(super) const CREATE_DATA: Endpoint = Endpoint {
    method: Method::POST,
    other_method: None,
    allowed: "POST",
    name: EndpointName::QrDynamicData,
    input: Input::Body,
    subject: None,
    handle: create_data,
    description: Description {
        summary: "Create a QR payment as text for a QR code",
        text: "`sum` is in tyiyn. Without it, the payer enters the amount.",
        take: |fields| drop(read_data_request(fields)),
        example: r#"{
            "sum": 12550, "requisite": "996700123456", "callback_url": "http://127.0.0.1:9000/callback?order=7"
        }"#,
        success: SuccessBody::Envelope(&[codes::CREATED], |generator| generator.subschema_for::<QrData<'_>>()),
        finipay: Some(&finipay::QR_DATA),
        rejections: &[],
    },
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QrDataCreated", deny_unknown_fields)]
struct QrData<'a> {
    /// Transaction id, for QR status queries.
    transaction_id: &'a str,
    /// Content of the QR code, in ELQR: a link to the payer's page, with the code as its fragment.
    qr_data: &'a str,
    /// Sum in tyiyn. Absent if the request named none.
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<Amount>,
}

/// The request of both endpoints that create a QR payment.
pub(super) struct QrRequest {
    sum: Option<i64>,
    requisite: Option<String>,
    callback_url: Option<String>,
}

fn read_data_request(fields: &mut Fields) -> QrRequest {
    let sum = fields.optional("sum", rules::integer_up_to(1, LARGEST_AMOUNT));
    read_shared_fields(fields, sum)
}

/// Reads the fields that both endpoints share.
fn read_shared_fields(fields: &mut Fields, sum: Option<i64>) -> QrRequest {
    QrRequest {
        sum,
        requisite: fields.optional("requisite", rules::text()),
        callback_url: fields.optional("callback_url", rules::web_url()),
    }
}

fn create_data(state: &State, mut fields: Fields) -> Result<Response, Rejection> {
    let request = read_data_request(&mut fields);
    fields.finish()?;
    let record = register_qr(state, request)?;
    let text = qr_text(state, &record);
    let created = if state.acts_as_finipay() { finipay::qr_data(&text) } else { data_response(&record.payment, &text) };
    Ok(created.about(record.id))
}

/// The response for a new transaction.
pub(crate) fn data_response(payment: &Payment, payload: &str) -> Response {
    let data = QrData { transaction_id: &payment.order_number, qr_data: payload, sum: payment.amount.map(Amount) };
    Response::ok(codes::CREATED, "CREATED", &data)
}

/// Registers the transaction.
fn register_qr(state: &State, request: QrRequest) -> Result<Record, RegisterError> {
    let QrRequest { sum, requisite, callback_url } = request;
    let new = NewPayment {
        kind: PaymentKind::Qr,
        order_number: if state.acts_as_finipay() {
            finipay::new_transaction_id()
        } else {
            format!("QR-{}", Uuid::new_v4().simple())
        },
        gateway_number: new_gateway_number(),
        // QR codes are paid from a bank's app.
        provider: Some(Provider::MBank),
        amount: sum.map(Decimal::from),
        currency: "KGS".to_owned(),
        description: requisite.clone().unwrap_or_default(),
        holder_name: None,
        requisite,
        masked_card: None,
        masked_phone: None,
        language: None,
        return_url: None,
        callback_url,
        confirmation_page: false,
    };
    register(state, &new, None)
}

/// The text in the QR code: a link to the payer's page, followed by the code.
pub(super) fn qr_text(state: &State, record: &Record) -> String {
    QrCode::of(record).linked(&state.page_url(pages::qr::PATH, &record.payment.gateway_number))
}

pub(super) const CREATE_IMAGE: Endpoint = Endpoint {
    method: Method::POST,
    other_method: None,
    allowed: "POST",
    name: EndpointName::QrDynamic,
    input: Input::Body,
    subject: None,
    handle: create_image,
    description: Description {
        summary: "Create a QR payment as an image",
        text: "A PNG of 400x400 pixels, in base64. `sum` is in tyiyn.",
        take: |fields| drop(read_image_request(fields)),
        example: r#"{"sum": 12550}"#,
        success: SuccessBody::Image,
        finipay: Some(&finipay::QR_IMAGE),
        rejections: &[],
    },
};

fn read_image_request(fields: &mut Fields) -> QrRequest {
    let sum = fields.required("sum", rules::integer_up_to(1, LARGEST_AMOUNT));
    read_shared_fields(fields, Some(sum))
}

fn create_image(state: &State, mut fields: Fields) -> Result<Response, Rejection> {
    let request = read_image_request(&mut fields);
    fields.finish()?;
    let record = register_qr(state, request)?;
    let png = draw_png(&qr_text(state, &record)).map_err(Rejection::Internal)?;
    let base64 = STANDARD.encode(png);
    let created = if state.acts_as_finipay() { finipay::qr_image(&base64) } else { Response::image(base64) };
    Ok(created.about(record.id))
}

const PIXELS: u32 = 400;
/// The white border that a reader needs, in modules.
const QUIET_ZONE: u32 = 4;
const BLACK: Luma<u8> = Luma([0]);
const WHITE: Luma<u8> = Luma([255]);

/// The PNG's bytes.
fn draw_png(text: &str) -> Result<Vec<u8>, String> {
    let code = qrcode::QrCode::with_error_correction_level(text, EcLevel::M)
        .map_err(|error| format!("the text does not fit into a QR code: {error}"))?;
    let modules = u32::try_from(code.width()).map_err(|error| error.to_string())?;
    // At least 2: the largest code has 177 modules.
    let scale = PIXELS / (modules + 2 * QUIET_ZONE);
    let margin = (PIXELS - modules * scale) / 2;
    let colors = code.to_colors();
    let image = GrayImage::from_fn(PIXELS, PIXELS, |x, y| {
        let (Some(x), Some(y)) = (x.checked_sub(margin), y.checked_sub(margin)) else {
            return WHITE;
        };
        let (column, row) = (x / scale, y / scale);
        if column >= modules || row >= modules {
            return WHITE;
        }
        match colors.get((row * modules + column) as usize) {
            Some(Color::Dark) => BLACK,
            _ => WHITE,
        }
    });
    let mut png = Cursor::new(Vec::new());
    image.write_to(&mut png, ImageFormat::Png).map_err(|error| error.to_string())?;
    Ok(png.into_inner())
}

pub(super) const STATUS: Endpoint = Endpoint {
    method: Method::GET,
    other_method: None,
    allowed: "GET",
    name: EndpointName::QrTransactionStatus,
    input: Input::Query,
    subject: Some("transaction_id"),
    handle: status,
    description: Description {
        summary: "Query the status of a QR transaction",
        text: "Amounts are in tyiyn.",
        take: |fields| drop(read_status_request(fields)),
        example: r#"{"transaction_id": "QR-5b1f6a0d3c9e4f7a8b2d1c0e9f8a7b6c"}"#,
        success: SuccessBody::Envelope(&STATUS_CODES, status_schema),
        finipay: Some(&finipay::QR_STATUS),
        rejections: &[RejectionKind::NotFound],
    },
};

fn read_status_request(fields: &mut Fields) -> String {
    fields.required("transaction_id", rules::text())
}

fn status(state: &State, mut fields: Fields) -> Result<Response, Rejection> {
    let id = read_status_request(&mut fields);
    fields.finish()?;
    let record = state
        .read(|connection| payments::by_order_number_and_kind(connection, &id, PaymentKind::Qr))?
        .ok_or(Rejection::NotFound)?;
    pending::count_query(state, &record)?;
    if state.acts_as_finipay() {
        return Ok(finipay::qr_status(&record.payment));
    }
    Ok(status_response(&id, &record.payment, state.switches().language))
}
