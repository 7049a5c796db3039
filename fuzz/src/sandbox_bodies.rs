//! Requests to the sandbox.

use std::cell::LazyCell;

use kassa_sandbox::fuzzing::Endpoints;

/// The test card at which the sandbox errs on purpose.
const ERRING_CARD: &[u8] = b"4000000000002057";

thread_local! {
    static ENDPOINTS: LazyCell<Endpoints> = LazyCell::new(|| Endpoints::new().expect("a sandbox"));
}

/// The first byte picks the endpoint; the rest is the body, and the query where the endpoint takes one.
pub fn body(bytes: &[u8]) {
    let [endpoint, body @ ..] = bytes else { return };
    let query: String = body.iter().filter(|byte| byte.is_ascii_graphic()).map(|byte| char::from(*byte)).collect();
    let status = ENDPOINTS.with(|endpoints| endpoints.answer(usize::from(*endpoint), body, &query));
    let errs_on_purpose = body.windows(ERRING_CARD.len()).any(|part| part == ERRING_CARD);
    assert!(status != Some(500) || errs_on_purpose, "the sandbox failed");
}
