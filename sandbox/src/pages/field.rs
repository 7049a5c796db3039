//! A field of a form: what it is called, what a browser may know about it, and what is wrong with it.

use askama::Template;

use crate::{domain::Language, messages::Message};

/// What `templates/payer/field.html` shows. The script of the pages checks it as it is typed, by `check`; the server
/// checks it in any case.
#[derive(Template)]
#[template(path = "payer/field.html")]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: String,
    pub(super) input_type: &'static str,
    pub(super) input_mode: &'static str,
    /// What a browser fills in by itself.
    pub(super) autocomplete: &'static str,
    pub(super) placeholder: String,
    /// What the payer should know beside the label.
    pub(super) hint: Option<String>,
    pub(super) value: String,
    pub(super) is_focused: bool,
    /// The check of the script that looks at it.
    pub(super) check: &'static str,
    /// What is said where it is empty, and where it is wrong.
    pub(super) if_empty: String,
    pub(super) if_wrong: String,
    /// Whether it is the only one of its form: a mistake is then announced at the field itself.
    pub(super) is_alone: bool,
    /// What the server found wrong.
    pub(super) mistake: Option<String>,
}

impl Field {
    /// An empty field of text without mistakes, that says the same of nothing as of something wrong.
    pub(super) fn new(language: Language, name: &'static str, label: Message, if_wrong: Message) -> Self {
        Self {
            name,
            label: language.say(label),
            input_type: "text",
            input_mode: "text",
            autocomplete: "off",
            placeholder: String::new(),
            hint: None,
            value: String::new(),
            is_focused: false,
            check: "filled",
            if_empty: language.say(if_wrong),
            if_wrong: language.say(if_wrong),
            is_alone: false,
            mistake: None,
        }
    }

    /// What a browser and the script know about it.
    pub(super) fn known_as(
        mut self,
        check: &'static str,
        input_mode: &'static str,
        autocomplete: &'static str,
    ) -> Self {
        (self.check, self.input_mode, self.autocomplete) = (check, input_mode, autocomplete);
        self
    }
}
