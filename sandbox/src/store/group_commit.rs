//! Group commit: concurrent requests share one commit, which costs little more than the commit of one.
//! Each request waits for the commit before it is answered, also if it has only read uncommitted data.
//!
//! A single request is committed after one turn of the scheduler.

use std::{
    cell::RefCell,
    sync::{Arc, OnceLock},
};

use tokio::task::yield_now;

use crate::store::{Store, StoreError};

/// A group of writes that are committed together, and the result of the commit.
#[derive(Default)]
pub(super) struct Group(OnceLock<Result<(), String>>);

impl Group {
    /// Reports the result to the waiting requests.
    pub(super) fn end(&self, outcome: &Result<(), StoreError>) {
        let outcome = outcome.as_ref().copied().map_err(ToString::to_string);
        let _first = self.0.set(outcome);
    }
}

thread_local! {
    /// The groups that the request on this thread has joined; `None` outside of a request.
    static JOINED: RefCell<Option<Vec<Arc<Group>>>> = const { RefCell::new(None) };
}

/// Makes the request on this thread wait for a group; false outside of a request.
pub(super) fn join(group: &Arc<Group>) -> bool {
    JOINED.with_borrow_mut(|joined| {
        let Some(joined) = joined else { return false };
        if !joined.iter().any(|known| Arc::ptr_eq(known, group)) {
            joined.push(Arc::clone(group));
        }
        true
    })
}

/// Runs a request's work. Its writes are not committed yet; `committed` returns the value after the commit.
pub(crate) fn grouped<T>(work: impl FnOnce() -> T) -> Grouped<T> {
    /// Restores the thread's state, also after a panic.
    struct Scope(Option<Vec<Arc<Group>>>);
    impl Drop for Scope {
        fn drop(&mut self) {
            JOINED.set(self.0.take());
        }
    }
    let scope = Scope(JOINED.replace(Some(Vec::new())));
    let value = work();
    let groups = JOINED.take().unwrap_or_default();
    drop(scope);
    Grouped { value, groups }
}

/// The value of a request's work, before its commit.
pub(crate) struct Grouped<T> {
    value: T,
    groups: Vec<Arc<Group>>,
}

