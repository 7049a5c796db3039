//! A panic, turned into a sentence, so that it fails the schedule which it belongs to and names its seed.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// What a play comes to; its panic is a sentence, too.
///
/// # Errors
/// What broke.
pub fn caught<T>(play: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(play)).unwrap_or_else(|panic| Err(sentence(&*panic)))
}

/// The words of a panic.
pub fn sentence(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    format!("it panicked: {}", words.unwrap_or("without a word"))
}

#[test]
fn a_panic_is_a_failure_with_its_words() {
    assert_eq!(caught(|| Ok(1)), Ok(1));
    assert_eq!(caught::<()>(|| panic!("no {}", 7)), Err("it panicked: no 7".to_owned()));
    assert_eq!(caught::<()>(|| panic!("nothing")), Err("it panicked: nothing".to_owned()));
}
