//! From a text to a picture of its QR code, 400x400: Kassa beside the encoders and the writers of pictures that Rust
//! has. Every picture is read back; given a folder, it is left there beside its text, for another reader. Then the text of
//! an ELQR code, which has no peer: read, and built.

use std::{
    hint::black_box,
    path::{Path, PathBuf},
};

use kassa::{Elqr, ElqrKind};
use kassa_bench::{Comparison, Figures, in_turn, microseconds};

const SIDE: u32 = 400;
const ROUNDS: usize = 101;
const TIMES: u32 = 5;
/// How many ELQR codes are read or built a round: one takes less than the clock can tell.
const ELQR_TIMES: u32 = 1_000;
/// Microseconds, for an ELQR code.
const ELQR_BAR: f64 = 2.0;

/// A picture, and how many modules wide the code in it is.
type Drawn = (Vec<u8>, usize);
/// A way from a text to a picture.
type Way = fn(&str) -> Drawn;

const KASSA: &str = "Kassa";
const WAYS: [(&str, Way); 5] = [
    (KASSA, with_kassa),
    ("fast_qr + png", with_fast_qr),
    ("fast_qr + png, its fastest", with_fast_qr_at_its_fastest),
    ("qrcodegen + png", with_qrcodegen),
    ("qrcode + image", with_qrcode),
];

fn main() {
    let folder = std::env::args().nth(1).filter(|argument| !argument.starts_with('-')).map(PathBuf::from);
    let url: String = "https://pay.example.kg/q?id=17&".repeat(20);
    for length in [30, 125, 500] {
        compare(format!("{length} bytes"), &url[..length], folder.as_deref()).print();
    }
    let emv = "00020101021132590015qr.example.kg/#0111QR-00000017120211130212520499995303417540510050\
               59151234567890123456304";
    compare(format!("EMV, {} bytes", emv.len()), emv, folder.as_deref()).print();
    measure_elqr().print();
}

/// A link with a code behind it, whose Cyrillic letters are percent-encoded.
fn measure_elqr() -> Figures {
    let mut code = Elqr::new(ElqrKind::Dynamic, "qr.example.kg", "Дүкөн «Ак-Сай»", "5812");
    code.service_code = Some("02".to_owned());
    code.recipient = Some("996700000001".to_owned());
    code.transaction = Some("QPF0000000000000017".to_owned());
    code.comment = Some("Төлөм № 7".to_owned());
    code.amount_tyiyn = Some(39_000);
    let text = code.text().expect("a code that the format allows");
    assert_eq!(Elqr::parse(&text).expect("an ELQR code"), code);
    let parse: Box<dyn FnMut() -> f64 + '_> = Box::new(|| microseconds(ELQR_TIMES, || Elqr::parse(black_box(&text))));
    let build: Box<dyn FnMut() -> f64 + '_> = Box::new(|| microseconds(ELQR_TIMES, || black_box(&code).text()));
    let samples = in_turn(ROUNDS, vec![("parse an ELQR code", parse), ("build an ELQR code", build)]);
    let mut figures = Figures::new(format!("ELQR, {} bytes", text.len()));
    for (what, samples) in samples {
        figures.add_with_bar(what, median(samples), ELQR_BAR, |us| format!("{us:.2} us"));
    }
    figures
}

/// Of an odd number of figures.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn compare(title: String, text: &str, folder: Option<&Path>) -> Comparison {
    let mut facts = Vec::new();
    for (name, way) in WAYS {
        let (png, modules) = way(text);
        assert_eq!(by_rqrr(&png), text, "{name}");
        if let Some(folder) = folder {
            leave(folder, &format!("{name}, {title}"), text, &png);
        }
        facts.push((name, format!("{modules} modules, {} bytes", png.len())));
    }
    let ours = with_kassa(text).1;
    assert!(ours <= with_qrcode(text).1, "more modules than `qrcode` needs");
    let subjects = WAYS.iter().map(|(name, way)| {
        let measure: Box<dyn FnMut() -> f64> = Box::new(move || microseconds(TIMES, || way(text)));
        (*name, measure)
    });
    let samples = in_turn(ROUNDS, subjects.collect());
    Comparison { title, unit: "us", samples, bars: vec![("fast_qr + png, its fastest", 1.2)], facts }
}

fn with_kassa(text: &str) -> Drawn {
    let code = kassa::QrCode::encode(text, kassa::QrLevel::Medium).expect("the text fits");
    (code.png(SIDE).expect("the code fits"), code.modules().len())
}

