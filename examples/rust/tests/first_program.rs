//! The README's first program, as it stands there: against the sandbox, with a payer who types what the program asks for.

mod support;

use std::{io::Write as _, process::Output};

use kassa_sandbox::{Sandbox, SandboxOptions};
use tempfile::TempDir;

const PROGRAM: &str = include_str!("../src/bin/first_program.rs");
const OTP: &str = "101101";

struct Shop {
    sandbox: Sandbox,
    folder: TempDir,
}

impl Shop {
    fn open() -> Self {
        Self { sandbox: Sandbox::start(SandboxOptions::default()).unwrap(), folder: TempDir::new().unwrap() }
    }

    fn run(&self, typed: &str) -> Output {
        let mut program = support::program(env!("CARGO_BIN_EXE_first_program"), &self.sandbox, self.folder.path());
        let mut program = program.spawn().unwrap();
        program.stdin.take().unwrap().write_all(format!("{typed}\n").as_bytes()).unwrap();
        program.wait_with_output().unwrap()
    }
}

fn told(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn it_stands_in_the_readme() {
    let (_, program) = PROGRAM.split_once("\n\n").unwrap();
    assert!(include_str!("../../../README.md").contains(&format!("```rust,no_run\n{program}```\n")));
}

#[test]
fn it_takes_a_payment_and_delivers_once() {
    let shop = Shop::open();
    let output = told(&shop.run(OTP));
    assert!(
        output.contains("The code from the SMS?")
            && output.ends_with("paid: deliver Some(\"cart 17\")\n1 delivered; left open: nothing\n"),
        "{output}"
    );
    assert!(shop.sandbox.payments()[0].is_charged());
    let next = told(&shop.run(&format!("000000\n{OTP}")));
    assert!(next.contains("nothing happened"), "a mistyped code can be typed again: {next}");
    assert_eq!(next.matches("paid: deliver").count(), 1, "its own payment, and not the first one again: {next}");
}
