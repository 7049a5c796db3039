//! A payer on the hosted page, with a browser that knows forms.

use serde_json::{Value, json};

use crate::{
    client::{Answer, Served, order},
    visitor::{FORM, form},
};

/// Somebody who has the address of a page.
pub struct Payer {
    /// The checkout's identifier, which the payer does not know.
    pub id: String,
    /// The page's path.
    pub page: String,
}

impl Payer {
    /// The payer of a new checkout.
    pub async fn of(served: &Served, reference: &str) -> Self {
        Self::wanting(served, &order(reference)).await
    }

    pub async fn wanting(served: &Served, wanted: &Value) -> Self {
        let made = served.shop("POST", "/v1/checkouts", wanted).await;
        assert_eq!(made.status, 201, "{made:?}");
        let text = |name: &str| made.json()[name].as_str().unwrap().to_owned();
        let own = format!("http://{}", served.address);
        Self { id: text("id"), page: text("page_url").strip_prefix(&own).unwrap().to_owned() }
    }

    /// The end of the page's address, which is its secret.
    pub fn secret(&self) -> &str {
        self.page.strip_prefix("/pay/").unwrap()
    }

    pub async fn get(&self, served: &Served, end: &str) -> Answer {
        served.send("GET", &format!("{}{end}", self.page), &[], "").await
    }

    /// What the page shows: its screen and its text.
    pub async fn sees(&self, served: &Served) -> (String, String) {
        let page = self.get(served, "").await;
        assert_eq!(page.status, 200, "{page:?}");
        (screen(&page.text), page.text)
    }

    pub async fn post(&self, served: &Served, end: &str, fields: &[(&str, &str)]) -> Answer {
        served.send("POST", &format!("{}{end}", self.page), &[FORM], &form(fields)).await
    }

    /// Fills in the page's form and sends it.
    pub async fn pays(&self, served: &Served, method: &str, phone: &str) -> Answer {
        let (_, page) = self.sees(served).await;
        let field = if method == "megapay" { "wallet-phone" } else { "phone" };
        self.post(served, "/pay", &[("method", method), (field, phone), ("key", hidden(&page, "key"))]).await
    }

    /// The same for the code.
    pub async fn confirms(&self, served: &Served, otp: &str) -> Answer {
        let (_, page) = self.sees(served).await;
        let fields = [("payment", hidden(&page, "payment")), ("otp", otp), ("key", hidden(&page, "key"))];
        self.post(served, "/confirm", &fields).await
    }

    /// What the page shows as soon as it shows that, by long polls as its script sends them.
    pub async fn waits_for(&self, served: &Served, wanted: &str) -> String {
        let (mut seen, mut text) = self.sees(served).await;
        while seen != wanted {
            let answer = self.get(served, &format!("/state?after={}", attribute(&text, "version"))).await;
            if answer.status == 200 {
                (seen, text) = (screen(&answer.text), answer.text);
            } else {
                assert_eq!((answer.status, answer.text.as_str()), (204, ""), "{answer:?}");
            }
        }
        text
    }

    /// How the checkout stands, for its shop.
    pub async fn checkout(&self, served: &Served) -> Value {
        served.shop("GET", &format!("/v1/checkouts/{}", self.id), &Value::Null).await.json()
    }
}

pub fn attribute<'a>(page: &'a str, name: &str) -> &'a str {
    page.split(&format!("data-{name}=\"")).nth(1).unwrap().split('"').next().unwrap()
}

pub fn screen(page: &str) -> String {
    attribute(page, "screen").to_owned()
}

/// A hidden field's value.
pub fn hidden<'a>(page: &'a str, name: &str) -> &'a str {
    page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap().split('"').next().unwrap()
}

pub fn order_by(reference: &str, methods: &[&str]) -> Value {
    let mut wanted = order(reference);
    wanted["methods"] = json!(methods);
    wanted
}
