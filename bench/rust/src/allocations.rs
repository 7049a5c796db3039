//! Counts what is allocated, on every thread.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// The system's allocator, with counters.
pub struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static ALLOCATED: AtomicU64 = AtomicU64::new(0);
static FREED: AtomicU64 = AtomicU64::new(0);

/// What was counted, from the start of the process.
#[derive(Clone, Copy)]
pub struct Counts {
    /// How often memory was asked for.
    pub allocations: u64,
    /// How many bytes were asked for.
    pub allocated: u64,
    /// How many bytes are held.
    pub held: u64,
}

/// The counters as they stand.
pub fn counts() -> Counts {
    let freed = FREED.load(Relaxed);
    let allocated = ALLOCATED.load(Relaxed);
    Counts { allocations: ALLOCATIONS.load(Relaxed), allocated, held: allocated.saturating_sub(freed) }
}

fn count(allocated: usize, freed: usize) {
    ALLOCATIONS.fetch_add(u64::from(allocated > 0), Relaxed);
    ALLOCATED.fetch_add(allocated as u64, Relaxed);
    FREED.fetch_add(freed as u64, Relaxed);
}

// SAFETY: every call is passed on as it came; counting touches nothing of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size, layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.realloc(memory, layout, new_size) }
    }
}
