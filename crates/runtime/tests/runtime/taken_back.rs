//! What runs did to the world: said by a person where nobody knew, and taken back where that is possible.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::read_approvals::{EffectFilter, EffectQuery};
use palyra_ports::redactor::REGISTERED_PLACEHOLDER;
use palyra_ports::{AppendError, ExecuteToolError, PreparedCall, Supervision, ToolRuntime};
use palyra_run_core::{Grant, Intent, RawPrepareRefusal};
use palyra_runtime::RequestError;
use palyra_testkit::scripted_tools::{ACT, CHANGE, LOOK};
use palyra_testkit::{Script, ScriptedTools, ToolScript};
use palyra_types::effect::{
    EffectResolution, EffectState, FileBefore, KeptFileId, KeptPlacement, RawPreImage, UndoRequested,
    UndoResult, UndoneFile,
};
use palyra_types::event::{EffectEvent, JournalEvent, TapeEvent, ToolEvent};
use palyra_types::run::{RunLifecycleState, RunPhase, WaitReason};
use palyra_types::tool::{RawToolOutcome, ToolCatalog};
use palyra_types::{Content, EffectId, Redacted};

use crate::approval_calls::{ACTS, approve, ask, asked, asking, asking_rig, waiting};
use crate::rig::{Parts, Rig, SECRET, entries_of, journal_of, looking, settle, soon};
use crate::shapes::check;

