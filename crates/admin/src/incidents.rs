//! Incidents of self-healing, for callers: lists of them, the modes of its domains, and the check that finds open ones.

use palyra_healing::PlannedRemedy;
use palyra_journal_core::families::{healing_modes, incidents};
use palyra_journal_core::family::QueryFamilies;
use palyra_types::access::ActorIdentity;
use palyra_types::incident::{
    HealingDomain, IncidentEvent, IncidentRecord, IncidentSeverity, SelfHealingMode,
};
use palyra_types::{IncidentId, PrincipalId};

use crate::error::AdminError;
use crate::healing::{DomainView, IncidentQuery, IncidentView};
use crate::health::{CheckLevel, HealthCheck, HealthHandle};

impl HealthHandle {
    /// Lists a page of incidents, the newest first.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn incidents(&self, query: IncidentQuery) -> Result<Vec<IncidentView>, AdminError> {
        let healing = &self.healing;
        let found = healing.ports.families.query(move |rows, log| incidents::records(rows, log, &query));
        Ok(found.await?.into_iter().map(|record| healing.view(record)).collect())
    }

    /// Returns an incident.
    ///
    /// # Errors
    /// [`AdminError::IncidentNotFound`]; [`AdminError::Read`].
    pub async fn incident(&self, incident: IncidentId) -> Result<IncidentView, AdminError> {
        let healing = &self.healing;
        let found = healing.ports.families.query(move |rows, log| incidents::record(rows, log, incident));
        found.await?.map(|record| healing.view(record)).ok_or(AdminError::IncidentNotFound)
    }

    /// Returns the incidents that are not over.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn open_incidents(&self) -> Result<Vec<IncidentView>, AdminError> {
        let healing = &self.healing;
        let found = healing.ports.families.query(incidents::unresolved).await?;
        Ok(found.into_iter().map(|record| healing.view(record)).collect())
    }

    /// Adds what is known of an incident beside the journal.
    #[must_use]
    pub fn incident_view(&self, record: IncidentRecord) -> IncidentView {
        self.healing.view(record)
    }

    /// Returns every domain with its mode.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn healing_domains(&self) -> Result<Vec<DomainView>, AdminError> {
        let healing = &self.healing;
        let chosen = healing.ports.families.query(|rows, _| healing_modes::in_force(rows)).await?;
        let configured = (healing.ports.configured)();
        let view = |(domain, _): (HealingDomain, &str)| {
            let chosen = chosen.iter().find(|(of, _)| *of == domain).map(|(_, mode)| *mode);
            let mode = chosen.unwrap_or_else(|| configured.of(domain));
            DomainView { domain, mode, chosen, watch: healing.watch_of(domain) }
        };
        Ok(HealingDomain::ALL.into_iter().map(view).collect())
    }

    /// Sets the mode of a domain; `None` for the one of the configuration. The next look, which begins at once, goes by it.
    ///
    /// # Errors
    /// [`AdminError::Append`].
    pub async fn set_healing_mode(
        &self,
        actor: ActorIdentity,
        domain: HealingDomain,
        mode: Option<SelfHealingMode>,
    ) -> Result<(), AdminError> {
        let healing = &self.healing;
        let set = IncidentEvent::ModeSet { domain, mode };
        healing.ports.recorder.record_act_now(actor, PrincipalId::NIL, set).await?;
        healing.ask();
        Ok(())
    }

    /// Lets self-healing look at once, since something may have changed that gives no signal.
    pub fn heal_now(&self) {
        self.healing.ask();
    }

    /// Returns whether a remedy of the latest look is performed, and not only shown.
    #[must_use]
    pub fn performs(&self, remedy: &PlannedRemedy) -> bool {
        self.healing.modes().of(remedy.key.cause.domain()) == SelfHealingMode::Auto
    }

    /// Names open incidents.
    pub(crate) async fn incident_check(&self) -> Option<HealthCheck> {
        let open = self.open_incidents().await.ok()?;
        let severity = open.iter().map(|view| view.record.opened.severity).max()?;
        let mut causes: Vec<&str> = open.iter().map(|view| view.record.opened.cause.as_str()).collect();
        causes.sort_unstable();
        causes.dedup();
        let level = match severity {
            IncidentSeverity::Notice => CheckLevel::Ok,
            IncidentSeverity::Warning => CheckLevel::Warning,
            IncidentSeverity::Critical => CheckLevel::Error,
        };
        Some(HealthCheck {
            name: "incidents",
            level,
            found: format!("{} open: {}", open.len(), causes.join(", ")),
            mend: "`palyra admin incidents` lists them with the remedy of each",
        })
    }
}
