//! Folders that a rule closes, on their way from the decision to the tool that starts a program.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_policy::ToolPolicyRules;
use palyra_ports::{ExecuteToolError, PreparedCall, Supervision, ToolRuntime};
use palyra_run_core::{Grant, Intent, RawPrepareRefusal};
use palyra_testkit::scripted_tools::CHANGE;
use palyra_testkit::{Gate, Script, ScriptedTools};
use palyra_types::RunId;
use palyra_types::event::{TapeEvent, ToolEvent};
use palyra_types::tool::{
    Capability, DecisionReason, Isolation, RawToolOutcome, ToolCatalog, ToolName, ToolSpec, ToolVerdict,
};

use crate::approval_calls::{approve, ask, waiting};
use crate::rig::{Parts, Rig, looking, settle, soon};
use crate::shapes::check;

/// Whether a tool sees to the folders that it is given.
#[derive(Clone, Copy, PartialEq)]
enum Folders {
    Kept,
    LeftOut,
}

/// Scripted tools of which one starts programs.
#[derive(Clone)]
struct Programs {
    tools: ScriptedTools,
    folders: Folders,
    /// What the next preparations wait for once they have begun.
    gates: Arc<Mutex<VecDeque<Gate>>>,
}

impl ToolRuntime for Programs {
    fn catalog(&self) -> Arc<ToolCatalog> {
        let starts = |tool: &ToolSpec| match tool.name.as_str() {
            CHANGE => ToolSpec {
                capabilities: vec![Capability::ReadFiles, Capability::WriteFiles, Capability::Process],
                ..tool.clone()
            },
            _ => tool.clone(),
        };
        Arc::new(ToolCatalog::new(self.tools.catalog().iter().map(starts).collect()))
    }

    fn isolation(&self, _tool: &ToolName) -> Isolation {
        Isolation::Isolated
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        let (gate, folders) = (self.gates.lock().unwrap().pop_front(), self.folders);
        let read_only = intent.read_only().to_vec();
        let prepared = self.tools.prepare(intent);
        async move {
            if let Some(gate) = gate {
                gate.pass().await;
            }
            let body = format!("{{\"read_only\":{read_only:?}}}").into();
            let read_only = if folders == Folders::Kept { read_only } else { Vec::new() };
            Ok(PreparedCall { body, read_only, ..prepared.await? })
        }
        .boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
        self.tools.execute(grant, supervision)
    }
}

fn closes(folders: &[&str]) -> ToolPolicyRules {
    folders.iter().fold(looking(), |rules, folder| {
        let rule = format!(
            "@id(\"closes-{folder}\") forbid (principal, action, resource in Capability::\"write_files\") when {{ \
             context.folders.contains(\"{folder}\") }};"
        );
        rules.with_file(&format!("{folder}.cedar"), &rule)
    })
}

async fn started(rules: ToolPolicyRules, folders: Folders) -> (Rig, Programs) {
    let programs = Programs { tools: ScriptedTools::new(), folders, gates: Arc::default() };
    let equipment: Option<Arc<dyn ToolRuntime>> = Some(Arc::new(programs.clone()));
    (Parts { rules, equipment, ..Parts::new() }.start().await, programs)
}

/// Returns the plans with which calls were started.
async fn plans(rig: &Rig, run: RunId) -> Vec<String> {
    let tape = rig.tape(run).await;
    check(&tape);
    let plan = |event: &TapeEvent| match event {
        TapeEvent::Tool(ToolEvent::Started(started)) => Some(started.plan.body.expose().clone()),
        _ => None,
    };
    tape.iter().filter_map(|entry| plan(&entry.event)).collect()
}

async fn last_decision(rig: &Rig, run: RunId) -> (ToolVerdict, DecisionReason, String) {
    let tape = rig.tape(run).await;
    let decided = tape.iter().rev().find_map(|entry| match &entry.event {
        TapeEvent::Tool(ToolEvent::Decided(decided)) => {
            Some((decided.verdict, decided.reason, decided.explanation.expose().clone()))
        }
        _ => None,
    });
    decided.expect("a decision")
}

#[tokio::test]
async fn the_folders_of_the_rules_are_part_of_the_plan_that_is_approved_and_started() {
    for (folders, expect) in [(&["src"][..], r#"{"read_only":["src"]}"#), (&[], r#"{"read_only":[]}"#)] {
        let (rig, _) = started(closes(folders), Folders::Kept).await;
        let (run, approval) = ask(&rig, "k", CHANGE, "{}").await;
        approve(&rig, approval).await.expect("a yes");
        rig.finished(run).await;
        assert_eq!(plans(&rig, run).await, [expect]);
    }
}

#[tokio::test]
async fn a_tool_that_leaves_a_folder_out_is_refused() {
    for (folders, runs) in [(&["src"][..], false), (&[], true)] {
        let (rig, _) = started(closes(folders), Folders::LeftOut).await;
        rig.model.push(Script::new().call(CHANGE, "{}"));
        let run = rig.submit("k", "go").await.run;
        settle().await;
        assert_eq!(waiting(&rig).await.len(), usize::from(runs));
        if !runs {
            let (verdict, reason, told) = last_decision(&rig, run).await;
            assert_eq!((verdict, reason), (ToolVerdict::Deny, DecisionReason::NotPossible));
            assert!(told.contains("the tool cannot keep its program from that"), "{told}");
        }
    }
}

#[tokio::test]
async fn a_yes_to_other_folders_starts_nothing() {
    let (rig, _) = started(closes(&[]), Folders::Kept).await;
    let (run, approval) = ask(&rig, "k", CHANGE, "{}").await;
    rig.rule(&closes(&["src"]));
    // What was approved could write there: it is shown again.
    let _ = approve(&rig, approval).await;
    settle().await;
    assert!(plans(&rig, run).await.is_empty());
    assert_eq!(waiting(&rig).await.len(), 1);
    approve(&rig, asked_last(&rig).await).await.expect("a yes to what it is now");
    rig.finished(run).await;
    assert_eq!(plans(&rig, run).await, [r#"{"read_only":["src"]}"#]);
}

async fn asked_last(rig: &Rig) -> palyra_types::ApprovalId {
    waiting(rig).await.remove(0).approval
}

#[tokio::test]
async fn rules_that_change_while_a_call_is_prepared_start_nothing_that_they_close() {
    for (now, starts) in [(&["src"][..], true), (&["src", "docs"], false), (&[], false)] {
        let (rig, programs) = started(closes(&["src"]), Folders::Kept).await;
        let (run, approval) = ask(&rig, "k", CHANGE, "{}").await;
        let gate = Gate::closed();
        programs.gates.lock().unwrap().push_back(gate.clone());
        let answering = approve(&rig, approval);
        let changing = async {
            soon("the preparation", gate.reached()).await;
            rig.rule(&closes(now));
            gate.open();
        };
        let (answered, ()) = futures::join!(answering, changing);
        rig.finished(run).await;
        assert_eq!(plans(&rig, run).await.len(), usize::from(starts), "{answered:?}");
        if !starts {
            let (verdict, reason, told) = last_decision(&rig, run).await;
            assert_eq!((verdict, reason), (ToolVerdict::Deny, DecisionReason::Drifted), "{told}");
        }
    }
}
