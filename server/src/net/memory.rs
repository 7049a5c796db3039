//! For tests: what stands in this process' memory, also where it was freed.

use std::{fs::File, os::unix::fs::FileExt};

/// How much of what is freed the allocator itself writes over.
const ALLOCATORS_OWN: usize = 16;

/// Whether a text still stands at its place after something was done, such as dropping it. It is longer than 16 bytes.
pub(crate) fn holds_after(done: impl FnOnce(), place: usize, text: &[u8]) -> bool {
    // Made before, so that nothing takes the place that becomes free.
    let (memory, mut found) = (File::open("/proc/self/mem").unwrap(), vec![0; text.len()]);
    done();
    memory.read_exact_at(&mut found, place as u64).unwrap();
    found[ALLOCATORS_OWN..] == text[ALLOCATORS_OWN..]
}
