//! The header and the navigation of the staff's pages.

use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::domain::all;

/// A section of the staff pages in the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
pub(crate) enum Section {
    Transactions,
    Charts,
    Analysis,
    Deliveries,
    Receiver,
    Control,
    #[strum(serialize = "API")]
    Api,
}

impl Section {
    /// All sections, in the order of the navigation.
    pub(crate) const ALL: [Self; Self::COUNT] = all();

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// Its path, relative to the sandbox's root.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Transactions => "dashboard",
            Self::Charts => "dashboard/charts",
            Self::Analysis => "dashboard/analysis",
            Self::Deliveries => "dashboard/deliveries",
            Self::Receiver => "dashboard/receiver",
            Self::Control => "control",
            Self::Api => "api",
        }
    }
}

/// The data of `templates/staff/layout.html`, without the document.
#[derive(Clone, Default)]
pub(crate) struct Staff {
    /// The section of the page; `None` for pages without one, such as the login.
    pub(crate) section: Option<Section>,
    /// The logged-in user, with the token of the logout form; `None` hides that form.
    pub(crate) visitor: Option<Visitor>,
}

/// A logged-in user.
#[derive(Clone)]
pub(crate) struct Visitor {
    pub(crate) name: String,
    /// The CSRF token of the session's forms.
    pub(crate) csrf: String,
}

impl Staff {
    /// A page of a section.
    pub(crate) fn of(section: Section, visitor: Option<Visitor>) -> Self {
        Self { section: Some(section), visitor }
    }

    /// Whether the navigation marks a section as current.
    pub(crate) fn is_in(&self, section: &Section) -> bool {
        self.section == Some(*section)
    }
}

#[cfg(test)]
mod tests {
    use askama::Template;

    use super::*;
    use crate::{domain::Language, web::Document};

    #[derive(Template)]
    #[template(
        source = "{% extends \"staff/layout.html\" %}{% block name %}A page{% endblock %}\
                  {% block content %}{{ text }}{% endblock %}",
        ext = "html"
    )]
    struct Page {
        document: Document,
        staff: Staff,
        text: &'static str,
    }

    #[test]
    fn layout_escapes_text_and_has_nothing_inline() {
        let visitor = Visitor { name: "kassa".to_owned(), csrf: "a\"b".to_owned() };
        let page = Page {
            document: Document::at("/dashboard/deliveries", Language::English),
            staff: Staff::of(Section::Deliveries, Some(visitor)),
            text: "<b>\"&'",
        };
        let html = page.render().expect("a page");
        assert!(html.contains("<title>A page · Kassa sandbox</title>"), "{html}");
        assert!(html.contains("href=\"../dashboard/deliveries\" aria-current=\"page\""), "{html}");
        assert_eq!(html.matches("aria-current").count(), 1);
        assert!(html.contains("value=\"a&#34;b\"") && html.contains("&#60;b&#62;"), "{html}");
        for inline in ["<style", " style=", "<script>", " onclick=", "http://", "https://"] {
            assert!(!html.contains(inline), "{inline}");
        }
    }
}
