//! New keys, of shops and of staff. They need a storage alone, so that they can be made while no server, or another one, works on it.

use super::LONGEST_NAME;
use crate::{
    storage::{Storage, inputs::NewApiKey},
    surroundings::Surroundings,
    tokens::{api_key::ApiKey, permission::Permission, role::KeyRole},
    values::{checks::Checks, error::ServerError, violation::Rule},
};

/// A new key for a shop's back end or a person of the staff, with a name that people know it by. It is shown once; only its hash
/// is kept. What a person may do is the key's; a shop's key always decides.
///
/// # Errors
/// [`ServerError::Invalid`], [`ServerError::Unavailable`].
pub async fn make_api_key(
    storage: &dyn Storage,
    surroundings: &dyn Surroundings,
    role: KeyRole,
    may: Permission,
    name: &str,
) -> Result<ApiKey, ServerError> {
    let mut checks = Checks::default();
    checks.required_text("name", name, LONGEST_NAME);
    if role == KeyRole::Shop && may != Permission::Decide {
        checks.fail("may", Rule::OneOf, "is for keys of the staff's alone: a shop's key opens all of /v1");
    }
    checks.finish()?;
    let (mut id, mut secret) = ([0; 16], [0; 32]);
    surroundings.fill(&mut id)?;
    surroundings.fill(&mut secret)?;
    let key = ApiKey::from_random(role, id, secret);
    storage.add_api_key(NewApiKey { id: key.id().clone(), role, may, name: name.to_owned(), hash: key.hash() }).await?;
    Ok(key)
}
