//! How much harm one call can do.
//!
//! Invariant: it begins at what the tool declares and is only ever raised.

use std::collections::BTreeSet;

use palyra_types::tool::{ApprovalRiskLevel, Capability, EffectContract, ToolConduct, ToolSpec};

use super::places::PlaceCategory;

/// What a call's arguments reach.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArgumentReach<'a> {
    pub(crate) places: &'a BTreeSet<PlaceCategory>,
    pub(crate) hosts: bool,
    pub(crate) argv: bool,
}

/// Returns the risk of a call of `tool` whose arguments reach so far.
pub(crate) fn risk_of(tool: &ToolSpec, reach: ArgumentReach<'_>) -> ApprovalRiskLevel {
    let mut risk = tool.risk.max(declared(tool));
    if reach.hosts || reach.argv {
        risk = risk.max(ApprovalRiskLevel::High);
    }
    let changes = tool.is_sensitive();
    if reach.places.contains(&PlaceCategory::Vault) {
        risk = risk.max(ApprovalRiskLevel::High);
    }
    for place in reach.places {
        let critical = match place {
            PlaceCategory::OutsideRoot | PlaceCategory::Daemon | PlaceCategory::Credentials => true,
            // To read a hook harms nobody.
            PlaceCategory::Git | PlaceCategory::RunsLater => changes,
            // Ordinary work, each time with a yes of its own: no wide grant and no standing setting covers it.
            PlaceCategory::BuildFiles | PlaceCategory::AgentInstructions | PlaceCategory::Vault => false,
        };
        if critical {
            risk = ApprovalRiskLevel::Critical;
        }
    }
    risk
}

/// What contract and capabilities come to, whatever the tool says of itself.
fn declared(tool: &ToolSpec) -> ApprovalRiskLevel {
    let contract = match tool.contract {
        EffectContract::Pure => ApprovalRiskLevel::Low,
        EffectContract::Local if tool.conduct == ToolConduct::Question => ApprovalRiskLevel::Low,
        EffectContract::Local | EffectContract::Keyed | EffectContract::Probe | EffectContract::Opaque => {
            ApprovalRiskLevel::Medium
        }
    };
    let capabilities = tool.capabilities.iter().map(|capability| match capability {
        Capability::ReadFiles | Capability::AskUser => ApprovalRiskLevel::Low,
        Capability::WriteFiles | Capability::Component => ApprovalRiskLevel::Medium,
        Capability::Network | Capability::Process | Capability::Secrets => ApprovalRiskLevel::High,
    });
    capabilities.fold(contract, ApprovalRiskLevel::max)
}
