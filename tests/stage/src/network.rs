//! The network between app and server: a proxy that forwards bytes, or fails (fault injection).

use std::{io, net::SocketAddr, time::Duration};

use kassa_test_patience::patient;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

/// What a network that wants a login answers to everything.
const LOGIN_PAGE: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\nConnection: close\r\n\r\n<h1>Login</h1";

/// How long the bytes of a request may take that nobody answers.
const REQUEST: Duration = Duration::from_secs(5);

/// What it does with connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weather {
    /// It carries everything.
    Clear,
    /// Connections are closed before they carry anything.
    Down,
    /// Connections are taken, and carry nothing.
    Silent,
    /// Connections of before carry nothing any more and stay open, as when a phone changes its network; new ones carry everything.
    Stuck,
    /// Requests reach the server, and no answer comes back.
    AnswersLost,
    /// Somebody else answers: a page that wants a login.
    LoginPage,
}

impl Weather {
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "clear" => Self::Clear,
            "down" => Self::Down,
            "silent" => Self::Silent,
            "stuck" => Self::Stuck,
            "answers_lost" => Self::AnswersLost,
            "login_page" => Self::LoginPage,
            _ => return None,
        })
    }
}

pub(crate) struct Network {
    address: SocketAddr,
    weather: watch::Sender<Weather>,
    task: JoinHandle<()>,
}

impl Network {
    /// One that leads to a server.
    pub(crate) async fn to(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (weather, seen) = watch::channel(Weather::Clear);
        let task = tokio::spawn(async move {
            while let Ok((app, _)) = listener.accept().await {
                tokio::spawn(carry(app, server, seen.clone()));
            }
        });
        Ok(Self { address, weather, task })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes the weather. Connections of the one before end, or are stuck.
    pub(crate) fn set(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Carries one connection, until the weather changes.
async fn carry(mut app: TcpStream, server: SocketAddr, mut seen: watch::Receiver<Weather>) {
    let weather = *seen.borrow_and_update();
    let carried = async {
        // Whether it fails or ends, the connection is over.
        let _ = match weather {
            Weather::Clear | Weather::Stuck => forward(&mut app, server).await,
            Weather::Down => Ok(()),
            Weather::Silent => std::future::pending().await,
            Weather::AnswersLost => lose_the_answer(&mut app, server).await,
            Weather::LoginPage => ask_for_login(&mut app).await,
        };
    };
    tokio::select! {
        () = carried => {}
        _ = seen.changed() => {}
    }
    if *seen.borrow() == Weather::Stuck && weather != Weather::Stuck {
        // Its socket stays open, until the weather changes again.
        let _ = seen.changed().await;
    }
    drop(app);
}

async fn forward(app: &mut TcpStream, server: SocketAddr) -> io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    copy_bidirectional(app, &mut server).await.map(drop)
}

/// The server gets the request, and its answer goes nowhere. What waits for news (a long poll) is cut off by time.
async fn lose_the_answer(app: &mut TcpStream, server: SocketAddr) -> io::Result<()> {
    let (mut from_app, _to_app) = app.split();
    let (mut from_server, mut to_server) = TcpStream::connect(server).await?.into_split();
    let upload = tokio::io::copy(&mut from_app, &mut to_server);
    let mut first = [0];
    let answered = tokio::time::timeout(patient(REQUEST), from_server.read_exact(&mut first));
    tokio::select! {
        upload = upload => upload.map(drop),
        _ = answered => Ok(()),
    }
}

async fn ask_for_login(app: &mut TcpStream) -> io::Result<()> {
    let mut request = [0; 1024];
    // The end of the head is not looked for: the app's requests are short.
    let _ = app.read(&mut request).await?;
    app.write_all(LOGIN_PAGE.as_bytes()).await
}
