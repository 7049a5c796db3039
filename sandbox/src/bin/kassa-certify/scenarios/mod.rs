//! The scenarios: each kind with its payment methods and variants. A kind is one function; the tables list its variants.

pub(crate) mod gateway;
pub(crate) mod server;
pub(crate) mod signatures;

use crate::{
    case::{Case, StepResult},
    options::Behind,
    pay_method::PayMethod,
};

/// The script of a scenario.
#[derive(Clone)]
pub(crate) enum Script {
    Server(server::Script),
    Gateway(gateway::Script),
}

/// A scenario: its name, description and script.
#[derive(Clone)]
pub(crate) struct Scenario {
    /// `kind/variant`.
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) script: Script,
    /// Whether it must run alone, because it kills the shop or the server.
    pub(crate) is_alone: bool,
}

impl Scenario {
    pub(crate) fn kind(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    pub(crate) async fn play(&self, case: &mut Case) -> StepResult {
        match &self.script {
            Script::Server(script) => server::play(case, script).await,
            Script::Gateway(script) => gateway::play(case, script).await,
        }
    }
}

/// All scenarios for a kind of shop, in the order in which they are listed.
pub(crate) fn all(behind: Behind) -> Vec<Scenario> {
    match behind {
        Behind::Server => server::all(),
        Behind::Gateway => gateway::all(),
    }
}

/// The methods in turn: not every variant needs every method.
fn way(number: usize) -> PayMethod {
    PayMethod::ALL[number % PayMethod::ALL.len()]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_scenario_has_its_own_name() {
        for behind in [Behind::Server, Behind::Gateway] {
            let all = all(behind);
            let names: BTreeSet<&str> = all.iter().map(|scenario| scenario.id.as_str()).collect();
            assert_eq!(names.len(), all.len());
            let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-/".contains(&byte);
            assert!(all.iter().all(|scenario| scenario.id.bytes().all(is_word) && !scenario.text.is_empty()));
        }
        assert!(all(Behind::Server).len() >= 200);
    }
}
