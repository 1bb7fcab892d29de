//! Tools, policies and calls that the examples measure with.

use std::sync::Arc;
use std::time::Duration;

use palyra_policy::ToolPolicyRules;
use palyra_types::approval::ApproverPresence;
use palyra_types::run::Surface;
use palyra_types::tool::{
    ApprovalRiskLevel, CallContext, Capability, EffectContract, Parallelism, Taints, ToolCall, ToolCatalog,
    ToolConduct, ToolName, ToolSpec,
};
use palyra_types::{AgentId, PrincipalId, Redacted, RunId, SessionId, Timestamp};

/// 900 policies about one tool each, 80 about groups, 20 about everything, beside those that ship.
pub(crate) fn many() -> (Arc<ToolCatalog>, ToolPolicyRules) {
    let mut text = String::new();
    for at in 0..900 {
        let tool = format!("tool_{at}");
        text.push_str(&format!(
            "@id(\"one-{at}\") permit (principal, action == Action::\"execute\", resource == Tool::\"{tool}\") \
             when {{ context.risk == \"medium\" && context.turns < 50 }};\n"
        ));
    }
    let groups =
        ["Capability::\"secrets\"", "Capability::\"network\"", "Contract::\"keyed\"", "Contract::\"opaque\""];
    for at in 0..80 {
        let group = groups[at % groups.len()];
        text.push_str(&format!(
            "@id(\"group-{at}\") permit (principal, action == Action::\"execute\", resource in {group}) \
             when {{ context.hosts.contains(\"host{at}.example\") }};\n"
        ));
    }
    for at in 0..20 {
        let action = ["execute", "execute_unattended"][at % 2];
        text.push_str(&format!(
            "@id(\"all-{at}\") forbid (principal, action == Action::\"{action}\", resource) \
             when {{ context.tool_calls > {} }};\n",
            1_000 + at
        ));
    }
    let mut tools: Vec<ToolSpec> = (0..900)
        .map(|at| tool(&format!("tool_{at}"), EffectContract::Probe, Capability::WriteFiles))
        .collect();
    tools.push(tool("read_file", EffectContract::Pure, Capability::ReadFiles));
    tools.push(tool("write_file", EffectContract::Probe, Capability::WriteFiles));
    (Arc::new(ToolCatalog::new(tools)), ToolPolicyRules::shipped().with_file("many.cedar", &text))
}

fn tool(name: &str, contract: EffectContract, capability: Capability) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: String::new(),
        schema: serde_json::json!({
            "type": "object", "additionalProperties": false, "properties": {"path": {"type": "string"}},
        }),
        contract,
        parallelism: Parallelism::Parallel,
        conduct: ToolConduct::Direct,
        capabilities: vec![capability],
        taints: Taints::WORKSPACE,
        risk: ApprovalRiskLevel::Low,
        deadline: Duration::from_secs(10),
        output_bytes_max: 1024,
    }
}

/// A call as runs make them.
pub(crate) fn call(tool: &str, arguments: &str) -> ToolCall {
    ToolCall {
        tool: ToolName::new(tool),
        arguments: Redacted::cleaned(arguments.to_owned()),
        context: CallContext {
            principal: PrincipalId::from_parts(1, 1),
            agent: AgentId::from_parts(2, 2),
            session: SessionId::from_parts(3, 3),
            run: RunId::from_parts(4, 4),
            surface: Surface::LocalSocket,
            approvers: ApproverPresence::Inbox,
            taints: Taints::WORKSPACE,
            turns: 3,
            tool_calls: 5,
            now: Timestamp(1_700_000_000_000_000),
            isolation: palyra_types::tool::Isolation::DescriptorRelative,
        },
    }
}
