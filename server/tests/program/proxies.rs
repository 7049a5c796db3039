//! The files for nginx and Caddy, each in front of a real server, as docs/reverse-proxy.md shows them: names, ports and certificates are
//! replaced. Where one of the two is not installed, its test says so.

use std::{
    fs,
    io::{Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
};

use kassa_test_patience::{patience, wait_until};
use rcgen::CertifiedKey;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::ring};
use serde_json::{Value, json};

use crate::{
    paying::{OTP, PAYMENTS, PHONE},
    support::{Place, Running, pem, sandbox, settings_for},
};

const PACKAGING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reverse-proxy.md");
const NGINX_LOCATION: &str = "    location / {\n        proxy_pass http://kassa_server;\n    }\n";
/// Where a caller's requests come from. The server trusts the proxy at 127.0.0.1.
const CALLER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

fn file(name: &str) -> String {
    fs::read_to_string(format!("{PACKAGING}{name}")).unwrap()
}

/// The block that docs/reverse-proxy.md shows to keep others from the staff pages, for a server with this path.
fn staff_block(language: &str, path: &str) -> String {
    let page = fs::read_to_string(PAGE).unwrap();
    let fence = format!("\n\n```{language}\n");
    let mut blocks = page.split(&fence).skip(1).map(|rest| rest.split_once("```").unwrap().0);
    blocks.find(|block| block.contains(&format!(" {path}/staff "))).unwrap().to_owned()
}

/// With this in place of that, which must be there.
fn replaced(text: &str, this: &str, by: &str) -> String {
    assert!(text.contains(this), "{this}\n{text}");
    text.replace(this, by)
}

/// A port below those that the system gives to others, so that none of them takes it before the proxy does.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = 16_000 + u16::try_from(std::process::id() % 80).unwrap() * 100;
    let mut ports = (0..100).map(|_| begin + NEXT.fetch_add(1, Ordering::Relaxed) % 100);
    ports.find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok()).unwrap()
}

fn is_installed(program: &str, argument: &str) -> bool {
    let found = Command::new(program).arg(argument).stdin(Stdio::null()).output();
    found.is_ok_and(|output| output.status.success()) || {
        eprintln!("{program} is not there: its file is only compared with the page");
        false
    }
}

/// What a caller is answered. The status is 0 where the connection was closed instead.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        let headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).next().unwrap_or_default()
    }

    /// Whether the server gave it, and not the proxy: it sends this with a page.
    fn is_a_page(&self) -> bool {
        !self.header("content-security-policy").is_empty() && self.body.contains("<html")
    }

    fn is_a_problem(&self) -> bool {
        self.header("content-type").starts_with("application/problem+json")
    }
}

/// A server, and what a proxy needs to stand before it.
struct Setting {
    place: Place,
    running: Option<Running>,
    key: String,
    staff_key: String,
    certificate: CertifiedKey<rcgen::KeyPair>,
    port: u16,
    plain_port: u16,
    path: &'static str,
    proxy: Option<Child>,
    _sandbox: kassa_sandbox::Sandbox,
}

impl Setting {
    /// With a public URL of this path.
    fn new(path: &'static str) -> Self {
        let (sandbox, place, port) = (sandbox(), Place::new(), free_port());
        let public_url = format!("proxies = ['127.0.0.1']\npublic_url = 'https://localhost:{port}{path}'");
        let settings = settings_for(sandbox.url()).replace("public_url = 'http://127.0.0.1:8080'", &public_url);
        place.write("kassa.toml", &settings);
        let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        place.write("cert.pem", &pem("CERTIFICATE", certificate.cert.der()));
        place.write("key.pem", &pem("PRIVATE KEY", certificate.signing_key.serialized_der()));
        let key = place.key();
        let staff_key = place.run(&["keys", "new", "--for", "staff", "--name", "Aizada"]).out.trim().to_owned();
        let running = Some(place.start(&[]));
        let plain_port = free_port();
        Self { place, running, key, staff_key, certificate, port, plain_port, path, proxy: None, _sandbox: sandbox }
    }

