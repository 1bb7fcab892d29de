//! Which remedies a cause has, in the order in which they are tried, and how urgent it is.

use palyra_types::incident::{IncidentCause, IncidentSeverity, RemedyKind};

/// Remedies of a domain within an hour, at most: a cause that comes back again and again is left to a person.
pub(crate) const REMEDIES_PER_HOUR_MAX: usize = 6;

/// Returns the remedies of a cause, the mildest first; none where a person has to act.
#[must_use]
pub fn remedies_of(cause: IncidentCause) -> &'static [RemedyKind] {
    match cause {
        // An actor that works and does not move takes no other input than a cancel.
        IncidentCause::RunNoProgress => &[RemedyKind::CancelRun],
        IncidentCause::RunNotDriven => &[RemedyKind::ResumeRun, RemedyKind::CancelRun],
        IncidentCause::TaskNoProgress => &[RemedyKind::WakeQueue, RemedyKind::RequeueTask],
        IncidentCause::TaskNotTaken => &[RemedyKind::WakeQueue],
        IncidentCause::ApprovalExpiryMissed => &[RemedyKind::ExpireApprovals],
        IncidentCause::ApprovalNotContinued => &[RemedyKind::ResumeRun],
        IncidentCause::ArtifactDamaged => &[RemedyKind::RepairArtifact],
        IncidentCause::ConnectorDown => &[RemedyKind::RestartConnector],
        IncidentCause::ProviderPaused => &[RemedyKind::ReopenProvider],
        IncidentCause::WalTooLarge => &[RemedyKind::TruncateWal],
        IncidentCause::DiskLow => &[RemedyKind::FreeSpace, RemedyKind::TruncateWal],
        IncidentCause::ProjectionDiffers => &[RemedyKind::RebuildProjections],
        IncidentCause::ScratchLeft | IncidentCause::SpareFiles => &[RemedyKind::FreeSpace],
        IncidentCause::WorkerSilent => &[RemedyKind::RevokeWorker],
        IncidentCause::BrowserSilent => &[RemedyKind::RestartBrowser],
        // Whether a person can be reached is theirs to change; damaged entries are never touched.
        IncidentCause::ApproverUnreachable | IncidentCause::EntryDamaged => &[],
    }
}

/// Returns how urgent a cause is.
#[must_use]
pub fn severity_of(cause: IncidentCause) -> IncidentSeverity {
    match cause {
        IncidentCause::ScratchLeft | IncidentCause::WalTooLarge => IncidentSeverity::Notice,
        IncidentCause::DiskLow | IncidentCause::ProjectionDiffers | IncidentCause::EntryDamaged => {
            IncidentSeverity::Critical
        }
        IncidentCause::RunNoProgress
        | IncidentCause::RunNotDriven
        | IncidentCause::TaskNoProgress
        | IncidentCause::TaskNotTaken
        | IncidentCause::ApproverUnreachable
        | IncidentCause::ApprovalExpiryMissed
        | IncidentCause::ApprovalNotContinued
        | IncidentCause::ArtifactDamaged
        | IncidentCause::SpareFiles
        | IncidentCause::ConnectorDown
        | IncidentCause::ProviderPaused
        | IncidentCause::WorkerSilent
        | IncidentCause::BrowserSilent => IncidentSeverity::Warning,
    }
}

/// Whether the subject of an incident has moved since its latest remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgressSince {
    None,
    Some,
}

/// Returns the remedy that follows `last`: the first one after progress, else the next one, so that none is repeated
/// without progress.
pub(crate) fn next_remedy(
    cause: IncidentCause,
    last: Option<RemedyKind>,
    progress: ProgressSince,
) -> Option<RemedyKind> {
    let remedies = remedies_of(cause);
    match last {
        Some(last) if progress == ProgressSince::None => {
            let place = remedies.iter().position(|remedy| *remedy == last)?;
            remedies.get(place + 1).copied()
        }
        Some(_) | None => remedies.first().copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_remedy_is_repeated_without_progress() {
        for (cause, _) in IncidentCause::ALL {
            let mut last = None;
            for expected in remedies_of(cause) {
                let next = next_remedy(cause, last, ProgressSince::None);
                assert_eq!(next, Some(*expected));
                assert_ne!(next, last);
                last = next;
            }
            if last.is_some() {
                assert_eq!(next_remedy(cause, last, ProgressSince::None), None, "{cause:?}");
                assert_eq!(
                    next_remedy(cause, last, ProgressSince::Some),
                    remedies_of(cause).first().copied()
                );
            }
        }
    }

    #[test]
    fn approvals_have_no_remedy_that_ends_their_run() {
        for (cause, _) in IncidentCause::ALL {
            if cause.domain() == palyra_types::incident::HealingDomain::Approvals {
                assert!(!remedies_of(cause).contains(&RemedyKind::CancelRun), "{cause:?}");
            }
        }
    }
}
