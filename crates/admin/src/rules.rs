//! The rules in force, why a call was decided as it was, and what other rules would have said.
//!
//! Decides nothing: it asks the policy crate again what it was asked, word for word.

use std::sync::Arc;

use palyra_journal_core::families::runs;
use palyra_journal_core::family::QueryFamilies;
use palyra_policy::{
    CallEvidence, ChangedDecision, PolicyDiff, PolicyFile, PolicyRequest, PolicySet, ToolCallPolicySnapshot,
    decide_tool_call, explain, ordinary_verdict,
};
use palyra_ports::read_tape::MoreEntries;
use palyra_ports::{ReadError, SecretFound};
use palyra_types::approval::ApproverPresence;
use palyra_types::event::{JournalEvent, TapeEvent, ToolDecided, ToolEvent};
use palyra_types::tool::{CallContext, Taints, ToolCall, ToolDecision, ToolName, ToolVerdict};
use palyra_types::{AgentId, Content, EffectId, RunId, Seq, SessionId, TapeSeq, Timestamp};
use tokio::sync::mpsc;

pub use palyra_policy::DecisionCounts;

use crate::agents::AgentRegistry;
use crate::caller::Caller;
use crate::error::AdminError;
use crate::parts::AdminPorts;
use crate::policy::PolicyInForce;
use crate::shadow::{Shadow, by_policy};
use crate::views::AdminViews;

/// Entries read at once.
const PAGE_ENTRIES: usize = 1_000;

/// Looks at the rules.
#[derive(Clone)]
pub struct PolicyHandle {
    pub(crate) ports: Arc<AdminPorts>,
    pub(crate) policy: Arc<PolicyInForce>,
    pub(crate) shadow: Arc<Shadow>,
    pub(crate) agents: AgentRegistry,
}

/// A recorded decision that other rules would have made otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionDifference {
    /// The run.
    pub run: RunId,
    /// The effect.
    pub effect: EffectId,
    /// When it was made.
    pub time: Timestamp,
    /// What it was, and what it would be.
    pub change: Content<ChangedDecision>,
}

/// A step of judging again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgedAgain {
    /// So many decisions so far.
    Progress(u64),
    /// One that would have been another.
    Difference(Box<DecisionDifference>),
}

/// The rules in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesInForce {
    /// SHA-256 of the snapshot's canonical text.
    pub digest: [u8; 32],
    /// The files, in the order in which they were read.
    pub files: Vec<RuleFile>,
    /// The schema that they are checked against, with the arguments of the tools there are.
    pub schema: String,
}

/// One file of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub text: String,
    /// Where it comes from.
    pub origin: RuleOrigin,
}

/// Where a file of rules comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleOrigin {
    /// It ships.
    Shipped,
    /// The operator's folder.
    Operator,
}

/// Rules that decisions can be judged by again.
#[derive(Debug)]
pub struct CompiledRules(PolicySet);

/// Why rules decide a request as they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExplanation {
    /// The policies that decide, as `file#id`.
    pub policies: Vec<String>,
    /// In lines for people.
    pub lines: Vec<String>,
}

/// A decision about a call, as it is recorded.
pub(crate) struct RecordedDecision {
    pub(crate) time: Timestamp,
    pub(crate) decided: ToolDecided,
}

impl PolicyHandle {
    /// Makes a handle that changes what `views` shows to runs.
    #[must_use]
    pub fn new(ports: Arc<AdminPorts>, views: &AdminViews) -> Self {
        Self {
            ports,
            policy: Arc::clone(&views.policy),
            shadow: Arc::clone(&views.shadow),
            agents: views.agents.clone(),
        }
    }

    /// Returns what calls are judged by now.
    #[must_use]
    pub fn in_force(&self) -> RulesInForce {
        let (snapshot, shipped) = (self.snapshot(), PolicyFile::shipped());
        let files = snapshot.rules().files.iter().map(|file| RuleFile {
            name: file.name.clone(),
            text: file.text.clone(),
            origin: if shipped.contains(file) { RuleOrigin::Shipped } else { RuleOrigin::Operator },
        });
        RulesInForce {
            digest: snapshot.digest(),
            files: files.collect(),
            schema: snapshot.policies().schema_text(),
        }
    }

    pub(crate) fn snapshot(&self) -> Arc<ToolCallPolicySnapshot> {
        self.policy.snapshot()
    }

    /// Compiles other rules for the tools that there are, or those in force again.
    ///
    /// # Errors
    /// Everything that is wrong with them, each with its place and its mend.
    pub fn compile(&self, files: Option<&[(String, String)]>) -> Result<CompiledRules, Vec<String>> {
        let snapshot = self.snapshot();
        let files = match files {
            Some(files) => files.iter().map(|(name, text)| PolicyFile::new(name, text)).collect(),
            None => snapshot.rules().files.clone(),
        };
        let compiled = PolicySet::compile(&files, snapshot.catalog());
        compiled.map(CompiledRules).map_err(|mistakes| mistakes.0.iter().map(ToString::to_string).collect())
    }

