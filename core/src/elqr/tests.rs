use proptest::prelude::*;

use crate::{
    elqr::*,
    qr_code::{QR_PNG_SIDE, QrCode, QrLevel},
};

/// All other examples are in `tests/conformance/elqr.json`.
const CAFE: &str = "https://nambaone.app/?a=#00020101021232850013qr.example.kg0101710129967000000011131FNP0000000000000000000000000000\
    12021113021233180005340770105%D0%97%D0%B0%D0%BA%D0%B0%D0%B735240020table%3A%D0%A1%D1%82%D0%BE%D0%BB%3A7%3A%D0%A1%D1%82%D0%BE%D0%BB%3A11\
    5204581253034175405120505904%D0%9A%D0%B0%D1%84%D0%B5630406fe";

#[test]
fn further_fields_and_unknown_tags_are_preserved() {
    let code = Elqr::parse(CAFE).unwrap();
    assert_eq!((code.merchant_id.as_deref(), code.merchant_service.as_deref()), (Some("34077"), Some("Заказ")));
    let field = ElqrField { tag: "35.00".to_owned(), text: "table:Стол:7:Стол:11".to_owned() };
    assert_eq!(code.fields, [field]);
    let sealed = |body: &str| {
        let [first, second] = checksum(body);
        format!("{body}6304{first:02X}{second:02X}")
    };
    let body = "0002010102113224000412.k01012020299140155204999953034175901A6202xy";
    let code = Elqr::parse(&sealed(body)).unwrap();
    let other: Vec<_> = code.other.iter().map(|field| (field.tag.as_str(), field.text.as_str())).collect();
    assert_eq!(other, [("62", "xy"), ("32.02", "99"), ("32.14", "5")]);
}

#[test]
fn percent_sign_of_its_own_is_no_encoding() {
    let mut code = shop();
    code.link = String::new();
    code.comment = Some("-10%25 today, 5 % tomorrow".to_owned());
    let text = code.text().unwrap();
    assert!(text.contains("-10%25 today"), "{text}");
    assert_eq!(Elqr::parse(&text).unwrap(), code);
    let linked = format!("https://pay.payqr.kg/#{text}");
    assert_eq!(Elqr::parse(&linked).unwrap().comment, code.comment);
}

/// A code alone may hold what elsewhere ends the link before it.
#[test]
fn hash_of_its_own_is_no_link() {
    for link in ["", "https://pay.payqr.kg/"] {
        let code = Elqr { link: link.to_owned(), comment: Some("Table #000201".to_owned()), ..shop() };
        assert_eq!(Elqr::parse(&code.text().unwrap()).unwrap(), code);
    }
    let fragment = Elqr { link: String::new(), ..shop() };
    assert_eq!(Elqr::parse(&format!("#{}", fragment.text().unwrap())).unwrap(), fragment);
    for link in ["payqr://pay/", "ftp://pay.payqr.kg/", "HTTP//", "pay.payqr.kg/"] {
        match Elqr::parse(&format!("{link}#{}", fragment.text().unwrap())) {
            Err(PaymentError::Invalid { violations }) => {
                assert!(violations[0].text.contains("https:// or http://"), "{violations:?}");
            }
            other => panic!("{link}: {other:?}"),
        }
    }
}

/// A gateway for tests runs on one's own machine, without TLS. What is written for payers stays https.
#[test]
fn link_of_plain_http_is_read_and_not_written() {
    let link = "http://127.0.0.1:8400/qr?token=7";
    let code = Elqr::parse(&format!("{link}#{}", Elqr { link: String::new(), ..shop() }.text().unwrap())).unwrap();
    assert_eq!(code, Elqr { link: link.to_owned(), ..shop() });
    code.check(39_000).unwrap();
    assert!(code.check(39_001).is_err() && code.text().is_err());
}

#[test]
fn repeated_elqr_field_gets_its_own_element() {
    let field = |tag: &str, text: &str| ElqrField { tag: tag.to_owned(), text: text.to_owned() };
    let fields =
        [field("35.00", "a:A:1:A:11"), field("35.01", "b:B:2:B:11"), field("35.00", "c:C:3:C:12"), field("36", "d")];
    let code = Elqr { fields: fields.to_vec(), ..shop() };
    let text = code.text().unwrap();
    assert!(text.contains("35280010a%3AA%3A1%3AA%3A110110b"), "{text}");
    assert_eq!(Elqr::parse(&text).unwrap(), code);
}

