//! Encodings of the wire that everybody reads: forms and queries, JSON objects, and the text of QR codes.

pub(crate) mod elqr;
mod form_pairs;
mod json_object;

pub(crate) use form_pairs::FormPairs;
pub(crate) use json_object::JsonObject;
