//! The document around a page: its language, and where the sandbox's root is.

use crate::{domain::Language, web::assets};

/// What `templates/document.html` needs.
#[derive(Clone)]
pub(crate) struct Document {
    pub(crate) language: Language,
    /// What a link starts with to lead to the sandbox's root: nothing, or `../` once for each level of the page's path.
    pub(crate) root: String,
}

impl Document {
    /// Of the page at a path such as `/dashboard/deliveries`.
    pub(crate) fn at(path: &str, language: Language) -> Self {
        let levels = path.bytes().filter(|byte| *byte == b'/').count().saturating_sub(1);
        Self { language, root: "../".repeat(levels) }
    }

    /// The language's code.
    pub(crate) fn lang(&self) -> &'static str {
        self.language.code()
    }

    /// The link to the start page. An empty one would lead to the page it stands on.
    pub(crate) fn home(&self) -> &str {
        if self.root.is_empty() { "./" } else { &self.root }
    }

    /// The link to a static file.
    pub(crate) fn asset(&self, name: &str) -> String {
        format!("{}{}", self.root, assets::path(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_the_root_from_any_depth() {
        for (path, root) in [("/3ds", ""), ("/dashboard/deliveries", "../"), ("/dashboard/transactions/7", "../../")] {
            assert_eq!(Document::at(path, Language::English).root, root, "{path}");
        }
        for (path, home) in [("/", "./"), ("/api", "./"), ("/dashboard/deliveries", "../")] {
            assert_eq!(Document::at(path, Language::English).home(), home, "{path}");
        }
    }
}
