//! `keys`: keys of shops and of staff, made, listed and revoked on the database, while servers work on it.

use std::process::ExitCode;

use kassa_server::{
    KeyRole, Permission, RealSurroundings, SqliteStorage, Storage, make_api_key,
    settings::{Sources, database},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    database::open_beside,
    failure::{Done, Failure},
};

/// Makes a key. It is printed alone, so that a script can take it.
pub(crate) fn new(sources: &Sources, role: KeyRole, may: Permission, name: &str) -> Done<ExitCode> {
    let path = database(sources).map_err(|problems| Failure::settings(&problems))?;
    let is_new = !path.exists();
    let storage = open_beside(&path)?;
    if is_new {
        eprintln!("There was no database, so this one was made: {}", path.display());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::new)?;
    let surroundings = RealSurroundings::on(runtime.handle().clone());
    let key = runtime.block_on(make_api_key(&storage, &surroundings, role, may, name)).map_err(Failure::new)?;
    eprintln!("The key {}, shown this once: only its hash is kept.", key.id());
    println!("{}", key.expose());
    Ok(ExitCode::SUCCESS)
}

/// Lists all.
pub(crate) fn list(sources: &Sources) -> Done<ExitCode> {
    let storage = existing(sources)?;
    let keys = wait(storage.api_keys())?.map_err(Failure::new)?;
    if keys.is_empty() {
        eprintln!("There is no API key yet: kassa-server keys new --name shop");
    }
    for key in keys {
        let state = key.revoked_at.map_or_else(|| "good".to_owned(), |at| format!("revoked {}", moment(at)));
        let whose = if key.role == KeyRole::Staff { format!("staff, may {}", key.may) } else { key.role.to_string() };
        println!("{}  {whose:<17}  made {}  {state}  {}", key.id, moment(key.created_at), key.name);
    }
    Ok(ExitCode::SUCCESS)
}

/// Revokes one.
pub(crate) fn revoke(sources: &Sources, id: &str) -> Done<ExitCode> {
    let id = id.parse().map_err(Failure::new)?;
    let storage = existing(sources)?;
    if !wait(storage.revoke_api_key(id))?.map_err(Failure::new)? {
        return Err(Failure::new("there is no such key, or it was revoked before: see kassa-server keys list"));
    }
    eprintln!("It is revoked: nobody gets in with it any more.");
    Ok(ExitCode::SUCCESS)
}

/// The storage of a database that must be there.
pub(crate) fn existing(sources: &Sources) -> Done<SqliteStorage> {
    let path = database(sources).map_err(|problems| Failure::settings(&problems))?;
    if !path.exists() {
        let path = path.display();
        return Err(Failure::new(format!(
            "there is no database {path}: name it by --database or in the settings file"
        )));
    }
    open_beside(&path)
}

/// Waits for a transaction, which needs no runtime's help but its own threads'.
pub(crate) fn wait<T>(stored: impl Future<Output = T>) -> Done<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(Failure::new)?;
    Ok(runtime.block_on(stored))
}

fn moment(at: i64) -> String {
    let time = OffsetDateTime::from_unix_timestamp(at / 1000).ok();
    time.and_then(|time| time.format(&Rfc3339).ok()).unwrap_or_else(|| at.to_string())
}
