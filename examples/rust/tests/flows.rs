//! The short programs that the documentation shows, as somebody runs them, against the sandbox.

mod support;

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdout},
};

use kassa::{CallbackKey, Decimal, Journal, PaymentRef};
use kassa_sandbox::{EndpointName, Fault, Sandbox, SandboxOptions};
use kassa_test_patience::wait_for;
use tempfile::TempDir;

const OTP: &str = "101101";
const SECRET: &str = "32 characters that nobody guesses";
const WITHOUT_3DS: &str = "4000000000002016";
const WITH_3DS: &str = "4111111111111111";

struct Shop {
    sandbox: Sandbox,
    folder: TempDir,
}

/// What signs addresses.
fn key() -> CallbackKey {
    CallbackKey::new(SECRET).unwrap()
}

/// Which entry of the journal an address is about.
fn entry_of(called: &str) -> String {
    key().read_callback_url(called).unwrap().entry_id.unwrap()
}

/// One that runs. What it prints is read line by line.
struct Program {
    child: Child,
    printed: BufReader<ChildStdout>,
}

impl Shop {
    fn open() -> Self {
        Self { sandbox: Sandbox::start(SandboxOptions::default()).unwrap(), folder: TempDir::new().unwrap() }
    }

    fn start(&self, words: &[&str], typed: &str) -> Program {
        let mut program = support::program(env!("CARGO_BIN_EXE_flows"), &self.sandbox, self.folder.path());
        program.args(words).env("FLOWS_SECRET", SECRET);
        program.env("FLOWS_CALLBACK_URL", format!("{}/receiver/shop", self.sandbox.url()));
        let mut child = program.spawn().unwrap();
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let printed = BufReader::new(child.stdout.take().unwrap());
        Program { child, printed }
    }

    /// What one printed that ended well.
    fn run(&self, words: &[&str], typed: &str) -> String {
        self.start(words, typed).end()
    }

    /// A callback that was sent: its address, and its body.
    fn called_back(&self) -> (String, String) {
        let sent = wait_for("a callback is sent", || self.sandbox.callbacks().pop());
        (sent.target, sent.body)
    }

    /// The number of its only payment.
    fn number(&self) -> String {
        let payments = self.sandbox.payments();
        let [payment] = &payments[..] else { panic!("{payments:?}") };
        payment.order_number.clone()
    }
}

impl Program {
    /// The rest of the next line with these words in it.
    fn told(&mut self, words: &str) -> String {
        let mut lines = (&mut self.printed).lines().map(Result::unwrap);
        let found = lines.find_map(|line| Some(line.split_once(words)?.1.trim().to_owned()));
        found.unwrap_or_else(|| panic!("it never said {words:?}"))
    }

    fn end(mut self) -> String {
        let (mut told, mut failed) = (String::new(), String::new());
        self.printed.read_to_string(&mut told).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut failed).unwrap();
        assert!(self.child.wait().unwrap().success(), "{told}{failed}");
        told
    }
}

fn card(pan: &str) -> String {
    format!("{pan}\n12/39\n123\nAibek Asanov\n")
}

#[test]
fn mobile_bank_payment_is_delivered() {
    let shop = Shop::open();
    let told = shop.run(&["mbank", "996555000101", "250"], &format!("{OTP}\n"));
    assert_eq!(told, "code: paid, deliver: two coffees\n");
    assert!(shop.sandbox.payments()[0].is_charged());
    assert_eq!(shop.run(&["resume"], ""), "", "it is done with");
}

#[test]
fn wrong_code_is_asked_for_again() {
    let shop = Shop::open();
    let told = shop.run(&["mbank", "996555000101", "250"], &format!("000000\n{OTP}\n"));
    assert!(told.ends_with("\ncode: paid, deliver: two coffees\n"), "{told}");
    assert_eq!(shop.sandbox.payments()[0].times_charged, 1);
}

#[test]
fn megapay_shows_the_total_before_the_pin() {
    let shop = Shop::open();
    let told = shop.run(&["megapay", "996755000201", "250.50", "7"], "000000\n201201\n");
    assert!(told.starts_with("total: 255.51 som, 5.01 of it commission\nPIN: "), "{told}");
    assert!(told.ends_with("\nPIN: paid, deliver: two coffees\n"), "{told}");
    assert_eq!(shop.sandbox.payments()[0].times_charged, 1);
}

