//! What self-healing found: open incidents with the remedy that follows, those that are over, and the mode of each domain.

mod mode_form;
mod words;

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::count;
use palyra_types::access::AccessScope;
use palyra_wire::v1;

pub(crate) use mode_form::{HealingModeForm, mode_request};

use self::words::{
    cause_words, domain_word, evidence_words, mode_words, next_words, outcome_mark, remedy_words,
    resolution_mark, severity_mark, severity_order, watch_words,
};
use super::{NavigationRow, ScreenSpec};
use crate::forms::FormFields;
use crate::page_parts::wide_table;
use crate::paths::{HEALING_MODE_PATH, INCIDENTS_PATH};
use crate::screen_call::ScreenCall;
use crate::wording::{id_tag, line, now_seconds, time_tag};

const EMPTY: &str = "Nothing is wrong.";
/// Incidents of a page that are over.
const ROWS_MAX: u32 = 50;

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: INCIDENTS_PATH,
    title: "Incidents",
    navigation: Some(NavigationRow::More),
    operation: "ListIncidents",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView { view: || view(&IncidentList::default(), 0), sentence: EMPTY }),
};

/// What the page shows.
#[derive(Default)]
struct IncidentList {
    open: Vec<v1::Incident>,
    over: Vec<v1::Incident>,
    /// Where the next page of those that are over begins.
    next: String,
    domains: Vec<v1::HealingDomainMode>,
    /// `None` for others than owners.
    form: Option<HealingModeForm>,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let open = call.call(v1::ListIncidentsRequest::default()).await?;
    let request = v1::ListIncidentsRequest {
        stage: v1::IncidentStage::Resolved.into(),
        page_size: ROWS_MAX,
        page_token: call.query("after"),
        ..Default::default()
    };
    let over = call.call(request).await?;
    let form = call
        .has_scope(AccessScope::Admin)
        .then(|| HealingModeForm::filled(call.form_token(HEALING_MODE_PATH), &FormFields::default()));
    let list = IncidentList {
        open: open.incidents,
        over: over.incidents,
        next: over.next_page_token,
        domains: open.domains,
        form,
    };
    Ok(view(&list, now_seconds()))
}

fn view(list: &IncidentList, now: i64) -> Markup {
    let mut open: Vec<&v1::Incident> = list.open.iter().collect();
    open.sort_by_key(|incident| severity_order(incident.severity()));
    html! {
        h2 { "Open" }
        @if open.is_empty() { p { (EMPTY) " " a href="/console/status" { "See the checks" } } }
        @for incident in open { (card(incident, now)) }
        h2 { "Over" }
        @if list.over.is_empty() { p { "No incident is over." } }
        @else { (over_table(&list.over, now)) }
        @if !list.next.is_empty() {
            p { a href={ (INCIDENTS_PATH) "?after=" (list.next) } { "Older incidents" } }
        }
        h2 { "What is done in each domain" }
        (domain_table(&list.domains))
        @if let Some(form) = &list.form { (form.markup()) }
    }
}

fn card(incident: &v1::Incident, now: i64) -> Markup {
    html! {
        section.card {
            h3 { (cause_words(incident.cause())) }
            p { (severity_mark(incident.severity()).markup()) }
            dl.facts {
                dt { "Subject" } dd { (subject(incident)) }
                dt { "Evidence" } dd { (evidence_words(incident)) }
                dt { "Found" } dd { (time_tag(incident.opened.as_ref(), now)) }
                @if incident.remedies > 0 { dt { "Done so far" } dd { (done(incident)) } }
                dt { "What follows" } dd { (next_words(incident)) }
                @if !incident.mend.is_empty() { dt { "What you can do" } dd { (line(&incident.mend)) } }
                dt { "Domain" } dd { (domain_word(incident.domain())) }
                dt { "Incident" } dd { (id_tag(&incident.incident_id)) }
            }
        }
    }
}

/// Returns the subject of an incident, with a link where the console has a page of it.
fn subject(incident: &v1::Incident) -> Markup {
    let subject = incident.subject.as_str();
    let is_id = subject.len() == 26 && subject.bytes().all(|byte| byte.is_ascii_alphanumeric());
    html! {
        @match incident.domain() {
            _ if subject.is_empty() => { "the daemon as a whole" },
            v1::HealingDomain::Runs if is_id => { "run " a href={ "/console/runs/" (subject) } { (id_tag(subject)) } },
            v1::HealingDomain::Approvals if is_id => { "approval " a href={ "/console/approvals/" (subject) } { (id_tag(subject)) } },
            v1::HealingDomain::Providers => { a href="/console/models" { (line(subject)) } },
            v1::HealingDomain::Journal => { a href="/console/proofs" { (line(subject)) } },
            _ => { code { (line(subject)) } },
        }
    }
}

