//! What the running occurrences of schedules have read by their prompts, for the judge of their runs.
//!
//! Owns the copy in memory: read once before open runs go on, then kept current by the loop of schedules. A run is found by
//! the digest of the key under which it was started. Invariant: a run that is not found uses no stored grants. Begin at
//! [`OccurrenceTaints::allows_grants`].

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use palyra_journal_core::families::schedules;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::ReadError;
use palyra_types::run::IdempotencyDigest;
use palyra_types::schedule::ScheduleSaved;
use palyra_types::tool::Taints;
use palyra_types::{Content, PrincipalId, ScheduleId, Timestamp};

/// The taints of the occurrences that run, and their schedules.
#[derive(Debug, Default)]
pub struct OccurrenceTaints {
    known: Mutex<BTreeMap<IdempotencyDigest, RunningOccurrence>>,
}

/// What is known of an occurrence that runs.
#[derive(Debug, Clone, Copy)]
struct RunningOccurrence {
    schedule: ScheduleId,
    taints: Taints,
}

/// Returns the key under which the run of an occurrence is started at most once.
#[must_use]
pub fn occurrence_key(schedule: ScheduleId, planned: Timestamp) -> Content<String> {
    Content::new(format!("sched:{schedule}:{}", planned.0))
}

impl OccurrenceTaints {
    pub(crate) async fn load(families: &dyn ReadFamilies) -> Result<Self, ReadError> {
        let known = Self::default();
        for record in families.query(|rows, log| schedules::live(rows, log)).await? {
            if let Some(planned) = record.row.progress.running {
                known.note(record.row.principal, &record.saved, planned);
            }
        }
        Ok(known)
    }

    /// Takes note of an occurrence whose run is about to start.
    pub fn note(&self, principal: PrincipalId, saved: &ScheduleSaved, planned: Timestamp) {
        let digest = digest_of(principal, saved.schedule, planned);
        let taints = saved.taints_of_occurrence(planned);
        self.lock().insert(digest, RunningOccurrence { schedule: saved.schedule, taints });
    }

    /// Forgets an occurrence that has ended.
    pub fn forget(&self, principal: PrincipalId, schedule: ScheduleId, planned: Timestamp) {
        self.lock().remove(&digest_of(principal, schedule, planned));
    }

    /// Returns what a run has read by its prompt alone, where it is the run of an occurrence.
    #[must_use]
    pub fn of(&self, run_key: Option<IdempotencyDigest>) -> Option<Taints> {
        self.lock().get(&run_key?).map(|running| running.taints)
    }

    /// Returns the schedule of a run, where it is the run of an occurrence.
    #[must_use]
    pub fn schedule_of(&self, run_key: Option<IdempotencyDigest>) -> Option<ScheduleId> {
        self.lock().get(&run_key?).map(|running| running.schedule)
    }

    /// Returns whether the run of an occurrence may use stored grants of its principal.
    #[must_use]
    pub fn allows_grants(&self, run_key: Option<IdempotencyDigest>) -> bool {
        self.of(run_key) == Some(Taints::NONE)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<IdempotencyDigest, RunningOccurrence>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn digest_of(principal: PrincipalId, schedule: ScheduleId, planned: Timestamp) -> IdempotencyDigest {
    palyra_ledger::idempotency_digest(principal, &occurrence_key(schedule, planned))
}

#[cfg(test)]
mod tests {
    use palyra_types::RunId;
    use palyra_types::schedule::{
        MissedRule, OverlapRule, SavedAction, SavedTimes, ScheduleProvenance, ScheduleRules,
    };

    use super::*;

    const PLANNED: Timestamp = Timestamp(120_000_000);

    fn person() -> PrincipalId {
        PrincipalId::from_parts(9, 1)
    }

    fn saved(at: Timestamp, provenance: ScheduleProvenance) -> ScheduleSaved {
        ScheduleSaved {
            schedule: ScheduleId::from_parts(1, 7),
            at,
            times: SavedTimes::Every { minutes: 1, anchor: Timestamp(60_000_000) },
            rules: ScheduleRules {
                missed: MissedRule::Skip,
                overlap: OverlapRule::Forbid,
                jitter_seconds: 0,
            },
            action: SavedAction::Reminder,
            provenance,
            name: "look".into(),
            text: "look".into(),
        }
    }

    fn made(run: Option<u128>, taints: Taints, edited_by_person: bool) -> ScheduleProvenance {
        let made_by_run = run.map(|run| RunId::from_parts(1, run));
        ScheduleProvenance { creator: person(), made_by_run, taints, edited_by_person }
    }

    #[test]
    fn grants_apply_to_untainted_schedules_and_to_those_that_a_person_edited_before_the_occurrence() {
        let before = Timestamp(60_000_000);
        let after = Timestamp(180_000_000);
        let cases = [
            ("a person made it", before, made(None, Taints::NONE, false), true),
            ("a run that had read nothing", before, made(Some(1), Taints::NONE, false), true),
            ("a run that had read a page", before, made(Some(1), Taints::WEB, false), false),
            ("edited before the occurrence", before, made(Some(1), Taints::WEB, true), true),
            ("edited while the occurrence runs", after, made(Some(1), Taints::WEB, true), false),
            ("edited at its very instant", PLANNED, made(Some(1), Taints::WEB, true), false),
        ];
        for (case, at, provenance, expected) in cases {
            let known = OccurrenceTaints::default();
            let saved = saved(at, provenance);
            known.note(person(), &saved, PLANNED);
            let key = Some(digest_of(person(), saved.schedule, PLANNED));
            assert_eq!(known.allows_grants(key), expected, "{case}");
            assert_eq!(known.schedule_of(key), Some(saved.schedule), "{case}");
            known.forget(person(), saved.schedule, PLANNED);
            assert!(!known.allows_grants(key), "{case}: an occurrence that ended is not known");
        }
    }

    #[test]
    fn a_run_that_is_not_found_uses_no_grants() {
        let known = OccurrenceTaints::default();
        let clean = saved(Timestamp(0), made(None, Taints::NONE, false));
        known.note(person(), &clean, PLANNED);
        let other = PrincipalId::from_parts(9, 2);
        assert!(!known.allows_grants(None));
        assert!(!known.allows_grants(Some(digest_of(other, clean.schedule, PLANNED))));
        assert!(!known.allows_grants(Some(digest_of(person(), clean.schedule, Timestamp(1)))));
    }
}
