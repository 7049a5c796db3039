//! The server: the real program, with the settings that a merchant would give it by the environment.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use kassa_sandbox::Sandbox;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, ChildStdin, Command},
};

use crate::{Failure, gateway_side::DIALECT};

/// The other place of the secret that signs events; the server takes it from one place.
pub(crate) const SECRET_FILE: &str = "KASSA_SERVER_EVENTS_SECRET_FILE";

/// What a start of the server needs.
pub(crate) struct Plan {
    /// Where it listens; the same after a restart, as the gateway's callbacks come there.
    pub(crate) port: u16,
    /// Where its database is.
    pub(crate) folder: PathBuf,
    variables: Vec<(&'static str, String)>,
}

/// The program while it runs. It is killed when this is dropped, and ends with this program, however that ends.
pub(crate) struct ServerProcess {
    child: Child,
    /// Held apart from the child, whose `wait` would close it.
    _stdin: ChildStdin,
}

impl Plan {
    /// In front of this sandbox.
    pub(crate) fn new(sandbox: &Sandbox, port: u16, folder: &Path) -> Result<Self, Failure> {
        let dialect = folder.join("dialect.json");
        std::fs::write(&dialect, DIALECT)?;
        let address = format!("127.0.0.1:{port}");
        let variables = vec![
            ("KASSA_SERVER_LISTEN", address.clone()),
            ("KASSA_SERVER_PUBLIC_URL", format!("http://{address}")),
            ("KASSA_SERVER_DATABASE", folder.join("kassa-server.db").display().to_string()),
            ("KASSA_SERVER_GATEWAY_URL", sandbox.url().to_owned()),
            ("KASSA_SERVER_GATEWAY_LOGIN", sandbox.login().to_owned()),
            ("KASSA_SERVER_GATEWAY_PASSWORD", sandbox.password().to_owned()),
            ("KASSA_SERVER_GATEWAY_DIALECT", dialect.display().to_string()),
        ];
        Ok(Self { port, folder: folder.to_owned(), variables })
    }

    /// One more setting.
    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.variables.push((name, value.into()));
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Starts it; it can be asked when this has answered.
    pub(crate) async fn start(&self) -> Result<ServerProcess, Failure> {
        let mut command = self.command()?;
        command.args(["serve", "--announce", "json", "--exit-with-stdin"]).kill_on_drop(true);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take().ok_or("the server has no input")?;
        let mut said = BufReader::new(child.stdout.take().ok_or("the server has no output")?).lines();
        match said.next_line().await? {
            Some(_) => Ok(ServerProcess { child, _stdin: stdin }),
            None => Err("the server did not start: it says why above".into()),
        }
    }

    /// Makes a key of a shop, or of one of its staff.
    pub(crate) async fn new_key(&self, role: &str, name: &str) -> Result<String, Failure> {
        let beginning = if role == "staff" { "sk_" } else { "ak_" };
        self.asked(&["keys", "new", "--for", role, "--name", name], beginning).await
    }

    /// Makes a secret that signs events.
    pub(crate) async fn new_secret(&self) -> Result<String, Failure> {
        self.asked(&["secret"], "whsec_").await
    }

    /// The word that begins so, of what the program prints.
    async fn asked(&self, arguments: &[&str], beginning: &str) -> Result<String, Failure> {
        let made = self.command()?.args(arguments).output().await?;
        let text = String::from_utf8(made.stdout)?;
        let word = text.split_whitespace().find(|word| word.starts_with(beginning));
        word.map(str::to_owned).ok_or_else(|| String::from_utf8_lossy(&made.stderr).into_owned().into())
    }

    fn command(&self) -> Result<Command, Failure> {
        let mut program = std::env::current_exe()?;
        program.set_file_name(if cfg!(windows) { "kassa-server.exe" } else { "kassa-server" });
        let mut command = Command::new(program);
        if self.variables.iter().any(|(name, _)| *name == "KASSA_SERVER_EVENTS_SECRET") {
            command.env_remove(SECRET_FILE);
        }
        command.envs(self.variables.iter().map(|(name, value)| (*name, value)));
        Ok(command)
    }
}

impl ServerProcess {
    /// `kill -9`: nothing of it gets to do anything more.
    pub(crate) async fn kill(mut self) -> Result<(), Failure> {
        self.child.start_kill()?;
        self.child.wait().await?;
        Ok(())
    }

    /// Waits until it ends by itself.
    pub(crate) async fn ended(&mut self) -> Result<(), Failure> {
        let status = self.child.wait().await?;
        Err(format!("the server has ended: {status}").into())
    }
}
