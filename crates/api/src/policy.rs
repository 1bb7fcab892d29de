//! `PolicyService`: which rules are in force, why a call was decided as it was, what others would have said.

use palyra_admin::rules::{DecisionCounts, DecisionDifference, JudgedAgain, PolicyHandle, RuleOrigin};
use palyra_admin::shadow_report::{ShadowReport, ShadowedDecision};
use palyra_runtime::Caller;
use palyra_types::{Content, EffectId, Timestamp};
use palyra_wire::v1;
use palyra_wire::v1::diff_policy_response::Step as DiffStep;
use palyra_wire::v1::explain_decision_request::Decision;
use tokio::sync::mpsc;

use crate::api_error::ApiError;
use crate::operations::{OperationHandlers, ResponseSender, ResponseStream, respond, send_last};
use crate::translate;
use crate::translate::InvalidValue;

/// Steps on their way to one client; beyond it the judging waits.
const STEPS_QUEUED_MAX: usize = 64;
/// Differences sent one by one when the request names no number, and at most.
const DETAILS_DEFAULT: u32 = 100;
const DETAILS_MAX: u32 = 1_000;
/// Files of a candidate, at most.
const CANDIDATE_FILES_MAX: usize = 256;

impl OperationHandlers {
    /// Answers `GetShadow`.
    pub async fn get_shadow(
        &self,
        _caller: Caller,
        _message: v1::GetShadowRequest,
    ) -> Result<v1::GetShadowResponse, ApiError> {
        let Some(ShadowReport { comparing, counts, examples }) = self.state.admin.policy.shadow().await?
        else {
            return Ok(v1::GetShadowResponse::default());
        };
        Ok(v1::GetShadowResponse {
            comparing,
            candidate: translate::hex(&counts.candidate),
            since: translate::timestamp(counts.since),
            judged: counts.judged,
            same: counts.same,
            would_allow: counts.newly_allowed,
            would_ask: counts.newly_asked,
            would_deny: counts.newly_denied,
            missed: counts.missed,
            examples: examples.into_iter().map(shadowed_to_wire).collect(),
        })
    }

    /// Answers `GetPolicy`.
    pub async fn get_policy(
        &self,
        _caller: Caller,
        _message: v1::GetPolicyRequest,
    ) -> Result<v1::GetPolicyResponse, ApiError> {
        let rules = self.state.admin.policy.in_force();
        let files = rules.files.into_iter().map(|file| v1::PolicyFile {
            name: file.name,
            text: file.text,
            shipped: file.origin == RuleOrigin::Shipped,
        });
        Ok(v1::GetPolicyResponse {
            digest: translate::hex(&rules.digest),
            files: files.collect(),
            schema: rules.schema,
        })
    }

    /// Answers `ExplainDecision`.
    pub async fn explain_decision(
        &self,
        caller: Caller,
        message: v1::ExplainDecisionRequest,
    ) -> Result<v1::ExplainDecisionResponse, ApiError> {
        match message.decision {
            Some(Decision::Recorded(recorded)) => {
                let run = translate::id("run_id", &recorded.run_id)?;
                let decided =
                    self.state.admin.policy.recorded(caller, run, EffectId(recorded.effect_id)).await?;
                let request = decided.request.expose().clone();
                Ok(v1::ExplainDecisionResponse {
                    verdict: translate::verdict(decided.verdict),
                    reason: translate::decision_reason(decided.reason),
                    explanation: self.explained(caller, decided.explanation.expose(), &request),
                    policies: self.deciding(&request),
                    request,
                    policy_digest: translate::hex(&decided.policy_digest),
                })
            }
            Some(Decision::Proposed(call)) => {
                let decision =
                    self.state.admin.policy.judge(caller, &call.tool, Content::new(call.arguments));
                let request = decision.request.expose().clone();
                Ok(v1::ExplainDecisionResponse {
                    verdict: translate::verdict(decision.verdict),
                    reason: translate::decision_reason(decision.reason),
                    explanation: self.explained(caller, decision.explanation.expose(), &request),
                    policies: self.deciding(&request),
                    request,
                    policy_digest: translate::hex(&decision.policy_digest),
                })
            }
            None => Err(InvalidValue::new("decision", "a recorded decision or a proposed call").into()),
        }
    }

    /// Returns what was said of a decision, with what the rules looked at; only the former where no rule was asked. People
    /// have the names under which the caller knows them.
    fn explained(&self, caller: Caller, said: &str, request: &str) -> String {
        let lines =
            self.state.admin.policy.explain(request).map(|explained| explained.lines).unwrap_or_default();
        let text = [said.to_owned()].into_iter().chain(lines).collect::<Vec<_>>().join("\n");
        let named = |word: &str| match word.parse().map(|by| self.name_of(caller, by)) {
            Ok(name) if !name.is_empty() => name,
            Ok(_) | Err(_) => word.to_owned(),
        };
        text.split(' ').map(named).collect::<Vec<_>>().join(" ")
    }

