//! The finding of one request.

use super::text::shown;

/// One request to the gateway, its response, and what the dialect reads in it. All texts are masked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProbeFinding {
    /// The step, such as `mobile bank: create`.
    pub step: String,
    /// The endpoint by its name in a dialect.
    pub endpoint: String,
    /// The request, in words.
    pub request: String,
    /// The SDK's answer, in words.
    pub answer: String,
    /// The response.
    pub raw: Option<String>,
    /// The fields that the given dialect reads in it, each with its place and its value.
    pub fields: Vec<(String, String, String)>,
    /// The places of values that the given dialect does not read.
    pub unread: Vec<String>,
    /// Everything unknown, missing or contradictory.
    pub problems: Vec<String>,
    /// Remarks that are not problems.
    pub notes: Vec<String>,
}

impl ProbeFinding {
    /// Its lines for a terminal.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![String::new(), format!("== {} ({})", self.step, self.endpoint)];
        lines.push(format!("   sent      {}", self.request));
        lines.push(format!("   answer    {}", self.answer));
        lines.extend(self.raw.as_ref().map(|raw| format!("   response  {}", shown(raw))));
        lines.extend(
            self.fields
                .iter()
                .map(|(name, place, value)| format!("   reads     {name} = {} at {place:?}", shown(value))),
        );
        if !self.unread.is_empty() {
            lines.push(format!("   not read  {}", self.unread.join(" ")));
        }
        lines.extend(self.notes.iter().map(|note| format!("   note      {note}")));
        lines.extend(self.problems.iter().map(|problem| format!("   PROBLEM   {problem}")));
        lines
    }

    /// The finding with every text mapped.
    pub(super) fn map(self, change: impl Fn(&str) -> String) -> Self {
        let all = |texts: Vec<String>| texts.iter().map(|text| change(text)).collect();
        Self {
            step: self.step,
            endpoint: self.endpoint,
            request: change(&self.request),
            answer: change(&self.answer),
            raw: self.raw.map(|raw| change(&raw)),
            fields: self.fields.into_iter().map(|(name, place, value)| (name, place, change(&value))).collect(),
            unread: all(self.unread),
            problems: all(self.problems),
            notes: all(self.notes),
        }
    }
}
