//! Fork safety: a static value that each process has for itself.

use once_cell::race::OnceBox;

/// A linked list with a value for each process, from the first one to its forked descendants.
///
/// Threads do not survive a fork, so what they use must not be shared with a forked child: a lock may be held by a
/// thread that does not exist there. A child appends a value of its own, and leaves those of its ancestors as they are.
pub(crate) struct PerProcess<T> {
    first: OnceBox<OfProcess<T>>,
}

struct OfProcess<T> {
    process: u32,
    value: T,
    of_child: OnceBox<OfProcess<T>>,
}

impl<T: Default> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self { first: OnceBox::new() }
    }

    /// The value of this process.
    pub(crate) fn get(&self) -> &T {
        let process = std::process::id();
        let fresh = || Box::new(OfProcess { process, value: T::default(), of_child: OnceBox::new() });
        let mut place = &self.first;
        loop {
            let found = place.get_or_init(fresh);
            if found.process == process {
                return &found.value;
            }
            place = &found.of_child;
        }
    }
}
