//! Approvals, stored grants and effects, as messages and back.

use std::path::PathBuf;

use palyra_types::approval::{
    ApprovalPromptRecord, ApprovalRecord, ApprovalRequested, ApprovalResolved, ApprovalState, ApprovalTerms,
    ApprovalVoted, ApproverSet, ArgumentRule, ArgumentShape, GrantScope, StoredGrant, StoredGrantRecord,
};
use palyra_types::effect::{EffectRecord, EffectResolution, EffectState, UndoResult, UndoneFile};
use palyra_types::{Content, PrincipalId, Redacted};
use palyra_wire::v1;
use palyra_wire::v1::argument_rule::Shape;

use super::ids::InvalidValue;
use super::names;
use super::plain::{error_code, timestamp};

pub(super) fn requested(requested: &ApprovalRequested) -> v1::ApprovalRequested {
    v1::ApprovalRequested {
        approval_id: requested.approval.to_string(),
        effect_id: requested.effect.0,
        risk: names::risk(requested.risk),
        prompt: Some(prompt(&requested.prompt, &requested.terms)),
        expires: requested.expires.and_then(timestamp),
        needed: requested.terms.needed,
        separation: names::separation(requested.terms.separation),
    }
}

pub(super) fn voted(voted: &ApprovalVoted) -> v1::ApprovalVoted {
    v1::ApprovalVoted {
        approval_id: voted.approval.to_string(),
        effect_id: voted.effect.0,
        by: voted.by.to_string(),
        note: voted.note.expose().clone(),
    }
}

pub(super) fn resolved(resolved: &ApprovalResolved) -> v1::ApprovalResolved {
    v1::ApprovalResolved {
        approval_id: resolved.approval.to_string(),
        effect_id: resolved.effect.0,
        state: approval_state(resolved.state).into(),
        by: principal(resolved.by),
        edited_arguments: resolved.edited.as_ref().map(|text| text.expose().clone()).unwrap_or_default(),
        note: resolved.note.expose().clone(),
    }
}

/// Returns an approval as lists show it.
pub(crate) fn approval(record: &ApprovalRecord) -> v1::Approval {
    v1::Approval {
        approval_id: record.approval.to_string(),
        run_id: record.run.to_string(),
        session_id: record.session.to_string(),
        principal: record.principal.to_string(),
        effect_id: record.effect.0,
        tape_seq: record.tape_seq.0,
        seq: record.seq.0,
        state: approval_state(record.state).into(),
        risk: names::risk(record.risk),
        needed: record.terms.needed,
        voters: record.voters.iter().map(ToString::to_string).collect(),
        separation: names::separation(record.terms.separation),
        created: timestamp(record.created),
        expires: record.expires.and_then(timestamp),
        decided: record.decided.and_then(timestamp),
        decided_by: principal(record.decided_by),
        prompt: Some(prompt(&record.prompt, &record.terms)),
        note: record.note.expose().clone(),
        decided_by_name: String::new(),
        approvers: record.terms.approvers.iter().flat_map(approvers).collect(),
    }
}

fn approvers(set: &ApproverSet) -> Vec<String> {
    let roles = set.roles().map(|role| format!("role:{role}"));
    roles.chain(set.people().map(|person| person.to_string())).collect()
}

/// Returns a stored grant as lists show it.
pub(crate) fn grant(record: &StoredGrantRecord) -> v1::StoredGrant {
    v1::StoredGrant {
        uses: record.uses,
        created: timestamp(record.created),
        revoked: record.revoked.and_then(timestamp),
        ..stored_grant(&record.stored)
    }
}

pub(super) fn stored_grant(stored: &StoredGrant) -> v1::StoredGrant {
    v1::StoredGrant {
        grant_id: stored.grant.to_string(),
        principal: stored.principal.to_string(),
        approval_id: stored.approval.to_string(),
        granted_by: stored.granted_by.to_string(),
        session_id: match stored.scope {
            GrantScope::Session(session) => session.to_string(),
            GrantScope::Principal | GrantScope::Everywhere => String::new(),
        },
        expires: stored.expires.and_then(timestamp),
        uses_max: stored.uses_max.unwrap_or_default(),
        uses: 0,
        tool: stored.tool.expose().clone(),
        rules: stored.matcher.iter().map(argument_rule).collect(),
        created: None,
        revoked: None,
        workspace: stored.bounds.workspace.as_ref().map(path_text).unwrap_or_default(),
        any_workspace: stored.scope == GrantScope::Everywhere,
        tool_version: stored.bounds.tool_version.unwrap_or_default(),
        program_digest: stored.bounds.programs.map(Vec::from).unwrap_or_default(),
    }
}

fn path_text(path: &Redacted<PathBuf>) -> String {
    path.expose().display().to_string()
}

