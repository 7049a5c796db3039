//! Checkout
fn main() {}
