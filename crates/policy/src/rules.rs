//! The rules that permit, and their evaluation.
//!
//! Invariant: there is no rule that denies, because what no rule permits is denied already.

use palyra_types::tool::{ApprovalRiskLevel, EffectContract, ToolSpec};

/// Permits calls of tools of one contract up to a risk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermitRule {
    /// Its name, shown with the decisions it makes.
    pub name: &'static str,
    /// The contract a tool must declare.
    pub contract: EffectContract,
    /// The highest risk it permits.
    pub risk_max: ApprovalRiskLevel,
}

/// The rules of a policy; without any, everything is denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPolicyRules {
    /// In the order in which they are asked; the first that permits decides.
    pub permits: Vec<PermitRule>,
}

impl ToolPolicyRules {
    /// Returns the rules that Palyra ships: what only reads inside the workspace runs unattended.
    #[must_use]
    pub fn shipped() -> Self {
        Self {
            permits: vec![PermitRule {
                name: "reads-in-the-workspace",
                contract: EffectContract::Pure,
                risk_max: ApprovalRiskLevel::Low,
            }],
        }
    }
}

/// Returns the rule that permits calls of `tool`, or `None`, which means: denied.
#[must_use]
pub fn evaluate_with_config<'r>(rules: &'r ToolPolicyRules, tool: &ToolSpec) -> Option<&'r PermitRule> {
    rules.permits.iter().find(|rule| tool.contract == rule.contract && tool.risk <= rule.risk_max)
}
