//! `kassa-sandbox record`: no planted secret is ever in the file, wherever it stands.

use std::io::Write;

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};

use crate::recorder::{Recording, connect, read_until, upstream};

/// Each is distinct enough to be searched for in the whole file.
const PAN: &str = "4111111111111111";
const SECRETS: [&str; 14] = [
    PAN,
    "4111 1111 1111 1111",
    "5200000000001013",
    "c9q7vc",
    "2091-exp",
    "909123",
    "604137",
    "swordfish-password",
    "key-k1k2k3",
    "session-s1s2s3",
    "996555000101",
    "996 755 000 201",
    "bearer-b1b2b3",
    "a2Fzc2E6c3dvcmRmaXNoLXBhc3N3b3Jk",
];

/// Every kind of secret in JSON, nested, in texts within texts.
fn json() -> String {
    let inner = r#"{\"cvc\":\"c9q7vc\",\"deeper\":\"{\\\"otp\\\":\\\"909123\\\"}\"}"#;
    format!(
        r#"{{"orderNumber":"ORDER-1","amount":100.10,"pan":"{PAN}","cvc":"c9q7vc","expiryMonth":"2091-exp","otp":909123,
        "payment":{{"card":{{"cardNumber":"5200000000001013","cvv2":"c9q7vc"}},"items":[{{"pinCode":"604137"}}]}},
        "phone":"+996 755 000 201","user":996555000101,"password":"swordfish-password","apiKey":"key-k1k2k3",
        "inner":"{inner}","description":"paid by {PAN} or 4111 1111 1111 1111, call +996 755 000 201",
        "url":"https://x.example/a?otp=909123&session_token=session-s1s2s3","message":"code 909123 was sent",
        "5200000000001013":"\u0034111111111111111"}}"#
    )
}

fn form() -> String {
    format!(
        "orderNumber=ORDER-1&pan={PAN}&cvc=c9q7vc&expiry=2091-exp&otp=909123&pin=604137&phone=996555000101&password=swordfish-password\
         &api_key=key-k1k2k3&payload=%7B%22cvc%22%3A%22c9q7vc%22%7D&text=4111+1111+1111+1111"
    )
}

fn texts() -> String {
    format!(
        "Card {PAN} of 996555000101 was refused.\npassword: swordfish-password\notp=909123\n<cvc>c9q7vc</cvc>\n4111 1111 1111 1111"
    )
}

#[test]
fn planted_secrets_are_never_in_the_file() {
    let (url, upstream) = upstream([|mut stream| {
        for _ in 0..5 {
            read_until(&mut stream, "END")?;
            let body = format!("{}\n", json().replace('\n', ""));
            let head = "HTTP/1.1 200 OK\r\nset-cookie: sid=session-s1s2s3\r\nx-api-key: key-k1k2k3\r\n\
                location: /next?otp=909123&card=4111111111111111\r\n";
            write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len())?;
        }
        Ok(())
    }]);
    let recording = Recording::of(&url);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(json().as_bytes()).expect("encoded");
    let gzip = gzip.finish().expect("encoded");
    let multipart = format!(
        "--b\r\nContent-Disposition: form-data; name=\"pan\"\r\n\r\n{PAN}\r\n--b\r\n\
         Content-Disposition: form-data; name=\"cvc\"\r\n\r\nc9q7vc\r\n--b--\r\n"
    );
    let bodies: [(&str, Vec<u8>); 5] = [
        ("content-type: application/json", json().into_bytes()),
        ("content-type: application/x-www-form-urlencoded", form().into_bytes()),
        ("content-type: text/plain", texts().into_bytes()),
        ("content-encoding: gzip", gzip),
        ("content-type: multipart/form-data; boundary=b", multipart.into_bytes()),
    ];
    let mut client = connect(recording.address());
    for (header, body) in bodies {
        let authorization = STANDARD.encode("kassa:swordfish-password");
        let head = format!(
            "POST /pay/{PAN}?{} HTTP/1.1\r\nhost: me\r\nauthorization: Basic {authorization}\r\ncookie: sid=session-s1s2s3\r\n\
             X-Api-Key: key-k1k2k3\r\nx-auth: bearer-b1b2b3\r\nreferer: https://x.example/?cvc=c9q7vc&pan={PAN}\r\n{header}\r\n\
             transfer-encoding: chunked\r\ntrailer: x\r\n\r\n",
            form()
        );
        client.write_all(head.as_bytes()).expect("written");
        client.write_all(format!("{:x}\r\n", body.len()).as_bytes()).expect("written");
        client.write_all(&body).expect("written");
        // The upstream waits for the end of the trailer.
        client.write_all(b"\r\n0\r\nx: END").expect("written");
        client.write_all(b"\r\n\r\n").expect("written");
        read_until(&mut client, "}\n").expect("an answer");
    }
    drop(client);
    upstream.join().expect("no panic");
    let text = recording.text();
    assert_eq!(text.lines().count(), 6);
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
    for masked in [
        "***1111",
        "996***101",
        "ORDER-1",
        "100.10",
        "/request/body/payment/card/cardNumber",
        "/request/headers/cookie",
    ] {
        assert!(text.contains(masked), "{masked} is not in {text}");
    }
}
