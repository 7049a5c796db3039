//! Slots of concurrent sends. Each method has some slots of its own, so that a method whose endpoint hangs does not block the
//! others (bulkheads).

use std::sync::Arc;

use futures_util::future::{Either, select};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    pace::queues::{METHODS, Slots},
    values::Method,
};

/// A slot; it is released when dropped.
#[derive(Debug)]
pub(super) struct SendSlot(#[expect(dead_code, reason = "it is held")] OwnedSemaphorePermit);

/// The slots of all methods.
#[derive(Debug)]
pub(crate) struct SendSlots {
    /// Shared by all methods, first come, first served.
    shared: Arc<Semaphore>,
    own: [Arc<Semaphore>; METHODS],
}

impl SendSlots {
    pub(crate) fn new(all: u32) -> Self {
        let own = Slots::own(all);
        let shared = (0..METHODS).fold(all, |left, _| left.saturating_sub(own));
        let semaphore = |places: u32| Arc::new(Semaphore::new(places as usize));
        Self { shared: semaphore(shared), own: std::array::from_fn(|_| semaphore(own)) }
    }

    /// A slot that is free now.
    pub(super) fn free(&self, method: Method) -> Option<SendSlot> {
        let both = [self.own(method), self.shared.clone()];
        both.into_iter().find_map(|slots| slots.try_acquire_owned().ok()).map(SendSlot)
    }

    /// Waits for a slot. `None` if the server stops.
    pub(super) async fn wait(&self, method: Method) -> Option<SendSlot> {
        let (own, shared) = (self.own(method).acquire_owned(), self.shared.clone().acquire_owned());
        match select(Box::pin(own), Box::pin(shared)).await {
            Either::Left((permit, _)) | Either::Right((permit, _)) => permit.ok().map(SendSlot),
        }
    }

    /// Closes the slots: nobody gets one any more.
    pub(crate) fn close(&self) {
        self.own.iter().for_each(|slots| slots.close());
        self.shared.close();
    }

    fn own(&self, method: Method) -> Arc<Semaphore> {
        self.own[method as usize].clone()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn hanging_method_leaves_slots_for_other_methods() {
        for (all, of_one) in [(1, 1), (7, 7), (8, 4), (64, 48)] {
            let slots = SendSlots::new(all);
            let hanging: Vec<_> = std::iter::from_fn(|| slots.free(Method::Mbank)).collect();
            assert_eq!(hanging.len(), of_one, "of {all}");
            let others: Vec<_> = std::iter::from_fn(|| slots.free(Method::Qr)).collect();
            assert_eq!(others.len(), Slots::own(all) as usize, "of {all}");
        }
    }

    #[test]
    fn waiting_send_takes_first_free_slot() {
        let slots = SendSlots::new(8);
        let mut held: Vec<_> = std::iter::from_fn(|| slots.free(Method::Mbank)).collect();
        let mut waiting = Box::pin(slots.wait(Method::Mbank));
        assert!(waiting.as_mut().now_or_never().is_none());
        held.pop();
        assert!(waiting.now_or_never().flatten().is_some());
        let waiting = Box::pin(slots.wait(Method::Mbank));
        slots.close();
        drop(held);
        assert!(waiting.now_or_never().flatten().is_none(), "the server stops");
    }
}
