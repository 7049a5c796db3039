//! For tests: the content of this process' memory, even after it was freed.

use std::{fs::File, os::unix::fs::FileExt};

/// The number of freed bytes that the allocator itself overwrites.
const ALLOCATORS_OWN: usize = 16;

/// Whether a text is still in memory after `done`, such as dropping it. It must be longer than 16 bytes.
pub(crate) fn holds_after(done: impl FnOnce(), place: usize, text: &[u8]) -> bool {
    // Allocated first, so that nothing reuses the freed memory.
    let (memory, mut found) = (File::open("/proc/self/mem").unwrap(), vec![0; text.len()]);
    done();
    memory.read_exact_at(&mut found, place as u64).unwrap();
    found[ALLOCATORS_OWN..] == text[ALLOCATORS_OWN..]
}
