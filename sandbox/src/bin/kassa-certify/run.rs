//! Runs the scenarios: first those that can run in parallel, then those that need the shop alone.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Serialize;
use tokio::{sync::Semaphore, task::JoinSet, time::sleep};

use crate::{
    case::{Case, Loss, Stage},
    scenarios::Scenario,
};

/// The pause before all orders are compared once more.
const SETTLE: Duration = Duration::from_secs(1);

/// How a scenario ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Passed,
    Lost,
    Skipped,
    /// It could not be run.
    Broken,
}

/// The result of a scenario in the report.
#[derive(Clone)]
pub(crate) struct Outcome {
    pub(crate) scenario: Scenario,
    pub(crate) verdict: Verdict,
    pub(crate) losses: Vec<(Loss, String)>,
    pub(crate) remarks: Vec<String>,
    pub(crate) log: Vec<String>,
    pub(crate) time: Duration,
}

impl Outcome {
    fn of(scenario: &Scenario, case: Case, broken: Option<String>, time: Duration) -> Self {
        let Case { mut log, losses, remarks, .. } = case;
        let verdict = match (&broken, losses.is_empty()) {
            (_, false) => Verdict::Lost,
            (Some(_), true) => Verdict::Broken,
            (None, true) => Verdict::Passed,
        };
        log.extend(broken.map(|reason| format!("not run: {reason}")));
        Self { scenario: scenario.clone(), verdict, losses, remarks, log, time }
    }

    fn skipped(scenario: &Scenario, reason: String) -> Self {
        let (losses, remarks) = (Vec::new(), Vec::new());
        Self {
            scenario: scenario.clone(),
            verdict: Verdict::Skipped,
            losses,
            remarks,
            log: vec![reason],
            time: Duration::ZERO,
        }
    }
}

/// Runs one scenario; its findings at the first look.
async fn play(stage: &Arc<Stage>, scenario: &Scenario) -> (Case, Option<String>, Duration) {
    let begun = Instant::now();
    let mut case = Case::new(stage);
    let mut broken = scenario.play(&mut case).await.err();
    if let Err(error) = case.check_shop().await {
        broken = Some(error);
    }
    (case, broken, begun.elapsed())
}

/// Runs all; the outcomes are in the order of the list.
pub(crate) async fn all(stage: &Arc<Stage>, scenarios: &[Scenario], progress: impl Fn(&Outcome)) -> Vec<Outcome> {
    let options = &stage.shop.options;
    let skipped = options.skipped();
    let mut outcomes = BTreeMap::new();
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for (index, scenario) in scenarios.iter().enumerate() {
        let reason = skipped.iter().find(|(name, _)| scenario.id.starts_with(name.as_str()));
        let no_start = scenario.is_alone && scenario.kind() == "shop-killed" && !stage.shop.can_restart();
        if let Some((_, reason)) = reason {
            outcomes.insert(index, Outcome::skipped(scenario, format!("skipped by the settings: {reason}")));
        } else if no_start {
            outcomes.insert(index, Outcome::skipped(scenario, "no start command is set".to_owned()));
        } else if scenario.is_alone {
            alone.push(index);
        } else {
            together.push(index);
        }
    }
    // The longest waits begin first.
    together.sort_by_key(|index| !scenarios[*index].id.contains("expired-"));
    let slots = Arc::new(Semaphore::new(options.jobs.unwrap_or(6)));
    let mut playing = JoinSet::new();
    for index in together {
        let (stage, scenario, slots) = (Arc::clone(stage), scenarios[index].clone(), Arc::clone(&slots));
        playing.spawn(async move {
            // A scenario that waits for a minute takes no slot.
            let slot = if scenario.id.contains("expired-") { None } else { slots.acquire_owned().await.ok() };
            let played = play(&stage, &scenario).await;
            drop(slot);
            (index, played)
        });
    }
    let mut played = Vec::new();
    while let Some(ended) = playing.join_next().await {
        match ended {
            Ok(ended) => played.push(ended),
            Err(error) => eprintln!("kassa-certify: a scenario failed: {error}"),
        }
    }
    if !played.is_empty() {
        sleep(SETTLE).await;
    }
    // If the shop went down, scenarios that ran at the same time failed, too. Run alone, each shows its own result.
    let went_down = *stage.shop.revivals.lock().await > 0;
    for (index, (mut case, broken, time)) in played {
        case.audit().await;
        if went_down && (broken.is_some() || !case.losses.is_empty()) {
            alone.push(index);
            continue;
        }
        let outcome = Outcome::of(&scenarios[index], case, broken, time);
        progress(&outcome);
        outcomes.insert(index, outcome);
    }
    for index in alone {
        let (mut case, broken, time) = play(stage, &scenarios[index]).await;
        case.audit().await;
        let outcome = Outcome::of(&scenarios[index], case, broken, time);
        progress(&outcome);
        outcomes.insert(index, outcome);
    }
    outcomes.into_values().collect()
}
