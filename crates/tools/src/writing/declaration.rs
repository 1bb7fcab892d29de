//! What every tool that changes files declares in the same way.

use std::time::Duration;

use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde_json::{Value, json};

/// How long a call may take.
const DEADLINE: Duration = Duration::from_secs(60);

/// What differs between them.
pub(crate) struct ToolDeclaration {
    pub(crate) name: &'static str,
    pub(crate) version: u32,
    pub(crate) description: &'static str,
    pub(crate) properties: Value,
    pub(crate) required: &'static [&'static str],
    pub(crate) output_bytes_max: usize,
}

impl ToolDeclaration {
    /// Returns what the tool declares: it is prepared, runs alone, and after a crash the files tell what it did.
    pub(crate) fn spec(self) -> ToolSpec {
        ToolSpec {
            name: ToolName::new(self.name),
            version: self.version,
            description: self.description.to_owned(),
            schema: json!({
                "type": "object",
                "properties": self.properties,
                "required": self.required,
                "additionalProperties": false,
            }),
            contract: EffectContract::Probe,
            parallelism: Parallelism::Exclusive,
            conduct: ToolConduct::Prepared,
            capabilities: vec![Capability::WriteFiles],
            taints: Taints::NONE,
            risk: ApprovalRiskLevel::Medium,
            deadline: DEADLINE,
            output_bytes_max: self.output_bytes_max,
        }
    }
}

/// Returns how a model names the file that is changed.
pub(crate) fn path_property() -> Value {
    json!({
        "type": "string", "x-palyra-meaning": "path", "minLength": 1, "maxLength": 4095,
        "description": "The file, from the workspace root, such as `src/main.rs`.",
    })
}
