//! Kassa
