//! Graceful shutdown: counts the payments in flight, so that closing can wait for them.

use std::sync::Arc;

use tokio::sync::watch;

#[derive(Clone)]
pub(crate) struct InFlight(Arc<watch::Sender<usize>>);

/// One payment in flight, counted until this is dropped.
pub(crate) struct Counted(InFlight);

impl Default for InFlight {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl InFlight {
    pub(crate) fn enter(&self) -> Counted {
        self.0.send_modify(|count| *count += 1);
        Counted(self.clone())
    }

    pub(crate) async fn none_left(&self) {
        // Waiting fails only once the sender is dropped, and `self` holds it.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self.0.borrow() == 0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