fn with_fast_qr(text: &str) -> Drawn {
    let (bitmap, modules) = drawn_by_fast_qr(text);
    (png(&bitmap, png::Compression::Balanced, png::Filter::NoFilter), modules)
}

/// With the settings of `png` that take the least time, and two to four times the bytes.
fn with_fast_qr_at_its_fastest(text: &str) -> Drawn {
    let (bitmap, modules) = drawn_by_fast_qr(text);
    (png(&bitmap, png::Compression::Fast, png::Filter::Up), modules)
}

fn drawn_by_fast_qr(text: &str) -> (Vec<u8>, usize) {
    let code = fast_qr::QRBuilder::new(text).ecl(fast_qr::ECL::M).build().expect("the text fits");
    (bitmap(code.size, |x, y| code[y][x].value()), code.size)
}

fn with_qrcodegen(text: &str) -> Drawn {
    let code = qrcodegen::QrCode::encode_text(text, qrcodegen::QrCodeEcc::Medium).expect("the text fits");
    let modules = code.size() as usize;
    let bitmap = bitmap(modules, |x, y| code.get_module(x as i32, y as i32));
    (png(&bitmap, png::Compression::Balanced, png::Filter::NoFilter), modules)
}

fn with_qrcode(text: &str) -> Drawn {
    let code = qrcode::QrCode::with_error_correction_level(text, qrcode::EcLevel::M).expect("the text fits");
    let (modules, colors) = (code.width(), code.to_colors());
    let (scale, margin) = place(modules);
    let module = |at: u32| (at as usize).checked_sub(margin).map(|at| at / scale).filter(|at| *at < modules);
    let is_dark = |x, y| {
        let (column, row) = (module(x), module(y));
        column.zip(row).is_some_and(|(column, row)| colors[row * modules + column] == qrcode::Color::Dark)
    };
    let picture = image::GrayImage::from_fn(SIDE, SIDE, |x, y| image::Luma([if is_dark(x, y) { 0 } else { 255 }]));
    let mut file = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut file, image::ImageFormat::Png).expect("a picture in memory");
    (file.into_inner(), modules)
}

/// How large a module is drawn, and where the first one begins: in whole pixels, in the middle.
fn place(modules: usize) -> (usize, usize) {
    let scale = SIDE as usize / (modules + 8);
    (scale, (SIDE as usize - modules * scale) / 2)
}

/// One bit a pixel; each row of modules is drawn once, and copied.
fn bitmap(modules: usize, is_dark: impl Fn(usize, usize) -> bool) -> Vec<u8> {
    let (scale, margin) = place(modules);
    let row_bytes = SIDE as usize / 8;
    let mut bitmap = vec![0xff; row_bytes * SIDE as usize];
    for y in 0..modules {
        let mut row = vec![0xff; row_bytes];
        for x in (0..modules).filter(|x| is_dark(*x, y)) {
            (margin + x * scale..margin + (x + 1) * scale).for_each(|pixel| row[pixel / 8] &= !(0x80 >> (pixel % 8)));
        }
        let lines = (margin + y * scale) * row_bytes..(margin + (y + 1) * scale) * row_bytes;
        bitmap[lines].chunks_mut(row_bytes).for_each(|line| line.copy_from_slice(&row));
    }
    bitmap
}

fn png(bitmap: &[u8], compression: png::Compression, filter: png::Filter) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, SIDE, SIDE);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    encoder.set_compression(compression);
    encoder.set_filter(filter);
    let mut writer = encoder.write_header().expect("a picture in memory");
    writer.write_image_data(bitmap).expect("a picture in memory");
    writer.finish().expect("a picture in memory");
    file
}

fn pixels(png: &[u8]) -> image::GrayImage {
    let picture = image::load_from_memory(png).expect("a picture").to_luma8();
    assert_eq!(picture.dimensions(), (SIDE, SIDE));
    picture
}

fn by_rqrr(png: &[u8]) -> String {
    let mut prepared = rqrr::PreparedImage::prepare(pixels(png));
    prepared.detect_grids()[0].decode().expect("a code").1
}

fn leave(folder: &Path, name: &str, text: &str, png: &[u8]) {
    std::fs::write(folder.join(name).with_extension("png"), png).expect("a folder that can be written");
    std::fs::write(folder.join(name).with_extension("txt"), text).expect("a folder that can be written");
}
