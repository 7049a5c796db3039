//! Static files with cache busting: their names carry a digest of the content, so that a browser caches each forever and
//! requests a new name after a change.

use std::borrow::Cow;

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

pub(crate) const CSS: &str = "text/css; charset=utf-8";

/// A file that pages load.
///
/// ```
/// use kassa_pages::Asset;
///
/// static STYLE: Asset = Asset::new("own.css", Asset::CSS, b"p { margin: 0 }");
/// assert_eq!(STYLE.name(), "own.css");
/// assert!(STYLE.versioned_name().starts_with("own-") && STYLE.versioned_name().ends_with(".css"));
/// ```
#[derive(Clone, Debug)]
pub struct Asset {
    name: Cow<'static, str>,
    media_type: &'static str,
    content: Cow<'static, [u8]>,
    digest: u64,
}

/// FNV-1a, a hash that is not cryptographic: it only distinguishes versions of a file.
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
    /// The media type of stylesheets.
    pub const CSS: &'static str = CSS;
    /// The media type of scripts.
    pub const SCRIPT: &'static str = "text/javascript; charset=utf-8";
    /// The media type of pictures in SVG.
    pub const SVG: &'static str = "image/svg+xml";

    /// An asset that is part of the program.
    pub const fn new(name: &'static str, media_type: &'static str, content: &'static [u8]) -> Self {
        Self { name: Cow::Borrowed(name), media_type, content: Cow::Borrowed(content), digest: digest(content) }
    }

    /// An asset that is made, or read, when the program starts.
    pub fn made(name: impl Into<Cow<'static, str>>, media_type: &'static str, content: Vec<u8>) -> Self {
        let digest = digest(&content);
        Self { name: name.into(), media_type, content: Cow::Owned(content), digest }
    }

    /// Its name without a version.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its media type.
    pub fn media_type(&self) -> &'static str {
        self.media_type
    }

    /// The name that changes with the content, such as `base-1f2e3d4c5b6a7988.css`: what a page links to.
    pub fn versioned_name(&self) -> String {
        let (stem, extension) = self.name.rsplit_once('.').unwrap_or((&self.name, ""));
        format!("{stem}-{:016x}.{extension}", self.digest)
    }

    /// The answer to a request for its versioned name, with the headers of the request: 304 if the browser already has it.
    pub fn serve(&self, request: &HeaderMap) -> Response {
        let tag = format!("\"{:016x}\"", self.digest);
        let is_known = request.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
        let mut response =
            if is_known { StatusCode::NOT_MODIFIED.into_response() } else { self.whole().into_response() };
        let headers = response.headers_mut();
        for (name, value) in [
            (header::CONTENT_TYPE, self.media_type),
            (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.extend(HeaderValue::from_str(&tag).ok().map(|tag| (header::ETAG, tag)));
        response
    }

    fn whole(&self) -> Bytes {
        match &self.content {
            Cow::Borrowed(content) => Bytes::from_static(content),
            Cow::Owned(content) => Bytes::copy_from_slice(content),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_content_has_another_name_and_who_has_it_gets_it_no_more() {
        let one = Asset::new("a.css", Asset::CSS, b"one");
        let other = Asset::made("a.css", Asset::CSS, b"other".to_vec());
        assert_ne!(one.versioned_name(), other.versioned_name());
        assert_eq!(one.versioned_name(), Asset::made("a.css", Asset::CSS, b"one".to_vec()).versioned_name());

        let answer = one.serve(&HeaderMap::new());
        assert_eq!(answer.status(), StatusCode::OK);
        let types: Vec<_> = answer.headers().get_all(header::CONTENT_TYPE).iter().collect();
        assert_eq!(types, [Asset::CSS]);
        assert!(answer.headers()[header::CACHE_CONTROL].to_str().expect("text").ends_with("immutable"));
        let known = HeaderMap::from_iter([(header::IF_NONE_MATCH, answer.headers()[header::ETAG].clone())]);
        assert_eq!(one.serve(&known).status(), StatusCode::NOT_MODIFIED);
        assert_eq!(other.serve(&known).status(), StatusCode::OK);
    }
}
