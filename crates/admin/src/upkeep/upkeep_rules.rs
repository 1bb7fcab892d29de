//! The rules of upkeep, as configured.

use std::time::Duration;

use palyra_types::Timestamp;
use palyra_types::session::OrchestratorSessionRecord;

/// What the daemon does by itself; nothing by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UpkeepRules {
    /// What becomes of sessions that no person uses.
    pub retention: RetentionRules,
    /// When the journal is cared for; `None` for never.
    pub journal: Option<JournalCareRules>,
}

/// A configuration with rules of upkeep.
pub trait HasUpkeepRules: Send + Sync + 'static {
    /// Returns the rules.
    fn upkeep(&self) -> UpkeepRules;
}

/// When sessions are archived and erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RetentionRules {
    /// After how long without an entry a session is archived; `None` for never.
    pub archive_after: Option<Duration>,
    /// After how long the content of an archived session is erased; `None` for never.
    pub erase_after: Option<Duration>,
}

/// What retention does with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetentionStep {
    Archive,
    Erase,
}

impl RetentionRules {
    /// Returns whether sessions are kept as they are.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.archive_after.is_none() && self.erase_after.is_none()
    }

    /// Returns what is to be done with a session, and when. One that clients find by a key is not archived, because its
    /// client would find it closed.
    pub(super) fn step(&self, session: &OrchestratorSessionRecord) -> Option<(RetentionStep, Timestamp)> {
        match session.archived {
            Some(archived) => Some((RetentionStep::Erase, archived.after(self.erase_after?))),
            None if session.key.is_some() => None,
            None => Some((RetentionStep::Archive, session.updated.after(self.archive_after?))),
        }
    }
}

/// When the journal is cared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalCareRules {
    /// How often it is looked at whether something is to be done.
    pub look_every: Duration,
    /// The size of the write-ahead log from which it is cut.
    pub wal_bytes_max: u64,
    /// How long after a start, and after the last check, every entry is checked again.
    pub check_every: Duration,
}

impl JournalCareRules {
    /// The rules of a daemon. The writer empties a longer log as soon as it has something to do; a start checks every entry.
    pub const USUAL: Self = Self {
        look_every: Duration::from_secs(60 * 60),
        wal_bytes_max: 16 * 1024 * 1024,
        check_every: Duration::from_secs(7 * 24 * 60 * 60),
    };
}
