//! The database: opening it, reading its state, and restricting who may read its file.

use std::{io, path::Path, process::ExitCode, sync::Arc};

use kassa_server::{
    ApiKey, DatabaseFile, KeyRole, Permission, PostgresStorage, Runtime, SigningSecret, SqliteStorage, Storage,
    StorageError, TokioRuntime, make_api_key,
    settings::{DatabasePlace, Sources},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::runtime::Handle;

use super::output::{self, CommandResult, Failure, note};

/// Opens it for a server. A missing database is created, and an older server's is migrated.
pub(crate) async fn open(place: &DatabasePlace) -> CommandResult<Arc<dyn Storage>> {
    try_open(place).await.map_err(Failure::new)
}

/// Opens it, with the problem as a sentence.
pub(crate) async fn try_open(place: &DatabasePlace) -> Result<Arc<dyn Storage>, String> {
    let of = |problem: &dyn std::fmt::Display| format!("{place}: {problem}");
    Ok(match place {
        DatabasePlace::File(path) => {
            make_private(path).map_err(|problem| of(&problem))?;
            Arc::new(SqliteStorage::open(path).map_err(|problem| of(&problem))?)
        }
        DatabasePlace::Postgres(settings) => {
            Arc::new(PostgresStorage::open(settings).await.map_err(|problem| of(&problem))?)
        }
    })
}

/// The behavior of a command without a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfMissing {
    Make,
    Refuse,
}

/// Opens it for a command that runs next to a server. It does not migrate it: a running server might not know the new version.
pub(crate) async fn open_beside(place: &DatabasePlace, if_missing: IfMissing) -> CommandResult<Arc<dyn Storage>> {
    match look(place).await.map_err(|problem| Failure::new(format!("{place}: {problem}")))? {
        DatabaseFile::Older { found } => {
            let sentence =
                "it is an older server's, and the next start of this server migrates it: start the server first";
            Err(Failure::new(format!("{place}: {sentence} (version {found})")))
        }
        DatabaseFile::Missing if if_missing == IfMissing::Refuse => {
            let sentence = format!("there is no database {place}: set it with --database or in the settings file");
            Err(Failure::new(sentence))
        }
        DatabaseFile::Missing => {
            let storage = open(place).await?;
            note(format_args!("There was no database, so a new one was created: {place}"));
            Ok(storage)
        }
        _ => open(place).await,
    }
}

/// Reads the state of the database, and changes nothing.
pub(crate) async fn look(place: &DatabasePlace) -> Result<DatabaseFile, StorageError> {
    match place {
        DatabasePlace::File(path) => SqliteStorage::look(path),
        DatabasePlace::Postgres(settings) => PostgresStorage::look(settings).await,
    }
}

/// Restricts it to its owner. SQLite gives its other files the same permissions.
#[cfg(unix)]
fn make_private(path: &Path) -> io::Result<()> {
    use std::{fs::OpenOptions, io::ErrorKind, os::unix::fs::OpenOptionsExt};
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(problem) if problem.kind() != ErrorKind::AlreadyExists => Err(problem),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn make_private(_: &Path) -> io::Result<()> {
    Ok(())
}

// `events replay`: restarts deliveries that were given up or skipped. A server on the same database makes them.

pub(crate) fn replay_events(sources: &Sources, checkout: Option<&str>) -> CommandResult<ExitCode> {
    let checkout = checkout.map(str::parse).transpose().map_err(Failure::new)?;
    let place = place(sources)?;
    let started = wait(async { existing(&place).await?.replay(checkout).await.map_err(Failure::new) })?;
    let sentence = "checkouts whose events had been given up or refused: a running server delivers them now";
    output::line(format_args!("{started} {sentence}")).map_err(output::unwritten)?;
    Ok(ExitCode::SUCCESS)
}

// `keys`: creates, lists and revokes the keys of shops and staff in the database, while servers use it.

/// Creates a key. Only the key goes to standard output, so that a script can read it.
pub(crate) fn new_key(sources: &Sources, role: KeyRole, permission: Permission, name: &str) -> CommandResult<ExitCode> {
    let place = place(sources)?;
    wait(async {
        let storage = open_beside(&place, IfMissing::Make).await?;
        let runtime = TokioRuntime::on(Handle::current());
        let key = make_api_key(&*storage, &runtime, role, permission, name).await.map_err(Failure::new)?;
        note(format_args!("The key {}, shown only once: the server stores only its hash.", key.id()));
        match output::line(key.expose()) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(problem) => Err(unprinted(&*storage, &key, &problem).await),
        }
    })
}

