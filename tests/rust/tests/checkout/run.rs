//! Runs one vector: its steps, one after the other.

use std::{collections::HashMap, sync::Arc};

use kassa::PaymentError;
use kassa_stage::Scene;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::{
    app::{App, Stage},
    compare::matches,
    vectors::Vector,
};

pub async fn run(vector: &Vector) -> Result<(), String> {
    let scene = Scene::open(&vector.spec["scene"]).await.map_err(|problem| problem.to_string())?;
    let (server_url, token) = (scene.server_url(), scene.new_token().await.map_err(|problem| problem.to_string())?);
    let stage = Arc::new(Mutex::new(scene));
    let never = vector.spec["never"].as_array().cloned().unwrap_or_default();
    let mut play = Play { stage: stage.clone(), server_url, token, never, apps: HashMap::new() };
    for (number, step) in vector.spec["steps"].as_array().ok_or("it has no steps")?.iter().enumerate() {
        play.step(step).await.map_err(|problem| format!("step {} ({}): {problem}", number + 1, step["do"]))?;
    }
    drop(play);
    if let Some(scene) = Arc::into_inner(stage) {
        scene.into_inner().close().await;
    }
    Ok(())
}

struct Play {
    stage: Stage,
    server_url: String,
    token: String,
    never: Vec<Value>,
    /// By the device's name.
    apps: HashMap<String, App>,
}

impl Play {
    async fn step(&mut self, step: &Value) -> Result<(), String> {
        let name = step["do"].as_str().ok_or("a step says what is done")?;
        let device = step["device"].as_str().unwrap_or("phone");
        let input = self.placed(&step["input"]).await?;
        let never = self.never.clone();
        let came = match name {
            "open" => self.open(device, &input),
            "kill" => {
                self.apps.remove(device);
                json!({"answer": null})
            }
            "until" => return self.app(device)?.until(&step["expect"], &never).await,
            _ => match self.apps.get(device).and_then(|app| app.act(name, &input)) {
                Some(done) => came(done),
                None => {
                    let mut stage = self.stage.lock().await;
                    let answer = stage.step(name, &input).await.map_err(|problem| problem.to_string())?;
                    json!({ "answer": answer })
                }
            },
        };
        match step.get("expect") {
            Some(expected) if !matches(expected, &came) => Err(format!("must be {expected} and is {came}")),
            None if came.get("error").is_some() => Err(format!("must be no error and is {came}")),
            _ => Ok(()),
        }
    }

    fn open(&mut self, device: &str, input: &Value) -> Value {
        let server_url = input["server_url"].as_str().unwrap_or(&self.server_url);
        let token = input["client_token"].as_str().unwrap_or(&self.token);
        match App::open(server_url, token, input, &self.stage) {
            Ok(app) => {
                self.apps.insert(device.to_owned(), app);
                json!({"answer": null})
            }
            Err(error) => json!({ "error": error }),
        }
    }

    fn app(&mut self, device: &str) -> Result<&mut App, String> {
        self.apps.get_mut(device).ok_or_else(|| format!("{device} has not opened it"))
    }

    /// `{"$new_token": true}` stands for one.
    async fn placed(&self, input: &Value) -> Result<Value, String> {
        let mut placed = input.clone();
        for value in placed.as_object_mut().into_iter().flat_map(|object| object.values_mut()) {
            if value.get("$new_token").is_some() {
                let stage = self.stage.lock().await;
                *value = json!(stage.new_token().await.map_err(|problem| problem.to_string())?);
            }
        }
        Ok(placed)
    }
}

fn came(done: Result<Value, PaymentError>) -> Value {
    match done {
        Ok(answer) => json!({ "answer": answer }),
        Err(error) => json!({ "error": error }),
    }
}
