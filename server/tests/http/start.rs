//! The page at the bare address: for browsers, and a refusal to programs.

use crate::client::Served;

const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn browser_sees_every_endpoint_and_program_gets_a_problem() {
    let served = Served::with(|_, http| http.public_url = "https://pay.shop.example.kg/kassa/".into()).await;
    let page = served.send("GET", "/", &[BROWSER], "").await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let described = served.send("GET", "/openapi.json", &[], "").await.json();
    for (path, item) in described["paths"].as_object().unwrap() {
        assert!(page.text.contains(&format!("<code>{path}</code>")), "{path}");
        for operation in item.as_object().unwrap().values() {
            let summary = operation["summary"].as_str().unwrap().replace('\'', "&#39;");
            assert!(page.text.contains(&summary), "{summary}");
        }
    }
    for part in [
        "curl https://pay.shop.example.kg/kassa/v1/checkouts ",
        "href=\"https://pay.shop.example.kg/kassa/openapi.json\"",
        "href=\"https://pay.shop.example.kg/kassa/assets/base-",
    ] {
        assert!(page.text.contains(part), "{part} in {}", page.text);
    }
    for inline in ["<style", " style=", "<script"] {
        assert!(!page.text.contains(inline), "{inline}");
    }
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; ") && policy.contains("frame-ancestors 'none'"), "{policy}");
    for (method, accept) in [("GET", "*/*"), ("GET", "application/json"), ("POST", "text/html")] {
        let refused = served.send(method, "/", &[("accept", accept)], "").await;
        assert_eq!((refused.status, refused.problem().as_str()), (404, "not_found"), "{method} {accept}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stylesheets_of_the_page_are_served_and_kept() {
    let served = Served::start().await;
    let page = served.send("GET", "/", &[BROWSER], "").await;
    let names: Vec<_> =
        page.text.split("/assets/").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect();
    assert_eq!(names.len(), 2);
    for name in names {
        let sheet = served.send("GET", &format!("/assets/{name}"), &[], "").await;
        assert_eq!((sheet.status, sheet.header("content-type")), (200, Some("text/css; charset=utf-8")), "{name}");
        assert!(sheet.header("cache-control").unwrap().contains("immutable"), "{sheet:?}");
    }
    let nothing = served.send("GET", "/assets/base.css", &[], "").await;
    assert_eq!((nothing.status, nothing.problem().as_str()), (404, "not_found"));
}
