//! Care that the daemon takes of itself: of its journal, and of sessions that no person uses any more.
//!
//! Owns the rules, the timers that put such tasks into the background queue, and their handlers. A timer asks the journal and
//! the clock whether something is due, so a restart loses nothing; a handler looks again, so a repeated task does the rest.
//! Knows no run: sessions are archived through [`SessionArchiver`]. Begin at [`UpkeepRules`].

mod upkeep_rules;

mod journal_care;

mod due_sessions;
mod session_cleanup;
mod session_cleanup_timer;

pub use journal_care::{JournalCareHandler, JournalCareTimer};
pub use session_cleanup::{SessionArchiver, SessionCleanupHandler};
pub use session_cleanup_timer::SessionCleanupTimer;
pub use upkeep_rules::{HasUpkeepRules, JournalCareRules, RetentionRules, UpkeepRules};
