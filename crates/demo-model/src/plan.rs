//! Decides what to do next from the rendered request: propose the next calls of a goal, or answer.
//!
//! Owns no memory: how far a plan got is read from the tool results since the person last spoke.
//! Invariant: only tools of the request's catalogue are proposed, and nothing is changed for an input of which a part
//! was not understood. Begin at [`next_move`].

use std::ops::Range;

use palyra_types::model::{ChatMessage, ModelRequest};
use palyra_types::tool::ToolName;
use serde_json::Value;

use super::attached::{attached, attached_before, described, naming_attached};
use super::calls::read_call;
use super::conversation::{begin, findings};
use super::extract::{ToolFinding, describe, show};
use super::forgetting::forgotten;
use super::intent::{AnswerView, ClauseIntent, IntendedCall, ToolAbility, ToolGoal};
use super::lexicon::{ANSWERS, holds};
use super::locate::{LocatedGoal, placed};
use super::parse::{ParsedClause, parse};
use super::recall::recalled;
use super::references::{ShownReferences, shown_references};
use super::say;
use super::sections::viewed;
use super::steps::unmet;
use super::survey::shown;
use super::verdicts::judged;

/// What the model does next.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ModelMove {
    /// What it says first.
    pub(super) text: String,
    /// The calls it then proposes; none when this is the answer.
    pub(super) calls: Vec<IntendedCall>,
    /// How many calls were answered before these.
    pub(super) answered: usize,
}

/// Returns the next move for a request whose last input, freed of its directives, is `input`.
pub(super) fn next_move(request: &ModelRequest, input: &str) -> ModelMove {
    let offered = |ability: ToolAbility| request.tools.get(&ToolName::new(ability.tool())).is_some();
    let found = findings(&request.messages);
    let references = shown_references(&request.messages);
    let files = attached(request);
    let input = references.with_paths(input);
    let input = if files.is_empty() { input } else { naming_attached(&input) };
    let mut plan = TurnPlan::read(&input, offered).with_answer(&found);
    plan.attach(files.iter().map(described).collect(), attached_before(request));
    plan.quote(&references);
    plan.is_first = is_first(request);
    if plan.talk.contains(&ClauseIntent::Recall) {
        plan.remark(recalled(request));
    }
    let findings = plan.with_shown(&references, &request.messages);
    let progress = plan.progress(&findings);
    let answered = found.len();
    let has_failed = |(at, finding): (usize, &ToolFinding)| {
        finding.is_denial() || (finding.is_failed_change() && !progress.mended.contains(&at))
    };
    if progress.is_stuck || findings.iter().enumerate().any(has_failed) {
        return ModelMove { text: stop(&plan, &progress, &findings), calls: Vec::new(), answered };
    }
    match &progress.next {
        Some(calls) => ModelMove { text: say::announcement(calls), calls: calls.clone(), answered },
        None => ModelMove { text: answer(&plan, &progress, &findings, offered), calls: Vec::new(), answered },
    }
}

/// Returns whether nothing was asked before.
fn is_first(request: &ModelRequest) -> bool {
    let before = &request.messages[..begin(&request.messages).unwrap_or(0)];
    !before.iter().any(|message| matches!(message, ChatMessage::Assistant { .. }))
}

/// What a person's words amount to.
struct TurnPlan {
    goals: Vec<ToolGoal>,
    talk: Vec<ClauseIntent>,
    remarks: Vec<String>,
    attached: Vec<String>,
    is_first: bool,
}

/// How far a plan got.
struct PlanProgress {
    /// Of each goal that was begun, the findings that are its own.
    found: Vec<Range<usize>>,
    /// The calls that come next.
    next: Option<Vec<IntendedCall>>,
    /// Calls whose results are not in the request any more.
    lost: usize,
    /// Failures after which a goal went on another way.
    mended: Vec<usize>,
    /// Whether a goal cannot go on without an answer of the person.
    is_stuck: bool,
}