/// Revokes a key that could not be printed: nobody knows it.
async fn unprinted(storage: &dyn Storage, key: &ApiKey, problem: &io::Error) -> Failure {
    let id = key.id();
    let then = match storage.revoke_api_key(id.clone()).await {
        Ok(_) => "it was revoked".to_owned(),
        Err(_) => format!("revoke it: kassa-server keys revoke {id}"),
    };
    Failure::new(format_args!("the key {id} could not be printed, and is lost: {problem}; {then}"))
}

/// Lists all keys.
pub(crate) fn list_keys(sources: &Sources) -> CommandResult<ExitCode> {
    let place = place(sources)?;
    let keys = wait(async { existing(&place).await?.api_keys().await.map_err(Failure::new) })?;
    if keys.is_empty() {
        note("There is no API key yet: kassa-server keys new --name shop");
    }
    for key in keys {
        let state = key.revoked_at.map_or_else(|| "good".to_owned(), |at| format!("revoked {}", moment(at)));
        let owner =
            if key.role == KeyRole::Staff { format!("staff, may {}", key.permission) } else { key.role.to_string() };
        let line = format!("{}  {owner:<17}  made {}  {state}  {}", key.id, moment(key.created_at), key.name);
        output::line(line).map_err(output::unwritten)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Revokes a key.
pub(crate) fn revoke_key(sources: &Sources, id: &str) -> CommandResult<ExitCode> {
    let id = id.parse().map_err(Failure::new)?;
    let place = place(sources)?;
    if !wait(async { existing(&place).await?.revoke_api_key(id).await.map_err(Failure::new) })? {
        return Err(Failure::new("there is no such key, or it is already revoked: see kassa-server keys list"));
    }
    note("The key is revoked: it no longer gives access.");
    Ok(ExitCode::SUCCESS)
}

/// The database that the settings name.
pub(crate) fn place(sources: &Sources) -> CommandResult<DatabasePlace> {
    DatabasePlace::read(sources).map_err(|problems| Failure::settings(&problems))
}

/// The storage of a database that must be there.
pub(crate) async fn existing(place: &DatabasePlace) -> CommandResult<Arc<dyn Storage>> {
    open_beside(place, IfMissing::Refuse).await
}

/// Runs the work of a command to its end.
pub(crate) fn wait<T>(work: impl Future<Output = CommandResult<T>>) -> CommandResult<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::new)?;
    runtime.block_on(work)
}

fn moment(at: i64) -> String {
    let time = OffsetDateTime::from_unix_timestamp(at / 1000).ok();
    time.and_then(|time| time.format(&Rfc3339).ok()).unwrap_or_else(|| at.to_string())
}

// `secret`: a new secret for signing events.

pub(crate) fn new_secret() -> CommandResult<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(Failure::new)?;
    let mut bytes = [0; 32];
    TokioRuntime::on(runtime.handle().clone()).fill(&mut bytes).map_err(Failure::new)?;
    let printed = output::line(SigningSecret::from_random(bytes).expose());
    printed.map_err(|problem| Failure::new(format_args!("the secret could not be printed, and is lost: {problem}")))?;
    Ok(ExitCode::SUCCESS)
}
