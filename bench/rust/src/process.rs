//! What a process takes, as Linux tells it.

use std::{fs, time::Duration};

/// What all threads of this process together have computed.
pub fn processor_time() -> Duration {
    processor_time_of("self")
}

/// What all threads of a process together have computed; those that ended are left out.
pub fn processor_time_of(process: impl std::fmt::Display) -> Duration {
    let threads = fs::read_dir(format!("/proc/{process}/task")).expect("Linux").flatten();
    let times = threads.filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok());
    Duration::from_nanos(times.filter_map(|times| times.split(' ').next()?.parse::<u64>().ok()).sum())
}

/// The memory of this process that is in use, in bytes.
pub fn resident_memory() -> u64 {
    resident_memory_of("self")
}

/// The memory of a process that is in use, in bytes.
pub fn resident_memory_of(process: impl std::fmt::Display) -> u64 {
    const PAGE: u64 = 4096;
    let pages = fs::read_to_string(format!("/proc/{process}/statm")).expect("Linux");
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number") * PAGE
}
