//! Where PostgreSQL's programs are, and as whom they run: PostgreSQL refuses to be run by root.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Where Debian puts each version.
const DEBIAN: &str = "/usr/lib/postgresql";
const MISSING: &str = "PostgreSQL 15 or later is missing (Debian: postgresql; macOS: brew install postgresql@17). \
    KASSA_POSTGRES_BIN may name the folder of its programs.";

/// PostgreSQL's programs.
#[derive(Debug)]
pub(crate) struct Programs {
    folder: PathBuf,
    /// As whom they run, where the tests are root's.
    user: Option<&'static str>,
}

impl Programs {
    /// The newest ones of this machine.
    pub(crate) fn find() -> Self {
        let folder = named().or_else(debians).or_else(on_the_path).unwrap_or_else(|| panic!("{MISSING}"));
        Self { folder, user: user() }
    }

    /// What a folder of servers alone does not have, another version has: clients speak to all.
    pub(crate) fn path(&self, name: &str) -> String {
        let own = Some(self.folder.clone()).filter(|folder| folder.join(name).exists());
        let folder = own.or_else(debians).or_else(on_the_path).unwrap_or_else(|| panic!("{name}: {MISSING}"));
        folder.join(name).display().to_string()
    }

    /// One of PostgreSQL's.
    pub(crate) fn postgres(&self, name: &str) -> Command {
        self.command(&self.path(name))
    }

    /// Any program, as the same user.
    pub(crate) fn command(&self, program: &str) -> Command {
        let command = match self.user {
            Some(user) => {
                let mut command = Command::new("setpriv");
                command.args(as_user(user, user)).arg(program);
                command
            }
            None => Command::new(program),
        };
        anywhere(command)
    }

    /// The same by words that run it as root: it becomes who it would be.
    pub(crate) fn command_in(&self, entry: &[String], program: &str) -> Command {
        let mut command = Command::new(&entry[0]);
        command.args(&entry[1..]).arg("setpriv");
        match self.user {
            Some(user) => command.args(as_user(user, user)),
            None => command.args(as_user(&id("-u"), &id("-g"))),
        };
        command.arg(program);
        anywhere(command)
    }
}

/// To `setpriv`.
fn as_user<'a>(user: &'a str, group: &'a str) -> [&'a str; 5] {
    ["--reuid", user, "--regid", group, "--clear-groups"]
}

/// A folder that the user may not read is where the tests are, perhaps.
fn anywhere(mut command: Command) -> Command {
    command.current_dir("/").env("LC_ALL", "C");
    command
}

/// A server's.
const SERVERS: [&str; 3] = ["initdb", "pg_ctl", "postgres"];

fn has_programs(folder: &Path) -> bool {
    SERVERS.iter().chain(&["psql", "pg_basebackup"]).all(|name| folder.join(name).exists())
}

fn named() -> Option<PathBuf> {
    let folder = PathBuf::from(env::var_os("KASSA_POSTGRES_BIN")?);
    assert!(SERVERS.iter().all(|name| folder.join(name).exists()), "{} has no PostgreSQL", folder.display());
    Some(folder)
}

fn debians() -> Option<PathBuf> {
    let versions =
        std::fs::read_dir(DEBIAN).ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let folders = versions.map(|version| (version, Path::new(DEBIAN).join(version.to_string()).join("bin")));
    folders.filter(|(version, folder)| *version >= 15 && has_programs(folder)).max().map(|(_, folder)| folder)
}

fn on_the_path() -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).find(|folder| has_programs(folder))
}

fn user() -> Option<&'static str> {
    if !is_root() {
        return None;
    }
    let is_there = |user: &&str| Command::new("id").arg(user).output().is_ok_and(|output| output.status.success());
    ["postgres", "nobody"].into_iter().find(is_there)
}

fn id(what: &str) -> String {
    output(Command::new("id").arg(what))
}

pub(crate) fn is_root() -> bool {
    id("-u") == "0"
}

/// What a program prints. One that fails is a panic with its words.
pub(crate) fn output(command: &mut Command) -> String {
    try_output(command).unwrap_or_else(|why| panic!("{why}"))
}

/// What a program prints, or the words of one that fails.
pub(crate) fn try_output(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|why| format!("{}: {why}", command.get_program().display()))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim_end()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
