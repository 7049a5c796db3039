//! The situations, a product of kinds, ways to pay and variants. Each kind is one function; the tables name its variants.

pub(crate) mod gateway;
pub(crate) mod server;
pub(crate) mod signatures;

use crate::{
    case::{Case, Played},
    options::Behind,
    way::Way,
};

/// What is played.
#[derive(Clone)]
pub(crate) enum Script {
    Server(server::Script),
    Gateway(gateway::Script),
}

/// A situation: its name, what it is, and how it is played.
#[derive(Clone)]
pub(crate) struct Situation {
    /// `kind/variant`.
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) script: Script,
    /// Whether nothing else may happen meanwhile: the shop or the server is killed.
    pub(crate) is_alone: bool,
}

impl Situation {
    pub(crate) fn kind(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    pub(crate) async fn play(&self, case: &mut Case) -> Played {
        match &self.script {
            Script::Server(script) => server::play(case, script).await,
            Script::Gateway(script) => gateway::play(case, script).await,
        }
    }
}

/// All situations for a kind of shop, in the order in which they are listed.
pub(crate) fn all(behind: Behind) -> Vec<Situation> {
    match behind {
        Behind::Server => server::all(),
        Behind::Gateway => gateway::all(),
    }
}

/// The ways in turn: not every variant needs every way.
fn way(number: usize) -> Way {
    Way::ALL[number % Way::ALL.len()]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_situation_has_its_own_name() {
        for behind in [Behind::Server, Behind::Gateway] {
            let all = all(behind);
            let names: BTreeSet<&str> = all.iter().map(|situation| situation.id.as_str()).collect();
            assert_eq!(names.len(), all.len());
            let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-/".contains(&byte);
            assert!(all.iter().all(|situation| situation.id.bytes().all(is_word) && !situation.text.is_empty()));
        }
        assert!(all(Behind::Server).len() >= 200);
    }
}
