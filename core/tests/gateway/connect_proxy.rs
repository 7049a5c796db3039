//! Stub of a proxy: it opens the requested tunnel (CONNECT), and stores all that it could read.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

pub struct ConnectProxy {
    pub address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    carried: Arc<Mutex<Vec<u8>>>,
}

impl ConnectProxy {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self { address: listener.local_addr().unwrap(), heads: Arc::default(), carried: Arc::default() };
        let (heads, carried) = (proxy.heads.clone(), proxy.carried.clone());
        thread::spawn(move || {
            for client in listener.incoming() {
                let (heads, carried) = (heads.clone(), carried.clone());
                thread::spawn(move || serve(client.unwrap(), &heads, carried));
            }
        });
        proxy
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What each client said to the proxy itself.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// Everything that clients sent through it.
    pub fn carried(&self) -> Vec<u8> {
        self.carried.lock().unwrap().clone()
    }
}

fn serve(mut client: TcpStream, heads: &Mutex<Vec<String>>, carried: Arc<Mutex<Vec<u8>>>) {
    let head = read_head(&mut client);
    heads.lock().unwrap().push(head.clone());
    // Anything else than a tunnel is a request that should not have come: it is closed without an answer.
    let Some(target) = head.strip_prefix("CONNECT ").and_then(|rest| rest.split(' ').next()) else { return };
    let server = TcpStream::connect(target).unwrap();
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
    let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || pass_on(back.0, back.1, |_| ()));
    pass_on(client, server, |bytes| carried.lock().unwrap().extend_from_slice(bytes));
}

/// Byte by byte, so that nothing of what follows is read.
fn read_head(client: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && matches!(client.read(&mut byte), Ok(1)) {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, see: impl Fn(&[u8])) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        see(&buffer[..length]);
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
