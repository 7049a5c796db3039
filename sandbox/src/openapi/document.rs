//! The document: endpoints, admin interface and callback, with the schemas they share.

use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::{
    callbacks::notice,
    openapi::{admin, endpoints},
    state::State,
};

/// The name of the callback's description.
pub(super) const CALLBACK: &str = "paymentStatusChanged";

const ABOUT: &str = "The payment gateway's side on your own machine: nine endpoints as the gateway's interface \
    describes them, and the admin interface of the sandbox.\n\nWhat is described is what the sandbox does by itself. \
    With the switch `acts_as` set to `finipay` some answers are those that FINIPAY's public pages show, which are \
    described beside the usual ones. Set to `other`, every answer of the nine endpoints has another envelope, and a \
    fault makes of an answer whatever it says: these two are not described. A path takes the methods that stand here; \
    every other one is answered with HTTP 405, whose `Allow` names them.";

/// The document.
pub(super) fn document(state: &State) -> Value {
    let mut generator = generator();
    let mut paths = Map::new();
    endpoints::describe(&mut generator, &mut paths, state.clock().today());
    admin::describe(&mut generator, &mut paths);
    let callback = notice::schema(&mut generator);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Kassa sandbox",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": state.public_url }],
        "tags": [
            { "name": endpoints::TAG, "description": "The nine endpoints of the gateway's interface." },
            { "name": admin::TAG, "description": "What happened, and what is to happen. Faults touch nothing here." },
        ],
        "paths": paths,
        "webhooks": { CALLBACK: webhook(&callback.to_value()) },
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                endpoints::SECURITY: {
                    "type": "http", "scheme": "basic", "description": "The merchant's login and password.",
                },
                admin::SECURITY: {
                    "type": "http", "scheme": "bearer", "description": "The admin token, printed at the start.",
                },
            },
        },
    })
}

/// Schemas of what is written, with their definitions where OpenAPI keeps them.
fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    settings.into_generator()
}

fn webhook(body: &Value) -> Value {
    json!({
        "post": {
            "summary": "A callback: a payment's status changed",
            "description": "Sent to the callback URL of the payment until it is answered with 2xx. No signature: ask \
                for the payment's status before you believe it.",
            "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
            "responses": { "2XX": { "description": "Taken; it is not sent again." } },
        },
    })
}
