//! What must be so once the faults have stopped and everything has come to rest.

use palyra_run_core::RunStateMachine;
use palyra_types::run::{RunPhase, RunRecord};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{RunId, TapeSeq};

use super::Oracle;

/// How a story stands when nothing happens any more by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IdleState {
    /// Every run is over.
    Over,
    /// These wait for a person, or behind one that does.
    Waiting(Vec<RunId>),
}

impl Oracle {
    /// Says how things stand at rest; finds whatever is neither over nor waits for a person.
    pub(crate) fn rest(&mut self) -> IdleState {
        let open = self.open_runs();
        if open.is_empty() {
            let unsettled = self.budgets.left_open();
            unsettled.into_iter().chain(self.task_queue.left_open()).for_each(|what| self.find(what));
            return IdleState::Over;
        }
        let waits = |run: &&RunId| {
            self.runs.get(*run).is_some_and(|view| matches!(view.machine().phase(), RunPhase::Waiting(_)))
        };
        let waiting: Vec<RunId> = open.iter().filter(waits).copied().collect();
        let lost = self.lost_waits(&waiting);
        for run in lost {
            self.find(format!(
                "run {run} waits for a budget whose window ends or that is gone, and nothing wakes it"
            ));
        }
        let sessions: Vec<_> =
            waiting.iter().filter_map(|run| self.run(*run)).map(super::RunView::session).collect();
        let stuck: Vec<RunId> = open
            .iter()
            .filter(|run| self.run(**run).is_some_and(|view| !sessions.contains(&view.session())))
            .copied()
            .collect();
        for run in stuck {
            let phase = self.phase_of(run);
            self.find(format!("run {run} is never over: everything rests, and it stands {}", phase.name()));
        }
        IdleState::Waiting(waiting)
    }

    /// Returns the runs that wait for a budget although a timer should have woken them, or there is no budget.
    fn lost_waits(&self, waiting: &[RunId]) -> Vec<RunId> {
        let views = waiting.iter().filter_map(|run| self.runs.get(run).map(|view| (run, view)));
        let lost = views.filter(|(_, view)| {
            view.waits_for_a_window() || (view.waits_for_budget() && self.budgets.is_empty())
        });
        lost.map(|(run, _)| *run).collect()
    }

    /// Compares a run with what the journal says of it at the end.
    pub(crate) fn compare(
        &mut self,
        run: RunId,
        record: Option<&RunRecord>,
        tape: &[OrchestratorTapeRecord],
    ) {
        let Some(view) = self.runs.get(&run) else { return };
        let mut wrong = Vec::new();
        let is_erased = self.is_erased(run);
        if view.tape().len() != tape.len() || (!is_erased && view.tape() != tape) {
            wrong.push(format!("tape {run} is not what was committed"));
        }
        let mut replayed =
            tape.first().map(|first| RunStateMachine::new(run, first.session, first.principal));
        if let Some(machine) = &mut replayed {
            tape.iter().for_each(|entry| machine.evolve(&entry.event, entry.time));
        }
        if !is_erased && replayed.as_ref() != Some(view.machine()) {
            wrong.push(format!("replaying tape {run} gives another machine"));
        }
        match record {
            Some(record) => {
                let last = TapeSeq(u32::try_from(tape.len()).unwrap_or(u32::MAX));
                if (record.state, record.last_tape_seq) != (view.state(), last) {
                    wrong.push(format!("the record of {run} is not what its tape says"));
                }
            }
            None => wrong.push(format!("run {run} has no record")),
        }
        wrong.into_iter().for_each(|what| self.find(what));
    }
}
