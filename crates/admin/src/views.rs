//! What runs read of what people decided.

use std::sync::Arc;

use palyra_background::Drain;
use palyra_journal_core::families::postures;
use palyra_journal_core::family::QueryFamilies;
use palyra_policy::ToolCallPolicySnapshot;
use palyra_ports::ReadError;
use tokio::sync::watch;

use crate::access::{AccessHandle, AccessSnapshot};
use crate::agents::AgentRegistry;
use crate::budgets::BudgetBook;
use crate::memories::memory_search::MemorySearch;
use crate::occurrence_taints::OccurrenceTaints;
use crate::parts::AdminPorts;
use crate::policy::PolicyInForce;
use crate::project_rules::ProjectRules;
use crate::shadow::Shadow;
use crate::skill_registry::SkillRegistry;
use crate::standing_grants::StandingGrants;

/// The state that the handles change and that runs read; clones share it.
#[derive(Clone)]
pub struct AdminViews {
    /// The policy in force.
    pub policy: Arc<PolicyInForce>,
    /// Policies that are tried out beside it.
    pub shadow: Arc<Shadow>,
    /// The stored grants that hold.
    pub grants: Arc<StandingGrants>,
    /// What running occurrences of schedules have read by their prompts.
    pub occurrences: Arc<OccurrenceTaints>,
    /// What projects say, and what people accepted of it.
    pub project_rules: Arc<ProjectRules>,
    /// What is remembered for people.
    pub memories: Arc<MemorySearch>,
    /// What model requests may cost.
    pub budgets: Arc<BudgetBook>,
    /// The skills there are.
    pub skills: Arc<SkillRegistry>,
    /// Agent profiles.
    pub agents: AgentRegistry,
    /// Principals and their roles.
    pub access: watch::Receiver<Arc<AccessSnapshot>>,
}

impl AdminViews {
    /// Reads what the journal says.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn load(
        ports: &Arc<AdminPorts>,
        agents: AgentRegistry,
        access: &AccessHandle,
        policy: watch::Receiver<Arc<ToolCallPolicySnapshot>>,
        drain: Drain,
    ) -> Result<Self, ReadError> {
        let grants = StandingGrants::load(Arc::clone(ports)).await?;
        let skills = SkillRegistry::load(Arc::clone(ports)).await?;
        let families = Arc::clone(&ports.families);
        let budgets = BudgetBook::load(ports.recorder.clone(), families, Arc::clone(&ports.clock)).await?;
        let occurrences = OccurrenceTaints::load(&*ports.families).await?;
        let policy = PolicyInForce::new(policy, ports.families.query(postures::records).await?);
        Ok(Self {
            policy: Arc::new(policy),
            shadow: Arc::new(Shadow::new(Arc::clone(ports), drain)),
            grants: Arc::new(grants),
            occurrences: Arc::new(occurrences),
            project_rules: Arc::new(ProjectRules::new(
                Arc::clone(&ports.project_files),
                Arc::clone(&ports.families),
                Arc::clone(&ports.redactor),
            )),
            memories: Arc::new(MemorySearch::load(ports.for_memory()).await?),
            budgets: Arc::new(budgets),
            skills: Arc::new(skills),
            agents,
            access: access.watch_known(),
        })
    }
}
