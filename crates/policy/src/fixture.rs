//! A catalogue as real ones are, and calls of it, for tests.

use std::sync::Arc;
use std::time::Duration;

use palyra_types::approval::{
    ApproverPresence, ArgumentRule, GrantBounds, GrantScope, StoredGrant, StoredGrantRecord,
};
use palyra_types::run::Surface;
use palyra_types::tool::{
    ApprovalRiskLevel, CallContext, Capability, EffectContract, Isolation, Parallelism, Taints, ToolCall,
    ToolCatalog, ToolConduct, ToolName, ToolSpec,
};
use palyra_types::{
    AgentId, ApprovalId, PrincipalId, Redacted, RunId, Seq, SessionId, StoredGrantId, Timestamp,
};
use serde_json::{Value, json};

use crate::rules::ToolPolicyRules;
use crate::snapshot::ToolCallPolicySnapshot;

/// The workspace of all tests.
pub(crate) const ROOT: &str = "/home/me/desk";

/// A tool with a schema of its own.
pub(crate) fn tool(
    name: &str,
    contract: EffectContract,
    capabilities: &[Capability],
    properties: &Value,
) -> ToolSpec {
    let required: Vec<&String> =
        properties.as_object().into_iter().flatten().map(|(name, _)| name).take(1).collect();
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: "Does something.".to_owned(),
        schema: json!({
            "type": "object", "additionalProperties": false, "required": required, "properties": properties,
        }),
        contract,
        parallelism: Parallelism::Parallel,
        conduct: ToolConduct::Direct,
        capabilities: capabilities.to_vec(),
        taints: Taints::WORKSPACE,
        risk: ApprovalRiskLevel::Low,
        deadline: Duration::from_secs(9),
        output_bytes_max: 4096,
    }
}

/// Tools of each sort.
pub(crate) fn catalog() -> Arc<ToolCatalog> {
    use Capability::{AskUser, Network, Process, ReadFiles, Secrets, WriteFiles};
    let text = || json!({"type": "string"});
    let path = json!({"type": "string", "minLength": 1, "x-palyra-meaning": "path"});
    let mut question = tool("ask_user", EffectContract::Local, &[AskUser], &json!({"question": text()}));
    question.conduct = ToolConduct::Question;
    let write = json!({"path": path, "content": text()});
    let argv = json!({"argv": {"type": "array", "items": {"type": "string"}, "minItems": 1}});
    Arc::new(ToolCatalog::new(vec![
        tool(
            "read_file",
            EffectContract::Pure,
            &[ReadFiles],
            &json!({"path": path, "from": {"type": "integer", "minimum": 1}}),
        ),
        tool("write_file", EffectContract::Probe, &[WriteFiles], &write),
        tool("apply_patch", EffectContract::Probe, &[ReadFiles, WriteFiles], &json!({"patch": text()})),
        tool("run_command", EffectContract::Opaque, &[Process], &argv),
        tool("http_fetch", EffectContract::Pure, &[Network], &json!({"url": text()})),
        tool("memory_write", EffectContract::Local, &[], &json!({"text": text()})),
        tool("use_secret", EffectContract::Pure, &[Secrets], &json!({"name": text()})),
        tool("mystery", EffectContract::Opaque, &[], &json!({"text": text()})),
        question,
    ]))
}

/// A snapshot of that catalogue.
pub(crate) fn snapshot_of(rules: ToolPolicyRules) -> ToolCallPolicySnapshot {
    let digest = |text: &str| [u8::try_from(text.len() % 251).unwrap(); 32];
    ToolCallPolicySnapshot::compile(catalog(), rules, digest).expect("a snapshot")
}

/// Where all calls come from.
pub(crate) fn context() -> CallContext {
    CallContext {
        principal: PrincipalId::from_parts(1, 1),
        agent: AgentId::from_parts(2, 2),
        session: SessionId::from_parts(3, 3),
        run: RunId::from_parts(4, 4),
        surface: Surface::LocalSocket,
        approvers: ApproverPresence::Inbox,
        taints: Taints::NONE,
        turns: 1,
        tool_calls: 0,
        now: Timestamp(1_700_000_000_000_000),
        isolation: Isolation::DescriptorRelative,
    }
}

/// A call.
pub(crate) fn call(name: &str, arguments: &Value) -> ToolCall {
    ToolCall {
        tool: ToolName::new(name),
        arguments: Redacted::cleaned(arguments.to_string()),
        context: context(),
    }
}

/// A grant of the caller's for version 1 of a tool, given in the workspace of all tests.
pub(crate) fn granted(tool: &str, matcher: Vec<ArgumentRule>) -> StoredGrantRecord {
    let bounds = GrantBounds {
        workspace: Some(Redacted::cleaned(ROOT.into())),
        tool_version: Some(1),
        programs: None,
    };
    let stored = StoredGrant {
        grant: StoredGrantId::from_parts(9, 9),
        principal: context().principal,
        approval: ApprovalId::from_parts(8, 8),
        granted_by: context().principal,
        scope: GrantScope::Principal,
        expires: None,
        uses_max: None,
        tool: Redacted::cleaned(tool.to_owned()),
        matcher,
        bounds,
    };
    StoredGrantRecord { stored, uses: 0, created: Timestamp(0), revoked: None, seq: Seq(1) }
}
