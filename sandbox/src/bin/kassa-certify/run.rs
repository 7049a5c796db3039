//! Plays the situations: those that can side by side, then those that need the shop for themselves.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Serialize;
use tokio::{sync::Semaphore, task::JoinSet, time::sleep};

use crate::{
    case::{Case, Loss, Stage},
    situations::Situation,
};

/// Before the second look at all orders.
const SETTLE: Duration = Duration::from_secs(1);

/// How a situation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Passed,
    Lost,
    Skipped,
    /// It could not be played.
    Broken,
}

/// What the report says about a situation.
#[derive(Clone)]
pub(crate) struct Outcome {
    pub(crate) situation: Situation,
    pub(crate) verdict: Verdict,
    pub(crate) losses: Vec<(Loss, String)>,
    pub(crate) remarks: Vec<String>,
    pub(crate) log: Vec<String>,
    pub(crate) time: Duration,
}

impl Outcome {
    fn of(situation: &Situation, case: Case, broken: Option<String>, time: Duration) -> Self {
        let Case { mut log, losses, remarks, .. } = case;
        let verdict = match (&broken, losses.is_empty()) {
            (_, false) => Verdict::Lost,
            (Some(_), true) => Verdict::Broken,
            (None, true) => Verdict::Passed,
        };
        log.extend(broken.map(|reason| format!("not played: {reason}")));
        Self { situation: situation.clone(), verdict, losses, remarks, log, time }
    }

    fn skipped(situation: &Situation, reason: String) -> Self {
        let (losses, remarks) = (Vec::new(), Vec::new());
        Self {
            situation: situation.clone(),
            verdict: Verdict::Skipped,
            losses,
            remarks,
            log: vec![reason],
            time: Duration::ZERO,
        }
    }
}

/// Plays one, and what it found at the first look.
async fn play(stage: &Arc<Stage>, situation: &Situation) -> (Case, Option<String>, Duration) {
    let begun = Instant::now();
    let mut case = Case::new(stage);
    let mut broken = situation.play(&mut case).await.err();
    if let Err(error) = case.check_shop().await {
        broken = Some(error);
    }
    (case, broken, begun.elapsed())
}

/// Plays all, in the order of the list.
pub(crate) async fn all(stage: &Arc<Stage>, situations: &[Situation], progress: impl Fn(&Outcome)) -> Vec<Outcome> {
    let options = &stage.shop.options;
    let skipped = options.skipped();
    let mut outcomes = BTreeMap::new();
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for (index, situation) in situations.iter().enumerate() {
        let reason = skipped.iter().find(|(name, _)| situation.id.starts_with(name.as_str()));
        let no_start = situation.is_alone && situation.kind() == "shop-killed" && !stage.shop.can_restart();
        if let Some((_, reason)) = reason {
            outcomes.insert(index, Outcome::skipped(situation, format!("left out by the settings: {reason}")));
        } else if no_start {
            outcomes.insert(index, Outcome::skipped(situation, "no start command is given".to_owned()));
        } else if situation.is_alone {
            alone.push(index);
        } else {
            together.push(index);
        }
    }
    // The longest waits begin first.
    together.sort_by_key(|index| !situations[*index].id.contains("expired-"));
    let slots = Arc::new(Semaphore::new(options.jobs.unwrap_or(6)));
    let mut playing = JoinSet::new();
    for index in together {
        let (stage, situation, slots) = (Arc::clone(stage), situations[index].clone(), Arc::clone(&slots));
        playing.spawn(async move {
            // One that waits for a minute takes nobody's slot.
            let slot = if situation.id.contains("expired-") { None } else { slots.acquire_owned().await.ok() };
            let played = play(&stage, &situation).await;
            drop(slot);
            (index, played)
        });
    }
    let mut played = Vec::new();
    while let Some(ended) = playing.join_next().await {
        match ended {
            Ok(ended) => played.push(ended),
            Err(error) => eprintln!("kassa-certify: a situation failed: {error}"),
        }
    }
    if !played.is_empty() {
        sleep(SETTLE).await;
    }
    // A shop that went down took others with it that were played beside: alone, each shows what it does itself.
    let went_down = *stage.shop.revivals.lock().await > 0;
    for (index, (mut case, broken, time)) in played {
        case.audit().await;
        if went_down && (broken.is_some() || !case.losses.is_empty()) {
            alone.push(index);
            continue;
        }
        let outcome = Outcome::of(&situations[index], case, broken, time);
        progress(&outcome);
        outcomes.insert(index, outcome);
    }
    for index in alone {
        let (mut case, broken, time) = play(stage, &situations[index]).await;
        case.audit().await;
        let outcome = Outcome::of(&situations[index], case, broken, time);
        progress(&outcome);
        outcomes.insert(index, outcome);
    }
    outcomes.into_values().collect()
}
