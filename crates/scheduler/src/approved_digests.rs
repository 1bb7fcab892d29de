//! Digests of what a person approves, by which an occurrence is compared with it. They stay inside of the daemon.

use palyra_journal_core::codec::agent_profile_to_bytes;
use palyra_schedule::digest_of;
use palyra_types::ScheduleId;
use palyra_types::agent::AgentRecord;
use palyra_types::digest::ContentDigest;

use crate::scheduled_run::session_key;

/// Returns the digest of a profile as it is now.
pub(crate) fn profile_digest(agent: &AgentRecord) -> ContentDigest {
    digest_of(agent_profile_to_bytes(&agent.profile))
}

/// Returns the digest of the place that answers of a schedule go to: its session.
pub(crate) fn target_digest(schedule: ScheduleId) -> ContentDigest {
    digest_of(session_key(schedule))
}
