//! What each request looks like on the wire: the exact bytes.

mod support;