impl TurnPlan {
    fn read(input: &str, offered: impl Fn(ToolAbility) -> bool) -> Self {
        let mut plan = Self {
            goals: Vec::new(),
            talk: Vec::new(),
            remarks: Vec::new(),
            attached: Vec::new(),
            is_first: true,
        };
        let clauses = parse(input);
        let changes = clauses
            .iter()
            .any(|clause| matches!(&clause.intent, ClauseIntent::Goal(goal) if goal.is_change()));
        let several = clauses.len() > 1;
        let mut about_project = false;
        let mut is_whole = true;
        for (at, ParsedClause { intent, typed }) in clauses.into_iter().enumerate() {
            match intent {
                ClauseIntent::Goal(goal) => {
                    match goal.abilities().into_iter().find(|ability| !offered(*ability)) {
                        Some(ability) => plan.remark(say::no_such_tool(ability)),
                        None => plan.goals.push(goal),
                    }
                }
                ClauseIntent::Incomplete(ability) => {
                    is_whole = false;
                    plan.remark(if offered(ability) {
                        say::incomplete(ability)
                    } else {
                        say::no_such_tool(ability)
                    });
                }
                ClauseIntent::Cannot(lack) => {
                    is_whole = false;
                    if several {
                        plan.remark(say::part(&typed));
                    }
                    plan.remark(say::cannot_do(lack, &typed));
                }
                ClauseIntent::Unclear(words) => {
                    is_whole = false;
                    plan.remark(say::unclear(&words));
                }
                ClauseIntent::Aside if at == 0 => {
                    is_whole = false;
                    plan.remark(say::cannot(super::intent::MissingAbility::Understand));
                }
                ClauseIntent::NoChange if changes => {
                    is_whole = false;
                    plan.remark(say::cannot(super::intent::MissingAbility::Contradiction));
                }
                ClauseIntent::Project => about_project = true,
                ClauseIntent::Abilities
                | ClauseIntent::Greeting
                | ClauseIntent::Thanks
                | ClauseIntent::Aside
                | ClauseIntent::NoChange
                | ClauseIntent::SwitchToIt
                | ClauseIntent::KeepChanges
                | ClauseIntent::Recall
                | ClauseIntent::Attachments => plan.talk.push(intent),
            }
        }
        if changes && !is_whole {
            plan.goals.clear();
            plan.remark(say::NOTHING_DONE.to_owned());
        }
        if about_project && plan.goals.is_empty() && plan.remarks.is_empty() {
            plan.describe_project(offered);
        }
        plan
    }

    /// Reads what the project says of itself.
    fn describe_project(&mut self, offered: impl Fn(ToolAbility) -> bool) {
        if offered(ToolAbility::Read) {
            self.goals.push(ToolGoal::one(read_call("README.md")));
        } else {
            self.remark(say::no_such_tool(ToolAbility::Read));
        }
    }

    /// Puts what is attached into the answer: when it is asked about, or when nothing else was understood.
    fn attach(&mut self, described: Vec<String>, before: Option<String>) {
        let is_asked = self.talk.contains(&ClauseIntent::Attachments);
        match described.is_empty() {
            true if is_asked => self.remark(match before {
                Some(name) => say::attached_before(&name),
                None => say::cannot(super::intent::MissingAbility::Attachment),
            }),
            true => {}
            false if is_asked || (self.goals.is_empty() && self.talk.is_empty()) => {
                self.remarks.retain(|remark| !remark.starts_with(say::UNCLEAR));
                self.attached = described;
            }
            false => {}
        }
    }

    /// Puts the material of references into the answer when nothing else was understood.
    fn quote(&mut self, references: &ShownReferences) {
        let has_answer = !self.goals.is_empty() || !self.talk.is_empty() || !self.attached.is_empty();
        if !references.is_empty() && !has_answer {
            self.remarks.retain(|remark| !remark.starts_with(say::UNCLEAR));
            self.attached = references.described();
        }
    }

