//! Static files with cache busting: their names carry a digest of the content, so that a browser keeps each for good
//! and asks for another one once it changed.

use axum::{
    Router,
    extract::Path,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};

/// A file.
struct Asset {
    name: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
    digest: u64,
}

const fn asset(name: &'static str, content_type: &'static str, bytes: &'static [u8]) -> Asset {
    Asset { name, content_type, bytes, digest: digest(bytes) }
}

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// All of them.
static ASSETS: [Asset; 6] = [
    asset("favicon.svg", SVG, include_bytes!("../../assets/favicon.svg")),
    asset("kassa.css", CSS, include_bytes!("../../assets/kassa.css")),
    asset("payer.css", CSS, include_bytes!("../../assets/payer.css")),
    asset("payer.js", SCRIPT, include_bytes!("../../assets/payer.js")),
    asset("staff.css", CSS, include_bytes!("../../assets/staff.css")),
    asset("theme.js", SCRIPT, include_bytes!("../../assets/theme.js")),
];

/// FNV-1a, a hash that is not cryptographic: it only tells versions of a file apart.
const fn digest(bytes: &[u8]) -> u64 {
    let mut digest: u64 = 0xcbf2_9ce4_8422_2325;
    let mut index = 0;
    while index < bytes.len() {
        digest = (digest ^ bytes[index] as u64).wrapping_mul(0x0100_0000_01b3);
        index += 1;
    }
    digest
}

impl Asset {
    /// The name that changes with the content: `kassa-1f2e3d4c5b6a7988.css`.
    fn versioned_name(&self) -> String {
        let (stem, extension) = self.name.rsplit_once('.').unwrap_or((self.name, ""));
        format!("{stem}-{:016x}.{extension}", self.digest)
    }
}

/// The path of a file, seen from the sandbox's root.
pub(super) fn path(name: &str) -> String {
    let found = ASSETS.iter().find(|asset| asset.name == name);
    debug_assert!(found.is_some(), "{name} is no static file");
    found.map(|asset| format!("assets/{}", asset.versioned_name())).unwrap_or_default()
}

/// Adds the files to the routes.
pub(crate) fn routes(router: Router) -> Router {
    router.route("/assets/{name}", get(serve))
}

async fn serve(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.versioned_name() == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let tag = format!("\"{:016x}\"", asset.digest);
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response = if is_known { StatusCode::NOT_MODIFIED.into_response() } else { asset.bytes.into_response() };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.extend(HeaderValue::from_str(&tag).ok().map(|tag| (header::ETAG, tag)));
    response
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
                assert!(ASSETS.iter().any(|asset| asset.name == name), "{name}");
                count += 1;
            }
        }
        assert!(count > 0);
    }
}
