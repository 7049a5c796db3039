//! The files for Docker Compose: the server takes their settings and, in a network with the names of their services, works with
//! them. Docker itself is not needed.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    net::SocketAddr,
    process::Command,
    sync::{Arc, mpsc},
};

use axum::{Router, body::Bytes, http::HeaderMap, http::StatusCode, routing::post};
use kassa_sandbox::{Sandbox, SandboxOptions};
use kassa_server::settings::{ProgramSettings, SETTINGS, Sources};
use kassa_test_patience::patience;
use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::{
    paying::{OTP, PAYMENTS, PHONE},
    support::{Caller, PASSWORD, Place, Running, ended},
};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/");
const DIALECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/sandbox-dialect.json");
/// Set in the network that the test makes for itself.
const INSIDE: &str = "KASSA_TEST_INSIDE_COMPOSE";
const PROXY: &str = "172.30.0.2";
const SERVER: &str = "172.30.0.3";
const SHOP: &str = "172.30.0.4";

fn text(name: &str) -> String {
    fs::read_to_string(format!("{FOLDER}{name}")).unwrap()
}

/// The environment of a service, from the lines of a file. It must have one.
fn environment(text: &str, service: &str) -> BTreeMap<String, String> {
    let start = format!("\n  {service}:\n");
    let (_, service) = text.split_once(&start).unwrap_or_else(|| panic!("no {service}"));
    let lines = service.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    let below =
        lines.skip_while(|line| *line != "    environment:").skip(1).take_while(|line| line.starts_with("      "));
    let pairs = below.filter_map(|line| line.trim().split_once(": ").filter(|(name, _)| !name.starts_with('#')));
    let environment: BTreeMap<_, _> = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    assert!(!environment.is_empty());
    environment
}

/// The server's environment, with the secrets of a test in place of Compose's.
fn server_environment(place: &Place, with_sandbox: bool) -> BTreeMap<String, String> {
    let mut environment = environment(&text("compose.yaml"), "kassa-server");
    if with_sandbox {
        environment.extend(self::environment(&text("compose.sandbox.yaml"), "kassa-server"));
    }
    place.write("gateway-password", PASSWORD);
    let secret = place.path("events-secret");
    if !secret.exists() {
        place.write("events-secret", &ended(&mut place.command(&["secret"])).out);
    }
    for value in environment.values_mut() {
        *value = value.replace("/run/secrets/", &place.path("").display().to_string());
        *value = value.replace("/etc/kassa-server/dialect.json", DIALECT);
    }
    environment
}

#[test]
fn servers_settings_are_accepted() {
    for with_sandbox in [false, true] {
        let place = Place::new();
        let environment = server_environment(&place, with_sandbox);
        for name in environment.keys() {
            assert!(SETTINGS.iter().any(|setting| setting.variable == name), "{name} is no setting's");
        }
        let pairs = environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let sources = Sources { file: None, variables: pairs.collect(), flags: BTreeMap::new() };
        let settings = ProgramSettings::read(&sources).unwrap();
        let warning = "events.url: events travel unencrypted to shop, as plain_http_hosts permits";
        assert!(matches!(&settings.warnings[..], [one] if one.starts_with(warning)), "{:?}", settings.warnings);
        assert_eq!(settings.http.proxies, PROXY.parse().unwrap());
    }
}

/// What one part of a file says of another.
#[test]
fn parts_of_the_file_fit_one_another() {
    let (main, with_sandbox) = (text("compose.yaml"), text("compose.sandbox.yaml"));
    assert!(main.contains(&format!("ipv4_address: {PROXY}\n")) && main.contains("subnet: 172.30.0.0/24\n"));
    assert!(main.contains("          ip_range: 172.30.0.128/25\n"), "no other service gets the proxy's address");
    assert_eq!(environment(&main, "shop")["KASSA_SERVER_URL"], "http://kassa-server:8080");
    for secret in ["gateway-password", "events-secret", "shop-events-secret", "api-key"] {
        assert!(main.contains(&format!("\n  {secret}:\n    file: ./secrets/{secret}\n")), "{secret}");
    }
    for volume in ["kassa:/var/lib/kassa-server", "caddy:/data"] {
        assert!(main.contains(&format!("      - {volume}\n")), "{volume}");
    }
    let password = &environment(&with_sandbox, "sandbox")["KASSA_SANDBOX_PASSWORD"];
    assert!(password.starts_with("${KASSA_SANDBOX_PASSWORD:?"), "{password}");
    let image = text("Containerfile");
    assert!(image.contains("KASSA_SERVER_LISTEN=0.0.0.0:8080") && image.contains("USER 65532:65532"));
}

