//! A value for each process.

use once_cell::race::OnceBox;

/// Threads do not survive a fork, so what threads use must not be shared with a forked child: its locks may be held by threads that
/// exist no more there. A child has a value of its own, found by way of those of its forebears, which are left behind as they are.
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