    /// Returns the first decision about an effect.
    ///
    /// # Errors
    /// [`AdminError::RunNotFound`], also for another principal's run and for an effect that it does not have.
    pub async fn recorded(
        &self,
        caller: Caller,
        run: RunId,
        effect: EffectId,
    ) -> Result<ToolDecided, AdminError> {
        let record = self.ports.families.query(move |rows, _| runs::record(rows, run)).await?;
        record.filter(|record| record.principal == caller.actor.principal).ok_or(AdminError::RunNotFound)?;
        Ok(self.decision(run, effect).await?.ok_or(AdminError::RunNotFound)?.decided)
    }

    /// Returns the first decision about an effect, and when it was made.
    pub(crate) async fn decision(
        &self,
        run: RunId,
        effect: EffectId,
    ) -> Result<Option<RecordedDecision>, ReadError> {
        let mut after = TapeSeq::default();
        loop {
            let page = self.ports.tapes.tape(run, after, PAGE_ENTRIES).await?;
            for entry in &page.entries {
                after = entry.tape_seq;
                if let TapeEvent::Tool(ToolEvent::Decided(decided)) = &entry.event
                    && decided.effect == effect
                {
                    return Ok(Some(RecordedDecision { time: entry.time, decided: decided.clone() }));
                }
            }
            if page.more == MoreEntries::None {
                return Ok(None);
            }
        }
    }

    /// Judges a call that nobody made, as one of the caller's, in no run.
    #[must_use]
    pub fn judge(&self, caller: Caller, tool: &str, arguments: Content<String>) -> ToolDecision {
        let tool = ToolName::new(tool);
        let cleaned = self.ports.redactor.redact_json(arguments);
        // Nothing is recorded, but the answer shows whether something was taken out.
        self.ports.recorder.note_refused(caller.actor.principal, SecretFound { found: cleaned.findings });
        let arguments = cleaned.text;
        let context = self.context_of_no_run(caller, &tool);
        decide_tool_call(&self.snapshot(), &ToolCall { tool, arguments, context }, &CallEvidence::default())
    }

    /// Returns what becomes of an ordinary call of a tool by the rules and settings in force.
    #[must_use]
    pub fn ordinary_verdict(&self, caller: Caller, tool: &ToolName) -> ToolVerdict {
        ordinary_verdict(&self.snapshot(), tool, &self.context_of_no_run(caller, tool))
    }

    fn context_of_no_run(&self, caller: Caller, tool: &ToolName) -> CallContext {
        CallContext {
            principal: caller.actor.principal,
            agent: AgentId::NIL,
            session: SessionId::NIL,
            run: RunId::NIL,
            surface: caller.actor.surface,
            approvers: ApproverPresence::Inbox,
            taints: Taints::NONE,
            turns: 0,
            tool_calls: 0,
            now: self.ports.clock.wall(),
            isolation: self.ports.tools.isolation(tool),
        }
    }

    /// Explains a recorded request by the rules in force; nothing where no rule was asked.
    #[must_use]
    pub fn explain(&self, request: &str) -> Option<RuleExplanation> {
        let request = PolicyRequest::from_json(request).ok()?;
        let explanation = explain(self.snapshot().policies(), &request);
        let named = explanation.deciding.iter().map(|policy| format!("{}#{}", policy.file, policy.id));
        Some(RuleExplanation { policies: named.collect(), lines: explanation.lines() })
    }

    /// Judges every recorded decision since a time again, for as long as somebody listens; what a person or a budget
    /// decided is not policy's.
    ///
    /// # Errors
    /// [`ReadError`] when the journal cannot be read to its end.
    pub async fn judge_again(
        &self,
        rules: &CompiledRules,
        since: Option<Timestamp>,
        told: &mpsc::Sender<JudgedAgain>,
    ) -> Result<DecisionCounts, ReadError> {
        let mut diff = PolicyDiff::new(&rules.0);
        let mut from = Seq(0);
        loop {
            let page = self.ports.maintain.entries(from, PAGE_ENTRIES).await?;
            let Some(last) = page.last() else { return Ok(diff.counts()) };
            from = Seq(last.seq.0 + 1);
            for entry in &page {
                let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided))) = &entry.event else {
                    continue;
                };
                let Some((run, _)) = entry.run else { continue };
                if since.is_some_and(|since| entry.time < since) {
                    continue;
                }
                let Some(recorded) = by_policy(decided) else { continue };
                let Some(change) = diff.take(recorded).map(Content::new) else { continue };
                let difference = DecisionDifference { run, effect: decided.effect, time: entry.time, change };
                if told.send(JudgedAgain::Difference(Box::new(difference))).await.is_err() {
                    return Ok(diff.counts());
                }
            }
            if told.send(JudgedAgain::Progress(diff.counts().judged)).await.is_err() {
                return Ok(diff.counts());
            }
        }
    }
}
