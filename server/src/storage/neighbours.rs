//! Other servers on the same database. What they say wakes those who wait for a change, and nothing more: what is not heard is
//! seen a little later all the same.

use super::Stored;
use crate::values::ids::CheckoutId;

/// Who is told of a checkout that changed, or that any may have changed.
pub type Wake<'a> = &'a (dyn Fn(Option<&CheckoutId>) + Send + Sync);

/// The others (publish and subscribe, best effort).
pub trait Neighbours: Send + Sync {
    /// Tells them that checkouts changed.
    fn tell(&self, changed: Vec<CheckoutId>) -> Stored<'_, ()>;

    /// Hears them, until they can no longer be heard.
    fn hear<'a>(&'a self, wake: Wake<'a>) -> Stored<'a, ()>;
}
