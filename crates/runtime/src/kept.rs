//! What commands left in protected places, for the person whose run it was: looking at it, putting it in place.
//!
//! Owns the conditions: what is put in place is what was shown, in the folder of its run, where the rules would let the
//! person say yes to `write_file`. How files are written is the restoring port's; that it is recorded first is
//! [`UndoService`]'s. Begin at [`KeptFiles::place`].

use std::path::PathBuf;

use palyra_admin::{Caller, unless_secret};
use palyra_policy::{CallEvidence, PolicyRequest, decide_tool_call, explain};
use palyra_ports::{ComparedFile, KeptContent, KeptEntry, KeptFile, KeptFileError, RestoreOrder};
use palyra_types::approval::ApproverPresence;
use palyra_types::effect::{FileBefore, KeptFileId, KeptPlacement, UndoneFile};
use palyra_types::event::{RunEvent, RunStarted, TapeEvent};
use palyra_types::run::RunRecord;
use palyra_types::tool::{
    CallContext, DecisionReason, Taints, ToolCall, ToolDecision, ToolName, ToolVerdict,
};
use palyra_types::{Content, PrincipalId, Redacted, TapeSeq};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::undo::{KeptFilePlacing, UndoService, images};

/// The tool by whose rules putting a file in place is judged.
const TOOL: &str = "write_file";
/// The shipped rule that keeps every tool out of git's folders.
const GIT_RULE: &str = "never-into-git";

/// Kept files of a caller's run.
pub(crate) struct KeptFiles<'h> {
    pub(crate) engine: &'h Engine,
    pub(crate) undoing: &'h UndoService,
    pub(crate) caller: Caller,
    pub(crate) owner: PrincipalId,
    pub(crate) record: RunRecord,
}

/// A kept file beside what is at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownKeptFile {
    /// The file.
    pub file: KeptFile,
    /// What putting it in place would change, as unified diffs.
    pub difference: Redacted<String>,
    /// Digest of the file and of what is at its place.
    pub shown_sha256: [u8; 32],
    /// Why it cannot be put in place.
    pub refusal: Option<String>,
}

pub(crate) struct KeptComparison {
    pub(crate) shown: ShownKeptFile,
    entries: Vec<KeptEntry>,
    compared: Vec<ComparedFile>,
    workspace_root: Redacted<PathBuf>,
}

