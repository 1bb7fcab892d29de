//! Whether this daemon makes room for one with another model.
//!
//! Owns the three conditions that do not concern sessions, and the file that remembers the last replacement: the daemon
//! that comes next reads it, so two environments that take turns replace each other at most once a minute. A daemon whose
//! model was asked and never answered works for no environment and makes room at once.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use palyra_api::{KeptDaemon, ReplaceDaemon, ReplacementKind};
use palyra_commands::Jobs;

use crate::model_answers::ModelAnswers;

/// How long no other replacement follows one.
const REPLACED_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// The file whose time of change is that of the last replacement.
const STAMP_FILE_NAME: &str = "model-replaced";

/// How a daemon came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartedBy {
    /// A client, when it found none.
    Client,
    /// A person or a service manager.
    Operator,
}

/// The conditions of one daemon.
pub(crate) struct ReplacementConditions {
    started_by: StartedBy,
    stamp: PathBuf,
    jobs: Option<Jobs>,
    answers: ModelAnswers,
}

impl ReplacementConditions {
    pub(crate) fn new(started_by: StartedBy, state_dir: &Path, jobs: Option<Jobs>) -> Self {
        let answers = ModelAnswers::default();
        Self { started_by, stamp: state_dir.join(STAMP_FILE_NAME), jobs, answers }
    }

    /// As these, for a daemon whose models answer or not.
    pub(crate) fn asking(self, answers: &ModelAnswers) -> Self {
        Self { answers: answers.clone(), ..self }
    }

    /// Returns how long ago the last replacement was, if that is less than a minute.
    fn recent(&self) -> Option<Duration> {
        let changed = std::fs::metadata(&self.stamp).and_then(|file| file.modified()).ok()?;
        // A clock that was set back makes a stamp of the future, which says nothing.
        let age = SystemTime::now().duration_since(changed).ok()?;
        (age < REPLACED_AGAIN_AFTER).then_some(age)
    }
}

impl fmt::Debug for ReplacementConditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replacement").field("started_by", &self.started_by).finish_non_exhaustive()
    }
}

impl ReplaceDaemon for ReplacementConditions {
    fn kept_because(&self, replacement: ReplacementKind) -> Option<KeptDaemon> {
        if self.started_by == StartedBy::Operator {
            return Some(KeptDaemon::because(
                "it was not started by a command of yours but by `palyra serve`",
            ));
        }
        match self.jobs.as_ref().map_or(0, Jobs::running) {
            0 => {}
            1 => return Some(KeptDaemon::because("it has 1 job running")),
            jobs => return Some(KeptDaemon::because(format!("it has {jobs} jobs running"))),
        }
        let is_limited = replacement == ReplacementKind::OtherModel && !self.answers.have_only_failed();
        let age = self.recent().filter(|_| is_limited)?;
        let left = REPLACED_AGAIN_AFTER.saturating_sub(age).as_secs() + 1;
        let wait_seconds = u32::try_from(left).unwrap_or(u32::MAX);
        let why = "another one was replaced less than a minute ago";
        Some(KeptDaemon { wait_seconds, ..KeptDaemon::because(why) })
    }

    fn replaced(&self) {
        if let Err(error) = std::fs::write(&self.stamp, "") {
            tracing::warn!(%error, "the time of this replacement could not be kept");
        }
        tracing::info!("making room for a daemon with another model");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_replacement_a_minute() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |started_by| ReplacementConditions::new(started_by, folder.path(), None);
        let daemon = of(StartedBy::Client);
        let other = ReplacementKind::OtherModel;
        assert_eq!(daemon.kept_because(other), None);
        daemon.replaced();
        let kept = of(StartedBy::Client).kept_because(other).expect("kept");
        assert!(kept.why.contains("less than a minute ago"), "{kept:?}");
        assert!((1..=61).contains(&kept.wait_seconds), "{kept:?}");
        // A key that is there now makes a daemon that lacked it useful at once.
        assert_eq!(daemon.kept_because(ReplacementKind::KeyIsThere), None);
        assert!(of(StartedBy::Operator).kept_because(ReplacementKind::KeyIsThere).is_some());
        // Nothing is lost with a daemon whose model has never answered.
        let answers = ModelAnswers::of_failures();
        assert_eq!(of(StartedBy::Client).asking(&answers).kept_because(other), None);
        assert!(of(StartedBy::Operator).asking(&answers).kept_because(other).is_some());
        let stamp =
            std::fs::File::options().write(true).open(folder.path().join(STAMP_FILE_NAME)).expect("there");
        for (age, kept) in [(59, true), (61, false)] {
            let then = SystemTime::now() - Duration::from_secs(age);
            stamp.set_modified(then).expect("set");
            assert_eq!(daemon.kept_because(other).is_some(), kept, "{age}");
        }
        stamp.set_modified(SystemTime::now() + Duration::from_secs(3_600)).expect("set");
        assert_eq!(daemon.kept_because(other), None);
        let served = of(StartedBy::Operator).kept_because(other).expect("kept");
        assert_eq!(served.wait_seconds, 0, "it does not make room by itself");
    }
}
