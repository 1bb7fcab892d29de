//! What was counted over all stories, for the report.

use std::collections::BTreeMap;
use std::time::Duration;

use palyra_wire::v1::{NotificationStage, NotificationTargetKind, QueuedTaskStage};

use super::place::KillPlace;
use super::scenario::ScenarioOutcome;
use crate::report::SuiteReport;
use crate::test_home::SERVING_WITHIN;

/// The counts.
#[derive(Debug, Default)]
pub(super) struct StoryCounts {
    stories: usize,
    at_places: BTreeMap<String, usize>,
    /// Kills by the kind of the last entry before them.
    after_entries: BTreeMap<String, usize>,
    tasks_done: usize,
    tasks_seen: usize,
    counted: usize,
    unknown: usize,
    requests: usize,
    repeated: usize,
    pub(super) slow: usize,
    back: Vec<Duration>,
}

impl StoryCounts {
    /// Counts a story.
    pub(super) fn note(&mut self, place: Option<KillPlace>, outcome: &ScenarioOutcome) {
        let facts = &outcome.facts;
        self.stories += 1;
        if let Some(back_after) = outcome.back_after {
            self.back.push(back_after);
            let last = facts.last_before_the_kill().unwrap_or("none").to_owned();
            *self.after_entries.entry(last).or_default() += 1;
        }
        if let Some(place) = place {
            *self.at_places.entry(place.to_string()).or_default() += 1;
        }
        let done = facts.tasks.iter().filter(|task| task.stage == QueuedTaskStage::Done).count();
        self.tasks_done += done;
        self.tasks_seen += facts.tasks.len() - done;
        self.counted += facts.counted.len();
        self.requests += facts.requests.len();
        self.repeated += facts.requests.len().saturating_sub(1);
        let is_unknown = |message: &&super::facts::MessageFact| {
            message.target == NotificationTargetKind::Command && message.stage == NotificationStage::Unknown
        };
        self.unknown += facts.messages.iter().filter(is_unknown).count();
    }

    /// Returns how many kills there were.
    pub(super) fn kills(&self) -> usize {
        self.back.len()
    }

    /// Adds the rows of the counts.
    pub(super) fn tell(mut self, report: &mut SuiteReport) {
        for (place, count) in &self.at_places {
            report.row(format!("killed while {place}"), *count, "");
        }
        for (entry, count) in &self.after_entries {
            report.row(format!("killed after `{entry}` as the last entry"), *count, "");
        }
        let stories = self.stories;
        report.row("occurrences", 2 * stories, "each has one row, and each run of one was started once");
        let seen = format!("each done; {} more a person sees", self.tasks_seen);
        report.row("tasks of the queue", self.tasks_done, seen);
        let seen = format!("each has one id and was sent; {} were sent again after a kill", self.repeated);
        report.row("requests of the webhook", self.requests, seen);
        let seen =
            format!("none twice; {} messages are unknown after a kill, as they have to be", self.unknown);
        report.row("messages that the program counted", self.counted, seen);
        self.back.sort_unstable();
        let at = |place: usize| self.back.get(place).map_or(0, Duration::as_millis);
        let median = at(self.back.len() / 2);
        let most = at(self.back.len().saturating_sub(1));
        let slow = self.slow;
        let limit = SERVING_WITHIN.as_secs();
        let seen = format!(
            "{median} ms (median), {most} ms (most) until it serves; {slow} over {limit} s, tried again"
        );
        report.row("kills in all", self.back.len(), seen);
    }
}
