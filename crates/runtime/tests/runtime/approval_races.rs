//! Answers that meet each other, and files that change between a question and its answer.
//!
//! `PALYRA_RACES` raises the number of races.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{ExecuteToolError, PreparedCall, Supervision, ToolRuntime};
use palyra_run_core::{Grant, Intent, RawPrepareRefusal};
use palyra_runtime::approvals::{AnswerCounted, ApprovalReply};
use palyra_runtime::session::SubmitRequest;
use palyra_runtime::{Caller, RequestError};
use palyra_testkit::scripted_tools::{ACT, CHANGE};
use palyra_testkit::{Script, ScriptedTools};
use palyra_types::approval::{ApprovalDecision, ApprovalState};
use palyra_types::tool::{
    Isolation, RawToolOutcome, Taints, ToolCatalog, ToolExecutionOutcome, ToolExecutor,
};
use palyra_types::{ApprovalId, Content, ErrorCode, RunId};

use crate::approval_calls::{ask, asked, asking, asking_rig, waiting};
use crate::rig::{Parts, Rig, by_key, request, settle, soon};
use crate::shapes::check;

/// Races of answers, and of files, by default; each set of them has a journal of its own.
const ANSWERS_DEFAULT: usize = 1_000;
const FILES_DEFAULT: usize = 300;
const RACES_PER_JOURNAL: usize = 50;

fn races(default: usize) -> usize {
    std::env::var("PALYRA_RACES").ok().and_then(|races| races.parse().ok()).unwrap_or(default)
}

/// Case 70: two clients decide opposite.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_opposite_answers_one_wins_and_the_other_is_told() {
    for _ in 0..races(ANSWERS_DEFAULT).div_ceil(RACES_PER_JOURNAL) {
        let rig = asking_rig().await;
        let mut approved = 0;
        for race in 0..RACES_PER_JOURNAL {
            let run = begun(&rig, &format!("k{race}"), ACT).await;
            let approval = asked(&rig, run).await;
            let decide = |decision| {
                let (approvals, me) = (rig.gateway.waiting.approvals.clone(), rig.me());
                tokio::spawn(
                    async move { approvals.resolve(me, approval, ApprovalReply::plain(decision)).await },
                )
            };
            let (yes, no) = (decide(ApprovalDecision::Approve), decide(ApprovalDecision::Deny));
            let (yes, no) = (yes.await.unwrap(), no.await.unwrap());
            let refused = |answer: &Result<_, RequestError>| {
                matches!(answer, Err(RequestError::ApprovalDecided { .. }))
            };
            assert!(yes.is_ok() ^ no.is_ok(), "{yes:?} {no:?}");
            assert!(refused(&yes) || refused(&no), "{yes:?} {no:?}");
            approved += usize::from(yes.is_ok());
            rig.finished(run).await;
            check(&rig.tape(run).await);
        }
        assert_eq!(rig.tools.executions().len(), approved);
        // The control: a yes that nobody contradicts.
        let run = begun(&rig, "last", ACT).await;
        answer(&rig, asked(&rig, run).await).await.unwrap();
        rig.finished(run).await;
        assert_eq!(rig.tools.executions().len(), approved + 1);
    }
}

async fn begun(rig: &Rig, key: &str, tool: &str) -> RunId {
    rig.model.push(Script::new().call(tool, "{}"));
    rig.submit(key, "go").await.run
}

/// A tool that replaces a real file, if it is still what it was when the call was prepared.
#[derive(Clone)]
struct FileTool {
    specs: ScriptedTools,
    /// What each start was permitted to replace, and what it replaced.
    replaced: Arc<Mutex<Vec<(String, String)>>>,
}

const FILE: &str = "f";

impl FileTool {
    fn new() -> Self {
        Self { specs: ScriptedTools::new(), replaced: Arc::default() }
    }

    fn read(root: &Path) -> String {
        std::fs::read_to_string(root.join(FILE)).unwrap_or_default()
    }
}

impl ToolRuntime for FileTool {
    fn catalog(&self) -> Arc<ToolCatalog> {
        self.specs.catalog()
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        let root = intent.workspace_root().to_owned();
        async move {
            // As a tool that has to go to the disk for it.
            tokio::task::yield_now().await;
            let found = Self::read(&root);
            Ok(PreparedCall {
                body: format!("{{\"found\":{found:?}}}").into(),
                preview: found.into(),
                ..PreparedCall::default()
            })
        }
        .boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        _supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
        let replaced = Arc::clone(&self.replaced);
        async move {
            let found = Self::read(grant.workspace_root());
            let planned = grant.plan().body.expose().clone();
            let fits = planned == format!("{{\"found\":{found:?}}}");
            if fits {
                replaced.lock().unwrap().push((planned, found));
                std::fs::write(grant.workspace_root().join(FILE), "replaced").unwrap();
            }
            Ok(ToolExecutionOutcome {
                failure: (!fits).then_some(ErrorCode::FileConflict),
                output: Content::default(),
                output_bytes_total: 0,
                executor: ToolExecutor::Internal,
                isolation: Isolation::DescriptorRelative,
                taints: Taints::NONE,
            })
        }
        .boxed()
    }
}

