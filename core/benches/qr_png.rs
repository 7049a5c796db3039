//! Why QR pictures are written with `png` (1 bit a pixel) and not with `image` (8 bits): both in one run, in turn.

use std::{
    hint::black_box,
    io::Cursor,
    time::{Duration, Instant},
};

use kassa::{QR_PNG_SIDE, QrCode, QrLevel};

const ROUNDS: usize = 200;

fn main() {
    println!(
        "| text | `png` 1 bit | `image` 8 bits | time, `png` / `image`: median (min to max) | bytes, `png` / `image` |"
    );
    println!("|---|---|---|---|---|");
    for length in [30, 125, 500] {
        let text: String = "https://pay.example.kg/q?id=17&".chars().cycle().take(length).collect();
        println!("{}", row(&text));
    }
}

fn row(text: &str) -> String {
    let code = QrCode::encode(text, QrLevel::Medium).expect("the text fits");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(timed(|| code.png(QR_PNG_SIDE).expect("the code fits")));
        theirs.push(timed(|| with_image(&code)));
    }
    let mut ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| a.as_secs_f64() / b.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    let bytes = (code.png(QR_PNG_SIDE).expect("the code fits").len(), with_image(&code).len());
    format!(
        "| {} bytes | {:?} | {:?} | {:.2} ({:.2} to {:.2}) | {} / {} |",
        text.len(),
        median(ours),
        median(theirs),
        ratios[ROUNDS / 2],
        ratios[0],
        ratios[ROUNDS - 1],
        bytes.0,
        bytes.1,
    )
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    black_box(work());
    started.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The same picture by the image library, which has no 1-bit form.
fn with_image(code: &QrCode) -> Vec<u8> {
    let modules = code.modules();
    let scale = QR_PNG_SIDE as usize / (modules.len() + 8);
    let margin = (QR_PNG_SIDE as usize - modules.len() * scale) / 2;
    let is_dark = |x: u32, y: u32| {
        let module = |at: u32| (at as usize).checked_sub(margin).map(|at| at / scale);
        let row = module(y).and_then(|y| modules.get(y));
        row.zip(module(x)).and_then(|(row, x)| row.get(x)).copied().unwrap_or(false)
    };
    let picture =
        image::GrayImage::from_fn(QR_PNG_SIDE, QR_PNG_SIDE, |x, y| image::Luma([if is_dark(x, y) { 0 } else { 255 }]));
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, image::ImageFormat::Png).expect("a picture in memory");
    file.into_inner()
}
