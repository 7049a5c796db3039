//! How the program starts, works beside another one, stops, and what it writes to its log.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::process::ExitStatusExt,
    process::{Command, Stdio},
    sync::Arc,
};

use kassa_test_patience::wait_until;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::ring};
use serde_json::{Value, json};

use crate::{
    paying::{OTP, PAYMENTS, PHONE},
    support::{Caller, PASSWORD, Place, Running, ended, pem, sandbox, settings_for, unwritable},
};

#[test]
fn server_announces_url_and_stops_gracefully() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let running = place.start(&["--metrics-listen", "127.0.0.1:0"]);
    assert_eq!(running.get("/healthz").0, 200);
    let metrics = running.announced["metrics_url"].as_str().unwrap().strip_suffix("/metrics").unwrap().to_owned();
    assert_eq!(crate::support::get(&metrics, "/metrics").0, 200);
    assert_eq!(running.get("/metrics").0, 404, "metrics are apart");
    // Somebody who never ends a request does not hold up the stop.
    let mut slow = running.connect();
    let head = format!("POST /v1/checkouts HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}", place.key());
    slow.write_all(format!("{head}\r\ncontent-length: 100\r\nexpect: 100-continue\r\n\r\n").as_bytes()).unwrap();
    // It waits for the body by now. A request that it had not read yet would be none that it cuts off.
    let mut response = [0; 12];
    slow.read_exact(&mut response).unwrap();
    assert_eq!(&response, b"HTTP/1.1 100");
    slow.write_all(b"{").unwrap();
    let (status, log, _) = running.stop();
    assert!(status.success(), "{log}");
    assert!(log.contains("cut off"), "{log}");
    assert!(log.contains("no shop can call yet") && log.contains("no events are delivered"), "{log}");
    // And once more on the same file.
    assert!(place.start(&[]).stop().0.success());
}

#[test]
fn with_a_certificate_it_speaks_https_alone() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    place.write("cert.pem", &pem("CERTIFICATE", pair.cert.der()));
    place.write("key.pem", &pem("PRIVATE KEY", pair.signing_key.serialized_der()));
    let running = place.start(&["--tls-certificate", "cert.pem", "--tls-key", "key.pem"]);
    let host = running.url.strip_prefix("https://").unwrap().to_owned();
    let mut roots = RootCertStore::empty();
    roots.add(pair.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connection = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    let tls = StreamOwned::new(connection, TcpStream::connect(&host).unwrap());
    assert!(answer(tls).starts_with(b"HTTP/1.1 200 "));
    assert!(!answer(TcpStream::connect(&host).unwrap()).starts_with(b"HTTP/"));
}

/// Also where each line of the log is one more that cannot be written.
#[test]
fn server_runs_without_writable_output_or_log() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let key = place.key();
    let mut number = 0;
    let mut serves = |running: &Running, what: &str| {
        number += 1;
        assert_eq!(running.get("/readyz").0, 200, "{what}");
        Caller::new(running, &key).open(&format!("order-{number}"));
    };
    for (what, stdout) in unwritable() {
        let running = Running::with_output_to(stdout, &mut place.command(&["--config", "kassa.toml"]));
        serves(&running, what);
        let (status, log, _) = running.stop();
        assert!(status.success() && log.contains("could not be printed"), "{what}: {log}");
    }
    for (what, stderr) in unwritable() {
        let mut command = place.command(&["--config", "kassa.toml", "--announce", "json", "--log", "trace"]);
        let running = Running::with_log_to(stderr, &mut command);
        serves(&running, what);
        assert!(running.stop().0.success(), "{what}");
    }
}

#[test]
fn closed_terminal_stops_server_gracefully() {
    // These tests run under `nohup`, and so would the program.
    if ignores_hang_ups("self") {
        return;
    }
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let running = place.start(&[]);
    // It holds up the stop.
    let mut slow = running.connect();
    let head = format!("POST /v1/checkouts HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}", place.key());
    slow.write_all(format!("{head}\r\ncontent-length: 100\r\nexpect: 100-continue\r\n\r\n").as_bytes()).unwrap();
    let mut response = [0; 12];
    slow.read_exact(&mut response).unwrap();
    running.signal("HUP");
    let host = running.url.strip_prefix("http://").unwrap().to_owned();
    wait_until("it takes no new connections", || TcpStream::connect(&host).is_err());
    // The shell sends it too, and a session that ends sends SIGTERM.
    running.signal("HUP");
    running.signal("TERM");
    let (status, log, _) = running.wait();
    assert_eq!(status.code(), Some(0), "{status}: {log}");
    assert!(log.contains("stopping") && log.contains("stopped"), "{log}");
}

