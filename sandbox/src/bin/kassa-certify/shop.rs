//! The shop under test: its process, its orders and their state.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use reqwest::Client;
use serde_json::Value;
use tokio::{
    net::TcpStream,
    process::{Child, Command},
    sync::Mutex,
    time::sleep,
};
use url::Url;

use crate::{
    event::Message,
    http::{self, Answer},
    options::{Late, Options},
};

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(25);
/// How long a start may take: some shops compile first.
const START: Duration = Duration::from_secs(60);

/// The shop under test.
pub(crate) struct Shop {
    pub(crate) options: Options,
    pub(crate) client: Client,
    port: u16,
    variables: Vec<(String, String)>,
    log: PathBuf,
    process: Mutex<Option<Child>>,
    /// How often it went down and was started again. Locked during a restart, so that parallel scenarios do not restart it twice.
    pub(crate) revivals: Mutex<usize>,
}

/// The values of a setting's placeholders.
#[derive(Clone, Default)]
pub(crate) struct Names<'a> {
    pub(crate) reference: &'a str,
    pub(crate) return_url: &'a str,
    pub(crate) amount: &'a str,
    pub(crate) number: usize,
}

/// The state of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrderState {
    pub(crate) is_delivered: bool,
    /// None if the settings do not say how deliveries are counted.
    pub(crate) deliveries: Option<usize>,
}

impl Shop {
    /// `given` has addresses and credentials by placeholder; each is also set as an environment variable.
    pub(crate) fn new(
        options: Options,
        client: Client,
        port: u16,
        given: &BTreeMap<&'static str, String>,
        folder: &Path,
    ) -> Self {
        let mut variables: Vec<(String, String)> =
            given.iter().map(|(name, value)| (format!("KASSA_{}", name.to_uppercase()), value.clone())).collect();
        for pair in &options.env {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let mut value =
                value.replace("{port}", &port.to_string()).replace("{folder}", &folder.display().to_string());
            for (placeholder, given) in given {
                value = value.replace(&format!("{{{placeholder}}}"), given);
            }
            variables.retain(|(known, _)| known != name);
            variables.push((name.to_owned(), value));
        }
        Self {
            options,
            client,
            port,
            variables,
            log: folder.join("shop.log"),
            process: Mutex::new(None),
            revivals: Mutex::new(0),
        }
    }

    /// Whether it can be killed and started again.
    pub(crate) fn can_restart(&self) -> bool {
        self.options.start.is_some()
    }

    /// How long it has to deliver.
    pub(crate) fn wait(&self) -> Duration {
        Duration::from_secs_f64(self.options.wait.unwrap_or(5.0))
    }

    pub(crate) fn late(&self) -> Late {
        self.options.late.unwrap_or_default()
    }

    pub(crate) fn amount(&self, number: usize) -> String {
        let amounts = &self.options.amounts;
        if amounts.is_empty() { "390".to_owned() } else { amounts[number % amounts.len()].clone() }
    }

    fn fill(&self, text: &str, names: &Names<'_>) -> String {
        let text = text.replace("{port}", &self.port.to_string()).replace("{reference}", names.reference);
        let text = text.replace("{return_url}", names.return_url).replace("{amount}", names.amount);
        text.replace("{n}", &names.number.to_string())
    }

    /// Starts it, or waits until it is started by hand.
    pub(crate) async fn start(&self) -> Result<(), String> {
        if let Some(file) = &self.options.env_file {
            let lines: String = self.variables.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
            fs::write(file, lines)
                .map_err(|error| format!("env_file {} cannot be written: {error}", file.display()))?;
        }
        if let Some(start) = &self.options.start {
            let log = File::options().create(true).append(true).open(&self.log);
            let log = log.map_err(|error| format!("{}: {error}", self.log.display()))?;
            let errors = log.try_clone().map_err(|error| error.to_string())?;
            let mut command = Command::new("sh");
            command.args(["-c", &self.fill(start, &Names::default())]).envs(self.variables.clone());
            // Shops in other languages read this variable, too.
            command.env("no_proxy", "127.0.0.1,localhost").stdin(Stdio::null()).stdout(log).stderr(errors);
            if let Some(folder) = &self.options.directory {
                command.current_dir(folder);
            }
            #[cfg(unix)]
            command.process_group(0);
            let started = command.kill_on_drop(true).spawn();
            *self.process.lock().await = Some(started.map_err(|error| format!("start: {start}: {error}"))?);
        }
        self.listens().await
    }

    /// The host and port that it listens on.
    fn address(&self) -> Result<(String, u16), String> {
        let order = self.order_url();
        let url = Url::parse(&order).map_err(|error| format!("order: {order}: {error}"))?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        Ok((host, url.port_or_known_default().unwrap_or(80)))
    }

    async fn listens(&self) -> Result<(), String> {
        let address = self.address()?;
        let begun = Instant::now();
        while TcpStream::connect(&address).await.is_err() {
            if let Some(status) = self.ended().await {
                return Err(format!("start: the shop ended ({status}); its last lines:\n{}", self.last_lines()));
            }
            if begun.elapsed() > START {
                return Err(format!("order: nothing listens at {}:{}; {}", address.0, address.1, self.last_lines()));
            }
            sleep(PAUSE).await;
        }
        Ok(())
    }

    async fn ended(&self) -> Option<String> {
        let mut process = self.process.lock().await;
        let status = process.as_mut()?.try_wait().ok().flatten()?;
        Some(status.to_string())
    }

