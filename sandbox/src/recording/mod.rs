//! The file format of a recording: JSON lines, with a header and then one exchange per line. `mask` removes
//! secrets before anything is written; `json_text` rewrites JSON values without changing the rest of the text.

pub(crate) mod json_text;
pub(crate) mod mask;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use time::{
    OffsetDateTime, UtcOffset,
    format_description::{BorrowedFormatItem, well_known::Rfc3339},
    macros::format_description,
};

/// The version of the format.
const VERSION: u32 = 1;
const MILLISECONDS: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// The first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Header {
    kassa_recording: u32,
    pub(crate) started_at: String,
    pub(crate) upstream: String,
    pub(crate) recorder: String,
}

impl Header {
    /// For a recording of this gateway that starts now.
    pub(crate) fn now(upstream: &str) -> Self {
        Self {
            kassa_recording: VERSION,
            started_at: written_time(OffsetDateTime::now_utc()),
            upstream: upstream.to_owned(),
            recorder: concat!("kassa-sandbox ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// The sender of an exchange's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    /// The merchant, to the gateway.
    Request,
    /// The gateway, to the merchant.
    Callback,
}

/// A request and its response, if any.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Exchange {
    pub(crate) exchange: u64,
    pub(crate) direction: Direction,
    pub(crate) connection: u64,
    pub(crate) started_at: String,
    pub(crate) ended_at: String,
    pub(crate) request: Request,
    pub(crate) response: Option<Response>,
    /// The problem with which the exchange ended, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    /// JSON pointers to the masked values.
    #[serde(default)]
    pub(crate) masked: Vec<String>,
}

/// Names in lower case and values, in the order received.
pub(crate) type Headers = Vec<(String, String)>;

/// A request as the client sent it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    #[serde(default)]
    pub(crate) headers: Headers,
    #[serde(default)]
    pub(crate) body: Option<Body>,
}

/// A response as the server sent it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Response {
    pub(crate) status: u16,
    #[serde(default)]
    pub(crate) headers: Headers,
    #[serde(default)]
    pub(crate) body: Option<Body>,
}

/// A body without transfer and content encodings: a text, or base64 if it is not UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Body {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// The length of the whole body on the wire, if only part of it is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) truncated: Option<u64>,
}

impl Body {
    /// From bytes; `None` if there are none. In a truncated text, an incomplete last character is dropped.
    pub(crate) fn of(bytes: Vec<u8>, truncated: Option<u64>) -> Option<Self> {
        if bytes.is_empty() && truncated.is_none() {
            return None;
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(error) if truncated.is_some() && error.utf8_error().error_len().is_none() => {
                let end = error.utf8_error().valid_up_to();
                Ok(String::from_utf8_lossy(&error.as_bytes()[..end]).into_owned())
            }
            Err(error) => Err(error.into_bytes()),
        };
        Some(match text {
            Ok(text) => Self { text: Some(text), base64: None, truncated },
            Err(bytes) => Self { text: None, base64: Some(STANDARD.encode(bytes)), truncated },
        })
    }

    /// The stored bytes; empty if the base64 is invalid.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match (&self.text, &self.base64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(base64)) => STANDARD.decode(base64).unwrap_or_default(),
            (None, None) => Vec::new(),
        }
    }
}

/// The value of a header, by its name in lower case.
pub(crate) fn header<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// A time in its written form, in UTC with milliseconds.
pub(crate) fn written_time(time: OffsetDateTime) -> String {
    time.to_offset(UtcOffset::UTC).format(MILLISECONDS).unwrap_or_default()
}

/// Parses a written time, in milliseconds since 1970.
pub(crate) fn time_ms(text: &str) -> Option<i64> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    i64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok()
}

/// A parsed recording.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) header: Header,
    /// In the order of their start.
    pub(crate) exchanges: Vec<Exchange>,
    /// The unreadable lines by number, and why.
    pub(crate) unreadable: Vec<(usize, String)>,
}

/// Why a recording cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be opened, read or written.
    #[error("cannot use the recording {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file exists already.
    #[error("the recording {} exists already: use another file, or --append to add to it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a recording, or not a matching one.
    #[error("cannot use the recording {}: {detail}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
}

/// The maximum number of an exchange or a connection. Greater ones are not exact in every JSON reader.
const MAX_NUMBER: u64 = (1 << 53) - 1;