    /// Puts what the person answered where the plan speaks of it.
    fn with_answer(mut self, findings: &[ToolFinding]) -> Self {
        let asked = findings.iter().rev().find(|finding| finding.tool.as_str() == ToolAbility::Ask.tool());
        let Some(answer) = asked.filter(|finding| !finding.failed) else { return self };
        let asks = |goal: &ToolGoal| goal.abilities().contains(&ToolAbility::Ask);
        let behind = self.goals.iter_mut().skip_while(|goal| !asks(goal));
        for goal in behind {
            let ToolGoal::Calls(calls, _) = goal else { continue };
            for call in calls.iter_mut().filter(|call| call.ability == ToolAbility::Write) {
                let content = call.arguments.get("content").and_then(Value::as_str).unwrap_or_default();
                if holds(ANSWERS, &content.to_lowercase()) {
                    call.arguments.insert("content".to_owned(), Value::String(answer.text.clone()));
                }
            }
        }
        self
    }

    /// Returns the results of tools, and between them the material of references where the plan would only read it again.
    fn with_shown(&self, references: &ShownReferences, messages: &[ChatMessage]) -> Vec<ToolFinding> {
        let found = findings(messages);
        if references.is_empty() {
            return found;
        }
        let mut left = found.into_iter();
        let mut merged = Vec::new();
        while let Some(calls) = self.progress(&merged).next {
            let shown: Vec<ToolFinding> = calls.iter().filter_map(|call| references.finding(call)).collect();
            if !calls.is_empty() && shown.len() == calls.len() {
                merged.extend(shown);
                continue;
            }
            let before = merged.len();
            merged.extend(left.by_ref().take(calls.len().max(1)));
            if merged.len() == before {
                break;
            }
        }
        merged.extend(left);
        merged
    }

    /// Follows the plan along what was found. Messages dropped from the request to fit the window is known by the
    /// calls that follow it.
    fn progress(&self, findings: &[ToolFinding]) -> PlanProgress {
        let mut progress =
            PlanProgress { found: Vec::new(), next: None, lost: 0, mended: Vec::new(), is_stuck: false };
        let mut at = 0;
        for goal in &self.goals {
            let from = at;
            loop {
                let LocatedGoal { next, stuck, .. } = placed(goal, &findings[..from], &findings[from..at]);
                if stuck.is_some() {
                    progress.is_stuck = true;
                    progress.mended.extend(from..at);
                    progress.found.push(from..at);
                    return progress;
                }
                let Some(calls) = next else { break };
                progress.mended.extend(from..at);
                let Some(finding) = findings.get(at) else {
                    progress.next = Some(calls);
                    progress.found.push(from..at);
                    return progress;
                };
                if !calls.iter().any(|call| finding.came_of(call)) {
                    progress.lost += calls.len();
                    break;
                }
                at = (at + calls.len()).min(findings.len());
            }
            progress.found.push(from..at);
        }
        progress
    }

    /// Returns what ends the first answer of a session.
    fn signature(&self) -> Option<String> {
        (self.is_first || !self.remarks.is_empty()).then(|| say::SIGNATURE.to_owned())
    }

    fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }
}

