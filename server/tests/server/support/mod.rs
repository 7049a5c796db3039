//! A world in which a server lives and dies: database, gateway, shop and clock outlive its processes.

pub mod crash;
pub mod database;
pub mod executor;
pub mod gateway;
pub mod runner;
pub mod runtime;
pub mod shop;
pub mod world;

use std::{
    future::Future,
    pin::Pin,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use rusqlite::{Connection, OptionalExtension, Params, types::FromSql};

pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One value of one row, by a statement that is compiled once.
pub fn one<T: FromSql>(db: &Connection, sql: &str, params: impl Params) -> Option<T> {
    db.prepare_cached(sql).unwrap().query_row(params, |row| row.get(0)).optional().unwrap()
}

/// Lets others have their turn.
#[derive(Default)]
pub struct Turn(bool);

impl Future for Turn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