/// The file changes between question and answer, or in the same moment as the answer: what was not shown is never
/// replaced.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_changes_before_the_answer_is_never_replaced_unseen() {
    for _ in 0..races(FILES_DEFAULT).div_ceil(RACES_PER_JOURNAL) {
        let tool = FileTool::new();
        let equipment: Arc<dyn ToolRuntime> = Arc::new(tool.clone());
        let parts = Parts { rules: asking(), equipment: Some(equipment), ..Parts::new() };
        let rig = parts.start().await;
        let folder = tempfile::tempdir().unwrap();
        for race in 0..RACES_PER_JOURNAL {
            one_file_race(&rig, &tool, folder.path(), race).await;
        }
    }
}

async fn one_file_race(rig: &Rig, tool: &FileTool, folder: &Path, race: usize) {
    let file: PathBuf = folder.join(FILE);
    std::fs::write(&file, format!("first {race}")).unwrap();
    rig.model.push(Script::new().call(CHANGE, "{}"));
    let root = Some(Content::new(folder.to_owned()));
    let submit = SubmitRequest { workspace_root: root, ..request(by_key(&format!("k{race}")), "go") };
    let run = soon("a submit", rig.gateway.sessions.submit(rig.me(), submit)).await.unwrap().run;
    let mut approval = asked(rig, run).await;
    let before = tool.replaced.lock().unwrap().len();
    let mut changes = 0;
    let mut shown;
    loop {
        shown = rig
            .gateway
            .waiting
            .approvals
            .get(rig.me(), approval)
            .await
            .unwrap()
            .prompt
            .preview
            .into_exposed();
        let changing = !(race + changes).is_multiple_of(3) && changes < 3;
        let change = format!("changed {race} {changes}");
        let file = file.clone();
        let changed = async {
            if changing {
                tokio::task::spawn_blocking(move || std::fs::write(file, change).unwrap()).await.unwrap();
            }
        };
        changes += 1;
        let (answered, ()) = tokio::join!(answer(rig, approval), changed);
        match answered.unwrap() {
            Answered::AskedAgain(again) => approval = again,
            Answered::Counted => break,
        }
    }
    rig.finished(run).await;
    check(&rig.tape(run).await);
    let replaced = tool.replaced.lock().unwrap().split_off(before);
    assert!(replaced.len() <= 1);
    for (_, found) in replaced {
        assert_eq!(found, shown, "what was replaced is what the person saw");
    }
}

enum Answered {
    Counted,
    AskedAgain(ApprovalId),
}

async fn answer(rig: &Rig, approval: ApprovalId) -> Result<Answered, RequestError> {
    let yes = ApprovalReply::plain(ApprovalDecision::Approve);
    let resolved = soon("an answer", rig.gateway.waiting.approvals.resolve(rig.me(), approval, yes)).await?;
    match resolved.record.state {
        ApprovalState::Withdrawn => Ok(Answered::AskedAgain(resolved.asked_again.unwrap())),
        _ => {
            assert_eq!(resolved.counted, AnswerCounted::Yes);
            Ok(Answered::Counted)
        }
    }
}

/// Answers, cancels and a flood of questions at once: every tape keeps to what tapes must.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_and_cancels_in_the_same_moment_leave_every_tape_whole() {
    let rig = asking_rig().await;
    for race in 0..RACES_PER_JOURNAL {
        let (run, approval) = ask(&rig, &format!("k{race}"), ACT, "{}").await;
        let (runs, approvals, me): (_, _, Caller) =
            (rig.gateway.runs.clone(), rig.gateway.waiting.approvals.clone(), rig.me());
        let yes = ApprovalReply::plain(ApprovalDecision::Approve);
        let answering = tokio::spawn(async move { approvals.resolve(me, approval, yes).await });
        let cancelling = tokio::spawn(async move { runs.cancel(me, run).await });
        cancelling.await.unwrap().unwrap();
        let answered = answering.await.unwrap();
        rig.finished(run).await;
        check(&rig.tape(run).await);
        assert!(matches!(answered, Ok(_) | Err(RequestError::ApprovalDecided { .. })), "{answered:?}");
    }
    settle().await;
    assert!(waiting(&rig).await.is_empty());
}
