//! Causes, remedies and modes of self-healing in words.

use std::time::Duration;

use palyra_screen_text::{bytes, count, span};
use palyra_wire::v1;

use crate::wording::StateMark;

/// Returns how urgent an incident is.
pub(super) fn severity_mark(severity: v1::IncidentSeverity) -> StateMark {
    match severity {
        v1::IncidentSeverity::Critical => {
            StateMark::new("▲", "critical: work is refused, or records may be damaged", "danger")
        }
        v1::IncidentSeverity::Warning => StateMark::new("!", "warning: some work does not go on", "caution"),
        v1::IncidentSeverity::Notice => StateMark::new("○", "notice: nothing fails because of it", "muted"),
        v1::IncidentSeverity::Unspecified => StateMark::new("?", "not known", "muted"),
    }
}

/// Returns the place of a severity in a list: the most urgent is first.
pub(super) fn severity_order(severity: v1::IncidentSeverity) -> u8 {
    match severity {
        v1::IncidentSeverity::Critical => 0,
        v1::IncidentSeverity::Warning => 1,
        v1::IncidentSeverity::Notice => 2,
        v1::IncidentSeverity::Unspecified => 3,
    }
}

/// Returns what is wrong.
pub(super) fn cause_words(cause: v1::IncidentCause) -> &'static str {
    match cause {
        v1::IncidentCause::RunNoProgress => "A run is worked on and shows no progress",
        v1::IncidentCause::RunNotDriven => "No actor works on a run",
        v1::IncidentCause::TaskNoProgress => "The worker of a task shows no progress",
        v1::IncidentCause::TaskNotTaken => "No worker takes a task that is due",
        v1::IncidentCause::ApproverUnreachable => "No person who may decide approvals is reachable",
        v1::IncidentCause::ApprovalExpiryMissed => "An approval is pending after its expiry",
        v1::IncidentCause::ApprovalNotContinued => "The run of a decided approval did not continue",
        v1::IncidentCause::ArtifactDamaged => "A file that the journal pins is missing or differs",
        v1::IncidentCause::ConnectorDown => "A connector has no connection",
        v1::IncidentCause::ProviderPaused => "A provider fails and is not asked",
        v1::IncidentCause::WalTooLarge => "The write-ahead log is not moved into the database",
        v1::IncidentCause::DiskLow => "The disk has room for endings only",
        v1::IncidentCause::ProjectionDiffers => "A derived table differs from the log",
        v1::IncidentCause::EntryDamaged => "An entry does not verify",
        v1::IncidentCause::ScratchLeft => "Files of programs that ended are left while the disk is low",
        v1::IncidentCause::SpareFiles => {
            "Files that can be made again, or old backups, are kept while the disk is low"
        }
        v1::IncidentCause::WorkerSilent => "A worker shows no sign of life",
        v1::IncidentCause::BrowserSilent => "A browser does not answer",
        v1::IncidentCause::Unspecified => "The cause is not known",
    }
}

/// Returns what a remedy does.
pub(super) fn remedy_words(remedy: v1::RemedyKind) -> &'static str {
    match remedy {
        v1::RemedyKind::ResumeRun => "the run is worked on again",
        v1::RemedyKind::CancelRun => "the run is cancelled",
        v1::RemedyKind::RequeueTask => "the task is taken back and queued again",
        v1::RemedyKind::WakeQueue => "the queue looks for due tasks",
        v1::RemedyKind::ExpireApprovals => "expired approvals are ended",
        v1::RemedyKind::RepairArtifact => "the artifact is made again, or put back from a backup",
        v1::RemedyKind::RestartConnector => "the connector is started again",
        v1::RemedyKind::ReopenProvider => "the next request to the provider is let through",
        v1::RemedyKind::TruncateWal => "the write-ahead log is moved and emptied",
        v1::RemedyKind::FreeSpace => "scratch space, caches and old automatic backups are freed",
        v1::RemedyKind::RebuildProjections => "the derived tables are folded again",
        v1::RemedyKind::RevokeWorker => "the leases of the worker are taken back",
        v1::RemedyKind::RestartBrowser => "the browser is started again",
        v1::RemedyKind::Unspecified => "not known",
    }
}

/// Returns how the latest remedy ended.
pub(super) fn outcome_mark(outcome: v1::RemedyOutcome) -> StateMark {
    match outcome {
        v1::RemedyOutcome::Helped => StateMark::new("✓", "it helped", "positive"),
        v1::RemedyOutcome::DidNotHelp => StateMark::new("✕", "it did not help", "danger"),
        v1::RemedyOutcome::Failed => StateMark::new("✕", "it could not be performed", "danger"),
        v1::RemedyOutcome::Interrupted => StateMark::new("■", "the daemon ended before its check", "muted"),
        v1::RemedyOutcome::Unspecified => StateMark::new("▶", "at work, or not checked yet", "info"),
    }
}

/// Returns why an incident is over.
pub(super) fn resolution_mark(resolution: v1::IncidentResolution) -> StateMark {
    match resolution {
        v1::IncidentResolution::ByItself => StateMark::new("✓", "by itself", "positive"),
        v1::IncidentResolution::Remedied => StateMark::new("✓", "after a remedy", "positive"),
        v1::IncidentResolution::NotWatched => {
            StateMark::new("■", "its domain is not watched any more", "muted")
        }
        v1::IncidentResolution::Unspecified => StateMark::new("?", "not known", "muted"),
    }
}

