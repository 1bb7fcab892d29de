//! Words for what a tool declares, in the text whose digest is stored.
//!
//! Owns these words. Invariant: they are a stored format and never change, also when a variant is renamed.

use super::{ApprovalRiskLevel, Capability, EffectContract, ToolConduct};

pub(super) fn contract(contract: EffectContract) -> &'static str {
    match contract {
        EffectContract::Pure => "Pure",
        EffectContract::Keyed => "Keyed",
        EffectContract::Probe => "Probe",
        EffectContract::Local => "Local",
        EffectContract::Opaque => "Opaque",
    }
}

pub(super) fn risk(risk: ApprovalRiskLevel) -> &'static str {
    match risk {
        ApprovalRiskLevel::Low => "Low",
        ApprovalRiskLevel::Medium => "Medium",
        ApprovalRiskLevel::High => "High",
        ApprovalRiskLevel::Critical => "Critical",
    }
}

pub(super) fn conduct(conduct: ToolConduct) -> &'static str {
    match conduct {
        ToolConduct::Direct => "Direct",
        ToolConduct::Prepared => "Prepared",
        ToolConduct::Question => "Question",
    }
}

/// Returns the capabilities in brackets, with a comma and a space between them.
pub(super) fn capabilities(capabilities: &[Capability]) -> String {
    let words: Vec<&str> = capabilities.iter().copied().map(capability).collect();
    format!("[{}]", words.join(", "))
}

fn capability(capability: Capability) -> &'static str {
    match capability {
        Capability::ReadFiles => "ReadFiles",
        Capability::WriteFiles => "WriteFiles",
        Capability::Network => "Network",
        Capability::Process => "Process",
        Capability::Secrets => "Secrets",
        Capability::AskUser => "AskUser",
        Capability::Component => "Component",
    }
}