/// The scripted tools; what they prepare says what each file was.
#[derive(Clone)]
struct WithImages(ScriptedTools, &'static str);

impl ToolRuntime for WithImages {
    fn catalog(&self) -> Arc<ToolCatalog> {
        self.0.catalog()
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        let path = Content::new(intent.arguments().expose().clone());
        let prepared = self.0.prepare(intent);
        let was = self.1.as_bytes().to_vec();
        async move {
            let before = FileBefore::File { bytes: Content::new(was), mode: 0o644 };
            let image = RawPreImage { path, before, after_sha256: Some([1; 32]) };
            Ok(PreparedCall { pre_images: vec![image], ..prepared.await? })
        }
        .boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
        self.0.execute(grant, supervision)
    }
}

fn parts() -> Parts {
    parts_where("as it was")
}

/// Tools that find this in every file.
fn parts_where(was: &'static str) -> Parts {
    let parts = Parts { rules: asking(), ..Parts::new() };
    let tools: Arc<dyn ToolRuntime> = Arc::new(WithImages(parts.tools.clone(), was));
    Parts { equipment: Some(tools), ..parts }
}

/// Returns what the journal says became of the files of each undo.
async fn recorded(rig: &Rig) -> Vec<Vec<UndoneFile>> {
    let entries = entries_of(&rig.memory).await.into_iter();
    let ends = entries.filter_map(|entry| match entry.event {
        JournalEvent::Effect(EffectEvent::UndoFinished { files, .. }) => Some(files),
        _ => None,
    });
    ends.collect()
}

/// Returns what is kept of the files of a run.
async fn kept(rig: &Rig, run: palyra_types::RunId) -> Vec<FileBefore> {
    let starts = rig.tape(run).await.into_iter().filter_map(|entry| match entry.event {
        TapeEvent::Tool(ToolEvent::Started(started)) => Some(started.plan.pre_images),
        _ => None,
    });
    starts.flatten().map(|image| image.before).collect()
}

/// A run that changed two files.
async fn changed_two(rig: &Rig) -> palyra_types::RunId {
    rig.model.push(Script::new().call(CHANGE, r#"{"n":1}"#).call(CHANGE, r#"{"n":2}"#));
    let run = rig.submit("k", "go").await.run;
    asked(rig, run).await;
    for _ in 0..2 {
        settle().await;
        approve(rig, waiting(rig).await[0].approval).await.unwrap();
    }
    rig.finished(run).await;
    run
}

/// Returns what the starts of a run's calls show of what they change.
async fn previews(rig: &Rig, run: palyra_types::RunId) -> Vec<String> {
    let starts = rig.tape(run).await.into_iter().filter_map(|entry| match entry.event {
        TapeEvent::Tool(ToolEvent::Started(started)) => Some(started.plan.preview.into_exposed()),
        _ => None,
    });
    starts.collect()
}

#[tokio::test]
async fn a_change_without_a_question_is_recorded_with_what_it_shows_and_one_with_a_question_is_not() {
    let asked = parts().start().await;
    let run = changed_two(&asked).await;
    assert_eq!(previews(&asked, run).await, ["", ""], "the questions have it");
    let unattended = ACTS.replace("\"act\"", "\"change\"").replace("\"execute\"", "\"execute_unattended\"");
    let parts = Parts { rules: looking().with_file("acts.cedar", &unattended), ..parts() };
    let rig = parts.start().await;
    rig.model.push(Script::new().call(CHANGE, r#"{"n":1}"#));
    let run = rig.submit("k", "go").await.run;
    rig.finished(run).await;
    assert_eq!(previews(&rig, run).await, ["-\n+{\"n\":1}\n"]);
}

#[tokio::test]
async fn the_last_change_is_taken_back_first_and_what_became_of_it_is_recorded() {
    let rig = parts().start().await;
    let run = changed_two(&rig).await;
    let undone = soon("an undo", rig.gateway.runs.undo(rig.me(), run)).await.unwrap().files;
    assert_eq!(undone.len(), 2);
    assert!(undone.iter().all(|file| file.result == UndoResult::Restored));
    let orders = rig.restore.orders();
    let paths: Vec<_> = orders[0].files.iter().map(|file| file.path.expose().as_str()).collect();
    assert_eq!(paths, [r#"{"n":2}"#, r#"{"n":1}"#]);
    assert_eq!(orders[0].workspace_root.expose().to_str(), Some("/home"));
    let entries = entries_of(&rig.memory).await;
    let ends = entries
        .iter()
        .filter(|entry| matches!(entry.event, JournalEvent::Effect(EffectEvent::UndoFinished { .. })));
    assert_eq!(ends.count(), 1);
    assert!(matches!(rig.gateway.runs.undo(rig.stranger(), run).await, Err(RequestError::RunNotFound)));
}

#[tokio::test]
async fn an_undo_without_an_end_is_finished_at_the_next_start_and_once() {
    let rig = parts().start().await;
    let run = changed_two(&rig).await;
    soon("an undo", rig.gateway.runs.undo(rig.me(), run)).await.unwrap();
    let mut entries = entries_of(&rig.memory).await;
    let end = entries
        .iter()
        .position(|entry| matches!(entry.event, JournalEvent::Effect(EffectEvent::UndoFinished { .. })));
    entries.truncate(end.unwrap());
    let rig = Parts { memory: journal_of(&entries).await, seed: 99, ..parts() }.start().await;
    assert_eq!(rig.restore.orders().len(), 1);
    let memory = rig.memory.restarted();
    let rig = Parts { memory, seed: 100, ..parts() }.start().await;
    assert!(rig.restore.orders().is_empty(), "it has its end");
}

#[tokio::test]
async fn an_open_run_and_one_that_changed_nothing_are_not_taken_back() {
    let rig = parts().start().await;
    rig.model.push(Script::new().call(LOOK, "{}"));
    let looked = rig.submit("l", "go").await.run;
    rig.finished(looked).await;
    assert!(matches!(rig.gateway.runs.undo(rig.me(), looked).await, Err(RequestError::UndoNothing)));
    let (open, _) = ask(&rig, "k", CHANGE, "{}").await;
    assert!(matches!(rig.gateway.runs.undo(rig.me(), open).await, Err(RequestError::UndoOpenRun)));
    assert!(rig.restore.orders().is_empty());
}

#[tokio::test]
async fn what_nobody_knows_is_said_by_a_person_and_the_run_goes_on() {
    for resolution in [EffectResolution::Happened, EffectResolution::DidNotHappen, EffectResolution::Retry] {
        let rig = asking_rig().await;
        rig.tools.push(ACT, ToolScript::Lose);
        let (run, approval) = ask(&rig, "k", ACT, "{}").await;
        approve(&rig, approval).await.unwrap();
        rig.until(run, "the doubt", |event| {
            matches!(event, TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. }))
        })
        .await;
        settle().await;
        assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::OutcomeUnknown));
        let effects = &rig.gateway.runs;
        let query = EffectQuery { only: EffectFilter::Unknown, limit: 10, ..EffectQuery::default() };
        let unknown = effects.effects(rig.me(), query.clone()).await.unwrap();
        assert_eq!((unknown.len(), unknown[0].run, unknown[0].approval), (1, run, Some(approval)));
        assert!(effects.effects(rig.stranger(), query).await.unwrap().is_empty());
        let effect = EffectId(1);
        let strange =
            effects.resolve_effect(rig.stranger(), run, effect, resolution, Redacted::default().into()).await;
        assert!(matches!(strange, Err(RequestError::RunNotFound)));
        let said = soon(
            "a resolution",
            effects.resolve_effect(rig.me(), run, effect, resolution, "I looked".into()),
        )
        .await
        .unwrap();
        assert_eq!(said.state, EffectState::Resolved(resolution));
        assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
        check(&rig.tape(run).await);
        let again = effects
            .resolve_effect(rig.me(), run, effect, resolution, Redacted::default().into())
            .await
            .unwrap();
        assert_eq!(again.state, EffectState::Resolved(resolution));
        let known =
            effects.resolve_effect(rig.me(), run, EffectId(9), resolution, Redacted::default().into()).await;
        assert!(matches!(known, Err(RequestError::EffectNotUnknown)));
        assert_eq!(rig.tools.executions().len(), 1, "nobody repeats it");
    }
}

#[tokio::test]
async fn a_file_that_changed_since_is_left_told_and_recorded_without_its_secrets() {
    let rig = parts().start().await;
    let run = changed_two(&rig).await;
    rig.restore.says(UndoResult::Conflict(format!("-mine: {SECRET}\n+as it was\n").into()));
    let undone = soon("an undo", rig.gateway.runs.undo(rig.me(), run)).await.unwrap().files;
    let told =
        UndoResult::Conflict(Redacted::cleaned(format!("-mine: {REGISTERED_PLACEHOLDER}\n+as it was\n")));
    assert_eq!(undone[0].result, told);
    assert_eq!(undone[1].result, UndoResult::Restored, "the other one is put back all the same");
    assert_eq!(recorded(&rig).await, std::slice::from_ref(&undone));
    // It is no end: what was left may be as the run left it by now.
    rig.restore.says(UndoResult::Failed(format!("`{SECRET}` is write-protected").into()));
    rig.restore.says(UndoResult::AlreadyRestored);
    let again = soon("an undo", rig.gateway.runs.undo(rig.me(), run)).await.unwrap().files;
    let failed =
        UndoResult::Failed(Redacted::cleaned(format!("`{REGISTERED_PLACEHOLDER}` is write-protected")));
    assert_eq!([&again[0].result, &again[1].result], [&failed, &UndoResult::AlreadyRestored]);
    assert_eq!(recorded(&rig).await, [undone, again]);
    assert_eq!(rig.restore.orders().len(), 2);
}

#[tokio::test]
async fn of_a_file_that_held_a_secret_nothing_is_kept_and_that_is_said() {
    const WAS: &str = "key = canary-secret-61f0\n";
    assert!(WAS.contains(SECRET));
    let rig = parts_where(WAS).start().await;
    let run = changed_two(&rig).await;
    assert_eq!(
        kept(&rig, run).await,
        [FileBefore::Withheld { mode: 0o644 }, FileBefore::Withheld { mode: 0o644 }]
    );
    let undone = soon("an undo", rig.gateway.runs.undo(rig.me(), run)).await.unwrap().files;
    assert!(undone.iter().all(|file| file.result == UndoResult::Withheld), "{undone:?}");
    assert_eq!(recorded(&rig).await, [undone]);
    let order = rig.restore.orders().remove(0);
    assert!(order.files.iter().all(|file| file.before == FileBefore::Withheld { mode: 0o644 }));
    // The control: of another file all is kept.
    let rig = parts().start().await;
    let run = changed_two(&rig).await;
    let whole = FileBefore::File { bytes: Redacted::cleaned(b"as it was".to_vec()), mode: 0o644 };
    assert_eq!(kept(&rig, run).await, [whole.clone(), whole]);
}

#[tokio::test]
async fn an_undo_that_hits_a_bug_is_in_doubt_and_is_finished_at_the_next_start() {
    let rig = parts().start().await;
    let run = changed_two(&rig).await;
    rig.restore.panics();
    let undone = soon("an undo", rig.gateway.runs.undo(rig.me(), run)).await;
    assert!(matches!(undone, Err(RequestError::Append(AppendError::Unknown))), "{undone:?}");
    assert!(recorded(&rig).await.is_empty(), "nobody knows");
    let memory = rig.memory.restarted();
    let rig = Parts { memory, seed: 99, ..parts() }.start().await;
    assert_eq!((rig.restore.orders().len(), recorded(&rig).await.len()), (1, 1));
    assert!(recorded(&rig).await[0].iter().all(|file| file.result == UndoResult::Restored));
}

/// Its tape is closed: what is said stands beside it, once, and nothing begins anew.
#[tokio::test]
async fn what_nobody_knows_of_a_run_that_is_over_is_said_beside_its_tape() {
    let rig = asking_rig().await;
    rig.tools.push(ACT, ToolScript::Lose);
    let (run, approval) = ask(&rig, "k", ACT, "{}").await;
    approve(&rig, approval).await.unwrap();
    rig.until(run, "the doubt", |event| matches!(event, TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. })))
        .await;
    settle().await;
    rig.cancel(run).await.unwrap();
    let over = rig.finished(run).await;
    let (tape, asked) = (rig.tape(run).await, rig.model.counts());
    let effect = EffectId(1);
    let effects = &rig.gateway.runs;
    let say = |who, resolution, note: &str| {
        soon("a resolution", effects.resolve_effect(who, run, effect, resolution, note.into()))
    };
    let (happened, did_not) = (EffectResolution::Happened, EffectResolution::DidNotHappen);
    let stranger = say(rig.stranger(), happened, "").await;
    assert!(matches!(stranger, Err(RequestError::RunNotFound)), "{stranger:?}");
    let retried = say(rig.me(), EffectResolution::Retry, "").await;
    assert!(matches!(retried, Err(RequestError::RunFinished)), "nothing would try again: {retried:?}");
    let (one, other) =
        futures::future::join(say(rig.me(), happened, "I looked"), say(rig.me(), did_not, "")).await;
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    let (said, refused) = if one.is_ok() { (one, other) } else { (other, one) };
    let said = said.unwrap();
    assert!(matches!(refused, Err(RequestError::EffectNotUnknown)), "{refused:?}");
    let EffectState::Resolved(resolution) = said.state else { panic!("{said:?}") };
    assert_eq!(say(rig.me(), resolution, "once more").await.unwrap(), said);
    let entries = entries_of(&rig.memory).await;
    let settled = entries.iter().filter_map(|entry| match &entry.event {
        JournalEvent::Effect(EffectEvent::Settled(settled)) => {
            Some((entry.principal, entry.run, settled.clone()))
        }
        _ => None,
    });
    let settled: Vec<_> = settled.collect();
    let [(principal, None, settled)] = settled.as_slice() else { panic!("{settled:?}") };
    assert_eq!((*principal, settled.by), (over.principal, rig.me().actor.principal));
    assert_eq!((settled.run, settled.effect, settled.resolution), (run, EffectId(1), resolution));
    assert_eq!((rig.tape(run).await, rig.record(run).await, rig.model.counts()), (tape, over, asked));
    let rig = rig.restarted().await;
    settle().await;
    let query = EffectQuery { run: Some(run), limit: 10, ..EffectQuery::default() };
    assert_eq!(rig.gateway.runs.effects(rig.me(), query).await.unwrap(), [said]);
    assert_eq!((rig.model.counts().begun, rig.tools.counts().begun), (0, 0));
}

#[tokio::test]
async fn a_placement_whose_kept_file_is_gone_ends_and_takes_no_change_of_the_run_back() {
    let rig = parts().start().await;
    let run = changed_two(&rig).await;
    assert!(matches!(rig.gateway.runs.kept_files(rig.stranger(), run).await, Err(RequestError::RunNotFound)));
    soon("an undo", rig.gateway.runs.undo(rig.me(), run)).await.unwrap();
    let mut entries = entries_of(&rig.memory).await;
    let end = entries
        .iter()
        .position(|entry| matches!(entry.event, JournalEvent::Effect(EffectEvent::UndoFinished { .. })));
    entries.truncate(end.unwrap());
    let Some(JournalEvent::Effect(EffectEvent::UndoRequested(requested))) =
        entries.last_mut().map(|entry| &mut entry.event)
    else {
        panic!("it was wished last");
    };
    let paths = vec![".envrc".into()];
    let kept = KeptPlacement { file: KeptFileId("1-1-1/0".to_owned()), sha256: [1; 32], before: vec![None] };
    *requested = UndoRequested { paths, kept: Some(kept), ..requested.clone() };
    let rig = Parts { memory: journal_of(&entries).await, seed: 99, ..parts() }.start().await;
    assert!(rig.restore.orders().is_empty());
    let ends = recorded(&rig).await;
    assert_eq!(ends[0][0].path.expose(), ".envrc");
    assert!(matches!(ends[0][0].result, UndoResult::Failed(_)), "{ends:?}");
}
