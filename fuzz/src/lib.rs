//! Every parser that reads bytes from outside, each behind a function that takes any bytes. None may panic, hang, or
//! take more memory than its input allows; and what each says must be true whatever comes.

pub mod corpus;
mod recordings;
mod responses;
mod sandbox_bodies;
mod texts;

/// A parser, fed.
pub struct Target {
    /// Its name, and that of the folder with its seeds and the file with its corpus.
    pub name: &'static str,
    /// Reads one input. It panics where something does not hold.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: [Target; 13] = [
    Target { name: "response", run: responses::any_response },
    Target { name: "qr_image", run: responses::qr_image },
    Target { name: "qr_data", run: responses::qr_data },
    Target { name: "callback", run: texts::callback },
    Target { name: "redirect", run: texts::redirect },
    Target { name: "dialect", run: texts::dialect },
    Target { name: "payment_ref", run: texts::payment_ref },
    Target { name: "qr_code", run: texts::qr_code },
    Target { name: "elqr", run: texts::elqr },
    Target { name: "sandbox_body", run: sandbox_bodies::body },
    Target { name: "recorder", run: recordings::connection },
    Target { name: "recorder_mask", run: recordings::mask },
    Target { name: "recording", run: recordings::file },
];

/// The target of a name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
