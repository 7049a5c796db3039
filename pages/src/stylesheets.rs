//! The stylesheets that the pages of server and sandbox load first. Each side adds its own.

use crate::asset::{Asset, CSS};

/// The design tokens, and the styles of all pages: fonts, forms, buttons, notices, badges, cards.
pub static BASE: Asset = Asset::new("base.css", CSS, include_bytes!("../assets/base.css"));

/// The frame of the staff pages, and their common parts: tables, figures, filters, charts.
pub static STAFF: Asset = Asset::new("frame.css", CSS, include_bytes!("../assets/frame.css"));
