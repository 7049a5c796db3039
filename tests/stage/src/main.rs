//! The stage as a program, for runners in other languages: HTTP with JSON on a loopback address, which is the first line that it
//! prints. It ends with its standard input.
//!
//! | Call | Body | Answer |
//! |---|---|---|
//! | `POST /scenes` | the vector's `scene` | `{"scene", "server_url", "client_token"}` |
//! | `POST /scenes/N/steps` | `{"do", "input"}` | what came of it; 500 with what is wrong as text |
//! | `DELETE /scenes/N` | | `null` |

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::{delete, post},
};
use kassa_stage::{Failure, Scene};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{Mutex, oneshot},
};

#[derive(Default)]
struct Scenes {
    opened: AtomicU64,
    open: Mutex<HashMap<u64, Arc<Mutex<Scene>>>>,
}

type Answer = Result<Json<Value>, (StatusCode, String)>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let scenes = Arc::new(Scenes::default());
    let router = Router::new()
        .route("/scenes", post(open))
        .route("/scenes/{scene}/steps", post(step))
        .route("/scenes/{scene}", delete(close))
        .with_state(scenes);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let serving = async { axum::serve(listener, router).await };
    tokio::select! {
        served = serving => served?,
        _ = gone() => {}
    }
    Ok(())
}

/// Whoever started it has gone.
async fn gone() {
    let (ended, end) = oneshot::channel();
    // A thread of its own, which nothing waits for when the program ends.
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        ended.send(())
    });
    let _ = end.await;
}

async fn open(State(scenes): State<Arc<Scenes>>, Json(plan): Json<Value>) -> Answer {
    let scene = Scene::open(&plan).await.map_err(failed)?;
    let (server_url, client_token) = (scene.server_url(), scene.new_token().await.map_err(failed)?);
    let number = scenes.opened.fetch_add(1, Ordering::Relaxed);
    scenes.open.lock().await.insert(number, Arc::new(Mutex::new(scene)));
    Ok(Json(json!({ "scene": number, "server_url": server_url, "client_token": client_token })))
}

async fn step(State(scenes): State<Arc<Scenes>>, Path(number): Path<u64>, Json(step): Json<Value>) -> Answer {
    let scene = scenes.open.lock().await.get(&number).cloned();
    let scene = scene.ok_or_else(|| (StatusCode::NOT_FOUND, "there is no such scene".to_owned()))?;
    let mut scene = scene.lock().await;
    scene.step(step["do"].as_str().unwrap_or_default(), &step["input"]).await.map(Json).map_err(failed)
}

async fn close(State(scenes): State<Arc<Scenes>>, Path(number): Path<u64>) -> Answer {
    let scene = scenes.open.lock().await.remove(&number);
    // No step of it is under way: a runner takes one after the other.
    if let Some(scene) = scene.and_then(Arc::into_inner) {
        scene.into_inner().close().await;
    }
    Ok(Json(Value::Null))
}

fn failed(problem: Failure) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, problem.to_string())
}