#[test]
fn only_the_requested_amount_passes() {
    let code = shop();
    code.check(39_000).unwrap();
    let problems = |code: &Elqr| match code.check(39_000) {
        Err(PaymentError::Invalid { violations }) => violations.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(problems(&Elqr { amount_tyiyn: Some(390), ..code.clone() }), 1);
    assert_eq!(problems(&Elqr { amount_tyiyn: None, ..code.clone() }), 1);
    assert_eq!(problems(&Elqr { currency: "840".to_owned(), checksum_ok: false, amount_tyiyn: Some(0), ..code }), 3);
}

#[test]
fn what_the_format_does_not_allow_is_not_written() {
    let long = "x".repeat(100);
    for (field, code) in [
        ("checksum_ok", Elqr { checksum_ok: false, ..shop() }),
        ("service_code", Elqr { service_code: None, ..shop() }),
        ("mcc", Elqr { mcc: "58".to_owned(), ..shop() }),
        ("currency", Elqr { currency: "KGS".to_owned(), ..shop() }),
        ("amount_tyiyn", Elqr { amount_tyiyn: None, ..shop() }),
        ("amount_tyiyn", Elqr { amount_tyiyn: Some(0), ..shop() }),
        ("amount_tyiyn", Elqr { amount_tyiyn: Some(10_000_000_000_000), ..shop() }),
        ("payee", Elqr { payee: "x".repeat(26), ..shop() }),
        ("elqr", Elqr { payee: String::new(), ..shop() }),
        ("elqr", Elqr { comment: Some("☕ or 🍵".to_owned()), ..shop() }),
        ("elqr", Elqr { comment: Some(long.clone()), ..shop() }),
        ("elqr", Elqr { recipient: Some("9".repeat(90)), ..shop() }),
        ("elqr", Elqr { fields: vec![ElqrField { tag: "35".to_owned(), text: "x".repeat(99) }; 30], ..shop() }),
        ("fields", Elqr { fields: vec![ElqrField { tag: "40".to_owned(), text: "x".to_owned() }], ..shop() }),
        ("link", Elqr { link: "http://pay.example.kg/".to_owned(), ..shop() }),
        ("link", Elqr { link: "https://pay.example.kg/#".to_owned(), ..shop() }),
        ("link", Elqr { link: "https://pay.example.kg/\n".to_owned(), ..shop() }),
        ("link", Elqr { link: format!("https://{}", "x".repeat(2953)), ..shop() }),
    ] {
        match code.text() {
            Err(PaymentError::Invalid { violations }) => assert_eq!(violations[0].field, field, "{violations:?}"),
            other => panic!("{field}: {other:?}"),
        }
    }
}

#[test]
fn each_banks_link_holds_the_whole_code() {
    let code = Elqr { comment: Some("Заказ № 7, «Кафе»".to_owned()), ..shop() };
    let links = code.bank_links().unwrap();
    assert_eq!((links[0].bank.as_str(), links[0].url.split('#').next()), ("ELQR", Some("https://pay.payqr.kg/")));
    for link in links {
        assert!(link.url.is_ascii(), "{}", link.url);
        let read = Elqr::parse(&link.url).unwrap();
        assert_eq!(Elqr { link: code.link.clone(), ..read }, code);
    }
}

/// The link is written anew: what it would leave out, or make right, the payer would not see.
#[test]
fn bank_links_of_altered_code_are_rejected() {
    let other = vec![ElqrField { tag: "32.40".to_owned(), text: "x".to_owned() }];
    for (field, code) in [("checksum_ok", Elqr { checksum_ok: false, ..shop() }), ("other", Elqr { other, ..shop() })] {
        match code.bank_links() {
            Err(PaymentError::Invalid { violations }) => assert_eq!(violations[0].field, field, "{violations:?}"),
            links => panic!("{field}: {links:?}"),
        }
    }
}

fn shop() -> Elqr {
    let mut code = Elqr::new(ElqrKind::Dynamic, "qr.example.kg", "SHOP", "5812");
    code.service_code = Some("02".to_owned());
    code.amount_tyiyn = Some(39_000);
    code
}

/// Dark pixels, row by row.
type Pixels = Vec<Vec<bool>>;

fn of_png(png: &[u8]) -> Pixels {
    let picture = image::load_from_memory(png).unwrap().to_luma8();
    picture.rows().map(|row| row.map(|pixel| pixel.0[0] == 0).collect()).collect()
}

/// Of a light square with dark rectangles, each a part of one path: `M left top h width v height` and the way back.
fn of_svg(svg: &str) -> Pixels {
    let after = |start: &str| svg.split_once(start).unwrap().1.split('"').next().unwrap();
    let side: usize = after("width=\"").parse().unwrap();
    let mut pixels = vec![vec![false; side]; side];
    for rectangle in after(" d=\"M").split('M') {
        let numbers = rectangle.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap());
        let [left, top, width, height, ..] = numbers.collect::<Vec<usize>>()[..] else { panic!("{rectangle}") };
        pixels[top..top + height].iter_mut().for_each(|row| row[left..left + width].fill(true));
    }
    pixels
}