    fn server(&self) -> &str {
        self.running.as_ref().unwrap().url.strip_prefix("http://").unwrap()
    }

    fn name(&self, name: &str) -> String {
        self.place.path(name).display().to_string()
    }

    /// Starts nginx with the file and one more block before its location.
    fn nginx(&mut self, more: &str) {
        let text = replaced(&file("nginx.conf"), "127.0.0.1:8080", self.server());
        let text = replaced(&text, "    listen [::]:80;\n", "");
        let text = replaced(&text, "    listen [::]:443 ssl http2;\n", "");
        let text = replaced(&text, "listen 80;", &format!("listen 127.0.0.1:{};", self.plain_port));
        let text = replaced(&text, "listen 443 ", &format!("listen 127.0.0.1:{} ", self.port));
        let certificates = "/etc/letsencrypt/live/pay.shop.example.kg/";
        let text = replaced(&text, &format!("{certificates}fullchain.pem"), &self.name("cert.pem"));
        let text = replaced(&text, &format!("{certificates}privkey.pem"), &self.name("key.pem"));
        let text = replaced(&text, "pay.shop.example.kg", "localhost");
        let text = replaced(&text, "/var/log/nginx/kassa.log", &self.name("access.log"));
        let location = if self.path.is_empty() { NGINX_LOCATION.to_owned() } else { file("nginx-path.conf") };
        self.place.write("kassa.conf", &replaced(&text, NGINX_LOCATION, &format!("{more}{location}")));
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let paths: String =
            temporary.iter().map(|name| format!("    {name}_temp_path {};\n", self.name(name))).collect();
        let whole = "daemon off;\nmaster_process off;\npid nginx.pid;\nevents {}\nhttp {\n";
        // As distributions have it: each server that says nothing of a log writes to this one.
        let log = format!("    access_log {};\n", self.name("all.log"));
        self.place.write("nginx.conf", &format!("{whole}{paths}{log}    include kassa.conf;\n}}\n"));
        let folder = format!("{}/", self.place.path("").display());
        let log = self.name("error.log");
        self.start(Command::new("nginx").args(["-p", &folder, "-e", &log, "-c", "nginx.conf"]));
    }

    /// Starts Caddy with the file and one more block in its site.
    fn caddy(&mut self, more: &str) {
        let text = replaced(&file("Caddyfile"), "127.0.0.1:8080", self.server());
        let (site, tls) = (format!("https://localhost:{} {{", self.port), "\n\ttls cert.pem key.pem\n");
        let text = replaced(&text, "pay.shop.example.kg {", &format!("{site}{tls}{more}"));
        let text = if self.path.is_empty() {
            text
        } else {
            let (before, block) = text.split_once("\treverse_proxy ").unwrap();
            let block = block.strip_suffix("}\n").unwrap();
            let around = file("Caddyfile-path");
            let inside = replaced(&around, "\t\treverse_proxy 127.0.0.1:8080\n", &format!("\treverse_proxy {block}"));
            format!("{before}{inside}}}\n")
        };
        let global = "{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n}\n";
        self.place.write("Caddyfile", &format!("{global}{text}"));
        let home = self.place.path("");
        self.start(
            Command::new("caddy").args(["run", "--config", "Caddyfile", "--adapter", "caddyfile"]).env("HOME", home),
        );
    }

