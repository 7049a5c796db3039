//! The sandbox as a program of its own.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde::Deserialize;

use crate::processor_time_of;

/// One that is running; it ends when it is dropped.
pub struct Sandbox {
    process: Child,
    /// Its address.
    pub url: String,
    /// Of its merchant.
    pub login: String,
    /// Of its merchant.
    pub password: String,
    /// The header's value.
    pub authorization: &'static str,
}

#[derive(Deserialize)]
struct Announcement {
    url: String,
    login: String,
    password: String,
}

impl Sandbox {
    /// Starts it, in memory or with a file.
    pub fn start(program: &Path, file: Option<&Path>) -> Self {
        let mut command = Command::new(program);
        command.args(["--listen", "127.0.0.1:0", "--announce", "json", "--exit-with-stdin"]).env("RUST_LOG", "warn");
        if let Some(file) = file {
            command.arg("--db").arg(file);
        }
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a sandbox");
        let mut line = String::new();
        let output = process.stdout.as_mut().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("an announcement");
        let Announcement { url, login, password } = serde_json::from_str(&line).expect("an announcement");
        assert_eq!((login.as_str(), password.as_str()), ("kassa", "sandbox-password"));
        Self { process, url, login, password, authorization: "Basic a2Fzc2E6c2FuZGJveC1wYXNzd29yZA==" }
    }

    /// The process that it is.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// What all its threads together have computed.
    pub fn processor_time(&self) -> Duration {
        processor_time_of(self.process.id())
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ended = self.process.wait();
    }
}