/// In a network of its own, with the addresses and names of the services: that needs root, on Linux.
#[test]
fn services_reach_one_another_by_their_names() {
    if env::var_os(INSIDE).is_some() {
        return;
    }
    let hosts = tempfile::NamedTempFile::new().unwrap();
    let names = format!("127.0.0.1 localhost\n{SERVER} kassa-server sandbox\n{SHOP} shop\n");
    fs::write(hosts.path(), names).unwrap();
    let inside = "ip link set lo up; ip addr add $2/24 dev lo; ip addr add $3/24 dev lo; mount --bind $1 /etc/hosts; shift 3; exec \"$@\"";
    let network = |program: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount", "sh", "-euc", inside, "sh"]).arg(hosts.path()).args([SERVER, SHOP]);
        command.args(program).env(INSIDE, "1").output()
    };
    if !network(&["true"]).is_ok_and(|output| output.status.success()) {
        eprintln!("no network of its own can be made here: the names of the services were not tried");
        return;
    }
    let program = env::current_exe().unwrap();
    let test = "compose::inside_the_network";
    let output = network(&[program.to_str().unwrap(), "--exact", test, "--ignored", "--nocapture"]).unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "services_reach_one_another_by_their_names runs it, in a network of its own"]
fn inside_the_network() {
    assert!(env::var_os(INSIDE).is_some(), "it is not in that network");
    let options = SandboxOptions {
        listen: "0.0.0.0:8400".parse().unwrap(),
        password: PASSWORD.to_owned(),
        admin_token: Some("a-token-of-the-test".to_owned()),
        public_url: Some("http://localhost:8400".to_owned()),
        ..SandboxOptions::default()
    };
    let _sandbox = Sandbox::start(options).unwrap();
    let place = Place::new();
    let mut environment = server_environment(&place, true);
    let secret = fs::read_to_string(place.path("events-secret")).unwrap();
    let events = receive_events(format!("{SHOP}:3000").parse().unwrap(), secret.trim());
    environment.insert("KASSA_SERVER_LISTEN".to_owned(), "0.0.0.0:8080".to_owned());

    let check = ended(place.command(&["check"]).envs(&environment));
    assert_eq!(check.code, Some(0), "{check:?}");
    assert!(check.line("gateway").starts_with("ok") && check.out.contains("shop is found"), "{}", check.out);
    // A gateway with a name of its own.
    let mut by_name = environment.clone();
    by_name.insert("KASSA_SERVER_GATEWAY_URL".to_owned(), "http://sandbox:8400".to_owned());
    let refused = ended(place.command(&["check"]).envs(&by_name));
    assert!(refused.code == Some(1) && refused.out.contains("or to a host that plain_http_hosts names"), "{refused:?}");
    by_name.insert("KASSA_SERVER_PLAIN_HTTP_HOSTS".to_owned(), "shop,sandbox".to_owned());
    let check = ended(place.command(&["check"]).envs(&by_name));
    assert!(check.line("gateway").starts_with("ok"), "{}", check.out);
    assert!(check.out.contains("warning  settings    gateway.url: the merchant's password"), "{}", check.out);

    let key = ended(place.command(&["keys", "new", "--name", "shop"]).envs(&environment)).out;
    let running = Running::start(place.command(&["--announce", "json"]).envs(&environment));
    let shop = Caller { url: "http://kassa-server:8080".to_owned(), ..Caller::new(&running, key.trim()) };
    let (_, app) = shop.open("order-1");
    let (status, payment) = app.call("POST", PAYMENTS, &json!({ "method": "mbank", "phone": PHONE }));
    assert_eq!(status, 201, "{payment}");
    let confirm = format!("{PAYMENTS}/{}/confirm", payment["id"].as_str().unwrap());
    app.call("POST", &confirm, &json!({ "otp": OTP }));
    loop {
        let event = events.recv_timeout(patience()).unwrap();
        if event["type"] == "checkout.paid" {
            assert_eq!(event["data"]["reference"], "order-1");
            break;
        }
    }
    let (status, log, _) = running.stop();
    assert!(status.success() && log.contains("events travel unencrypted to shop"), "{log}");
}

/// A shop at this address: each event whose signature is right.
fn receive_events(address: SocketAddr, secret: &str) -> mpsc::Receiver<Value> {
    let webhook = Arc::new(Webhook::new(secret).unwrap());
    let (sender, events) = mpsc::channel();
    let take = move |headers: HeaderMap, body: Bytes| async move {
        webhook.verify(&body, &headers).unwrap();
        let _ = sender.send(serde_json::from_slice(&body).unwrap());
        StatusCode::NO_CONTENT
    };
    let (listening, listens) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind(address).await.unwrap();
            listening.send(()).unwrap();
            axum::serve(listener, Router::new().route("/kassa-events", post(take))).await.unwrap();
        });
    });
    listens.recv().unwrap();
    events
}
