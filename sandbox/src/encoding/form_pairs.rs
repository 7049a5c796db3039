//! `application/x-www-form-urlencoded`: the pairs of a query or of a posted form.

use url::form_urlencoded;

/// Names and values in their order. It has no `Debug`: card data or a password may be in it.
#[derive(Default)]
pub(crate) struct FormPairs(Vec<(String, String)>);

impl FormPairs {
    /// Of a query or a body.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// The value without the blanks around it; of a name given twice the last one, and empty where there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// As `get`, with the blanks around it.
    pub(crate) fn raw(&self, name: &str) -> &str {
        self.0.iter().rev().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The value as it stands; of a name given twice the first one.
    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl IntoIterator for FormPairs {
    type Item = (String, String);
    type IntoIter = std::vec::IntoIter<(String, String)>;

    /// Every pair, those with the same name too.
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_name_given_twice_each_reader_gets_the_one_it_wants() {
        let pairs = FormPairs::parse(b"a=+1+&b=%26&a=+2+");
        assert_eq!((pairs.get("a"), pairs.raw("a"), pairs.first("a")), ("2", " 2 ", Some(" 1 ")));
        assert_eq!((pairs.get("b"), pairs.get("c"), pairs.first("c")), ("&", "", None));
        assert_eq!(pairs.into_iter().count(), 3);
    }
}
