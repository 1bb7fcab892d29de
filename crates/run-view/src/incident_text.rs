//! Incidents of self-healing as rows and lines.

use std::time::Duration;

use palyra_screen_text::{clean_line, span};
use palyra_wire::v1::{HealingDomainMode, Incident, IncidentCause, IncidentStage, RemedyKind};

use crate::{age, date};

/// Characters of a subject that a row shows.
const SUBJECT_CHARS_MAX: usize = 40;
/// Characters of a subject on a line of its own.
const SUBJECT_LINE_CHARS_MAX: usize = 200;

/// Returns the row of an incident.
pub fn incident_row(incident: Incident) -> [String; 7] {
    let severity = incident.severity_name().into_owned();
    let cause = incident.cause_name().into_owned();
    let stage = stage(&incident);
    let next = next(&incident);
    let subject = clean_line(&incident.subject, SUBJECT_CHARS_MAX);
    [incident.incident_id, severity, cause, subject, age(incident.opened), stage, next]
}

/// Returns the row of a domain with its mode.
pub fn healing_mode_row(domain: HealingDomainMode) -> [String; 4] {
    let from = if domain.chosen { "a person" } else { "configuration" };
    [
        domain.domain_name().into_owned(),
        domain.mode_name().into_owned(),
        from.to_owned(),
        domain.watch_name().into_owned(),
    ]
}

/// Returns what is known of an incident, a line each.
#[must_use]
pub fn incident_lines(incident: &Incident) -> Vec<String> {
    let mut lines = vec![format!("incident  {}", incident.incident_id)];
    lines.push(format!("cause     {} ({})", incident.cause_name(), incident.domain_name()));
    lines.push(format!("severity  {}", incident.severity_name()));
    if !incident.subject.is_empty() {
        lines.push(format!("subject   {}", clean_line(&incident.subject, SUBJECT_LINE_CHARS_MAX)));
    }
    lines.push(format!("opened    {}", date(incident.opened)));
    lines.push(format!("stage     {}", stage(incident)));
    lines.push(format!("evidence  {}", evidence(incident)));
    if incident.remedies > 0 {
        let remedies = if incident.remedies == 1 { "remedy" } else { "remedies" };
        lines.push(format!(
            "remedied  {} {remedies}; the latest, {}: {}",
            incident.remedies,
            incident.last_remedy_name(),
            if incident.last_outcome_name().is_empty() {
                "at work".into()
            } else {
                incident.last_outcome_name()
            }
        ));
    }
    lines.push(format!("next      {}", next(incident)));
    if !incident.mend.is_empty() {
        lines.push(format!("mend      {}", incident.mend));
    }
    lines
}

fn stage(incident: &Incident) -> String {
    match incident.stage() {
        IncidentStage::Resolved => format!("resolved, {}", incident.resolution_name()),
        IncidentStage::Open | IncidentStage::Remediating | IncidentStage::Unspecified => {
            incident.stage_name().into_owned()
        }
    }
}

fn evidence(incident: &Incident) -> String {
    let mut parts = Vec::new();
    if incident.silent_ms > 0 {
        let silent = span(Duration::from_millis(incident.silent_ms));
        parts.push(format!(
            "no progress for {silent}, at most {}",
            span(Duration::from_millis(incident.window_ms))
        ));
    }
    if incident.measured > 0 && incident.limit > 0 {
        parts.push(format!("{} measured, at most {}", incident.measured, incident.limit));
    } else if incident.measured > 0 && incident.cause() == IncidentCause::ApproverUnreachable {
        parts.push(format!("{} open, the oldest is the subject", incident.measured));
    } else if incident.measured > 0 {
        parts.push(format!("{} measured", incident.measured));
    }
    if parts.is_empty() { "seen".to_owned() } else { parts.join("; ") }
}

/// Says what follows, and by whom.
fn next(incident: &Incident) -> String {
    let is_over = incident.stage() == IncidentStage::Resolved;
    match incident.next_remedy() {
        RemedyKind::Unspecified if is_over => String::new(),
        RemedyKind::Unspecified if incident.stage() == IncidentStage::Remediating => "a check".to_owned(),
        RemedyKind::Unspecified => "a person".to_owned(),
        _ if incident.next_is_performed => incident.next_remedy_name().into_owned(),
        _ => format!("{} (shown only)", incident.next_remedy_name()),
    }
}

#[cfg(test)]
mod tests {
    use palyra_wire::v1;

    use super::*;

    #[test]
    fn a_row_says_who_acts_next() {
        let open = || Incident { stage: IncidentStage::Open.into(), ..Incident::default() };
        let cancel = || Incident { next_remedy: RemedyKind::CancelRun.into(), ..open() };
        for (incident, expected) in [
            (open(), "a person"),
            (cancel(), "cancel_run (shown only)"),
            (Incident { next_is_performed: true, ..cancel() }, "cancel_run"),
            (Incident { stage: IncidentStage::Remediating.into(), ..open() }, "a check"),
            (Incident { stage: IncidentStage::Resolved.into(), ..open() }, ""),
        ] {
            assert_eq!(incident_row(incident)[6], expected);
        }
    }

    #[test]
    fn a_person_reads_what_is_lost_and_what_to_do() {
        let incident = Incident {
            stage: IncidentStage::Open.into(),
            subject: format!("entry 12 of run {}: the payload does not match its commitment", "A".repeat(26)),
            mend: "`palyra backup restore` puts it back".to_owned(),
            ..Incident::default()
        };
        let lines = incident_lines(&incident).join("\n");
        assert!(lines.contains("the payload does not match its commitment"), "{lines}");
        assert!(
            lines.ends_with("next      a person\nmend      `palyra backup restore` puts it back"),
            "{lines}"
        );
    }

    #[test]
    fn the_lines_of_an_incident_show_its_evidence() {
        let incident = Incident {
            cause: v1::IncidentCause::RunNoProgress.into(),
            domain: v1::HealingDomain::Runs.into(),
            silent_ms: 125_000,
            window_ms: 120_000,
            remedies: 1,
            last_remedy: RemedyKind::ResumeRun.into(),
            last_outcome: v1::RemedyOutcome::DidNotHelp.into(),
            ..Incident::default()
        };
        let lines = incident_lines(&incident).join("\n");
        assert!(lines.contains("run_no_progress (runs)"), "{lines}");
        assert!(lines.contains("no progress for 2m"), "{lines}");
        assert!(lines.contains("1 remedy; the latest, resume_run: did_not_help"), "{lines}");
    }
}
