//! The gateway's side: a sandbox in this process, which lives on when the server dies.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use kassa_sandbox::{Sandbox, SandboxOptions};

use crate::Failure;

/// What the sandbox's responses are called, where the interface does not say it.
pub(crate) const DIALECT: &str = include_str!("../../sandbox-dialect.json");

/// Starts it at this port, or where that is taken, at any.
pub(crate) fn start(port: u16) -> Result<Sandbox, Failure> {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port(port)?));
    Ok(Sandbox::start(SandboxOptions { listen, ..SandboxOptions::default() })?)
}

/// This port, or where that is taken, any that is free.
pub(crate) fn free_port(port: u16) -> Result<u16, Failure> {
    let wanted = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = wanted.or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    Ok(listener.local_addr()?.port())
}