impl ToolGoal {
    /// Describes what it found; looks that only served a later call are left out.
    fn describe(&self, earlier: &[ToolFinding], found: &[ToolFinding]) -> Vec<String> {
        let LocatedGoal { goal, own, stuck, .. } = placed(self, earlier, found);
        if stuck.is_some() {
            return stuck.into_iter().collect();
        }
        match (&goal, own.as_slice()) {
            (Self::Calls(_, view), found) => {
                let text = |finding| {
                    viewed(finding, *view)
                        .or_else(|| judged(finding, *view))
                        .unwrap_or_else(|| show(finding, *view))
                };
                found.iter().map(text).collect()
            }
            (Self::ReadAll(_), [_, files @ ..]) if !files.is_empty() => {
                files.iter().map(|finding| show(finding, AnswerView::Whole)).collect()
            }
            (Self::Commit { .. }, found) => found
                .iter()
                .skip_while(|finding| !finding.failed && finding.tool.as_str() == "git")
                .map(describe)
                .collect(),
            (Self::Manifests(_) | Self::CountLines(_), [_, _, ..]) => shown(&goal, &own).unwrap_or_default(),
            (Self::Forget(_), [look, done]) if !done.failed => {
                let id = done.arguments.get("forget").and_then(Value::as_str).unwrap_or_default();
                vec![forgotten(&look.text, id).unwrap_or_else(|| describe(done))]
            }
            (Self::Keep { .. }, []) => unmet(&goal, &own).into_iter().collect(),
            (_, []) => Vec::new(),
            (_, [.., last]) => match unmet(&goal, &own) {
                Some(why) => vec![why],
                None => vec![describe(last)],
            },
        }
    }
}

fn answer_lines(plan: &TurnPlan, progress: &PlanProgress, findings: &[ToolFinding]) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for (goal, span) in plan.goals.iter().zip(&progress.found) {
        let found = &findings[span.clone()];
        parts.extend(goal.describe(&findings[..span.start], found));
        if let (ToolGoal::Commit { .. }, [_]) = (goal, found) {
            parts.extend(unmet(goal, found));
        }
    }
    let unmatched = progress.found.last().map_or(0, |span| span.end);
    parts.extend(findings[unmatched..].iter().map(describe));
    parts
}

/// Tells what was done until something was not allowed or failed, and what is left undone.
fn stop(plan: &TurnPlan, progress: &PlanProgress, findings: &[ToolFinding]) -> String {
    let mut parts = answer_lines(plan, progress, findings);
    let mut denied = findings
        .iter()
        .filter(|finding| finding.is_denied_by_policy() && finding.tool.as_str() == ToolAbility::Run.tool());
    match denied.next() {
        Some(finding) if finding.text.contains("may name `.git`") => {
            parts.push(say::NO_GIT_FOLDER.to_owned());
        }
        Some(_) if plan.goals.iter().any(|goal| matches!(goal, ToolGoal::Shell(_))) => {
            parts.push(say::NO_SHELL.to_owned());
        }
        Some(_) | None => {}
    }
    let begun = progress.found.iter().rposition(|span| !span.is_empty()).map_or(0, |at| at + 1);
    parts.push(say::stopped(plan.goals.iter().skip(begun)));
    parts.extend(plan.signature());
    parts.join("\n\n")
}

fn answer(
    plan: &TurnPlan,
    progress: &PlanProgress,
    findings: &[ToolFinding],
    offered: impl Fn(ToolAbility) -> bool,
) -> String {
    let mut parts = answer_lines(plan, progress, findings);
    parts.extend(plan.attached.iter().cloned());
    let found = !parts.is_empty();
    if plan.talk.contains(&ClauseIntent::Greeting) {
        parts.insert(0, say::HELLO.to_owned());
    }
    if plan.talk.contains(&ClauseIntent::Thanks) {
        parts.push(say::WELCOME.to_owned());
    }
    if found && progress.lost > 0 {
        parts.push(say::out_of_view(findings.len(), findings.len() + progress.lost));
    }
    let confused = !found && plan.remarks.iter().any(|remark| remark.starts_with(say::UNCLEAR));
    let silent = !found && plan.remarks.is_empty();
    parts.extend(plan.remarks.iter().cloned());
    if silent || plan.talk.contains(&ClauseIntent::Abilities) {
        parts.push(say::introduction(offered));
    } else if confused {
        parts.push(say::way_on(offered));
    } else if found {
        parts.extend(plan.signature());
    }
    parts.join("\n\n")
}
