//! What a caller asks a schedule to be, and what becomes of it before it is saved.
//!
//! Owns the checks: nothing is recorded of a draft whose times cannot be shown.

use jiff::tz::{TimeZone, TimeZoneDatabase};
use palyra_admin::{check_identity, check_short_text};
pub use palyra_ports::DraftTimes;
use palyra_schedule::{ClockOddity, PlannedTimes, ScheduleSpec, WordsContext, find_zone, read_plain_words};
use palyra_types::schedule::{
    SCHEDULE_NAME_CHARS_MAX, SCHEDULE_TEXT_BYTES_MAX, SavedAction, SavedRun, SavedTimes, ScheduleProvenance,
    ScheduleRules, ScheduleSaved,
};
use palyra_types::{Content, PrincipalId, Redacted, ScheduleId, Timestamp};

use crate::approved_digests::target_digest;
use crate::error::ScheduleError;
use crate::ports::SchedulePorts;

/// Planned times that a preview shows.
const PREVIEW_TIMES: usize = 5;
/// Characters of the text that are its name where a caller gives none.
const NAME_CHARS_OF_TEXT: usize = 40;

/// What a caller asks a schedule to be.
#[derive(Debug, Clone)]
pub struct ScheduleDraft {
    /// Its name; `None` for the beginning of its text.
    pub name: Option<Content<String>>,
    /// When it is due.
    pub times: DraftTimes,
    /// The IANA name of the zone; `None` for that of the caller.
    pub zone: Option<String>,
    /// What becomes of missed and overlapping occurrences.
    pub rules: ScheduleRules,
    /// What an occurrence does.
    pub action: DraftAction,
}

/// What an occurrence is to do.
#[derive(Debug, Clone)]
pub enum DraftAction {
    /// A text is delivered.
    Remind(Content<String>),
    /// A run starts.
    Run {
        /// The prompt.
        prompt: Content<String>,
        /// The agent, by name; `None` for `main`.
        agent: Option<String>,
    },
}

/// What a draft means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchedulePreview {
    /// When it is due, in words.
    pub times: String,
    /// The cron line, where there is one.
    pub cron: Option<String>,
    /// The zone in which its times are read.
    pub zone: String,
    /// The first planned times.
    pub next: Vec<PlannedTime>,
}

/// A planned time, as people look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTime {
    /// The planned instant.
    pub planned: Timestamp,
    /// The local time, such as `Mon 2027-03-01 08:00 CET`.
    pub local: String,
    /// What a change of the local clock does to it.
    pub oddity: Option<ClockOddity>,
}

/// A draft that may be saved.
pub(crate) struct CheckedDraft {
    pub(crate) spec: ScheduleSpec,
    pub(crate) rules: ScheduleRules,
    pub(crate) zone: TimeZone,
    pub(crate) planned_times: PlannedTimes,
}

impl CheckedDraft {
    /// Reads the times and checks them with the rules.
    pub(crate) fn new(
        ports: &SchedulePorts,
        zones: &TimeZoneDatabase,
        principal: PrincipalId,
        draft: &ScheduleDraft,
    ) -> Result<Self, ScheduleError> {
        let now = ports.clock.wall();
        let zone = match &draft.zone {
            Some(name) => find_zone(name, zones)?,
            None => (ports.zone_of)(principal),
        };
        let zone_name = zone.iana_name().unwrap_or("UTC").to_owned();
        let context = WordsContext { now, zone: &zone, zone_name: &zone_name };
        let spec = match &draft.times {
            DraftTimes::Words(words) => read_plain_words(words, &context)?,
            DraftTimes::Cron(line) => {
                ScheduleSpec::Cron { line: line.trim().to_owned(), zone: zone_name.clone() }
            }
            DraftTimes::At(local) => {
                ScheduleSpec::At { local: local.trim().replace(' ', "T"), zone: zone_name.clone() }
            }
            DraftTimes::EveryMinutes(minutes) => {
                ScheduleSpec::Every { minutes: *minutes, anchor: next_anchor(now, *minutes) }
            }
        };
        let planned_times = PlannedTimes::for_new(&spec, zones, now)?;
        planned_times.check_rules(&draft.rules, now)?;
        // Plain words may name a zone of their own.
        let zone = match &spec {
            ScheduleSpec::Cron { zone, .. } | ScheduleSpec::At { zone, .. } => find_zone(zone, zones)?,
            ScheduleSpec::Every { .. } => zone,
        };
        Ok(Self { spec, rules: draft.rules, zone, planned_times })
    }

    /// Returns what people look at before they save.
    pub(crate) fn preview(&self, now: Timestamp) -> SchedulePreview {
        SchedulePreview {
            times: self.spec.to_string(),
            cron: match &self.spec {
                ScheduleSpec::Cron { line, .. } => Some(line.clone()),
                ScheduleSpec::Every { .. } | ScheduleSpec::At { .. } => None,
            },
            zone: self.zone.iana_name().unwrap_or("UTC").to_owned(),
            next: next_times(&self.planned_times, &self.zone, now, PREVIEW_TIMES),
        }
    }