/// Reads a recording. An unreadable line is reported and skipped; without a header it is not a recording.
pub(crate) fn read(path: &Path) -> Result<Recording, RecordingError> {
    let bytes = fs::read(path).map_err(|source| RecordingError::File { path: path.to_owned(), source })?;
    parse(&bytes).map_err(|detail| RecordingError::Content { path: path.to_owned(), detail })
}

/// Reads the bytes of a file.
pub(crate) fn parse(bytes: &[u8]) -> Result<Recording, String> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut lines = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
    let (_, first) = lines.next().ok_or_else(|| "it is empty".to_owned())?;
    let header: Header =
        serde_json::from_slice(first).map_err(|error| format!("line 1 is not the header of a recording: {error}"))?;
    if header.kassa_recording != VERSION {
        let found = header.kassa_recording;
        return Err(format!("it has version {found}, and this program reads version {VERSION}"));
    }
    let mut exchanges = Vec::new();
    let mut unreadable = Vec::new();
    for (index, line) in lines {
        let exchange = serde_json::from_slice::<Exchange>(line).map_err(|error| error.to_string());
        match exchange.and_then(checked) {
            Ok(exchange) => exchanges.push(exchange),
            Err(error) => unreadable.push((index + 1, error)),
        }
    }
    exchanges.sort_by_key(|exchange| exchange.exchange);
    Ok(Recording { header, exchanges, unreadable })
}

/// An exchange with usable values.
fn checked(exchange: Exchange) -> Result<Exchange, String> {
    for (name, time) in [("started_at", &exchange.started_at), ("ended_at", &exchange.ended_at)] {
        if time_ms(time).is_none() {
            return Err(format!("{name} is not a time: {time:?}"));
        }
    }
    for (name, number) in [("exchange", exchange.exchange), ("connection", exchange.connection)] {
        if number > MAX_NUMBER {
            return Err(format!("{name} must be at most {MAX_NUMBER}, and is {number}"));
        }
    }
    let response = exchange.response.as_ref();
    for (name, body) in
        [("request.body", &exchange.request.body), ("response.body", response.map_or(&None, |response| &response.body))]
    {
        let base64 = body.as_ref().and_then(|body| body.base64.as_ref());
        if base64.is_some_and(|base64| STANDARD.decode(base64).is_err()) {
            return Err(format!("{name}.base64 is not base64"));
        }
    }
    match response {
        Some(response) if !(100..=999).contains(&response.status) => {
            Err(format!("response.status must be from 100 to 999, and is {}", response.status))
        }
        _ => Ok(exchange),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_text_stays_a_text() {
        let cut = Body::of("сом".as_bytes()[..5].to_vec(), Some(6)).expect("a body");
        assert_eq!((cut.text.as_deref(), cut.truncated), (Some("со"), Some(6)));
        let binary = Body::of(vec![0xff, 0, 1], None).expect("a body");
        assert_eq!((binary.text.clone(), binary.bytes()), (None, vec![0xff, 0, 1]));
        assert_eq!(Body::of(Vec::new(), None), None);
    }

    #[test]
    fn unreadable_lines_are_reported_by_number() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        let header = serde_json::to_string(&Header::now("https://gateway.example")).expect("JSON");
        let exchange = |number: u64| {
            format!(
                r#"{{"exchange":{number},"direction":"request","connection":1,"started_at":"2026-11-30T03:20:00.123Z",
                "ended_at":"2026-11-30T03:20:00.124Z","request":{{"method":"GET","target":"/"}},"response":null,"new":1}}"#
            )
            .replace('\n', "")
        };
        let bad = [
            exchange(1 << 60),
            exchange(3).replace("03:20:00.124Z", "later"),
            exchange(4).replace(r#""target":"/""#, r#""target":"/","body":{"base64":"?"}"#),
            exchange(5).replace(r#""response":null"#, r#""response":{"status":7}"#),
        ];
        let text =
            format!("{header}\n{}\nnonsense\n\n{}\n{}\n{{\"exchange\":", exchange(2), exchange(1), bad.join("\n"));
        fs::write(&path, text).expect("written");
        let recording = read(&path).expect("a recording");
        assert_eq!(recording.exchanges.iter().map(|exchange| exchange.exchange).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(recording.unreadable.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 6, 7, 8, 9, 10]);
        assert_eq!(time_ms(&recording.exchanges[0].ended_at), Some(1_796_008_800_124));
    }
}
