//! The gateway's endpoints: the type of an endpoint, and the table of all. Each other file
//! has the endpoints of one payment method, or a step of the pipeline that handles requests.

pub(crate) mod card_payment;
mod fields;
pub(crate) mod finipay;
pub(crate) mod mbank;
pub(crate) mod megapay;
pub(crate) mod outgoing;
pub(crate) mod pay_form;
pub(crate) mod pipeline;
pub(crate) mod qr;
pub(crate) mod rejection;
mod response;
pub(crate) mod status;

pub(crate) use fields::{Fields, RequestSpec};
pub(crate) use rejection::Rejection;
pub(crate) use response::Response;

use axum::http::Method;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use crate::{domain::EndpointName, state::State};

/// The position of an endpoint's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// In a JSON body.
    Body,
    /// In a JSON body or, if a proxy dropped the body, in the query string.
    BodyOrQuery,
    /// In the query string.
    Query,
}

/// One endpoint.
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    /// Another method that is accepted, too.
    pub(crate) other_method: Option<Method>,
    /// The method's name, for the `Allow` header.
    pub(crate) allowed: &'static str,
    pub(crate) name: EndpointName,
    pub(crate) input: Input,
    /// The field that identifies the payment, for the request log.
    pub(crate) subject: Option<&'static str>,
    pub(crate) handle: fn(&State, Fields) -> Result<Response, Rejection>,
    pub(crate) description: Description,
}

/// The OpenAPI description of an endpoint; its fields and data come from the code itself.
pub(crate) struct Description {
    pub(crate) summary: &'static str,
    pub(crate) text: &'static str,
    /// Reads the request's fields.
    pub(crate) take: fn(&mut Fields),
    /// An example request as a JSON object. For an endpoint with a query, its members are the parameters.
    pub(crate) example: &'static str,
    pub(crate) success: SuccessBody,
    /// The response with HTTP 200 if the sandbox acts as FINIPAY and the response differs.
    pub(crate) finipay: Option<&'static FinipayResponse>,
    /// The HTTP statuses of its own errors, without those of every endpoint.
    pub(crate) rejections: &'static [RejectionKind],
}

impl Endpoint {
    /// The id of an operation in the description: the endpoint's name, with hyphens for slashes.
    pub(crate) fn operation_id(&self, method: &Method) -> String {
        let id = self.name.as_str().replace('/', "-");
        if *method == self.method { id } else { format!("{id}-by-query") }
    }

    /// Its requests: each method with the position of its fields. An endpoint of two methods takes a body by the first one.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (&Method, Input)> {
        let first = if self.other_method.is_some() { Input::Body } else { self.input };
        [(&self.method, first)].into_iter().chain(self.other_method.iter().map(|method| (method, Input::Query)))
    }
}

/// The response with HTTP 200.
#[derive(Clone, Copy)]
pub(crate) enum SuccessBody {
    /// The envelope: its codes, and its data.
    Envelope(&'static [&'static str], fn(&mut SchemaGenerator) -> Schema),
    /// The base64 of a picture.
    Image,
}

/// The response with HTTP 200 if the sandbox acts as FINIPAY: always an envelope.
pub(crate) struct FinipayResponse {
    pub(crate) code: &'static str,
    pub(crate) message: &'static str,
    /// The JSON Schema of its data.
    pub(crate) data: fn(&mut SchemaGenerator) -> Value,
}

/// An error that only some endpoints return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RejectionKind {
    /// 404.
    NotFound,
    /// 409.
    ReusedOrderNumber,
    /// 400 and 409.
    Otp,
}

/// All endpoints.
pub(crate) static ENDPOINTS: [Endpoint; 11] = [
    card_payment::ENDPOINT,
    status::STATUS,
    mbank::PAY,
    mbank::CONFIRM,
    pay_form::ENDPOINT,
    status::GET_STATUS,
    qr::CREATE_IMAGE,
    qr::CREATE_DATA,
    qr::STATUS,
    megapay::CHECK,
    megapay::PAY,
];
