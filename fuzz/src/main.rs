//! The engine at one target, which `KASSA_FUZZ_TARGET` names.

#![no_main]

use std::{env, sync::LazyLock};

use kassa_fuzz::{Target, target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = env::var("KASSA_FUZZ_TARGET").unwrap_or_default();
    target(&name).unwrap_or_else(|| panic!("KASSA_FUZZ_TARGET={name} is not a target"))
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));