#[test]
fn reference_that_was_signed_for_another_amount_delivers_nothing() {
    let shop = Shop::open();
    shop.run(&["pay-form", "100.10"], "");
    let number = shop.number();
    shop.sandbox.approve(&number).unwrap();
    let (called, body) = shop.called_back();
    let forged = PaymentRef::pay_form(Decimal::ONE).with_entry_id(entry_of(&called));
    let called = key().callback_url("http://127.0.0.1/callbacks", &forged).unwrap();
    let told = shop.run(&["callback", &called], &body);
    assert!(told.starts_with("a person should look"), "{told}");
}

#[test]
fn lost_answer_is_asked_about_and_delivered_once() {
    let shop = Shop::open();
    let lost = Fault::response_lost().endpoint(EndpointName::MbankConfirm).times(1);
    shop.sandbox.faults().add(lost).unwrap();
    let told = shop.run(&["mbank", "996555000101", "250"], &format!("{OTP}\n"));
    assert!(told.contains("never send it again") && told.ends_with("\npaid, deliver: two coffees\n"), "{told}");
    assert_eq!(shop.sandbox.payments()[0].times_charged, 1);
}

#[test]
fn card_is_charged_at_once_or_on_its_banks_page() {
    let shop = Shop::open();
    let told = shop.run(&["card", "100.10"], &card(WITHOUT_3DS));
    assert!(told.ends_with("paid, deliver: two coffees\n"), "{told}");

    let shop = Shop::open();
    let mut program = shop.start(&["card", "100.10"], &card(WITH_3DS));
    assert!(program.told("open: ").contains("/3ds?token="));
    shop.sandbox.decline(&shop.number()).unwrap();
    assert_eq!(program.end(), "not paid\n");
}

#[test]
fn qr_code_is_shown_and_followed() {
    let shop = Shop::open();
    let mut program = shop.start(&["qr", "100.10"], "");
    program.told("scan it, or open: ");
    shop.sandbox.approve(&shop.number()).unwrap();
    assert_eq!(program.end(), "paid, deliver: two coffees\n");
}

#[test]
fn pay_form_is_proved_by_its_callback_and_by_the_payers_return() {
    let shop = Shop::open();
    let page = shop.run(&["pay-form", "100.10"], "");
    assert!(page.starts_with("open: ") && page.contains("/pay-form?token="), "{page}");
    let number = shop.number();
    shop.sandbox.approve(&number).unwrap();
    let (called, body) = shop.called_back();
    assert_eq!(shop.run(&["callback", &called], &body), "paid, deliver: two coffees\n");
    assert_eq!(shop.run(&["callback", &called], &body), "delivered before\n");

    let journal = Journal::open(shop.folder.path().join("payments")).unwrap();
    let payment = PaymentRef::pay_form(Decimal::new(10010, 2)).with_entry_id(entry_of(&called));
    assert!(journal.entry(&payment).unwrap().unwrap().is_finished);
    let back = key().return_url("https://shop.example.kg/thanks", &payment).unwrap();
    let back = format!("{back}&OrderNumber={number}&statusCode=200");
    assert_eq!(shop.run(&["returned", &back], ""), "delivered before\n");
}

#[test]
fn support_desk_asks_by_what_was_stored() {
    let shop = Shop::open();
    shop.run(&["card", "100.10"], &card(WITHOUT_3DS));
    let stored = PaymentRef::card(shop.number(), "100.10".parse().unwrap(), "KGS").to_string();
    assert_eq!(shop.run(&["check", &stored], ""), format!("charged: {stored}\n"));
    let other = stored.replace("amount=100.10", "amount=1");
    assert!(shop.run(&["check", &other], "").starts_with("a person should look: Mismatch"));
}

#[test]
fn what_a_killed_program_left_is_delivered_by_the_next() {
    let shop = Shop::open();
    let mut killed = shop.start(&["qr", "100.10"], "");
    killed.told("scan it, or open: ");
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    shop.sandbox.approve(&shop.number()).unwrap();
    assert_eq!(shop.run(&["resume"], ""), "paid, deliver: two coffees\n");
}