/// Returns an effect as lists show it.
pub(crate) fn effect(record: &EffectRecord) -> v1::EffectInfo {
    v1::EffectInfo {
        run_id: record.run.to_string(),
        effect_id: record.effect.0,
        tool: record.tool.expose().clone(),
        contract: names::effect_contract(record.contract),
        state: match record.state {
            EffectState::Started => v1::EffectState::Started,
            EffectState::Finished => v1::EffectState::Finished,
            EffectState::Failed => v1::EffectState::Failed,
            EffectState::Unknown => v1::EffectState::Unknown,
            EffectState::Resolved(EffectResolution::Happened) => v1::EffectState::Happened,
            EffectState::Resolved(EffectResolution::DidNotHappen) => v1::EffectState::DidNotHappen,
            EffectState::Resolved(EffectResolution::Retry) => v1::EffectState::Retry,
        }
        .into(),
        approval_id: record.approval.map(|id| id.to_string()).unwrap_or_default(),
        error_code: error_code(record.failure),
        started: timestamp(record.started),
        ended: record.ended.and_then(timestamp),
        started_seq: record.started_at.1.0,
        ended_seq: record.ended_at.map(|(_, seq)| seq.0).unwrap_or_default(),
        summary: String::new(),
    }
}

/// Returns what became of a file that was taken back.
pub(crate) fn undone_file(file: &UndoneFile) -> v1::UndoneFile {
    let (result, detail) = match &file.result {
        UndoResult::Restored => (v1::UndoResult::Restored, ""),
        UndoResult::AlreadyRestored => (v1::UndoResult::AlreadyRestored, ""),
        UndoResult::Conflict(difference) => (v1::UndoResult::Conflict, difference.expose().as_str()),
        UndoResult::Withheld => (v1::UndoResult::Withheld, ""),
        UndoResult::Failed(why) => (v1::UndoResult::Failed, why.expose().as_str()),
    };
    v1::UndoneFile {
        path: file.path.expose().clone(),
        result: result.into(),
        detail: detail.to_owned(),
        removed: false,
    }
}

/// Reads what became of an effect.
pub(crate) fn effect_resolution(resolution: i32) -> Result<EffectResolution, InvalidValue> {
    match v1::EffectResolution::try_from(resolution) {
        Ok(v1::EffectResolution::Happened) => Ok(EffectResolution::Happened),
        Ok(v1::EffectResolution::DidNotHappen) => Ok(EffectResolution::DidNotHappen),
        Ok(v1::EffectResolution::Retry) => Ok(EffectResolution::Retry),
        Ok(v1::EffectResolution::Unspecified) | Err(_) => {
            Err(InvalidValue { field: "resolution", wanted: "happened, did_not_happen or retry" })
        }
    }
}

/// Reads what one argument has to look like.
pub(crate) fn argument_rule_from(
    rule: v1::ArgumentRule,
) -> Result<ArgumentRule<Content<String>>, InvalidValue> {
    let shape = match rule.shape {
        Some(Shape::Equal(value)) => ArgumentShape::Equal(Content::new(value)),
        Some(Shape::Beneath(path)) => ArgumentShape::Beneath(Content::new(path)),
        Some(Shape::Origin(origin)) => ArgumentShape::Origin(Content::new(origin)),
        Some(Shape::Any(true)) => ArgumentShape::Any,
        Some(Shape::Any(false)) | None => {
            return Err(InvalidValue { field: "rules", wanted: "equal, beneath, origin or any" });
        }
    };
    Ok(ArgumentRule { argument: Content::new(rule.argument), shape })
}

fn argument_rule(rule: &ArgumentRule) -> v1::ArgumentRule {
    let shape = match &rule.shape {
        ArgumentShape::Equal(value) => Shape::Equal(value.expose().clone()),
        ArgumentShape::Beneath(path) => Shape::Beneath(path.expose().clone()),
        ArgumentShape::Origin(origin) => Shape::Origin(origin.expose().clone()),
        ArgumentShape::Any => Shape::Any(true),
    };
    v1::ArgumentRule { argument: rule.argument.expose().clone(), shape: Some(shape) }
}

fn prompt(prompt: &ApprovalPromptRecord, terms: &ApprovalTerms) -> v1::ApprovalPrompt {
    v1::ApprovalPrompt {
        tool: prompt.tool.expose().clone(),
        arguments: prompt.arguments.expose().clone(),
        summary: prompt.summary.expose().clone(),
        preview: prompt.preview.expose().clone(),
        reason: prompt.reason.expose().clone(),
        unbound: prompt.unbound.expose().clone(),
        asked_again: prompt.asked_again.expose().clone(),
        asks_each_time: !terms.is_plain(),
    }
}

fn approval_state(state: ApprovalState) -> v1::ApprovalState {
    match state {
        ApprovalState::Pending => v1::ApprovalState::Pending,
        ApprovalState::Approved => v1::ApprovalState::Approved,
        ApprovalState::Denied => v1::ApprovalState::Denied,
        ApprovalState::Expired => v1::ApprovalState::Expired,
        ApprovalState::Withdrawn => v1::ApprovalState::Withdrawn,
    }
}

fn principal(id: Option<PrincipalId>) -> String {
    id.map(|id| id.to_string()).unwrap_or_default()
}
