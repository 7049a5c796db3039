//! The description of what the server sends to the shop (webhooks): events, by the Standard Webhooks scheme.

use schemars::SchemaGenerator;
use serde_json::{Value, json};

use crate::events::body::Body;

const SUMMARY: &str = "An event";

const TEXT: &str = "Sent to `events.url` until it is answered with 2xx, for three days: those of a checkout one after the other, \
    each at least once. Verify it by a library of the Standard Webhooks scheme before anything is believed, and remember \
    `webhook-id`: an event whose identifier was seen before is a repeated delivery.";

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
                    header("webhook-id", "The event's identifier, the same however often it comes.", "string"),
                    header("webhook-timestamp", "When it was sent, in seconds since the beginning of 1970.", "integer"),
                    header("webhook-signature", "`v1,` and its signature; one for each secret that is valid.", "string"),
                ],
                "requestBody": { "required": true, "content": { "application/json": { "schema": schema } } },
                "responses": { "2XX": { "description": "Taken; it is not sent again." } },
            },
        },
    })
}

fn header(name: &str, text: &str, kind: &str) -> Value {
    json!({ "name": name, "in": "header", "required": true, "description": text, "schema": { "type": kind } })
}