impl<T> Grouped<T> {
    /// The value after the commit of everything that it depends on.
    pub(crate) async fn committed(self, store: &Store) -> Result<T, StoreError> {
        /// Commits even if the client hangs up.
        struct Commit<'a>(&'a Store);
        impl Drop for Commit<'_> {
            fn drop(&mut self) {
                self.0.commit();
            }
        }
        if !self.is_over() {
            let commit = Commit(store);
            // Waiting requests join now; the first one that returns here commits for all.
            yield_now().await;
            if self.is_over() {
                // Others have committed, and an open group is a later one.
                std::mem::forget(commit);
            }
        }
        for group in &self.groups {
            match group.0.get() {
                Some(Ok(())) => {}
                Some(Err(detail)) => return Err(StoreError::NotCommitted(detail.clone())),
                None => return Err(StoreError::NotCommitted("it was never ended".to_owned())),
            }
        }
        Ok(self.value)
    }

    fn is_over(&self) -> bool {
        self.groups.iter().all(|group| group.0.get().is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        pin::pin,
        task::{Context, Waker},
    };

    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;
    use crate::{settings::Database, store::received};

    /// A store in a file, and a second connection that sees committed data only.
    struct Scene {
        store: Store,
        onlooker: Connection,
        _folder: TempDir,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("sandbox.db");
            let store = Store::open(&Database::File(path.clone())).expect("a store");
            Self { store, onlooker: Connection::open(path).expect("a connection"), _folder: folder }
        }

        fn write(&self, name: &str) -> Result<(), StoreError> {
            let received = received::Received {
                at: 0,
                name: name.to_owned(),
                head: String::new(),
                body: String::new(),
                body_length: 0,
                answered: 200,
            };
            self.store.write(|transaction| {
                received::record(transaction, &received)?;
                if name == "wrong" {
                    transaction.execute("INSERT INTO nowhere VALUES (1)", ())?;
                }
                assert!(name != "panic", "on purpose");
                Ok(())
            })
        }

        fn seen(connection: &Connection) -> Vec<String> {
            let mut statement = connection.prepare("SELECT name FROM received ORDER BY id").expect("a statement");
            statement.query_map((), |row| row.get(0)).expect("rows").collect::<Result<_, _>>().expect("names")
        }

        fn committed(&self) -> Vec<String> {
            Self::seen(&self.onlooker)
        }
    }

    #[tokio::test]
    async fn concurrent_writes_are_committed_together() {
        let scene = Scene::new();
        let one = grouped(|| scene.write("one"));
        let two = grouped(|| scene.write("two"));
        assert_eq!(scene.committed(), [""; 0]);
        one.committed(&scene.store).await.expect("committed").expect("written");
        assert_eq!(scene.committed(), ["one", "two"]);
        two.committed(&scene.store).await.expect("committed").expect("written");
    }

    #[tokio::test]
    async fn failed_write_keeps_the_others_of_its_group() {
        let scene = Scene::new();
        for with in ["one", "wrong", "panic", "two", "wrong"] {
            let work = catch_unwind(AssertUnwindSafe(|| grouped(|| scene.write(with))));
            match (with, work) {
                ("panic", Err(_)) => {}
                ("wrong", Ok(Grouped { value, .. })) => assert!(value.is_err()),
                (_, Ok(Grouped { value, .. })) => value.expect("written"),
                (_, Err(_)) => panic!("{with} panics"),
            }
        }
        scene.store.commit();
        assert_eq!(scene.committed(), ["one", "two"]);
        // With an empty group, and outside of a request, too.
        assert!(scene.write("wrong").is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| scene.write("panic"))).is_err());
        scene.write("three").expect("written");
        assert_eq!(scene.committed(), ["one", "two", "three"]);
    }

    #[tokio::test]
    async fn rolled_back_group_is_reported_as_failed() {
        let scene = Scene::new();
        let one = grouped(|| scene.write("one"));
        // As SQLite does by itself where the disk fails.
        let two =
            grouped(|| scene.store.write(|transaction| Ok(transaction.execute_batch("ROLLBACK; SELECT nothing")?)));
        assert!(one.committed(&scene.store).await.is_err());
        assert!(two.committed(&scene.store).await.is_ok_and(|written| written.is_err()));
        scene.write("three").expect("written");
        assert_eq!(scene.committed(), ["three"]);
    }

    #[tokio::test]
    async fn reader_of_uncommitted_data_waits() {
        let scene = Scene::new();
        let one = grouped(|| scene.write("one"));
        let reader = grouped(|| scene.store.read(|connection| Ok(Scene::seen(connection))));
        assert_eq!(scene.committed(), [""; 0]);
        let read = reader.committed(&scene.store).await.expect("committed").expect("read");
        assert_eq!((read, scene.committed()), (vec!["one".to_owned()], vec!["one".to_owned()]));
        drop(one);
        // Outside of a request, a write is committed at once.
        let _two = grouped(|| scene.write("two"));
        let read = scene.store.read(|connection| Ok(Scene::seen(connection))).expect("read");
        assert_eq!((read.len(), scene.committed().len()), (2, 2));
        let _three = grouped(|| scene.write("three"));
        let browsed = scene.store.browse(|connection| Ok(Scene::seen(connection))).expect("read");
        assert_eq!(browsed.len(), 3);
    }

    #[tokio::test]
    async fn write_of_a_disconnected_client_is_committed() {
        let scene = Scene::new();
        let work = grouped(|| scene.write("one"));
        {
            let mut waiting = pin!(work.committed(&scene.store));
            assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert_eq!(scene.committed(), ["one"]);
    }

    #[tokio::test]
    async fn failed_commit_fails_every_waiting_request() {
        let scene = Scene::new();
        let deferred = "PRAGMA defer_foreign_keys = ON";
        let orphan = "INSERT INTO state_changes (payment_id, status, at) VALUES (99, 'CHARGE', 0)";
        let one = grouped(|| scene.write("one"));
        let broken = grouped(|| {
            scene.store.write(|transaction| {
                transaction.execute_batch(deferred)?;
                Ok(transaction.execute(orphan, ())?)
            })
        });
        assert!(broken.committed(&scene.store).await.is_err());
        assert!(one.committed(&scene.store).await.is_err());
        scene.write("two").expect("written");
        assert_eq!(scene.committed(), ["two"]);
    }
}
