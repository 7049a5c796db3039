//! Static files with cache busting.

use axum::{
    Router,
    extract::Path,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::get,
};
use kassa_pages::{Asset, stylesheets};

static FAVICON: Asset = Asset::new("favicon.svg", Asset::SVG, include_bytes!("../../assets/favicon.svg"));
static PAYER_STYLE: Asset = Asset::new("payer.css", Asset::CSS, include_bytes!("../../assets/payer.css"));
static PAYER_SCRIPT: Asset = Asset::new("payer.js", Asset::SCRIPT, include_bytes!("../../assets/payer.js"));
static STAFF_STYLE: Asset = Asset::new("staff.css", Asset::CSS, include_bytes!("../../assets/staff.css"));
static THEME_SCRIPT: Asset = Asset::new("theme.js", Asset::SCRIPT, include_bytes!("../../assets/theme.js"));

/// All of them.
static ASSETS: [&Asset; 7] =
    [&stylesheets::BASE, &stylesheets::STAFF, &FAVICON, &PAYER_STYLE, &PAYER_SCRIPT, &STAFF_STYLE, &THEME_SCRIPT];

/// The path of a file, seen from the sandbox's root.
pub(super) fn path(name: &str) -> String {
    let found = ASSETS.iter().find(|asset| asset.name() == name);
    debug_assert!(found.is_some(), "{name} is no static file");
    found.map(|asset| format!("assets/{}", asset.versioned_name())).unwrap_or_default()
}

/// Adds the files to the routes.
pub(crate) fn routes(router: Router) -> Router {
    router.route("/assets/{name}", get(serve))
}

async fn serve(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let found = ASSETS.iter().find(|asset| asset.versioned_name() == name);
    found.map_or_else(|| StatusCode::NOT_FOUND.into_response(), |asset| asset.serve(&headers))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    fn templates(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                found.extend(templates(&path));
            } else {
                found.push(fs::read_to_string(path).expect("a template"));
            }
        }
        found
    }

    #[test]
    fn every_file_that_a_template_names_is_there() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
        let mut count = 0;
        for template in templates(&folder) {
            for rest in template.split(".asset(\"").skip(1) {
                let name = rest.split('"').next().unwrap_or_default();
                assert!(ASSETS.iter().any(|asset| asset.name() == name), "{name}");
                count += 1;
            }
        }
        assert!(count > 0);
    }
}
