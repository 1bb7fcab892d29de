//! Decides what to do next from the rendered request: propose the calls of one clause, or answer.
//!
//! Owns no memory: how far a plan got is counted from the tool results since the person last spoke.
//! Invariant: only tools of the request's catalogue are proposed. Begin at [`next_move`].

use palyra_types::model::{ChatMessage, ModelRequest};
use palyra_types::tool::ToolName;
use serde_json::Value;

use super::clauses::clauses;
use super::conversation::findings;
use super::extract::{Finding, describe};
use super::intent::{Ability, Call, Intent};
use super::lexicon::{ANSWERS, holds};
use super::parse::parse;
use super::say;

/// What the model does next.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Move {
    /// What it says first.
    pub(super) text: String,
    /// The calls it then proposes; none when this is the answer.
    pub(super) calls: Vec<Call>,
    /// How many calls were answered before these.
    pub(super) answered: usize,
}

/// Returns the next move for a request whose last input, freed of its directives, is `input`.
pub(super) fn next_move(request: &ModelRequest, input: &str) -> Move {
    let offered = |ability: Ability| request.tools.get(&ToolName::new(ability.tool())).is_some();
    let findings = findings(&request.messages);
    let plan = Plan::read(input, offered).with_answer(&findings);
    if let Some(at) = findings.iter().position(Finding::is_denial) {
        return Move { text: stop(&plan, &findings, at), calls: Vec::new(), answered: findings.len() };
    }
    let next = plan.next_round(&findings, &latest_calls(&request.messages));
    match plan.rounds.get(next) {
        Some(round) => {
            Move { text: say::announcement(round), calls: round.clone(), answered: findings.len() }
        }
        None => Move { text: answer(&plan, &findings, offered), calls: Vec::new(), answered: findings.len() },
    }
}

/// What a person's words amount to.
struct Plan {
    rounds: Vec<Vec<Call>>,
    talk: Vec<Intent>,
    remarks: Vec<String>,
}

impl Plan {
    fn read(input: &str, offered: impl Fn(Ability) -> bool) -> Self {
        let mut plan = Self { rounds: Vec::new(), talk: Vec::new(), remarks: Vec::new() };
        let mut about_project = false;
        for clause in clauses(input) {
            let mut round = Vec::new();
            for intent in parse(&clause) {
                match intent {
                    Intent::Call(call) if offered(call.ability) => round.push(call),
                    Intent::Call(Call { ability, .. }) => plan.remark(say::no_such_tool(ability)),
                    Intent::Incomplete(ability) if offered(ability) => plan.remark(say::incomplete(ability)),
                    Intent::Incomplete(ability) => plan.remark(say::no_such_tool(ability)),
                    Intent::Unclear(words) => plan.remark(say::unclear(&words)),
                    Intent::Project => about_project = true,
                    Intent::Abilities | Intent::Greeting | Intent::Aside => plan.talk.push(intent),
                }
            }
            if !round.is_empty() {
                plan.rounds.push(round);
            }
        }
        if about_project && plan.rounds.is_empty() && plan.remarks.is_empty() {
            if offered(Ability::Read) {
                plan.rounds.push(vec![Call::new(Ability::Read, &[("path", "README.md")])]);
            } else {
                plan.remark(say::no_such_tool(Ability::Read));
            }
        }
        plan
    }

    /// Puts what the person answered where the plan speaks of it.
    fn with_answer(mut self, findings: &[Finding]) -> Self {
        let asked = findings.iter().rev().find(|finding| finding.tool.as_str() == Ability::Ask.tool());
        let Some(answer) = asked.filter(|finding| !finding.failed) else { return self };
        let behind =
            self.rounds.iter_mut().skip_while(|round| !round.iter().any(|call| call.ability == Ability::Ask));
        for call in behind.flatten().filter(|call| call.ability == Ability::Write) {
            let content = call.arguments.get("content").and_then(Value::as_str).unwrap_or_default();
            if holds(ANSWERS, &content.to_lowercase()) {
                call.arguments.insert("content".to_owned(), Value::String(answer.text.clone()));
            }
        }
        self
    }

    /// Returns the first round that was not served yet. What was dropped from the request to fit the
    /// window cannot be counted, but the latest calls are always there.
    fn next_round(&self, findings: &[Finding], latest: &[(&ToolName, Value)]) -> usize {
        let mut begun = 0;
        let counted = self.rounds.iter().position(|round| {
            let is_next = begun >= findings.len();
            begun += round.len();
            is_next
        });
        let counted = counted.unwrap_or(self.rounds.len());
        let is_latest = |round: &Vec<Call>| {
            let calls = round.iter().map(|call| (call.ability.tool(), Value::Object(call.arguments.clone())));
            calls.eq(latest.iter().map(|(tool, arguments)| (tool.as_str(), arguments.clone())))
        };
        let from = counted.saturating_sub(1);
        let served = self.rounds.iter().skip(from).position(is_latest).map(|at| from + at + 1);
        counted.max(served.unwrap_or(0))
    }

    fn calls(&self) -> usize {
        self.rounds.iter().map(Vec::len).sum()
    }

    fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }
}

/// Tells what was done until something was not allowed, and what is left undone.
fn stop(plan: &Plan, findings: &[Finding], denied_at: usize) -> String {
    let mut parts: Vec<String> = findings.iter().map(describe).collect();
    let left = plan.rounds.iter().flatten().skip(findings.len().max(denied_at + 1));
    parts.push(say::stopped(left));
    parts.push(say::SIGNATURE.to_owned());
    parts.join("\n\n")
}

fn answer(plan: &Plan, findings: &[Finding], offered: impl Fn(Ability) -> bool) -> String {
    let mut parts: Vec<String> = findings.iter().map(describe).collect();
    let found = !parts.is_empty();
    if plan.talk.contains(&Intent::Greeting) {
        let hello = if found { say::HELLO } else { say::HELLO_FROM_DEMO };
        parts.insert(0, hello.to_owned());
    }
    if found && findings.len() < plan.calls() {
        parts.push(say::out_of_view(findings.len(), plan.calls()));
    }
    let said_nothing = parts.is_empty() && plan.remarks.is_empty();
    let confused = !found && plan.remarks.iter().any(|remark| remark.starts_with(say::UNCLEAR));
    parts.extend(plan.remarks.iter().cloned());
    if said_nothing || confused || plan.talk.contains(&Intent::Abilities) {
        parts.push(say::introduction(offered));
    } else if found {
        parts.push(say::SIGNATURE.to_owned());
    }
    parts.join("\n\n")
}

/// Returns the calls proposed last since the person last spoke.
fn latest_calls(messages: &[ChatMessage]) -> Vec<(&ToolName, Value)> {
    let proposed = messages.iter().rev().find_map(|message| match message {
        ChatMessage::Assistant { calls, .. } => Some(calls.as_slice()),
        ChatMessage::User { .. } => Some(&[][..]),
        ChatMessage::ToolResult { .. } => None,
    });
    let read = |text: &str| serde_json::from_str(text).unwrap_or_default();
    proposed.unwrap_or_default().iter().map(|call| (&call.tool, read(call.arguments.expose()))).collect()
}
