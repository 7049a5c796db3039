//! The description of what the server sends to the shop (webhooks): events, by the Standard Webhooks scheme.

use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::examples;
use crate::{delivery::headers, events::body::Body};

const SUMMARY: &str = "An event";

const TEXT: &str = "Sent to `events.url`. The events of a checkout come one after the other, each at least once. Anything but an \
    answer 2xx within 15 seconds is a failure, a redirect too: the event is sent again, after 5 seconds, then less and less often; \
    after three days without a success the checkout's events wait until something new happens to it, or somebody replays \
    them. Answer 2xx to a kind that you do not know. 400, 406, 409, 415, 422 and 501 refuse this one event: after five of them it is \
    stepped over, until somebody replays it, unless it is `checkout.paid` or `checkout.overpaid`.\n\nVerify it by a library of the Standard Webhooks \
    scheme before anything is believed, and remember `webhook-id`: an event whose identifier was seen before is a repeated \
    delivery. Ignore members that you do not know: newer servers may tell more.";

const ID: &str = "The event's identifier, the same however often it comes.";
const TIMESTAMP: &str = "When it was sent, in seconds since the beginning of 1970.";
const SIGNATURE: &str =
    "`v1,` and the signature in base64; one for each secret that is valid, with a space between two.";

pub(super) fn described(generator: &mut SchemaGenerator) -> Value {
    let schema = generator.subschema_for::<Body<'_>>();
    json!({
        "event": {
            "post": {
                "operationId": "event",
                "tags": ["shop"],
                "summary": SUMMARY,
                "description": TEXT,
                "parameters": [
                    header(headers::ID, ID, "string"),
                    header(headers::TIMESTAMP, TIMESTAMP, "integer"),
                    header(headers::SIGNATURE, SIGNATURE, "string"),
                ],
                "requestBody": {
                    "required": true,
                    "content": { "application/json": { "schema": schema, "examples": examples::events() } },
                },
                "responses": { "2XX": { "description": "Taken. It is sent again only where the server did not hear this." } },
            },
        },
    })
}

fn header(name: &str, text: &str, kind: &str) -> Value {
    json!({ "name": name, "in": "header", "required": true, "description": text, "schema": { "type": kind } })
}