    fn deciding(&self, request: &str) -> Vec<String> {
        self.state.admin.policy.explain(request).map(|explained| explained.policies).unwrap_or_default()
    }

    /// Answers `DiffPolicy`: judges again while the client listens.
    pub async fn diff_policy(
        &self,
        _caller: Caller,
        message: v1::DiffPolicyRequest,
    ) -> Result<ResponseStream<v1::DiffPolicyResponse>, ApiError> {
        let request = DiffRequest::read(message)?;
        let policy = self.state.admin.policy.clone();
        Ok(respond(STEPS_QUEUED_MAX, |response_tx| async move {
            let report = judge_again(&policy, request, &response_tx).await;
            send_last(&response_tx, report.map(|report| step(DiffStep::Report(report)))).await
        }))
    }
}

/// What a comparison is of.
struct DiffRequest {
    /// Names and texts of files; `None` for those in force.
    candidate: Option<Vec<(String, String)>>,
    since: Option<Timestamp>,
    details_max: u32,
}

impl DiffRequest {
    fn read(message: v1::DiffPolicyRequest) -> Result<Self, ApiError> {
        if message.candidate.len() > CANDIDATE_FILES_MAX {
            return Err(InvalidValue::new("candidate", "at most 256 files").into());
        }
        let files: Vec<_> = message.candidate.into_iter().map(|file| (file.name, file.text)).collect();
        let details_max = match message.details_max {
            0 => DETAILS_DEFAULT,
            wanted => wanted.min(DETAILS_MAX),
        };
        let since = message.since.map(|time| translate::time("since", time)).transpose()?;
        Ok(Self { candidate: (!files.is_empty()).then_some(files), since, details_max })
    }
}

async fn judge_again(
    policy: &PolicyHandle,
    request: DiffRequest,
    response_tx: &ResponseSender<v1::DiffPolicyResponse>,
) -> Result<v1::PolicyDiffReport, ApiError> {
    let rules = match policy.compile(request.candidate.as_deref()) {
        Ok(rules) => rules,
        Err(mistakes) => return Ok(v1::PolicyDiffReport { mistakes, ..Default::default() }),
    };
    let (steps, mut judged_rx) = mpsc::channel(STEPS_QUEUED_MAX);
    let judging = async move { policy.judge_again(&rules, request.since, &steps).await };
    let telling = async move {
        let mut left = request.details_max;
        while let Some(judged) = judged_rx.recv().await {
            let next = match judged {
                JudgedAgain::Progress(judged) => DiffStep::Judged(judged),
                JudgedAgain::Difference(_) if left == 0 => continue,
                JudgedAgain::Difference(difference) => {
                    left -= 1;
                    DiffStep::Difference(difference_to_wire(*difference))
                }
            };
            if response_tx.send(Ok(step(next))).await.is_err() {
                return;
            }
        }
    };
    let (judged, ()) = tokio::join!(judging, telling);
    Ok(report(judged?))
}

fn step(step: DiffStep) -> v1::DiffPolicyResponse {
    v1::DiffPolicyResponse { step: Some(step) }
}

fn report(judged: DecisionCounts) -> v1::PolicyDiffReport {
    v1::PolicyDiffReport {
        judged: judged.judged,
        same: judged.same,
        newly_allowed: judged.newly_allowed,
        newly_asked: judged.newly_asked,
        newly_denied: judged.newly_denied,
        skipped: judged.skipped,
        mistakes: Vec::new(),
    }
}

fn difference_to_wire(difference: DecisionDifference) -> v1::DecisionDifference {
    let change = difference.change.into_exposed();
    v1::DecisionDifference {
        run_id: difference.run.to_string(),
        effect_id: difference.effect.0,
        time: translate::timestamp(difference.time),
        tool: change.tool,
        was: translate::verdict(change.was),
        would_be: translate::verdict(change.would_be),
        explanation: policy_names(&change.policies),
    }
}

fn policy_names(policies: &[String]) -> String {
    if policies.is_empty() {
        return "no rule permits it".to_owned();
    }
    format!("by {}", policies.join(", "))
}

fn shadowed_to_wire(shadowed: ShadowedDecision) -> v1::DecisionDifference {
    let ShadowedDecision { example, time, tool, policies } = shadowed;
    v1::DecisionDifference {
        run_id: example.run.to_string(),
        effect_id: example.effect.0,
        time: time.and_then(translate::timestamp),
        tool: tool.into_exposed(),
        was: translate::verdict(example.was),
        would_be: translate::verdict(example.would_be),
        explanation: policy_names(&policies),
    }
}