    /// Whether it still runs. A shop that was started by hand must accept a connection.
    pub(crate) async fn is_up(&self) -> bool {
        if self.can_restart() {
            return self.ended().await.is_none();
        }
        match self.address() {
            Ok(address) => TcpStream::connect(&address).await.is_ok(),
            Err(_) => false,
        }
    }

    /// The end of its output.
    pub(crate) fn last_lines(&self) -> String {
        let text = self.output();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }

    fn output(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// `kill -9`, with all processes that it started.
    pub(crate) async fn kill(&self) {
        if let Some(mut child) = self.process.lock().await.take() {
            #[cfg(unix)]
            if let Some(id) = child.id() {
                // A negative number is the process group. The standard library cannot kill a group, so the shell does.
                let _gone = Command::new("sh").args(["-c", "kill -KILL \"-$0\"", &id.to_string()]).status().await;
            }
            let _killed = child.start_kill();
            let _ended = child.wait().await;
        }
    }

    fn order_url(&self) -> String {
        let order = self.options.order.as_deref().unwrap_or_default();
        self.fill(order.split_once(' ').map_or(order, |(_, url)| url), &Names::default())
    }

    /// Sends the request that creates an order.
    pub(crate) async fn order(&self, number: usize, amount: &str) -> Result<Answer, String> {
        let names = Names { amount, number, ..Names::default() };
        let order = self.options.order.as_deref().unwrap_or_default();
        let (method, url) = order.split_once(' ').unwrap_or(("POST", order));
        let method = reqwest::Method::from_bytes(method.as_bytes()).map_err(|error| error.to_string())?;
        let mut request = self.client.request(method, self.fill(url, &names));
        let body = self.fill(self.options.order_body.as_deref().unwrap_or_default(), &names);
        if self.options.order_header.is_empty() && body.starts_with('{') {
            request = request.header("content-type", "application/json");
        }
        for header in &self.options.order_header {
            let (name, value) = header.split_once(':').unwrap_or((header, ""));
            request = request.header(name.trim(), value.trim());
        }
        http::complete(request.body(body)).await
    }

    /// The URL at which it receives events.
    pub(crate) fn events_url(&self) -> String {
        self.fill(self.options.events.as_deref().unwrap_or_default(), &Names::default())
    }

    /// Posts a message; the status of the answer.
    pub(crate) async fn post(&self, url: &str, message: &Message) -> Result<u16, String> {
        let mut request = self.client.post(url).body(message.body.clone());
        for (name, value) in &message.headers {
            request = request.header(name, value);
        }
        http::complete(request).await.map(|answer| answer.status)
    }

    /// Reads an order's state once.
    pub(crate) async fn look(&self, names: &Names<'_>) -> Result<OrderState, String> {
        let text = match (&self.options.state, &self.options.state_command) {
            (Some(url), _) => {
                let answer = http::complete(self.client.get(self.fill(url, names))).await?;
                if answer.status >= 400 {
                    return Err(format!("the state of {} is HTTP {}", names.reference, answer.status));
                }
                answer.text()
            }
            (None, command) => self.run(&self.fill(command.as_deref().unwrap_or_default(), names)).await?,
        };
        let delivered = self.options.delivered.as_deref().unwrap_or_default();
        let json: Value = serde_json::from_str(&text).unwrap_or_default();
        let is_delivered = match delivered.split_once(" = ").filter(|(pointer, _)| pointer.starts_with('/')) {
            Some((pointer, value)) => json.pointer(pointer).is_some_and(|found| as_text(found) == value),
            None => text.contains(&self.fill(delivered, names)),
        };
        Ok(OrderState { is_delivered, deliveries: self.deliveries(names, &json)? })
    }

    fn deliveries(&self, names: &Names<'_>, state: &Value) -> Result<Option<usize>, String> {
        if let Some(pointer) = &self.options.deliveries_pointer {
            let found = state.pointer(pointer);
            let count =
                found.and_then(|found| found.as_array().map(Vec::len).or_else(|| found.as_u64()?.try_into().ok()));
            return Ok(Some(count.unwrap_or(0)));
        }
        let Some(line) = &self.options.deliveries_line else {
            return Ok(None);
        };
        let line = self.fill(line, names);
        let text = match &self.options.deliveries_file {
            Some(file) => {
                fs::read_to_string(file).map_err(|error| format!("deliveries_file {}: {error}", file.display()))?
            }
            None => self.output(),
        };
        Ok(Some(text.lines().filter(|printed| printed.trim_end() == line).count()))
    }

    async fn run(&self, command: &str) -> Result<String, String> {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).envs(self.variables.clone());
        if let Some(folder) = &self.options.directory {
            shell.current_dir(folder);
        }
        let output = shell.output().await.map_err(|error| format!("state_command: {error}"))?;
        if !output.status.success() {
            return Err(format!(
                "state_command: {}: {}",
                output.status,
                String::from_utf8_lossy(&output.stderr).trim()
            ));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Whether a page says that the order is paid. None if the settings name no text for it.
    pub(crate) fn says_paid(&self, page: &str, names: &Names<'_>) -> Option<bool> {
        let text = match &self.options.paid_page {
            Some(text) => text,
            None => self.options.delivered.as_ref().filter(|text| !text.starts_with('/'))?,
        };
        Some(page.contains(&self.fill(text, names)))
    }
}

fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Looks until a condition holds, or the time is over.
pub(crate) async fn until<T, F: Future<Output = Option<T>>>(limit: Duration, mut look: impl FnMut() -> F) -> Option<T> {
    let begun = Instant::now();
    loop {
        if let Some(found) = look().await {
            return Some(found);
        }
        if begun.elapsed() > limit {
            return None;
        }
        sleep(PAUSE).await;
    }
}
