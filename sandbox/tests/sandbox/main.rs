//! The sandbox over real sockets and real SQLite, against values written by hand from the interface.

mod binary;
mod callbacks;
mod card_pages;
mod card_payment;
mod card_validation;
mod common;
mod concurrency;
mod http;
mod languages;
mod mbank;
mod merchant;
mod pay_form;
mod qr;
mod readme;
mod restart;
mod reused_numbers;
mod status;
mod validation;