impl KeptFiles<'_> {
    pub(crate) async fn place(
        &self,
        file: KeptFileId,
        shown_sha256: [u8; 32],
    ) -> Result<Vec<UndoneFile>, RequestError> {
        let turn = self.undoing.turn().await?;
        let KeptComparison { shown, entries, compared, workspace_root } = self.look(file.clone()).await?;
        if let Some(refusal) = shown.refusal {
            return Err(RequestError::KeptFileRefused { what: refusal });
        }
        if shown.shown_sha256 != shown_sha256 {
            let what = "the kept file, or what is at its place, is not what was shown; look at it again";
            return Err(RequestError::KeptFileRefused { what: what.to_owned() });
        }
        let sha256 = shown.file.sha256.unwrap_or_default();
        self.keep_displaced(&file, &entries, &compared).await?;
        let before: Vec<_> = compared.iter().map(|compared| digest(&compared.now)).collect();
        let files = images(&*self.engine.ports.redactor, entries, &before).unwrap_or_default();
        let placement = KeptPlacement { file, sha256, before };
        self.undoing.place(turn, &self.record, KeptFilePlacing { placement, workspace_root, files }).await
    }

    pub(crate) async fn read(&self, file: KeptFileId) -> Result<KeptContent, RequestError> {
        let content = self.engine.ports.kept.read(file).await?;
        let owner = content.file.owner;
        let is_its = owner.run == self.record.run && owner.principal == self.record.principal;
        if is_its { Ok(content) } else { Err(KeptFileError::NotFound.into()) }
    }

    pub(crate) async fn look(&self, file: KeptFileId) -> Result<KeptComparison, RequestError> {
        let KeptContent { file, entries, refusal } = self.read(file).await?;
        let started = self.started().await?;
        let workspace_root = started.as_ref().map(|started| started.workspace_root.clone());
        let is_its_folder = workspace_root.as_ref().is_some_and(|root| *root.expose() == file.workspace);
        let workspace_root = workspace_root.unwrap_or_default();
        let compared = if is_its_folder && refusal.is_none() {
            let files = images(&*self.engine.ports.redactor, entries.clone(), &vec![None; entries.len()]);
            // A name that cannot be recorded is refused below.
            let files = files.unwrap_or_default();
            let order = RestoreOrder { workspace_root: workspace_root.clone(), files };
            self.engine.ports.restore.compare(order).await
        } else {
            Vec::new()
        };
        let other_folder = || "the folder of the run is not known any more, or another one".to_owned();
        let refusal = refusal
            .or_else(|| (!is_its_folder).then(other_folder))
            .or_else(|| entries.iter().find_map(|entry| self.secret_in(entry)))
            .or_else(|| compared.iter().find_map(|compared| compared.refusal.clone()))
            .or_else(|| (compared.len() != entries.len()).then(|| "it cannot be compared".to_owned()))
            .or_else(|| self.forbidden(started.as_ref(), &entries));
        let difference: Vec<_> =
            compared.iter().map(|compared| compared.difference.expose().as_str()).collect();
        let difference = self.engine.ports.redactor.redact(difference.concat().into()).text;
        let shown_sha256 = shown_digest(&file, &entries, &compared);
        let shown = ShownKeptFile { file, difference, shown_sha256, refusal };
        Ok(KeptComparison { shown, entries, compared, workspace_root })
    }

    /// Reads how the run began; nothing once that was erased.
    async fn started(&self) -> Result<Option<RunStarted>, RequestError> {
        let page = self.engine.ports.tapes.tape(self.record.run, TapeSeq::default(), 1).await?;
        Ok(page.entries.into_iter().find_map(|entry| {
            let TapeEvent::Run(RunEvent::Started(started)) = entry.event else { return None };
            Some(started)
        }))
    }

    /// Says that a file holds a secret, which would be put in place without having been seen.
    fn secret_in(&self, entry: &KeptEntry) -> Option<String> {
        let redactor = &*self.engine.ports.redactor;
        if unless_secret(redactor, &entry.place.to_string_lossy()).is_none() {
            return Some(
                "the name of a file in it holds a secret, and names are recorded as they are".to_owned(),
            );
        }
        let text = String::from_utf8_lossy(entry.bytes.expose()).into_owned();
        let holds = redactor.redact(text.into()).findings.changed();
        holds.then(|| format!("`{}` holds a secret, which is not shown", entry.place.display()))
    }

    /// Returns why the rules do not let this person say yes to such a write.
    fn forbidden(&self, started: Option<&RunStarted>, entries: &[KeptEntry]) -> Option<String> {
        let started = started?;
        let tool = ToolName::new(TOOL);
        let ports = &self.engine.ports;
        let context = CallContext {
            principal: self.record.principal,
            agent: started.agent,
            session: self.record.session,
            run: self.record.run,
            surface: self.caller.actor.surface,
            approvers: ApproverPresence::Inbox,
            taints: Taints::NONE,
            turns: 0,
            tool_calls: 0,
            now: ports.clock.wall(),
            isolation: ports.tools.isolation(&tool),
        };
        let workspace = started.workspace_root.expose().to_str();
        let evidence = CallEvidence { workspace, ..CallEvidence::default() };
        entries.iter().find_map(|entry| {
            let content = String::from_utf8_lossy(entry.bytes.expose());
            let arguments = serde_json::json!({ "path": entry.place.to_string_lossy(), "content": content });
            let arguments = ports.redactor.redact_json(arguments.to_string().into()).text;
            let call = ToolCall { tool: tool.clone(), arguments, context: context.clone() };
            let decision = decide_tool_call(&self.engine.views.policy.snapshot(), &call, &evidence);
            let terms = &decision.approval;
            let wants_others = !terms.is_plain();
            match decision.verdict {
                ToolVerdict::Deny if self.may_change_git(&decision) => None,
                ToolVerdict::Deny => {
                    Some(format!("`{TOOL}` is denied there: {}", decision.explanation.expose()))
                }
                ToolVerdict::Ask if wants_others => Some(format!(
                    "a rule wants another person's yes to `{TOOL}` there; let the agent propose it"
                )),
                ToolVerdict::Ask | ToolVerdict::Allow => None,
            }
        })
    }

    /// Returns whether a denial is only that no tool writes into `.git`: the owner of the daemon decides that file by file.
    fn may_change_git(&self, decision: &ToolDecision) -> bool {
        let snapshot = self.engine.views.policy.snapshot();
        let request = PolicyRequest::from_json(decision.request.expose()).ok();
        let deciding = request.map(|request| explain(snapshot.policies(), &request).deciding);
        let is_git_rule = deciding.is_some_and(|policies| {
            !policies.is_empty() && policies.iter().all(|policy| policy.id.as_str() == GIT_RULE)
        });
        let is_by_rules = decision.reason == DecisionReason::Forbidden;
        is_git_rule && is_by_rules && self.caller.actor.principal == self.owner
    }

    /// Keeps a copy of each file that is displaced.
    async fn keep_displaced(
        &self,
        file: &KeptFileId,
        entries: &[KeptEntry],
        compared: &[ComparedFile],
    ) -> Result<(), RequestError> {
        let displaced = entries.iter().zip(compared).filter_map(|(entry, compared)| match &compared.now {
            FileBefore::File { bytes, mode } if bytes != &entry.bytes => {
                Some(KeptEntry { place: entry.place.clone(), mode: *mode, bytes: bytes.clone() })
            }
            FileBefore::File { .. } | FileBefore::Absent | FileBefore::Withheld { .. } => None,
        });
        let displaced: Vec<_> = displaced.collect();
        if displaced.is_empty() {
            return Ok(());
        }
        Ok(self.engine.ports.kept.keep_displaced(file.clone(), displaced).await?)
    }
}

fn digest(now: &FileBefore<Content<Vec<u8>>>) -> Option<[u8; 32]> {
    match now {
        FileBefore::File { bytes, .. } => Some(palyra_ledger::sha256(bytes.expose())),
        FileBefore::Absent | FileBefore::Withheld { .. } => None,
    }
}

fn shown_digest(file: &KeptFile, entries: &[KeptEntry], compared: &[ComparedFile]) -> [u8; 32] {
    let mut text = b"palyra/kept-shown/v1\n".to_vec();
    text.extend(file.sha256.unwrap_or_default());
    for (entry, compared) in entries.iter().zip(compared) {
        text.extend(palyra_ledger::sha256(entry.place.as_os_str().as_encoded_bytes()));
        text.push(u8::from(digest(&compared.now).is_some()));
        text.extend(digest(&compared.now).unwrap_or_default());
        let mode = match &compared.now {
            FileBefore::File { mode, .. } => *mode,
            FileBefore::Absent | FileBefore::Withheld { .. } => 0,
        };
        text.extend(mode.to_le_bytes());
    }
    palyra_ledger::sha256(&text)
}