    fn start(&mut self, command: &mut Command) {
        let log = fs::File::create(self.place.path("proxy.log")).unwrap();
        let outputs = (log.try_clone().unwrap(), log);
        let child =
            command.current_dir(self.place.path("")).stdin(Stdio::null()).stdout(outputs.0).stderr(outputs.1).spawn();
        let mut child = child.unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        wait_until("the proxy listens", || {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "{}", fs::read_to_string(self.place.path("proxy.log")).unwrap());
            TcpStream::connect(address).is_ok()
        });
        self.proxy = Some(child);
    }

    /// Sends a request through the proxy.
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.cert.der().clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connection = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
        let mut stream = StreamOwned::new(connection, connect_from(CALLER, self.port));
        let mut head =
            format!("{method} {}{path} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n", self.path, self.port);
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}Content-Length: {}\r\n\r\n", body.len()).as_bytes()).unwrap();
        // Who is answered before the end of a body that is too large may find the connection closed.
        let _ = stream.write_all(body);
        let mut answer = vec![];
        // Not by the stream's own read: it first sends what is left, and fails if the connection is closed. An end without TLS's
        // own word for it comes after the whole answer.
        while stream.conn.read_tls(&mut stream.sock).is_ok_and(|length| length > 0)
            && stream.conn.process_new_packets().is_ok()
        {
            let _ = stream.conn.reader().read_to_end(&mut answer);
        }
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let Some((head, body)) = answer.split_once("\r\n\r\n") else {
            assert_eq!(answer, "", "{method} {path}");
            return Answer { status: 0, head: answer, body: String::new() };
        };
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn status(&self, path: &str) -> u16 {
        self.send("GET", path, &[], b"").status
    }

    /// A request with a credential, and JSON in both directions.
    fn call(&self, credential: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let bearer = format!("Bearer {credential}");
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let key: String = path.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
        let mut headers = vec![("Authorization", bearer.as_str()), ("Idempotency-Key", key.as_str())];
        if !text.is_empty() {
            headers.push(("Content-Type", "application/json"));
        }
        let Answer { status, body, .. } = self.send(method, path, &headers, text.as_bytes());
        let json = body.find('{').zip(body.rfind('}')).map_or("", |(start, end)| &body[start..=end]);
        (status, serde_json::from_str(json).unwrap_or_default())
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        if let Some(proxy) = &mut self.proxy {
            let _ = proxy.kill();
            let _ = proxy.wait();
        }
    }
}

/// From an address of this machine that is not the proxy's.
fn connect_from(caller: Ipv4Addr, port: u16) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((IpAddr::from(caller), 0).into()).unwrap();
        let stream = socket.connect((IpAddr::from(Ipv4Addr::LOCALHOST), port).into()).await.unwrap();
        stream.into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(patience())).unwrap();
    stream
}

/// All that others must reach, and what the page promises of it.
fn assert_serves(setting: &Setting) {
    let (path, origin) = (setting.path, format!("https://localhost:{}", setting.port));
    for path in ["/healthz", "/readyz", "/openapi.json", "/staff/login"] {
        assert_eq!(setting.status(path), 200, "{path}");
    }

    let order = json!({
        "reference": "order-1", "amount": "390", "description": "Two tickets", "return_url": "https://shop.example.kg/paid",
    });
    let (status, opened) = setting.call(&setting.key, "POST", "/v1/checkouts", &order);
    assert_eq!(status, 201, "{opened}");
    let id = opened["id"].as_str().unwrap();
    let page = opened["page_url"].as_str().unwrap().strip_prefix(&format!("{origin}{path}")).unwrap();
    assert_page(setting, page, &origin);

    let (_, token) = setting.call(&setting.key, "POST", &format!("/v1/checkouts/{id}/tokens"), &Value::Null);
    let token = token["token"].as_str().unwrap();
    let (status, payment) = setting.call(token, "POST", PAYMENTS, &json!({ "method": "mbank", "phone": PHONE }));
    assert_eq!(status, 201, "{payment}");
    let confirm = format!("{PAYMENTS}/{}/confirm", payment["id"].as_str().unwrap());
    let (status, confirmed) = setting.call(token, "POST", &confirm, &json!({ "otp": OTP }));
    assert!(status == 200 || status == 202, "{confirmed}");
    let mut seen = json!({ "version": 0 });
    while seen["state"] != "paid" {
        let next = setting.call(token, "GET", &format!("/v1/checkout?after={}&wait=25", seen["version"]), &Value::Null);
        assert_eq!(next.0, 200, "{}", next.1);
        seen = next.1;
    }
    // Nothing more happens: the proxy waits as long as the server does.
    let waiting = setting.call(token, "GET", &format!("/v1/checkout?after={}&wait=2", seen["version"]), &Value::Null);
    assert_eq!(waiting, (200, seen));

    let forged = [("X-Forwarded-For", "203.0.113.9"), ("Content-Type", "application/json")];
    let callback = "/callbacks/0123456789abcdef0123456789abcdef/pay_0123456789abcdef0123456789abcdef";
    let answer = setting.send("POST", callback, &forged, b"{}");
    assert!(answer.status == 404 && answer.is_a_problem(), "{}", answer.head);

    let json_body =
        [("Authorization", format!("Bearer {}", setting.key)), ("Content-Type", "application/json".to_owned())];
    let json_body: Vec<_> = json_body.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let answer = setting.send("POST", "/v1/checkouts", &json_body, &vec![b' '; 100 * 1024]);
    assert!(answer.status == 413 && answer.is_a_problem(), "the server says so: {}", answer.head);
    assert_takes_statement(setting, &origin);
}

