//! Disks that refuse, and files that are taken away: nothing is sent that could not be written down, nothing that was sent is
//! forgotten, and where there is room again, or the same file, the server goes on.

use std::{
    fs,
    io::Write,
    net::{Ipv4Addr, SocketAddr},
    os::unix::{fs::MetadataExt, fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use kassa_sandbox::{EndpointName, Fault};
use kassa_test_patience::patient;
use serde_json::json;

use crate::{
    api::{Answer, Caller},
    paying::{PAYMENTS, order},
    program::{Plan, Program, SANDBOX_DIALECT, free_port, until},
    scene::Scene,
    secrets::payers,
};

/// Somebody who is not the superuser.
const NOBODY: u32 = 65_534;

/// A server whose disk can be filled.
struct Disk {
    server: Program,
    /// A file beside the database, on a disk of a few megabytes; else a limit of the system keeps the files as they are.
    filler: Option<PathBuf>,
    log: PathBuf,
}

impl Disk {
    /// By a limit of the system, by which no file of the server can grow any further.
    fn limited(scene: &Scene) -> Self {
        let server = scene.plans[0].start_by("trap '' XFSZ; exec \"$0\" \"$@\"").unwrap();
        Self { server, filler: None, log: scene.folder().join("kassa.db-wal") }
    }

    /// A small one in memory that the server alone has (a namespace of its own); nothing where the system does not give one.
    fn small(scene: &mut Scene) -> Option<Self> {
        let small = scene.folder().join("small");
        fs::create_dir(&small).unwrap();
        scene.plans[0].set("KASSA_SERVER_DATABASE", small.join("kassa.db").display().to_string());
        let server = scene.plans[0].start_by(
            "exec unshare --user --map-root-user --mount /bin/sh -c \
             'mount -t tmpfs -o size=4m none small && cp kassa.db small && exec \"$0\" \"$@\"' \"$0\" \"$@\"",
        );
        let server = server.ok()?;
        let seen = PathBuf::from(format!("/proc/{}/root{}", server.id(), small.display()));
        Some(Self { server, filler: Some(seen.join("filler")), log: seen.join("kassa.db-wal") })
    }

    fn is_full(&self) {
        match &self.filler {
            None => self.limit(&fs::metadata(&self.log).unwrap().len().to_string()),
            Some(filler) => {
                let mut file = fs::File::create(filler).unwrap();
                while file.write_all(&[0; 512]).is_ok() {}
            }
        }
    }

    fn has_room(&self) {
        match &self.filler {
            None => self.limit("unlimited"),
            Some(filler) => fs::remove_file(filler).unwrap(),
        }
    }

    fn limit(&self, size: &str) {
        let pid = self.server.id().to_string();
        let done = Command::new("prlimit").args(["--pid", &pid, &format!("--fsize={size}:")]).status();
        assert!(done.unwrap().success(), "prlimit, of util-linux");
    }
}

/// Refused for now, and to be tried again.
fn is_refused(answer: &Answer) {
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")), "{answer:?}");
    assert_eq!(answer.body["type"], "urn:kassa:problem:unavailable");
}

/// Whether it says that it can work.
fn readiness(scene: &Scene) -> Option<u16> {
    let answer = Caller::new(scene.plans[0].address, "").get("/readyz").ok()?;
    if answer.status == 503 {
        is_refused(&answer);
    }
    Some(answer.status)
}

/// Waits until balancers and alarms are told.
fn is_told(scene: &Scene, metrics: &Caller, is_well: bool) {
    let status = if is_well { 200 } else { 503 };
    until("it says whether it is ready", || readiness(scene) == Some(status));
    let line = format!("kassa_database_up {}", u8::from(is_well));
    until("the metrics say so", || {
        metrics.get("/metrics").is_ok_and(|seen| seen.text.lines().any(|seen| seen == line))
    });
}

/// Has its metrics served, and gives who reads them.
fn with_metrics(scene: &mut Scene) -> Caller {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
    scene.plans[0].set("KASSA_SERVER_METRICS_LISTEN", address.to_string());
    Caller::new(address, "")
}

fn requests(scene: &Scene, endpoint: EndpointName) -> usize {
    scene.sandbox.requests().iter().filter(|request| request.endpoint == endpoint.path()).count()
}

#[test]
fn file_size_limit_stops_sends() {
    let mut scene = Scene::open(1);
    scene.plans[0].set("KASSA_SERVER_GATEWAY_PAYMENT_DEADLINE", "60s");
    let metrics = with_metrics(&mut scene);
    let disk = Disk::limited(&scene);
    fill(&scene, &disk, &metrics);
    scene.recorded();
    assert!(disk.server.stop().0.success());
}

#[test]
fn full_disk_stops_sends_until_space_is_free() {
    let mut scene = Scene::open(1);
    scene.plans[0].set("KASSA_SERVER_GATEWAY_PAYMENT_DEADLINE", "60s");
    let metrics = with_metrics(&mut scene);
    let Some(disk) = Disk::small(&mut scene) else {
        println!("not tried: this system gives nobody a disk of their own: {}", scene.log());
        return;
    };
    fill(&scene, &disk, &metrics);
    assert!(disk.server.stop().0.success());
}

/// The disk fills up while payments are begun and confirmed, and has room again.
fn fill(scene: &Scene, disk: &Disk, metrics: &Caller) {
    let payer = payers()[0];
    let (by_mbank, otp) = (json!({ "method": "mbank", "phone": payer.phone }), json!({ "otp": payer.otp }));
    let ((app, id), (confirms, _)) = (scene.app("order-1"), scene.app("order-2"));
    let begun = confirms.send("POST", PAYMENTS, Some("try-1"), &by_mbank).unwrap();
    let confirm = format!("{PAYMENTS}/{}/confirm", begun.member("id").unwrap());
    is_told(scene, metrics, true);

    disk.is_full();
    let shop = Caller::new(app.address, &scene.key);
    for _ in 0..3 {
        is_refused(&app.send("POST", PAYMENTS, Some("try-1"), &by_mbank).unwrap());
        is_refused(&app.send("POST", PAYMENTS, Some("try-2"), &json!({ "method": "qr" })).unwrap());
        is_refused(&confirms.send("POST", &confirm, Some("otp-1"), &otp).unwrap());
        is_refused(&shop.post("/v1/checkouts", &order("order-3", 600)).unwrap());
    }
    assert_eq!(requests(scene, EndpointName::MbankPay), 1, "that of before");
    assert_eq!(requests(scene, EndpointName::QrDynamicData) + requests(scene, EndpointName::MbankConfirm), 0);
    let seen = shop.get(&format!("/v1/checkouts/{id}")).unwrap();
    assert_eq!((seen.status, &seen.body["state"]), (200, &json!("open")), "it can be read all the same");
    is_told(scene, metrics, false);

    disk.has_room();
    is_told(scene, metrics, true);
    let paid = app.send("POST", PAYMENTS, Some("try-1"), &by_mbank).unwrap();
    assert_eq!((paid.status, &paid.body["state"]), (201, &json!("awaiting")), "{paid:?}");
    let path = format!("{PAYMENTS}/{}/confirm", paid.member("id").unwrap());
    assert!(app.send("POST", &path, Some("otp-1"), &otp).unwrap().status < 300);
    assert!(confirms.send("POST", &confirm, Some("otp-1"), &otp).unwrap().status < 300);
    assert_eq!(shop.post("/v1/checkouts", &order("order-3", 600)).unwrap().status, 201);
    for app in [app, confirms] {
        until("both are paid", || app.get("/v1/checkout").unwrap().body["state"] == "paid");
    }
    assert_eq!(scene.sandbox.payments().iter().map(|payment| payment.times_charged).sum::<u32>(), 2);
}

/// What a file without a name takes, nobody finds after the next start.
#[test]
fn moved_database_file_stops_sends() {
    let mut scene = Scene::open(4);
    let metrics = with_metrics(&mut scene);
    let server = scene.plans[0].start_in_the_end().unwrap();
    let in_folder = |name: &str| scene.folder().join(name);
    let (database, log, aside) = (in_folder("kassa.db"), in_folder("kassa.db-wal"), in_folder("aside"));
    is_told(&scene, &metrics, true);

    without_it(&scene, &metrics, "moved", || fs::rename(&database, &aside).unwrap());
    fs::rename(&aside, &database).unwrap();
    goes_on(&scene, &metrics, "moved");

    // A restored copy, say. The file itself has another name by then.
    fs::copy(&database, in_folder("copy")).unwrap();
    without_it(&scene, &metrics, "replaced", || {
        fs::hard_link(&database, &aside).unwrap();
        fs::rename(in_folder("copy"), &database).unwrap();
    });
    fs::rename(&aside, &database).unwrap();
    goes_on(&scene, &metrics, "replaced");

    without_it(&scene, &metrics, "log", || fs::rename(&log, &aside).unwrap());
    fs::rename(&aside, &log).unwrap();
    goes_on(&scene, &metrics, "log");

    without_it(&scene, &metrics, "removed", || fs::remove_file(&database).unwrap());
    assert!(!database.exists(), "and no empty one is made");
    let log = scene.log();
    let times = |words: &str| log.lines().filter(|line| line.contains(words)).count();
    assert_eq!(times("the database's files are not in their places"), 4, "each change once: {log}");
    assert_eq!(times("the database's files are in their places again"), 3, "{log}");
    assert!(server.stop().0.success());
}

/// What is paid while the file is taken away is refused, and reaches nobody.
fn without_it(scene: &Scene, metrics: &Caller, name: &str, take_away: impl FnOnce()) {
    let (app, _) = scene.app(&format!("order-{name}-refused"));
    let money = [EndpointName::MbankPay, EndpointName::MbankConfirm, EndpointName::QrDynamicData];
    let sent = || money.map(|endpoint| requests(scene, endpoint));
    let before = sent();
    take_away();
    is_refused(&app.send("POST", PAYMENTS, Some("try-1"), &json!({ "method": "qr" })).unwrap());
    is_told(scene, metrics, false);
    is_refused(&app.send("POST", PAYMENTS, Some("try-1"), &json!({ "method": "qr" })).unwrap());
    assert_eq!(sent(), before, "{name}");
}

fn goes_on(scene: &Scene, metrics: &Caller, name: &str) {
    is_told(scene, metrics, true);
    let payer = payers()[0];
    let (app, _) = scene.app(&format!("order-{name}"));
    let by_mbank = json!({ "method": "mbank", "phone": payer.phone });
    let paid = app.send("POST", PAYMENTS, Some("try-1"), &by_mbank).unwrap();
    assert!(paid.status < 300, "{paid:?}");
}

/// The gateway has it; what it answers cannot be written down.
#[test]
fn payment_sent_when_disk_fills_is_polled() {
    let mut scene = Scene::open(2);
    scene.plans[0].set("KASSA_SERVER_GATEWAY_PAYMENT_DEADLINE", "60s");
    let disk = Disk::limited(&scene);
    let payer = payers()[0];
    let by_mbank = json!({ "method": "mbank", "phone": payer.phone });
    let (app, _) = scene.app("order-1");
    // The disk has to be full before the answer comes, which has to come before the deadline.
    let answered_after = patient(Duration::from_secs(6)).min(Duration::from_secs(40));
    let slow = Fault::delay().endpoint(EndpointName::MbankPay).after(answered_after);
    scene.sandbox.faults().add(slow).unwrap();
    let paying = {
        let (app, by_mbank) = (app.clone(), by_mbank.clone());
        thread::spawn(move || app.send("POST", PAYMENTS, Some("try-1"), &by_mbank))
    };
    until("the gateway has it", || !scene.sandbox.payments().is_empty());
    disk.is_full();
    let mut answer = paying.join().unwrap().unwrap();
    // A write that finds no room fails all that shares its commit. The app is told to try again, and hears how the payment stands
    // while the disk is still full.
    until("the app hears that it is being sent", || {
        if answer.status == 503 && answer.body["type"] == "urn:kassa:problem:unavailable" {
            answer = app.send("POST", PAYMENTS, Some("try-1"), &by_mbank).unwrap();
            return false;
        }
        assert_eq!((answer.status, &answer.body["state"]), (202, &json!("sending")), "{answer:?}");
        true
    });
    until("it gives up writing it down", || scene.log().contains("a result could not be recorded"));
    disk.has_room();
    let again = app.send("POST", PAYMENTS, Some("try-1"), &by_mbank).unwrap();
    assert_eq!((again.status, &again.body["state"]), (202, &json!("sending")), "{again:?}");

    // Its sender is taken for dead; then it is queried.
    scene.keeper.time_passes(Duration::from_secs(120));
    until("the gateway was asked", || app.get("/v1/checkout").unwrap().body["payments"][0]["state"] == "awaiting");
    let path = format!("{PAYMENTS}/{}/confirm", again.member("id").unwrap());
    assert!(app.send("POST", &path, Some("otp-1"), &json!({ "otp": payer.otp })).unwrap().status < 300);
    scene.recorded();
    assert_eq!(requests(&scene, EndpointName::MbankPay), 1);
    assert_eq!(app.get("/v1/checkout").unwrap().body["state"], "paid");
}

#[test]
fn server_in_read_only_folder_refuses_to_start() {
    let mut scene = Scene::open(3);
    let folder = scene.folder();
    // Whoever starts it may read all that it needs, wherever this project is kept. It is copied by another process: one that
    // this one begins at the same time would hold the copy open, and nobody could run it.
    let copied = |from: &str, name: &str, mode| {
        let to = folder.join(name);
        assert!(Command::new("cp").arg(from).arg(&to).status().unwrap().success());
        permit(&to, mode);
        to
    };
    let program = copied(env!("CARGO_BIN_EXE_kassa-server"), "program", 0o755);
    let dialect = copied(SANDBOX_DIALECT, "dialect.json", 0o644);
    scene.plans[0].set("KASSA_SERVER_GATEWAY_DIALECT", dialect.display().to_string());
    permit(&folder.join("kassa.db"), 0o644);
    permit(&folder, 0o555);
    let error = cannot_start(&scene.plans[0], &program);
    assert!(error.contains("kassa.db: the database cannot be used: attempt to write a readonly database"), "{error}");
    let mut elsewhere = scene.plans[0].clone();
    elsewhere.set("KASSA_SERVER_DATABASE", folder.join("new.db").display().to_string());
    let error = cannot_start(&elsewhere, &program);
    assert!(error.contains("new.db: Permission denied"), "{error}");
    permit(&folder, 0o755);
}

/// What it says, in one line. The superuser may write everywhere, so nobody starts it.
fn cannot_start(plan: &Plan, program: &Path) -> String {
    let mut command = plan.command(&format!("exec '{}' serve", program.display()));
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        command.uid(NOBODY);
    }
    let ended = command.output().unwrap();
    let error = String::from_utf8(ended.stderr).unwrap();
    assert_eq!((ended.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    error
}

fn permit(folder: &Path, mode: u32) {
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
}
