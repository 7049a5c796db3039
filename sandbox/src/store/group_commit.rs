//! Group commit: what requests write that come at the same time is committed together, which costs little more than one of
//! them alone. Each waits for the commit before it is answered, and so does who has only read what is not committed yet.
//!
//! A request that comes alone is committed after one turn of the scheduler.

use std::{
    cell::RefCell,
    sync::{Arc, OnceLock},
};

use tokio::task::yield_now;

use crate::store::{Store, StoreError};

/// What is committed together, and what became of it.
#[derive(Default)]
pub(super) struct Group(OnceLock<Result<(), String>>);

impl Group {
    /// Tells everybody who waits.
    pub(super) fn end(&self, outcome: &Result<(), StoreError>) {
        let outcome = outcome.as_ref().copied().map_err(ToString::to_string);
        let _first = self.0.set(outcome);
    }
}

thread_local! {
    /// The groups that the request on this thread has joined; `None` where there is no request that would wait for them.
    static JOINED: RefCell<Option<Vec<Arc<Group>>>> = const { RefCell::new(None) };
}

/// Lets the request on this thread wait for a group; false where there is none.
pub(super) fn join(group: &Arc<Group>) -> bool {
    JOINED.with_borrow_mut(|joined| {
        let Some(joined) = joined else { return false };
        if !joined.iter().any(|known| Arc::ptr_eq(known, group)) {
            joined.push(Arc::clone(group));
        }
        true
    })
}

/// Does a request's work. What it writes is not committed by itself, so its value is to be had once that was done.
pub(crate) fn grouped<T>(work: impl FnOnce() -> T) -> Grouped<T> {
    /// Also where the work panics, the thread is as it was.
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

/// What came of a request's work, to be committed.
pub(crate) struct Grouped<T> {
    value: T,
    groups: Vec<Arc<Group>>,
}

impl<T> Grouped<T> {
    /// The value, once all was committed that it comes from.
    pub(crate) async fn committed(self, store: &Store) -> Result<T, StoreError> {
        /// Also where the client hangs up meanwhile, all is committed.
        struct Commit<'a>(&'a Store);
        impl Drop for Commit<'_> {
            fn drop(&mut self) {
                self.0.commit();
            }
        }
        if !self.is_over() {
            let commit = Commit(store);
            // The requests that are there already join; the first that is back here commits for all.
            yield_now().await;
            if self.is_over() {
                // Others have done so, and a group that is open now is not this one's.
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

    /// A store in a file, and somebody else who sees what is committed.
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
    async fn what_comes_at_the_same_time_is_committed_together() {
        let scene = Scene::new();
        let one = grouped(|| scene.write("one"));
        let two = grouped(|| scene.write("two"));
        assert_eq!(scene.committed(), [""; 0]);
        one.committed(&scene.store).await.expect("committed").expect("written");
        assert_eq!(scene.committed(), ["one", "two"]);
        two.committed(&scene.store).await.expect("committed").expect("written");
    }

    #[tokio::test]
    async fn who_fails_or_panics_takes_nothing_of_others_along() {
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
        // On an empty group, too; and the thread is no request's any more.
        assert!(scene.write("wrong").is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| scene.write("panic"))).is_err());
        scene.write("three").expect("written");
        assert_eq!(scene.committed(), ["one", "two", "three"]);
    }

    #[tokio::test]
    async fn a_group_whose_transaction_is_gone_is_not_told_to_be_committed() {
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
    async fn who_has_seen_what_is_not_committed_waits_for_it() {
        let scene = Scene::new();
        let one = grouped(|| scene.write("one"));
        let reader = grouped(|| scene.store.read(|connection| Ok(Scene::seen(connection))));
        assert_eq!(scene.committed(), [""; 0]);
        let read = reader.committed(&scene.store).await.expect("committed").expect("read");
        assert_eq!((read, scene.committed()), (vec!["one".to_owned()], vec!["one".to_owned()]));
        drop(one);
        // Outside of a request nobody waits, so it is committed at once.
        let _two = grouped(|| scene.write("two"));
        let read = scene.store.read(|connection| Ok(Scene::seen(connection))).expect("read");
        assert_eq!((read.len(), scene.committed().len()), (2, 2));
        let _three = grouped(|| scene.write("three"));
        let browsed = scene.store.browse(|connection| Ok(Scene::seen(connection))).expect("read");
        assert_eq!(browsed.len(), 3);
    }

    #[tokio::test]
    async fn what_a_client_did_that_hangs_up_is_committed() {
        let scene = Scene::new();
        let work = grouped(|| scene.write("one"));
        {
            let mut waiting = pin!(work.committed(&scene.store));
            assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert_eq!(scene.committed(), ["one"]);
    }

    #[tokio::test]
    async fn whoever_waits_is_told_that_nothing_was_committed() {
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
