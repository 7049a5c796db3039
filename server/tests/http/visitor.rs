//! A person of the staff's, with a browser that knows cookies and forms.

use kassa_server::{ApiKey, Permission};
use url::form_urlencoded::Serializer;

use crate::client::{Answer, Served};

pub const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// Somebody who is logged in.
#[derive(Clone)]
pub struct Visitor {
    pub key: ApiKey,
    /// The cookie, as it is sent back.
    pub cookie: String,
    /// What the forms of this session carry.
    pub csrf: String,
}

pub fn form(fields: &[(&str, &str)]) -> String {
    Serializer::new(String::new()).extend_pairs(fields).finish()
}

impl Visitor {
    /// Who may decide.
    pub async fn log_in(served: &Served, name: &str) -> Self {
        Self::with_permission(served, name, Permission::Decide).await
    }

    pub async fn with_permission(served: &Served, name: &str, permission: Permission) -> Self {
        let key = served.server.new_staff_key(name, permission).await.unwrap();
        let made = served.send("POST", "/staff/login", &[FORM], &form(&[("key", &key.expose())])).await;
        assert_eq!((made.status, made.header("location")), (303, Some("/staff")), "{made:?}");
        let cookie = made.header("set-cookie").unwrap();
        for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let visitor = Self { key, cookie, csrf: String::new() };
        let page = visitor.get(served, "/staff").await;
        assert_eq!(page.status, 200, "{page:?}");
        let csrf = page.text.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        Self { csrf: csrf.to_owned(), ..visitor }
    }

    pub async fn get(&self, served: &Served, path: &str) -> Answer {
        served.send("GET", path, &[("cookie", &self.cookie)], "").await
    }

    /// A page that must be there.
    pub async fn page(&self, served: &Served, path: &str) -> String {
        let answer = self.get(served, path).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.text
    }

    /// Sends a form of this session's.
    pub async fn post(&self, served: &Served, path: &str, fields: &[(&str, &str)]) -> Answer {
        let fields = [fields, &[("csrf", self.csrf.as_str())]].concat();
        served.send("POST", path, &[("cookie", &self.cookie), FORM], &form(&fields)).await
    }
}

impl Visitor {
    /// Decides what became of a payment, on the page of its checkout as it stands now.
    pub async fn decide(&self, served: &Served, checkout: &str, payment: &str, outcome: &str, reason: &str) -> Answer {
        let path = format!("/staff/checkouts/{checkout}");
        let version = version_of(&self.page(served, &path).await);
        let fields = [("version", version.as_str()), ("outcome", outcome), ("reason", reason)];
        self.post(served, &format!("{path}/payments/{payment}/resolve"), &fields).await
    }

    /// The same form with a file, which may be no text.
    pub async fn post_file(
        &self,
        served: &Served,
        path: &str,
        fields: &[(&str, &str)],
        file: impl AsRef<[u8]>,
    ) -> Answer {
        let part = |name: &str, more: &str, content: &[u8]| {
            let head = format!("--limit\r\ncontent-disposition: form-data; name=\"{name}\"{more}\r\n\r\n");
            [head.as_bytes(), content, b"\r\n"].concat()
        };
        let fields = [fields, &[("csrf", self.csrf.as_str())]].concat();
        let mut body: Vec<u8> = fields.iter().flat_map(|(name, text)| part(name, "", text.as_bytes())).collect();
        body.extend(part("file", "; filename=\"export.csv\"\r\ncontent-type: text/csv", file.as_ref()));
        body.extend(b"--limit--\r\n");
        let kind = ("content-type", "multipart/form-data; boundary=limit");
        served.send_bytes("POST", path, &[("cookie", &self.cookie), kind], &body).await
    }
}

/// The version of the checkout that a page shows.
pub fn version_of(page: &str) -> String {
    page.split("name=\"version\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

/// The checkouts to which a page links, each once, in their order.
pub fn checkouts(page: &str) -> Vec<String> {
    let links = page.split("href=\"/staff/checkouts/").skip(1);
    let mut all: Vec<String> = Vec::new();
    for id in links.map(|rest| rest.split('"').next().unwrap().to_owned()) {
        if !all.contains(&id) {
            all.push(id);
        }
    }
    all
}
