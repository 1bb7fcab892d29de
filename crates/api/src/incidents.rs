//! Incidents of self-healing, for the owner.

use palyra_admin::healing::{DomainView, DomainWatch, IncidentQuery, IncidentView};
use palyra_runtime::Caller;
use palyra_types::incident::{
    HealingDomain, IncidentCause, IncidentResolution, IncidentSeverity, IncidentStage, RemedyKind,
    RemedyOutcome, SelfHealingMode,
};
use palyra_wire::short_names::must_be;
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::known_value::known;
use crate::operations::OperationHandlers;
use crate::translate;

/// Adds the values of the schemas for those of answers.
macro_rules! to_wire {
    ($($value:ident => $wire:ident: $to:ident, [$($variant:ident)+];)+) => {
        $(
            fn $to(value: $value) -> v1::$wire {
                match value { $($value::$variant => v1::$wire::$variant,)+ }
            }
        )+
    };
}

to_wire! {
    HealingDomain => HealingDomain: domain_to_wire,
        [Runs Tasks Approvals Artifacts Channels Providers Journal Sandbox Workers Browser];
    SelfHealingMode => HealingMode: mode_to_wire, [Disabled ObserveOnly Auto];
    IncidentSeverity => IncidentSeverity: severity_to_wire, [Notice Warning Critical];
    IncidentCause => IncidentCause: cause_to_wire,
        [RunNoProgress RunNotDriven TaskNoProgress TaskNotTaken ApproverUnreachable ApprovalExpiryMissed
         ApprovalNotContinued ArtifactDamaged ConnectorDown ProviderPaused WalTooLarge DiskLow ProjectionDiffers
         EntryDamaged ScratchLeft WorkerSilent BrowserSilent SpareFiles];
    RemedyKind => RemedyKind: remedy_to_wire,
        [ResumeRun CancelRun RequeueTask WakeQueue ExpireApprovals RepairArtifact RestartConnector ReopenProvider
         TruncateWal FreeSpace RebuildProjections RevokeWorker RestartBrowser];
    RemedyOutcome => RemedyOutcome: outcome_to_wire, [Helped DidNotHelp Failed Interrupted];
    IncidentResolution => IncidentResolution: resolution_to_wire, [ByItself Remedied NotWatched];
    IncidentStage => IncidentStage: stage_to_wire, [Open Remediating Resolved];
    DomainWatch => DomainWatch: watch_to_wire, [Watched Unread NotWatched Absent];
}

fn domain_of(wire: v1::HealingDomain) -> Option<HealingDomain> {
    HealingDomain::ALL.into_iter().map(|(domain, _)| domain).find(|domain| domain_to_wire(*domain) == wire)
}

fn mode_of(wire: v1::HealingMode) -> Option<SelfHealingMode> {
    SelfHealingMode::ALL.into_iter().map(|(mode, _)| mode).find(|mode| mode_to_wire(*mode) == wire)
}

fn stage_of(wire: v1::IncidentStage) -> Option<IncidentStage> {
    IncidentStage::ALL.into_iter().map(|(stage, _)| stage).find(|stage| stage_to_wire(*stage) == wire)
}

impl OperationHandlers {
    /// Answers `ListIncidents`.
    pub async fn list_incidents(
        &self,
        _caller: Caller,
        message: v1::ListIncidentsRequest,
    ) -> Result<v1::ListIncidentsResponse, ApiError> {
        let stage = stage_of(known(message.stage, "stage", v1::IncidentStage::SHORT_NAMES)?);
        let domain = domain_of(known(message.domain, "domain", v1::HealingDomain::SHORT_NAMES)?);
        let limit = translate::page_rows(message.page_size);
        let health = &self.state.health;
        let mut next_page_token = String::new();
        let views = if stage.is_some() || message.all {
            let below = match message.page_token.as_str() {
                "" => None,
                token => Some(translate::id("page_token", token)?),
            };
            let views = health.incidents(IncidentQuery { stage, domain, below, limit }).await?;
            let last = views.last().filter(|_| views.len() >= limit);
            next_page_token = last.map(|view| view.record.opened.incident.to_string()).unwrap_or_default();
            views
        } else {
            let mut views = health.open_incidents().await?;
            views.retain(|view| domain.is_none_or(|domain| view.record.opened.cause.domain() == domain));
            views.sort_by_key(|view| std::cmp::Reverse(view.record.opened.incident));
            views
        };
        let domains = health.healing_domains().await?.into_iter().map(domain_mode).collect();
        let incidents = views.into_iter().map(|view| self.incident(view)).collect();
        Ok(v1::ListIncidentsResponse { incidents, next_page_token, domains })
    }

    /// Answers `GetIncident`.
    pub async fn get_incident(
        &self,
        _caller: Caller,
        message: v1::GetIncidentRequest,
    ) -> Result<v1::GetIncidentResponse, ApiError> {
        let incident = translate::id("incident_id", &message.incident_id)?;
        let view = self.state.health.incident(incident).await?;
        Ok(v1::GetIncidentResponse { incident: Some(self.incident(view)) })
    }

    /// Answers `SetHealingMode`.
    pub async fn set_healing_mode(
        &self,
        caller: Caller,
        message: v1::SetHealingModeRequest,
    ) -> Result<v1::SetHealingModeResponse, ApiError> {
        let domain = known(message.domain, "domain", v1::HealingDomain::SHORT_NAMES)?;
        let domain = domain_of(domain)
            .ok_or_else(|| ApiError::invalid_argument(&must_be("domain", v1::HealingDomain::SHORT_NAMES)))?;
        let mode = mode_of(known(message.mode, "mode", v1::HealingMode::SHORT_NAMES)?);
        self.state.health.set_healing_mode(caller.actor, domain, mode).await?;
        Ok(v1::SetHealingModeResponse {})
    }

    fn incident(&self, view: IncidentView) -> v1::Incident {
        let record = view.record;
        let opened = record.opened;
        let evidence = view.evidence;
        v1::Incident {
            incident_id: opened.incident.to_string(),
            domain: domain_to_wire(opened.cause.domain()).into(),
            cause: cause_to_wire(opened.cause).into(),
            severity: severity_to_wire(opened.severity).into(),
            stage: stage_to_wire(record.stage).into(),
            subject: view.subject,
            opened: translate::timestamp(record.created),
            changed: translate::timestamp(record.changed),
            silent_ms: millis(evidence.silent),
            window_ms: millis(evidence.window),
            measured: evidence.measured,
            limit: evidence.limit,
            planned: remedy(opened.planned),
            remedies: record.remedies,
            last_remedy: remedy(record.last_remedy),
            last_outcome: record.last_outcome.map(outcome_to_wire).unwrap_or_default().into(),
            resolution: record.resolution.map(resolution_to_wire).unwrap_or_default().into(),
            next_remedy: remedy(view.next.map(|next| next.remedy)),
            next_is_performed: view.next.is_some_and(|next| self.state.health.performs(&next)),
            mend: view.mend.to_owned(),
        }
    }
}

fn domain_mode(view: DomainView) -> v1::HealingDomainMode {
    v1::HealingDomainMode {
        domain: domain_to_wire(view.domain).into(),
        mode: mode_to_wire(view.mode).into(),
        chosen: view.chosen.is_some(),
        watch: watch_to_wire(view.watch).into(),
    }
}

fn millis(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

fn remedy(remedy: Option<RemedyKind>) -> i32 {
    remedy.map(remedy_to_wire).unwrap_or_default().into()
}
