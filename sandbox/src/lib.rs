//! The sandbox
