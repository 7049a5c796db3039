//! What is left of `make server` when its window is closed, or it is killed: nothing.

use std::{
    io::{BufRead, BufReader},
    net::TcpStream,
    process::{Command, Stdio},
};

use kassa_test_patience::wait_until;

#[test]
fn server_ends_with_it() {
    let temporary = tempfile::tempdir().unwrap();
    let mut demo = Command::new(env!("CARGO_BIN_EXE_kassa-server-demo"))
        .arg("start")
        .env("TMPDIR", temporary.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Read from until the end: a program that cannot print would end by itself.
    let mut said = BufReader::new(demo.stdout.take().unwrap()).lines().map(Result::unwrap);
    let line = said.find(|line| line.contains("the server ")).expect("it tells the server's address");
    let address = line.split_whitespace().find_map(|word| word.strip_prefix("http://")).unwrap().to_owned();
    assert!(TcpStream::connect(&address).is_ok(), "{address} is served");

    demo.kill().unwrap();
    demo.wait().unwrap();
    wait_until(&format!("{address} is served no more"), || TcpStream::connect(&address).is_err());
    drop(said);
}
