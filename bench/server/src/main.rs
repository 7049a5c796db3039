//! Answers every request with the same status report, on as little work as it can: what is measured is the client.
//!
//! It prints its address, and runs until its standard input ends. With the argument `pending` the payment is never final.

use std::io;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const BODY: &str = concat!(
    r#"{"code":"200","message":"PAYMENT_SUCCESS","data":{"orderNumber":"ORDER-1","amount":100.10,"#,
    r#""status":"CHARGE","currency":"KGS"}}"#
);

const PENDING: &str = concat!(
    r#"{"code":"200","message":"PAYMENT_PENDING","data":{"orderNumber":"ORDER-1","amount":100.10,"#,
    r#""status":"PENDING","currency":"KGS"}}"#
);

fn main() -> io::Result<()> {
    let body = if std::env::args().any(|argument| argument == "pending") { PENDING } else { BODY };
    tokio::runtime::Builder::new_current_thread().enable_io().build()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("http://{}", listener.local_addr()?);
        std::thread::spawn(|| {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            std::process::exit(0);
        });
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer: &'static [u8] = answer.leak().as_bytes();
        loop {
            let (connection, _) = listener.accept().await?;
            connection.set_nodelay(true)?;
            tokio::spawn(serve(connection, answer));
        }
    })
}

/// One connection: an answer for each whole request.
async fn serve(mut connection: TcpStream, answer: &'static [u8]) -> io::Result<()> {
    let mut received = Vec::with_capacity(4096);
    loop {
        while let Some(length) = request_length(&received) {
            received.drain(..length);
            connection.write_all(answer).await?;
        }
        if connection.read_buf(&mut received).await? == 0 {
            return Ok(());
        }
    }
}

/// The length of the first request, where it is there as a whole.
fn request_length(received: &[u8]) -> Option<usize> {
    let head_length = received.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&received[..head_length]).to_ascii_lowercase();
    let body_length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let length = head_length + body_length.unwrap_or(0);
    (received.len() >= length).then_some(length)
}
