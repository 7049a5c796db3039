//! The stylesheets that both sides' pages load first. What is a page's own stands in a sheet of its side.

use crate::asset::{Asset, CSS};

/// The design tokens, and what all pages share: letters, forms, buttons, notices, badges, cards.
pub static BASE: Asset = Asset::new("base.css", CSS, include_bytes!("../assets/base.css"));

/// The frame of the staff's pages, and what stands on many of them: tables, figures, filters, charts.
pub static STAFF: Asset = Asset::new("frame.css", CSS, include_bytes!("../assets/frame.css"));
