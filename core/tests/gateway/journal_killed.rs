//! Several programs that share a journal's folder, and die at any moment (`kill -9`): none of them sends what another one
//! sent, living or dead, and nothing that the gateway has is missing from what is unfinished.

use std::{
    collections::BTreeMap,
    env, fs,
    process::{Child, Command, Stdio},
};

use kassa::{BlockingGateway, Credentials, GatewayConfig, Journal, MbankPayment, Unfinished};
use kassa_sandbox::{ReusedOrderNumber, Sandbox, SandboxOptions};
use kassa_test_patience::wait_until;

/// The environment variable that tells a writer where the gateway and the journal are.
const CHILD_VARIABLE: &str = "KASSA_JOURNAL_WRITER";
const WRITER: &str = "journal_killed::a_writer";
const WRITERS: usize = 8;
const NUMBERS: usize = 300;
const KILLS: usize = 40;
/// A kill waits for at most so many more requests. A kill loses one number at most, so the writers send enough requests for the last kill.
const REQUESTS: usize = 6;
const _: () = assert!(KILLS * REQUESTS <= NUMBERS - KILLS);

#[test]
#[ignore = "run by killed_writers_send_every_number_at_most_once"]
fn a_writer() {
    let order = env::var(CHILD_VARIABLE).expect("run by another test");
    let [url, login, password, folder] = order.split(' ').collect::<Vec<_>>()[..] else { panic!("{order}") };
    let gateway = BlockingGateway::new(GatewayConfig::new(url, Credentials::basic(login, password))).unwrap();
    let gateway = gateway.with_journal(Journal::open(folder).unwrap());
    // All in the same order, so that they meet at every number. Whatever comes back: most were sent by another writer.
    for number in 0..NUMBERS {
        let _ = gateway.create_mbank_payment(MbankPayment::new(format!("order-{number}"), 250, "996555000101", "Tea"));
    }
}

#[test]
fn killed_writers_send_every_number_at_most_once() {
    // A number that came twice would be charged twice.
    let options = SandboxOptions { reused_order_number: ReusedOrderNumber::ChargeTwice, ..SandboxOptions::default() };
    let sandbox = Sandbox::start(options).unwrap();
    let folder = env::temp_dir().join(format!("kassa-journal-{}-killed", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    let start = || -> Child {
        let (url, login, password) = (sandbox.url(), sandbox.login(), sandbox.password());
        Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", WRITER])
            .env(CHILD_VARIABLE, format!("{url} {login} {password} {}", folder.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut writers: Vec<Child> = (0..WRITERS).map(|_| start()).collect();
    let mut rng = fastrand::Rng::with_seed(14);
    let (mut killed, mut requests) = (0, 0);
    for _ in 0..KILLS {
        requests += rng.usize(1..=REQUESTS);
        wait_until("the writers send", || sandbox.requests().len() >= requests);
        let writer = &mut writers[rng.usize(..WRITERS)];
        killed += usize::from(writer.try_wait().unwrap().is_none());
        let _ = writer.kill();
        writer.wait().unwrap();
        *writer = start();
    }
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert!(killed > 0, "all of them had ended before");

    let mut made = BTreeMap::<String, usize>::new();
    for payment in sandbox.payments() {
        *made.entry(payment.order_number.clone()).or_default() += 1;
    }
    let twice: Vec<_> = made.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "sent twice: {twice:?}");
    let (mut known, mut unreadable) = (Vec::new(), Vec::new());
    for item in Journal::open(&folder).unwrap().unfinished() {
        match item.unwrap() {
            Unfinished::Payment { entry } => known.push(entry.payment.order_number.unwrap()),
            Unfinished::Unreadable { id, why } => unreadable.push((id, why)),
            other => panic!("{other:?}"),
        }
    }
    let forgotten: Vec<_> = made.keys().filter(|number| !known.contains(number)).collect();
    assert!(forgotten.is_empty(), "forgotten: {forgotten:?}, unreadable: {unreadable:?}");
    assert!(made.len() + KILLS >= NUMBERS, "only {} of {NUMBERS} numbers were sent at all", made.len());
    fs::remove_dir_all(&folder).unwrap();
}