/// Of half-block characters, whose lit halves are light. An odd number of rows leaves half of the last line over.
fn of_text(text: &str) -> Pixels {
    let half = |line: &str, lit: char| line.chars().map(|c| c != '█' && c != lit).collect::<Vec<bool>>();
    let mut pixels: Pixels = text.lines().flat_map(|line| [half(line, '▀'), half(line, '▄')]).collect();
    pixels.truncate(pixels[0].len());
    pixels
}

/// With the light border that a scanner needs.
fn of_modules(modules: &[Vec<bool>]) -> Pixels {
    let side = modules.len() + 8;
    let border = || vec![false; side];
    let mut pixels = vec![border(); 4];
    pixels.extend(modules.iter().map(|row| [&[false; 4][..], &row[..], &[false; 4][..]].concat()));
    pixels.resize_with(side, border);
    pixels
}

/// What rqrr reads in a picture, each of whose pixels is drawn so many pixels wide.
fn scanned(pixels: &[Vec<bool>], scale: usize) -> String {
    let side = pixels.len() * scale;
    let luma = |x: usize, y: usize| if pixels[y / scale][x / scale] { 0 } else { 255 };
    let mut picture = rqrr::PreparedImage::prepare_from_greyscale(side, side, luma);
    let codes = picture.detect_grids();
    assert_eq!(codes.len(), 1);
    codes[0].decode().unwrap().1
}

#[test]
fn elqr_in_every_picture_format_scans_correctly() {
    for link in ["https://pay.payqr.kg/", ""] {
        let (payee, comment) = ("Дүкөн «Ак-Сай»".to_owned(), Some("Төлөм № 7: чай жана өрүк".to_owned()));
        let code = Elqr { link: link.to_owned(), payee, comment, ..shop() };
        let text = code.text().unwrap();
        for level in [QrLevel::Low, QrLevel::Medium, QrLevel::Quartile, QrLevel::High] {
            let drawn = QrCode::encode(&text, level).unwrap();
            for (picture, pixels, scale) in [
                ("PNG", of_png(&drawn.png(QR_PNG_SIDE).unwrap()), 1),
                ("SVG", of_svg(&drawn.svg()), 1),
                ("text", of_text(&drawn.text()), 4),
                ("modules", of_modules(&drawn.modules()), 4),
            ] {
                let read = scanned(&pixels, scale);
                assert_eq!(read, text, "{picture}, {level:?}");
                let read = Elqr::parse(&read).unwrap();
                assert_eq!(read, code, "{picture}, {level:?}");
                read.check(39_000).unwrap();
            }
        }
    }
}

/// Of the basic plane, as the format wants.
fn words(most: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(prop_oneof!["[ -~]", "[А-яҢңӨөҮү]", "[\u{2000}-\u{20ff}]"], 1..=most)
        .prop_map(|characters| characters.concat())
}

prop_compose! {
    fn any_code()(
        is_dynamic in any::<bool>(),
        link in prop_oneof![Just(""), Just("https://pay.payqr.kg/"), Just("https://nambaone.app/?a=")],
        provider in words(20),
        service_code in words(14),
        recipient in proptest::option::of(words(20)),
        transaction in proptest::option::of(words(20)),
        comment in proptest::option::of(words(99)),
        merchant_service in proptest::option::of(words(40)),
        further in proptest::option::of(words(90)),
        amount_editable in any::<Option<bool>>(),
        amount in 1..=9_999_999_999_999_i64,
        payee in words(25),
    ) -> Elqr {
        Elqr {
            link: link.to_owned(),
            service_code: Some(service_code),
            recipient,
            transaction,
            comment,
            merchant_service,
            amount_editable,
            amount_tyiyn: Some(amount),
            fields: further.into_iter().map(|text| ElqrField { tag: "36.01".to_owned(), text }).collect(),
            ..Elqr::new(if is_dynamic { ElqrKind::Dynamic } else { ElqrKind::Static }, provider, payee, "5812")
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(code in any_code()) {
        let text = code.text().unwrap();
        prop_assert_eq!(Elqr::parse(&text).unwrap(), code);
    }

    /// A digit that is read wrongly is found, but for one in 65,536: the checksum has 16 bits.
    #[test]
    fn changed_amount_is_found(code in any_code(), other in 1..=9_999_999_999_999_i64) {
        let text = Elqr { link: String::new(), ..code.clone() }.text().unwrap();
        let amount = |amount: i64| format!("54{:02}{amount}59", amount.to_string().len());
        let changed = text.replacen(&amount(code.amount_tyiyn.unwrap()), &amount(other), 1);
        let sum = |text: &str| checksum(&text[..text.len() - 8]);
        let read = Elqr::parse(&changed);
        let is_found = !read.is_ok_and(|read| read.checksum_ok && read.amount_tyiyn == Some(other));
        prop_assert!(is_found || sum(&changed) == sum(&text));
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), digits in "(https?://a.kg/)?#?00020101021[0-9a-f%:🍵я]{0,200}") {
        let _ = Elqr::parse(&text);
        let _ = Elqr::parse(&digits);
    }
}