/// Returns what follows, and whether the daemon does it.
pub(super) fn next_words(incident: &v1::Incident) -> String {
    let remedy = remedy_words(incident.next_remedy());
    match incident.next_remedy() {
        v1::RemedyKind::Unspecified if incident.stage() == v1::IncidentStage::Remediating => {
            "a check whether the remedy helped".to_owned()
        }
        v1::RemedyKind::Unspecified => "a person has to act".to_owned(),
        _ if incident.next_is_performed => format!("{remedy}, by the daemon itself"),
        _ => format!("{remedy}: this is only shown, because the mode of the domain does not allow it"),
    }
}

/// Returns what was measured when an incident was found.
pub(super) fn evidence_words(incident: &v1::Incident) -> String {
    let is_size = matches!(incident.cause(), v1::IncidentCause::WalTooLarge | v1::IncidentCause::DiskLow);
    let amount = |number: u64| if is_size { bytes(number) } else { number.to_string() };
    let mut parts = Vec::new();
    if incident.silent_ms > 0 {
        let silent = span(Duration::from_millis(incident.silent_ms));
        let window = span(Duration::from_millis(incident.window_ms));
        parts.push(format!("no progress for {silent}, where {window} are allowed"));
    }
    match (incident.measured, incident.limit) {
        (0, _) => {}
        (number, _) if incident.cause() == v1::IncidentCause::EntryDamaged => {
            parts.push(format!("entry {number}"));
        }
        (number, _) if incident.cause() == v1::IncidentCause::ApproverUnreachable => {
            parts.push(format!("{} open; the subject is the oldest", count(number, "approval")));
        }
        (measured, 0) => parts.push(format!("{} measured", amount(measured))),
        (measured, limit) => parts.push(format!("{} measured, limit {}", amount(measured), amount(limit))),
    }
    if parts.is_empty() { "it was seen".to_owned() } else { parts.join("; ") }
}

/// Returns a domain with what it watches.
pub(super) fn domain_word(domain: v1::HealingDomain) -> &'static str {
    match domain {
        v1::HealingDomain::Runs => "runs",
        v1::HealingDomain::Tasks => "background tasks",
        v1::HealingDomain::Approvals => "approvals",
        v1::HealingDomain::Artifacts => "pinned files",
        v1::HealingDomain::Channels => "channels",
        v1::HealingDomain::Providers => "providers",
        v1::HealingDomain::Journal => "journal",
        v1::HealingDomain::Sandbox => "sandbox",
        v1::HealingDomain::Workers => "workers",
        v1::HealingDomain::Browser => "browsers of tools",
        v1::HealingDomain::Unspecified => "not known",
    }
}

/// Returns what is done in a mode.
pub(super) fn mode_words(mode: v1::HealingMode) -> &'static str {
    match mode {
        v1::HealingMode::Disabled => "disabled: nothing is looked at",
        v1::HealingMode::ObserveOnly => "observe only: remedies are shown",
        v1::HealingMode::Auto => "auto: remedies are performed",
        v1::HealingMode::Unspecified => "not known",
    }
}

/// Returns whether a domain is watched.
pub(super) fn watch_words(watch: v1::DomainWatch) -> &'static str {
    match watch {
        v1::DomainWatch::Watched => "yes",
        v1::DomainWatch::Unread => "it could not be read at the latest look",
        v1::DomainWatch::NotWatched => "not in this version",
        v1::DomainWatch::Absent => "this version has no such system",
        v1::DomainWatch::Unspecified => "not known",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_in_the_unit_of_its_cause() {
        let seen = |cause: v1::IncidentCause, measured, limit| {
            evidence_words(&v1::Incident { cause: cause.into(), measured, limit, ..Default::default() })
        };
        assert_eq!(
            seen(v1::IncidentCause::WalTooLarge, 100_000_000, 64_000_000),
            "100 MB measured, limit 64.0 MB"
        );
        assert_eq!(seen(v1::IncidentCause::EntryDamaged, 12, 0), "entry 12");
        let approvals = seen(v1::IncidentCause::ApproverUnreachable, 3, 0);
        assert_eq!(approvals, "3 approvals open; the subject is the oldest");
        assert_eq!(seen(v1::IncidentCause::ScratchLeft, 3, 0), "3 measured");
        assert_eq!(seen(v1::IncidentCause::RunNotDriven, 0, 0), "it was seen");
    }

    #[test]
    fn who_acts_next_is_said() {
        let open = v1::Incident { stage: v1::IncidentStage::Open.into(), ..Default::default() };
        assert_eq!(next_words(&open), "a person has to act");
        let at_work = v1::Incident { stage: v1::IncidentStage::Remediating.into(), ..open.clone() };
        assert!(next_words(&at_work).starts_with("a check"));
        let planned = v1::Incident { next_remedy: v1::RemedyKind::WakeQueue.into(), ..open };
        assert!(next_words(&planned).contains("only shown"));
        let performed = v1::Incident { next_is_performed: true, ..planned };
        assert_eq!(next_words(&performed), "the queue looks for due tasks, by the daemon itself");
    }
}
