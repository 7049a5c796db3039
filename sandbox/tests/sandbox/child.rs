//! The program as another program's child: how it says that it is ready, and that it does not outlive its parent.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStdout, Command, Stdio},
};

use serde_json::Value;

use crate::{
    binary::{command, refused},
    common::{CARD, basic, card_body, send, try_send},
};

const BINARY: &str = env!("CARGO_BIN_EXE_kassa-sandbox");

/// Started so that it announces itself, with its log thrown away.
pub fn announced(command: &mut Command) -> (Child, Value, BufReader<ChildStdout>) {
    let mut child = command.stderr(Stdio::null()).spawn().expect("it starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    let announcement = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
    (child, announcement, stdout)
}

fn text<'a>(announcement: &'a Value, name: &str) -> &'a str {
    announcement[name].as_str().unwrap_or_else(|| panic!("no {name} in {announcement}"))
}

fn rest(mut stdout: BufReader<ChildStdout>) -> String {
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("a text");
    rest
}

fn assert_nobody_listens(announcement: &Value) {
    // The port is anybody's again, but only that sandbox knows the token.
    let url = format!("{}/admin/switches", text(announcement, "url"));
    let authorization = format!("Bearer {}", text(announcement, "admin_token"));
    let answer = try_send("GET", &url, &[("authorization", &authorization)], b"");
    assert!(!answer.is_ok_and(|answer| answer.status == 200), "it still answers");
}

#[test]
fn announcement_has_url_and_credentials() {
    let mut command = command();
    command.args(["--listen", "127.0.0.1:0", "--announce", "json"]).env("KASSA_SANDBOX_PASSWORD", "mine");
    let (mut child, announcement, stdout) = announced(&mut command);
    let authorization = basic(text(&announcement, "login"), text(&announcement, "password"));
    let url = format!("{}{CARD}", text(&announcement, "url"));
    let headers = [("authorization", authorization.as_str())];
    assert_eq!(send("POST", &url, &headers, card_body("A-1").text().as_bytes()).status, 200);
    assert!(text(&announcement, "admin_token").len() >= 32);
    child.kill().expect("killed");
    child.wait().expect("it ends");
    assert_eq!(rest(stdout), "", "one line and no more");
}

#[test]
fn announced_token_is_configured_or_new() {
    let start = |token: Option<&str>| {
        let mut command = command();
        command.args(["--listen", "127.0.0.1:0", "--announce", "json", "--exit-with-stdin"]).stdin(Stdio::null());
        command.args(token.iter().flat_map(|token| ["--admin-token", token]));
        let (mut child, announcement, _) = announced(&mut command);
        child.wait().expect("it ends");
        text(&announcement, "admin_token").to_owned()
    };
    assert_eq!(start(Some("a-token-of-mine")), "a-token-of-mine");
    assert_ne!(start(None), start(None));
}

#[test]
fn token_invalid_in_a_header_is_rejected() {
    for token in ["", "two words", "ключ"] {
        let error = refused(command().args(["--listen", "127.0.0.1:0", "--admin-token", token]));
        assert!(error.starts_with("kassa-sandbox: admin_token: must be visible ASCII"), "{error}");
    }
}

#[test]
fn closed_stdin_stops_gracefully_with_option() {
    let mut command = command();
    command.args(["--listen", "127.0.0.1:0", "--announce", "json", "--exit-with-stdin"]).stdin(Stdio::piped());
    let (mut child, announcement, stdout) = announced(&mut command);
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
    assert_eq!(rest(stdout), "");
    assert_nobody_listens(&announcement);
}

#[test]
fn closed_stdin_is_ignored_without_option() {
    let mut command = command();
    command.args(["--listen", "127.0.0.1:0", "--announce", "json"]).stdin(Stdio::null());
    let (mut child, announcement, _stdout) = announced(&mut command);
    assert_eq!(send("GET", &format!("{}/", text(&announcement, "url")), &[], b"").status, 404);
    assert!(child.try_wait().expect("it can be asked").is_none());
    child.kill().expect("killed");
    child.wait().expect("it ends");
}

/// The parent is a shell that holds the write end of the sandbox's standard input.
#[test]
fn child_stops_when_its_parent_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = concat!(
        r#"mkfifo "$1" && { "$0" --listen 127.0.0.1:0 --announce json --exit-with-stdin < "$1" & }"#,
        r#" && exec 3> "$1" && wait"#
    );
    let mut parent = Command::new("sh");
    parent.args(["-c", script, BINARY]).arg(folder.path().join("stdin")).stdout(Stdio::piped());
    let (mut parent, announcement, stdout) = announced(&mut parent);
    parent.kill().expect("killed");
    parent.wait().expect("it ends");
    assert_eq!(rest(stdout), "", "the pipe closes when the sandbox ends, and not before");
    assert_nobody_listens(&announcement);
}
