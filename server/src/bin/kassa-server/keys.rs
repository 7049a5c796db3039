//! `keys`: keys of shops and of staff, made, listed and revoked on the database, while servers work on it.

use std::{io, process::ExitCode, sync::Arc};

use kassa_server::{
    ApiKey, KeyRole, Permission, RealSurroundings, Storage, make_api_key,
    settings::{DatabasePlace, Sources},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::runtime::Handle;

use super::{
    database::{IfMissing, open_beside},
    failure::{Done, Failure},
    output::{self, note},
};

/// Makes a key. It is printed alone, so that a script can take it.
pub(crate) fn new(sources: &Sources, role: KeyRole, may: Permission, name: &str) -> Done<ExitCode> {
    let place = place(sources)?;
    wait(async {
        let storage = open_beside(&place, IfMissing::Make).await?;
        let surroundings = RealSurroundings::on(Handle::current());
        let key = make_api_key(&*storage, &surroundings, role, may, name).await.map_err(Failure::new)?;
        note(format_args!("The key {}, shown this once: only its hash is kept.", key.id()));
        match output::line(key.expose()) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(problem) => Err(unprinted(&*storage, &key, &problem).await),
        }
    })
}

/// A key that could not be printed is known to nobody, so it does not stay good.
async fn unprinted(storage: &dyn Storage, key: &ApiKey, problem: &io::Error) -> Failure {
    let id = key.id();
    let then = match storage.revoke_api_key(id.clone()).await {
        Ok(_) => "it is revoked again".to_owned(),
        Err(_) => format!("revoke it: kassa-server keys revoke {id}"),
    };
    Failure::new(format_args!("the key {id} could not be printed, and is lost: {problem}; {then}"))
}

/// Lists all.
pub(crate) fn list(sources: &Sources) -> Done<ExitCode> {
    let place = place(sources)?;
    let keys = wait(async { existing(&place).await?.api_keys().await.map_err(Failure::new) })?;
    if keys.is_empty() {
        note("There is no API key yet: kassa-server keys new --name shop");
    }
    for key in keys {
        let state = key.revoked_at.map_or_else(|| "good".to_owned(), |at| format!("revoked {}", moment(at)));
        let owner = if key.role == KeyRole::Staff { format!("staff, may {}", key.may) } else { key.role.to_string() };
        let line = format!("{}  {owner:<17}  made {}  {state}  {}", key.id, moment(key.created_at), key.name);
        output::line(line).map_err(output::unwritten)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Revokes one.
pub(crate) fn revoke(sources: &Sources, id: &str) -> Done<ExitCode> {
    let id = id.parse().map_err(Failure::new)?;
    let place = place(sources)?;
    if !wait(async { existing(&place).await?.revoke_api_key(id).await.map_err(Failure::new) })? {
        return Err(Failure::new("there is no such key, or it was revoked before: see kassa-server keys list"));
    }
    note("It is revoked: nobody gets in with it any more.");
    Ok(ExitCode::SUCCESS)
}

/// The database that the settings name.
pub(crate) fn place(sources: &Sources) -> Done<DatabasePlace> {
    DatabasePlace::read(sources).map_err(|problems| Failure::settings(&problems))
}

/// The storage of a database that must be there.
pub(crate) async fn existing(place: &DatabasePlace) -> Done<Arc<dyn Storage>> {
    open_beside(place, IfMissing::Refuse).await
}

/// Does what a command is about.
pub(crate) fn wait<T>(work: impl Future<Output = Done<T>>) -> Done<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::new)?;
    runtime.block_on(work)
}

fn moment(at: i64) -> String {
    let time = OffsetDateTime::from_unix_timestamp(at / 1000).ok();
    time.and_then(|time| time.format(&Rfc3339).ok()).unwrap_or_else(|| at.to_string())
}