    /// Returns the times without words that another day or another setting would change.
    pub(crate) fn exact_times(&self) -> DraftTimes {
        match &self.spec {
            ScheduleSpec::Cron { line, .. } => DraftTimes::Cron(line.clone()),
            ScheduleSpec::Every { minutes, .. } => DraftTimes::EveryMinutes(*minutes),
            ScheduleSpec::At { local, .. } => DraftTimes::At(local.clone()),
        }
    }

    /// Returns the times as they are recorded.
    pub(crate) fn saved_times(
        &self,
        ports: &SchedulePorts,
        principal: PrincipalId,
    ) -> Result<SavedTimes, ScheduleError> {
        let check = |field, text: &str| check_identity(&ports.recorder, principal, field, text);
        Ok(match &self.spec {
            ScheduleSpec::Cron { line, zone } => {
                SavedTimes::Cron { line: check("the cron line", line)?, zone: check("the time zone", zone)? }
            }
            ScheduleSpec::Every { minutes, anchor } => {
                SavedTimes::Every { minutes: *minutes, anchor: *anchor }
            }
            ScheduleSpec::At { local, zone } => {
                SavedTimes::At { local: check("the time", local)?, zone: check("the time zone", zone)? }
            }
        })
    }
}

/// Returns the first planned times later than `after`.
pub(crate) fn next_times(
    planned_times: &PlannedTimes,
    zone: &TimeZone,
    after: Timestamp,
    count: usize,
) -> Vec<PlannedTime> {
    let times = planned_times.iter_after(after).take(count);
    let shown = times.map(|planned| PlannedTime {
        planned,
        local: local_text(planned, zone),
        oddity: planned_times.oddity_of(planned),
    });
    shown.collect()
}

/// Returns a local time, such as `Mon 2027-03-01 08:00 CET`.
pub(crate) fn local_text(time: Timestamp, zone: &TimeZone) -> String {
    let Ok(instant) = jiff::Timestamp::from_microsecond(time.0) else { return String::new() };
    instant.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M %Z").to_string()
}

/// Returns the first whole minute from which the interval has passed.
fn next_anchor(now: Timestamp, minutes: u32) -> Timestamp {
    const MINUTE_MICROS: i64 = 60_000_000;
    let whole = now.0.div_euclid(MINUTE_MICROS).saturating_mul(MINUTE_MICROS);
    Timestamp(whole.saturating_add(i64::from(minutes).saturating_mul(MINUTE_MICROS)))
}

/// The parts of a schedule that a person approves beside its times.
pub(crate) struct ApprovedParts {
    pub(crate) action: SavedAction,
    pub(crate) name: Redacted<String>,
    pub(crate) text: Redacted<String>,
}

impl ApprovedParts {
    /// Checks the texts and the agent.
    pub(crate) fn new(
        ports: &SchedulePorts,
        schedule: ScheduleId,
        draft: &ScheduleDraft,
    ) -> Result<Self, ScheduleError> {
        let (text, action) = match &draft.action {
            DraftAction::Remind(text) => (text, SavedAction::Reminder),
            DraftAction::Run { prompt, agent } => {
                let agent = ports.facts.agent_named(agent.as_deref())?;
                let run = SavedRun {
                    agent: agent.id,
                    agent_profile: agent.profile,
                    target: target_digest(schedule),
                };
                (prompt, SavedAction::Run(run))
            }
        };
        let bytes = text.expose().len();
        if text.expose().trim().is_empty() || bytes > SCHEDULE_TEXT_BYTES_MAX {
            let what =
                format!("the prompt or text has 1 to {SCHEDULE_TEXT_BYTES_MAX} bytes, this one has {bytes}");
            return Err(ScheduleError::invalid_argument(what));
        }
        check_short_text("the name of a schedule", draft.name.as_ref(), SCHEDULE_NAME_CHARS_MAX)?;
        let name = draft.name.clone().unwrap_or_else(|| Content::new(beginning(text.expose())));
        Ok(Self {
            action,
            name: ports.redactor.redact(name).text,
            text: ports.redactor.redact(text.clone()).text,
        })
    }
}

/// Returns the beginning of a text, in one line.
fn beginning(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|letter| !letter.is_control()).take(NAME_CHARS_OF_TEXT).collect()
}

/// Puts the parts together.
pub(crate) fn saved_schedule(
    schedule: ScheduleId,
    at: Timestamp,
    times: SavedTimes,
    rules: ScheduleRules,
    parts: ApprovedParts,
    provenance: ScheduleProvenance,
) -> ScheduleSaved {
    let ApprovedParts { action, name, text } = parts;
    ScheduleSaved { schedule, at, times, rules, action, provenance, name, text }
}
