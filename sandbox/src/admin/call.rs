//! A request of the admin interface, once its route is known.

use crate::{admin::answer::Failure, rules::Members};

/// What a route works with.
pub(super) struct Call<'a> {
    /// What stands in the place of the path's parameters.
    pub(super) parameters: Vec<&'a str>,
    /// The order asked about, if one is.
    pub(super) order: Option<String>,
    pub(super) body: &'a [u8],
}

/// The members of a body; an empty one has none.
pub(super) fn members(body: &[u8]) -> Result<Members, Failure> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Members::new([]));
    }
    Members::from_json(body).map_err(|error| Failure::invalid(vec![error]))
}