#[test]
fn under_nohup_it_outlives_its_terminal() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let mut command = Command::new("/bin/sh");
    command.env_clear().current_dir(place.path("")).stdin(Stdio::null());
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_kassa-server")]);
    let running = Running::start(command.args(["--config", "kassa.toml", "--announce", "json"]));
    running.signal("HUP");
    assert_eq!(running.get("/readyz").0, 200);
    assert!(ignores_hang_ups(&running.child.id().to_string()) || !cfg!(target_os = "linux"));
    assert!(running.stop().0.success());
}

/// Whether Linux says that a process ignores SIGHUP.
fn ignores_hang_ups(process: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1)
}

/// What comes back, however it ends.
fn answer(mut stream: impl Read + Write) -> Vec<u8> {
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read);
    read
}

#[test]
fn for_people_it_prints_its_addresses() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let mut command = place.command(&["serve", "--config", "kassa.toml", "--exit-with-stdin"]);
    // Its standard input has ended already.
    let ended = ended(command.stdin(Stdio::null()));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for text in ["listens at   http://127.0.0.1:", "database     kassa.db", "staff pages  http", sandbox.url()] {
        assert!(ended.out.contains(text), "{ended:?}");
    }
    assert!(!format!("{ended:?}").contains(PASSWORD));
}

#[test]
fn being_open_to_others_unencrypted_is_warned_of() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    for (arguments, is_warned) in [
        (["--listen", "0.0.0.0:0"].as_slice(), true),
        (&["--listen", "0.0.0.0:0", "--proxies", "10.0.0.1"], false),
        (&[], false),
    ] {
        // The form of the announcement may stand before the command.
        let log = place.start(&[&["serve"], arguments].concat()).stop().1;
        assert_eq!(log.contains("is open to other machines unencrypted"), is_warned, "{arguments:?}: {log}");
    }
}

#[test]
fn cards_are_warned_of_wherever_they_are_on() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    for (arguments, is_warned) in [(["--cards-enabled", "true"].as_slice(), true), (&[], false)] {
        let log = place.start(arguments).stop().1;
        assert_eq!(log.contains("under PCI DSS (SAQ D)"), is_warned, "{log}");
    }
    let file = format!("{}\n[cards]\nenabled = true\n", settings_for(sandbox.url()));
    place.write("kassa.toml", &file);
    let checked = place.run(&["check"]);
    assert!(checked.out.contains("warning  settings    cards.enabled is on"), "{checked:?}");
    assert_eq!(checked.code, Some(0));
}

#[test]
fn two_servers_share_one_sqlite_database() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let (one, two) = (place.start(&[]), place.start(&[]));
    for running in [&one, &two] {
        assert_eq!(running.get("/readyz").0, 200);
    }
    one.signal("KILL");
    assert_eq!(one.wait().0.signal(), Some(9));
    assert_eq!(two.get("/readyz").0, 200);
    assert!(two.stop().0.success());
}

#[test]
fn unusable_setting_ends_start_with_one_line() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = place.run(&["--listen", &address]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.starts_with(&format!("kassa-server: {address} cannot be listened on: ")), "{}", ended.err);
    assert!(!place.path("kassa.db").exists(), "nothing was touched");
    let ended = place.run(&["--database", "/no/such/folder/kassa.db"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.starts_with("kassa-server: /no/such/folder/kassa.db: "), "{}", ended.err);
}

#[test]
fn json_log_holds_no_secret() {
    let sandbox = sandbox();
    let place = Place::new();
    let secret = place.command(&["secret"]).output().unwrap().stdout;
    let secret = String::from_utf8(secret).unwrap().trim().to_owned();
    let events = format!("[events]\nurl = 'http://127.0.0.1:9/hunter2'\nsecret = '{secret}'\n");
    place.write("kassa.toml", &format!("{}{events}", settings_for(sandbox.url())));
    let arguments = ["--config", "kassa.toml", "--announce", "json", "--log", "trace", "--log-format", "json"];
    let running = Running::start(&mut place.command(&arguments));
    let key = place.key();
    let (_, app) = Caller::new(&running, &key).open("order-1");
    let (_, payment) = app.call("POST", PAYMENTS, &json!({ "method": "mbank", "phone": PHONE }));
    let path = format!("{PAYMENTS}/{}/confirm", payment["id"].as_str().unwrap());
    let (status, confirmed) = app.call("POST", &path, &json!({ "otp": OTP }));
    assert!(matches!(status, 200 | 202), "{status}: {confirmed}");
    let (_, log, _) = running.stop();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["message"] == "serving" && line["level"] == "INFO"), "{log}");
    let otp = format!("\"{OTP}");
    let key = key.splitn(3, '_').nth(2).unwrap();
    for secret in [PASSWORD, &secret, "hunter2", key, &app.credential["ct_".len()..], PHONE, &otp] {
        assert!(!log.contains(secret), "{secret}");
    }
}
