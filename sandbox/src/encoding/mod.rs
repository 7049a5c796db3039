//! Encodings of the wire that everybody reads: forms and queries, and JSON objects.

mod form_pairs;
mod json_object;

pub(crate) use form_pairs::FormPairs;
pub(crate) use json_object::JsonObject;
