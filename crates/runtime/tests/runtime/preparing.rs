//! Runs that are asked about one call while they find out what another would do, stopped just then.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{ExecuteToolError, PreparedCall, Supervision, ToolRuntime};
use palyra_run_core::{Grant, Intent, RawPrepareRefusal};
use palyra_testkit::scripted_tools::{ACT, CHANGE};
use palyra_testkit::{Gate, Script, ScriptedTools};
use palyra_types::RunId;
use palyra_types::event::{ApprovalEvent, TapeEvent};
use palyra_types::run::{RunPhase, WaitReason};
use palyra_types::tool::ToolCatalog;

use crate::approval_calls::{asking, waiting};
use crate::rig::{Parts, Rig, settle, soon};

/// Scripted tools that find nothing out before the gate is open.
struct SlowToPrepare {
    tools: ScriptedTools,
    gate: Gate,
}

impl ToolRuntime for SlowToPrepare {
    fn catalog(&self) -> Arc<ToolCatalog> {
        self.tools.catalog()
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        let (gate, prepared) = (self.gate.clone(), self.tools.prepare(intent));
        async move {
            gate.pass().await;
            prepared.await
        }
        .boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<palyra_types::tool::RawToolOutcome, ExecuteToolError>> {
        self.tools.execute(grant, supervision)
    }
}

/// A runtime whose tools are slow to prepare.
async fn slow_rig(gate: &Gate) -> Rig {
    let tools = SlowToPrepare { tools: ScriptedTools::new(), gate: gate.clone() };
    Parts { rules: asking(), equipment: Some(Arc::new(tools)), ..Parts::new() }.start().await
}

/// Begins a run that is asked about one call while another is prepared, which never ends here.
async fn begun(rig: &Rig, gate: &Gate) -> RunId {
    rig.model.push(Script::new().call(CHANGE, "{}").call(ACT, "{}"));
    let run = rig.submit("k", "go").await.run;
    soon("the preparation", gate.reached()).await;
    settle().await;
    assert_eq!(waiting(rig).await.len(), 1, "asked about what needs no preparation");
    run
}

/// Returns how many questions there are about the call that is prepared.
async fn asked_about_the_other(rig: &Rig, run: RunId) -> usize {
    let tape = rig.tape(run).await;
    let about = |event: &TapeEvent| matches!(event, TapeEvent::Approval(ApprovalEvent::Requested(asked)) if asked.effect.0 == 1);
    tape.iter().filter(|entry| about(&entry.event)).count()
}

#[tokio::test]
async fn a_call_that_was_being_prepared_at_a_stop_is_prepared_again_though_another_waits_for_its_answer() {
    let gate = Gate::closed();
    let rig = slow_rig(&gate).await;
    let run = begun(&rig, &gate).await;
    let parts = Parts { memory: rig.memory.restarted(), seed: 4_711, rules: asking(), ..Parts::new() };
    let rig = parts.start().await;
    settle().await;
    assert_eq!(rig.tools.preparations().len(), 1);
    assert_eq!(asked_about_the_other(&rig, run).await, 1);
    assert_eq!(waiting(&rig).await.len(), 2);
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::Approval));
}

/// The question is in the journal, and nobody was told so.
#[tokio::test]
async fn a_call_is_prepared_though_the_fate_of_the_question_about_another_was_unknown() {
    let gate = Gate::closed();
    gate.open();
    let rig = slow_rig(&gate).await;
    let answering = Gate::closed();
    rig.model.push(Script::new().hold(&answering).call(CHANGE, "{}").call(ACT, "{}"));
    let run = rig.submit("k", "go").await.run;
    settle().await;
    rig.memory.lose_next_answer();
    answering.open();
    settle().await;
    assert_eq!(waiting(&rig).await.len(), 1, "the step that asks is committed");
    for _ in 0..4 {
        rig.clock.advance(std::time::Duration::from_secs(60));
        settle().await;
    }
    assert_eq!(asked_about_the_other(&rig, run).await, 1);
    assert_eq!(waiting(&rig).await.len(), 2);
}

/// What waits for a person and nothing else stays a row.
#[tokio::test]
async fn a_run_whose_calls_are_all_asked_is_not_woken_by_a_start() {
    let gate = Gate::closed();
    gate.open();
    let rig = slow_rig(&gate).await;
    rig.model.push(Script::new().call(CHANGE, "{}").call(ACT, "{}"));
    let run = rig.submit("k", "go").await.run;
    settle().await;
    assert_eq!(waiting(&rig).await.len(), 2);
    let parts = Parts { memory: rig.memory.restarted(), seed: 4_711, rules: asking(), ..Parts::new() };
    let rig = parts.start().await;
    let before = rig.faults.tape_reads();
    settle().await;
    assert_eq!(rig.faults.tape_reads(), before, "no task reads its tape");
    assert!(rig.tools.preparations().is_empty());
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::Approval));
}
