//! Disks that the system itself makes refuse: nothing is sent that could not be written down, and nothing that was sent is
//! forgotten. What a disk of one's own making can show stands in `core/src/journal/tests.rs`.

use std::{
    env, fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use kassa::{
    BlockingGateway, FakeGateway, Journal, JournalState, MbankPayment, PaymentError, PaymentStatus, Recovered,
    RecoveryPolicy,
};

use crate::journal::{Folder, entries};

/// The environment variable that tells a child where the journal is.
const FOLDER: &str = "KASSA_JOURNAL_FOLDER";

fn tea(order_number: &str) -> MbankPayment {
    MbankPayment::new(order_number, 250, "996700000001", "Tea")
}

fn gateway(journal: Journal) -> (FakeGateway, BlockingGateway) {
    let fake = FakeGateway::new().unwrap();
    let gateway = BlockingGateway::from(fake.gateway()).with_journal(journal);
    (fake, gateway)
}

/// What a child that cannot write sees: the payment is not made, and may be tried again.
fn is_not_sent(fake: &FakeGateway, gateway: &BlockingGateway, number: &str) {
    let error = gateway.create_mbank_payment(tea(number)).unwrap_err();
    assert!(
        matches!(&error, PaymentError::Unavailable { detail, .. } if detail.contains("cannot be written")),
        "{error}"
    );
    assert!(error.is_retryable() && fake.payments().is_empty(), "{error}");
}

/// Runs one of the ignored tests below in a process of its own, by way of a shell that sets its limits.
fn child(test: &str, limits: &str, folder: &Path) {
    let name = format!("journal_disks::{test}");
    let ended = Command::new("sh")
        .args(["-c", &format!("{limits} exec \"$0\" \"$@\"")])
        .arg(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--test-threads", "1", &name])
        .env(FOLDER, folder)
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&ended.stdout);
    assert!(
        ended.status.success() && output.contains("1 passed"),
        "{output}{}",
        String::from_utf8_lossy(&ended.stderr)
    );
}

fn journal_of_the_child() -> Journal {
    Journal::open(env::var_os(FOLDER).expect("run by another test")).unwrap()
}

/// No file can grow at all, as on a disk without a free block: a limit of the system, by which it refuses each write.
#[test]
fn on_a_full_disk_nothing_is_sent() {
    let folder = Folder::new("full");
    let journal = folder.journal();
    child("writer_on_a_full_disk", "trap '' XFSZ; ulimit -f 0;", &folder.0);
    assert_eq!(entries(&journal), [], "the number was never taken");
    let (fake, gateway) = gateway(journal);
    gateway.create_mbank_payment(tea("order-1")).expect("there is room again");
    assert_eq!(fake.payments().len(), 1);
}

#[test]
#[ignore = "run by on_a_full_disk_nothing_is_sent"]
fn writer_on_a_full_disk() {
    let (fake, gateway) = gateway(journal_of_the_child());
    is_not_sent(&fake, &gateway, "order-1");
}

/// There was room for the first line, and for nothing after it.
#[test]
fn disk_that_fills_up_forgets_no_payment() {
    let folder = Folder::new("fills-up");
    let journal = folder.journal();
    child("writer_on_a_disk_that_fills_up", "trap '' XFSZ; ulimit -f 1;", &folder.0);
    let known = entries(&journal);
    assert_eq!(known.len(), 1);
    assert_eq!(known[0].payment.order_number.as_deref(), Some("order-1"));
    assert_eq!(known[0].state, JournalState::Unknown, "the result could not be recorded");
    let (fake, gateway) = gateway(journal);
    let again = gateway.create_mbank_payment(tea("order-1")).unwrap_err();
    assert!(again.payment_may_exist() && fake.payments().is_empty(), "{again}");
}

#[test]
#[ignore = "run by disk_that_fills_up_forgets_no_payment"]
fn writer_on_a_disk_that_fills_up() {
    let (fake, gateway) = gateway(journal_of_the_child());
    // A block is 512 bytes: the note leaves room for little else.
    let with_note = gateway.with_note(&"n".repeat(220)).unwrap();
    let created = with_note.create_mbank_payment(tea("order-1")).expect("it could be written down");
    gateway.confirm_mbank_payment(&created.payment, &fake.otp()).expect_err("this could not");
    assert_ne!(fake.payments()[0].status, PaymentStatus::Charged, "no confirmation was sent");
    fake.charge("order-1").unwrap();
    let ends: Vec<Recovered> = gateway.recover(RecoveryPolicy::default()).unwrap().map(Result::unwrap).collect();
    let Recovered::Payment { entry } = &ends[0] else { panic!("{ends:?}") };
    assert_eq!((entry.state, ends.len()), (JournalState::Charged, 1), "it is returned although it cannot be recorded");
}

#[test]
fn read_only_folder_prevents_sending() {
    let folder = Folder::new("read-only");
    let journal = folder.journal();
    let may = |mode| {
        for path in ["open", "done", "paid", ""] {
            fs::set_permissions(folder.0.join(path), fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    may(0o555);
    child("writer_who_may_only_read", "", &folder.0);
    may(0o755);
    assert_eq!(entries(&journal), []);
}

#[test]
#[ignore = "run by read_only_folder_prevents_sending"]
fn writer_who_may_only_read() {
    let folder = PathBuf::from(env::var_os(FOLDER).expect("run by another test"));
    // The superuser may write everywhere, and nobody else opens it.
    let opened_before = Journal::open(&folder);
    be_nobody();
    let error = Journal::open(&folder).unwrap_err();
    let PaymentError::Misconfigured { detail, .. } = &error else { panic!("{error}") };
    assert!(detail.contains(&format!("{} cannot be written", folder.join("open").display())), "{error}");
    let Ok(journal) = opened_before else { return };
    let (fake, gateway) = gateway(journal);
    is_not_sent(&fake, &gateway, "order-1");
    assert_eq!(gateway.unfinished().unwrap().count(), 0, "it can be read all the same");
}

/// The superuser may write everywhere. Others may not become somebody else, and need not.
fn be_nobody() {
    let _ = nix::unistd::seteuid(nix::unistd::Uid::from_raw(65_534));
}

/// The folder `done` is on another disk, so a file cannot be moved there in one step.
#[test]
fn done_folder_on_other_disk_returns_error() {
    let (folder, elsewhere) = (Folder::new("two-disks"), Folder::in_memory("two-disks"));
    fs::create_dir_all(&folder.0).unwrap();
    fs::create_dir_all(&elsewhere.0).unwrap();
    symlink(&elsewhere.0, folder.0.join("done")).unwrap();
    let (fake, gateway) = gateway(folder.journal());
    gateway.create_mbank_payment(tea("order-1")).unwrap();
    fake.charge("order-1").unwrap();
    let ends: Vec<Recovered> = gateway.recover(RecoveryPolicy::default()).unwrap().map(Result::unwrap).collect();
    let Recovered::Payment { entry } = &ends[0] else { panic!("{ends:?}") };
    assert_eq!(entry.state, JournalState::Charged);
    let error = gateway.finish(&entry.id).unwrap_err();
    assert!(matches!(&error, PaymentError::Unavailable { .. }), "{error}");
    let again = gateway.create_mbank_payment(tea("order-1")).unwrap_err();
    assert!(again.payment_may_exist() && fake.payments().len() == 1, "{again}");
}

/// A folder in memory is as good as one on a disk.
#[test]
fn journal_on_memory_file_system_works() {
    let folder = Folder::in_memory("memory");
    let (fake, gateway) = gateway(folder.journal());
    gateway.create_mbank_payment(tea("order-1")).unwrap();
    fake.charge("order-1").unwrap();
    for recovered in gateway.recover(RecoveryPolicy::default()).unwrap() {
        let Recovered::Payment { entry } = recovered.unwrap() else { panic!("an entry") };
        gateway.finish(&entry.id).unwrap();
    }
    assert_eq!(entries(&folder.journal()), []);
}