/// Says which remedies were performed, and how the latest ended.
fn done(incident: &v1::Incident) -> Markup {
    html! {
        (count(incident.remedies.into(), "attempt")) "; the latest: " (remedy_words(incident.last_remedy())) ", "
        (outcome_mark(incident.last_outcome()).markup())
    }
}

fn over_table(incidents: &[v1::Incident], now: i64) -> Markup {
    let rows = html! {
        @for incident in incidents {
            tr {
                td { (cause_words(incident.cause())) }
                td { (subject(incident)) }
                td { @if incident.remedies == 0 { span.muted { "none" } } @else { (done(incident)) } }
                td { (resolution_mark(incident.resolution()).markup()) }
                td { (time_tag(incident.changed.as_ref(), now)) }
            }
        }
    };
    wide_table("Incidents that are over", &["Cause", "Subject", "Remedy", "End", "When"], &rows)
}

fn domain_table(domains: &[v1::HealingDomainMode]) -> Markup {
    let rows = html! {
        @for domain in domains {
            tr {
                td { (domain_word(domain.domain())) }
                td { (mode_words(domain.mode())) }
                td { @if domain.chosen { "a person" } @else { "the configuration" } }
                td { (watch_words(domain.watch())) }
            }
        }
    };
    wide_table("Modes of the domains", &["Domain", "Mode", "Set by", "Watched"], &rows)
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let incident = |domain: v1::HealingDomain, stage: v1::IncidentStage| v1::Incident {
        domain: domain.into(),
        stage: stage.into(),
        subject: text.to_owned(),
        remedies: 1,
        ..Default::default()
    };
    let open = [v1::HealingDomain::Runs, v1::HealingDomain::Providers, v1::HealingDomain::Journal]
        .map(|domain| incident(domain, v1::IncidentStage::Open));
    let domain = v1::HealingDomainMode { domain: v1::HealingDomain::Runs.into(), ..Default::default() };
    let list = IncidentList {
        open: open.to_vec(),
        over: vec![incident(v1::HealingDomain::Tasks, v1::IncidentStage::Resolved)],
        next: "7".to_owned(),
        domains: vec![domain],
        form: Some(HealingModeForm::filled("token".to_owned(), &FormFields::default())),
    };
    view(&list, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

    fn hung(severity: v1::IncidentSeverity) -> v1::Incident {
        v1::Incident {
            domain: v1::HealingDomain::Runs.into(),
            cause: v1::IncidentCause::RunNoProgress.into(),
            severity: severity.into(),
            stage: v1::IncidentStage::Open.into(),
            subject: RUN.to_owned(),
            silent_ms: 125_000,
            window_ms: 120_000,
            next_remedy: v1::RemedyKind::CancelRun.into(),
            ..Default::default()
        }
    }

    #[test]
    fn an_open_incident_says_what_follows_and_whether_it_is_done() {
        let incident = hung(v1::IncidentSeverity::Warning);
        let shown = card(&incident, 0).into_string();
        for part in [
            "A run is worked on and shows no progress",
            &format!("/console/runs/{RUN}"),
            "no progress for 2m",
            "the run is cancelled: this is only shown",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        let performed = card(&v1::Incident { next_is_performed: true, ..incident }, 0).into_string();
        assert!(performed.contains("the run is cancelled, by the daemon itself"), "{performed}");
    }

    #[test]
    fn the_worst_is_first_and_a_subject_that_is_not_an_id_is_no_link() {
        let worst = v1::Incident {
            domain: v1::HealingDomain::Journal.into(),
            cause: v1::IncidentCause::DiskLow.into(),
            ..hung(v1::IncidentSeverity::Critical)
        };
        let open = vec![hung(v1::IncidentSeverity::Notice), worst];
        let shown = view(&IncidentList { open, ..Default::default() }, 0).into_string();
        let at = |text: &str| shown.find(text).unwrap();
        assert!(at("The disk has room for endings only") < at("shows no progress"), "{shown}");
        assert!(!shown.contains("<form"), "the form is for owners: {shown}");
        let named = v1::Incident { subject: "../x".to_owned(), ..hung(v1::IncidentSeverity::Notice) };
        assert!(!subject(&named).into_string().contains("href"));
    }

    #[test]
    fn one_that_is_over_has_its_remedy_and_how_it_ended() {
        let over = v1::Incident {
            stage: v1::IncidentStage::Resolved.into(),
            remedies: 2,
            last_remedy: v1::RemedyKind::CancelRun.into(),
            last_outcome: v1::RemedyOutcome::Helped.into(),
            resolution: v1::IncidentResolution::Remedied.into(),
            ..hung(v1::IncidentSeverity::Warning)
        };
        let shown = over_table(&[over], 0).into_string();
        for part in ["2 attempts; the latest: the run is cancelled, ", "it helped", "after a remedy"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
}