/// The payer's page, its files and forms, and the addresses that gateways make of it.
fn assert_page(setting: &Setting, page: &str, origin: &str) {
    let shown = setting.send("GET", page, &[], b"");
    assert!(shown.status == 200 && shown.is_a_page() && shown.body.contains("Two tickets"), "{}", shown.head);
    let asset = shown.body.split('"').find(|text| text.contains("/pay/assets/")).unwrap();
    assert_eq!(setting.status(asset.strip_prefix(setting.path).unwrap()), 200, "{asset}");
    let home = format!("{}{page}", setting.path);
    for end in ["/back", "/back?OrderNumber=2", "/back&OrderNumber=2", "/back%23OrderNumber=2", "/back%3FOrderNumber=2"]
    {
        let answer = setting.send("GET", &format!("{page}{end}"), &[], b"");
        assert_eq!((answer.status, answer.header("location")), (303, home.as_str()), "{end}");
    }
    let form = [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", origin)];
    assert_eq!(setting.send("POST", &format!("{page}/check"), &form, b"").status, 303);
    let elsewhere = [form[0], ("Origin", "https://elsewhere.example")];
    assert_eq!(setting.send("POST", &format!("{page}/check"), &elsewhere, b"").status, 403);
}

/// A statement of 3 MB, which is more than proxies take by themselves, and none of 10 MiB.
fn assert_takes_statement(setting: &Setting, origin: &str) {
    let form = [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", origin)];
    let key = format!("key={}", setting.staff_key);
    let answer = setting.send("POST", "/staff/login", &form, key.as_bytes());
    let home = format!("{}/staff", setting.path);
    assert_eq!((answer.status, answer.header("location")), (303, home.as_str()));
    let (cookie, attributes) = answer.header("set-cookie").split_once(';').unwrap();
    assert!(attributes.contains("; Secure") && attributes.contains(&format!("Path={}/", setting.path)), "{attributes}");
    let page = setting.send("GET", "/staff/reconciliation", &[("Cookie", cookie)], b"");
    assert_eq!(page.status, 200, "{}", page.body);
    let csrf = page.body.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let lines = "pay_0123456789abcdef0123456789abcdef,390.00\n".repeat(70_000);
    let part = |name: &str, rest: &str| format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"{rest}\r\n\r\n");
    let statement = part("file", "; filename=\"statement.csv\"\r\nContent-Type: text/csv");
    let days = format!("{}2026-11-28\r\n{}2026-11-29\r\n", part("from", ""), part("until", ""));
    let form = format!("{}{csrf}\r\n{days}{statement}", part("csrf", ""));
    let body = format!("{form}order_number,amount\n{lines}\r\n--b--\r\n");
    let multipart = [("Content-Type", "multipart/form-data; boundary=b"), ("Origin", origin), ("Cookie", cookie)];
    let answer = setting.send("POST", "/staff/reconciliation", &multipart, body.as_bytes());
    assert!(answer.status == 200 && answer.is_a_page(), "the server answers: {}\n{}", answer.head, answer.body);
    assert!(answer.body.contains("data-count=\"only-there\">70000<"), "{}", answer.body);
    let body = vec![b' '; 10 * 1024 * 1024];
    let answer = setting.send("POST", "/staff/reconciliation", &multipart, &body);
    // Caddy sees that while it passes the body on, and may find the connection to the server broken first.
    let refusals: &[u16] = if answer.header("server") == "Caddy" { &[413, 502] } else { &[413] };
    assert!(refusals.contains(&answer.status), "{}", answer.head);
    assert!(!answer.is_a_page() && !answer.is_a_problem(), "the proxy says so: {}", answer.head);
}

/// By the server's log, which this ends.
fn assert_caller_is_known(setting: &mut Setting) {
    let (_, log, _) = setting.running.take().unwrap().stop();
    let line = log.lines().find(|line| line.contains("a callback came to an address that no payment has")).unwrap();
    assert!(line.contains(&format!("from={CALLER}")) && !line.contains("203.0.113.9"), "{line}");
}

#[test]
fn nginx_serves_all_that_others_must_reach() {
    if !is_installed("nginx", "-v") {
        return;
    }
    for path in ["", "/kassa"] {
        let mut setting = Setting::new(path);
        setting.nginx("");
        assert_serves(&setting);
        let mut answer = String::new();
        let mut plain = connect_from(CALLER, setting.plain_port);
        plain.write_all(b"GET /pay/x HTTP/1.0\r\nHost: elsewhere.example\r\n\r\n").unwrap();
        plain.read_to_string(&mut answer).unwrap();
        assert!(
            answer.starts_with("HTTP/1.1 301 ") && answer.contains("Location: https://localhost/pay/x"),
            "{answer}"
        );
        assert_caller_is_known(&mut setting);
        let all = fs::read_to_string(setting.place.path("all.log")).unwrap();
        assert!(!all.contains("/pay/"), "{all}");
        let log = fs::read_to_string(setting.place.path("access.log")).unwrap();
        assert!(log.contains("/healthz") && !log.contains("/pay/") && !log.contains("/callbacks/"), "{log}");
    }
}

#[test]
fn caddy_serves_all_that_others_must_reach() {
    if !is_installed("caddy", "version") {
        return;
    }
    for path in ["", "/kassa"] {
        let mut setting = Setting::new(path);
        setting.caddy("");
        assert_serves(&setting);
        assert_caller_is_known(&mut setting);
    }
}

/// By the blocks that the page shows for that. The caller is in the second office alone.
#[test]
fn staff_pages_can_be_kept_to_the_office() {
    for (program, argument, language) in [("nginx", "-v", "nginx"), ("caddy", "version", "caddyfile")] {
        if !is_installed(program, argument) {
            continue;
        }
        for (path, office, staff) in
            [("", "203.0.113.0/24", 403), ("/kassa", "203.0.113.0/24", 403), ("/kassa", "127.0.0.0/8", 200)]
        {
            let mut setting = Setting::new(path);
            let block = replaced(&staff_block(language, path), "203.0.113.0/24", office);
            if program == "nginx" {
                setting.nginx(&block);
            } else {
                setting.caddy(&block);
            }
            let found = ["/healthz", "/staff/login"].map(|path| setting.status(path));
            assert_eq!(found, [200, staff], "{program} {path} {office}");
            assert_eq!(setting.status("/staff") == 403, staff == 403, "{program} {path} {office}");
        }
    }
}

/// What the proxies are set to must fit what the server does.
#[test]
fn limits_of_the_files_fit_the_server() {
    let (nginx, caddy) = (file("nginx.conf"), file("Caddyfile"));
    for line in
        ["proxy_read_timeout 75s;", "keepalive_timeout 60s;", "client_max_body_size 9m;", "proxy_next_upstream off;"]
    {
        assert!(nginx.contains(line), "{line}");
    }
    for line in ["read_timeout 75s", "keepalive 60s", "max_size 9MB"] {
        assert!(caddy.contains(line), "{line}");
    }
    let listener = kassa_server::ListenerSettings::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    assert_eq!(listener.idle_limit.as_secs(), 75, "then the proxies' 60 s must change, too");
    assert!(Path::new(PAGE).exists());
}
