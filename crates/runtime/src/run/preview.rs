//! Says what the references of an input cost, by a run that is not recorded and asks no model.
//!
//! Owns which of its calls are made: those that read a file or a folder of the workspace, where policy lets them run
//! unattended. All others stay proposals.

use std::collections::{BTreeSet, VecDeque};

use palyra_admin::budgets::RunBudget;
use palyra_context::references::{PreviewedInput, is_made_by_preview, unasked_call};
use palyra_context::session_history::PriorContext;
use palyra_ports::OutputSink;
use palyra_run_core::{Effect, PrepareRefusal, RunInput};
use palyra_types::approval::ApproverPresence;
use palyra_types::event::RunStarted;
use palyra_types::session::SessionRef;
use palyra_types::tool::Taints;
use palyra_types::{ErrorCode, Redacted, RunId, Seq, TapeSeq};
use tokio_util::sync::CancellationToken;

use crate::run::call_evaluator::fresh_approval;
use crate::run::context::RequestSource;
use crate::run::draft::StepDraft;
use crate::run::mailbox::RunCommand;
use crate::run::perform::execute_tool::report;
use crate::run::state::AgentRunLoopState;
use crate::run_context::RunContext;

/// Says what the references of the input cost with which a run would start; `None` when it has none.
pub(crate) async fn preview_references(
    run_context: &RunContext,
    session: SessionRef,
    run: RunId,
    mut started: RunStarted,
) -> Option<PreviewedInput> {
    // No person is asked: calls that would ask are denied here, and stay proposals.
    let would_ask = std::mem::replace(&mut started.approvers, ApproverPresence::Nobody);
    let salt = started.run_salt.clone();
    let mut state = AgentRunLoopState::new(run, session.id, session.principal);
    let zone = run_context.zone_of(session.principal);
    let source = RequestSource { run_context, earlier: &PriorContext::default(), zone };
    let mut inputs = VecDeque::from([RunInput::Start(Box::new(started)), RunInput::Begin]);
    let mut unmade = BTreeSet::new();
    while let Some(input) = inputs.pop_front() {
        let now = run_context.ports.clock.wall();
        let budget = RunBudget::new(session, run, None);
        let mut draft = StepDraft::new(&state, session, Taints::NONE, budget, now);
        if draft.take(&RunCommand::without_reply(input), &state, &source).is_err() {
            break;
        }
        let StepDraft { machine, events, effects, .. } = draft;
        for event in &events {
            state.remember(event, now, Seq::default());
        }
        state.machine = machine;
        if would_ask != ApproverPresence::Nobody {
            unmade.extend(events.iter().filter_map(unasked_call));
        }
        for effect in effects {
            match effect {
                Effect::Execute(grant) if is_made_by_preview(grant.tool()) => {
                    let stop = CancellationToken::new();
                    inputs.push_back(report(run_context, grant, stop, OutputSink::default(), &salt).await);
                }
                Effect::Execute(grant) => {
                    unmade.insert(grant.effect());
                    inputs.push_back(RunInput::not_made(grant.effect()));
                }
                Effect::Prepare(intent) => {
                    unmade.insert(intent.effect());
                    inputs.push_back(RunInput::ToolPrepared {
                        effect: intent.effect(),
                        prepared: Err(PrepareRefusal {
                            code: ErrorCode::ToolCancelled,
                            message: Redacted::default(),
                        }),
                        judged: None,
                        fresh: fresh_approval(run_context),
                    });
                }
                Effect::AssembleContext { .. }
                | Effect::Judge(_)
                | Effect::CallModel { .. }
                | Effect::AbortModel { .. }
                | Effect::RetryAt { .. }
                | Effect::AbortTools
                | Effect::End => {}
            }
        }
    }
    // The start is its first entry.
    state.transcript.preview_references(TapeSeq::default().next(), &unmade)
}
