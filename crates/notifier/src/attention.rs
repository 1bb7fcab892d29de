//! What waits for the owner of the daemon, without any words about it.
//!
//! Invariant: of all content only the names of agents leave this file.

use std::collections::BTreeMap;

use palyra_admin::attention::{AttentionQuery, RunNeed, ScheduleWait, WaitingThing, waiting as read_waiting};
use palyra_journal_core::families::{agents, runs};
use palyra_journal_core::family::{LogView, RowStore, StoreFault};
use palyra_notify::{AttentionItem, AttentionKind, AttentionSubject};
use palyra_types::incident::IncidentStage;
use palyra_types::{AgentId, PrincipalId, RunId};

/// Returns what waits: approvals of every person, since the owner may decide them; runs, calls, schedules and reviews of the
/// owner; failed tasks and incidents.
pub(crate) fn waiting(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    owner: PrincipalId,
) -> Result<Vec<AttentionItem>, StoreFault> {
    let agents = agents::all(rows)?.into_iter().map(|agent| (agent.id, agent.profile.name.expose().clone()));
    let names = AgentNames(agents.collect());
    let query = AttentionQuery { principal: owner, has_schedules: true, has_daemon: true };
    let found = read_waiting(rows, log, query, &|_| true)?;
    let mut items = Vec::new();
    for thing in &found.things {
        let Some(NotifiedThing { kind, subject }) = notified(thing) else { continue };
        items.push(AttentionItem {
            kind,
            subject,
            agent: names.of_thing(rows, thing)?,
            risk: if let WaitingThing::Approval(approval) = thing { Some(approval.risk) } else { None },
            severity: match thing {
                WaitingThing::Incident(incident) => Some(incident.opened.severity),
                _ => None,
            },
            since: thing.since(),
        });
    }
    Ok(items)
}

struct NotifiedThing {
    kind: AttentionKind,
    subject: AttentionSubject,
}

/// Returns what a notification about something says; `None` where no person is needed.
fn notified(thing: &WaitingThing) -> Option<NotifiedThing> {
    let (kind, subject) = match thing {
        WaitingThing::Approval(approval) => {
            (AttentionKind::Approval, AttentionSubject::Approval(approval.approval))
        }
        WaitingThing::Run { run, need } => {
            let kind = match need {
                RunNeed::Answer => AttentionKind::Question,
                RunNeed::LoopCheck => AttentionKind::Loop,
                RunNeed::NewerVersion => AttentionKind::UnknownEntry,
                RunNeed::Budget => AttentionKind::Budget,
                // A person settled its call a moment ago, and was notified of that.
                RunNeed::WordsAfterOutcome => return None,
            };
            (kind, AttentionSubject::Run { run: run.run, turns: run.turns, tool_calls: run.tool_calls })
        }
        WaitingThing::Effect { effect, .. } => {
            let subject = AttentionSubject::Effect { run: effect.run, effect: effect.effect };
            (AttentionKind::UnknownOutcome, subject)
        }
        WaitingThing::Incident(incident) => match incident.stage {
            IncidentStage::Open => {
                (AttentionKind::Incident, AttentionSubject::Incident(incident.opened.incident))
            }
            // While a remedy is at work no person is needed.
            IncidentStage::Remediating | IncidentStage::Resolved => return None,
        },
        WaitingThing::FailedTask(task) => {
            (AttentionKind::FailedTask, AttentionSubject::Task { task: task.task, leases: task.fence.0 })
        }
        WaitingThing::Schedule(waiting) => {
            let schedule = waiting.schedule;
            match waiting.wait {
                ScheduleWait::Paused => {
                    let subject = AttentionSubject::PausedSchedule { schedule, at: waiting.since };
                    (AttentionKind::SchedulePaused, subject)
                }
                ScheduleWait::Reminder { planned } => {
                    (AttentionKind::Reminder, AttentionSubject::Reminder { schedule, planned })
                }
            }
        }
        WaitingThing::Review(candidate) => {
            (AttentionKind::Review, AttentionSubject::Review(candidate.proposed.candidate))
        }
    };
    Some(NotifiedThing { kind, subject })
}

struct AgentNames(BTreeMap<AgentId, String>);

impl AgentNames {
    fn of_thing(&self, rows: &mut dyn RowStore, thing: &WaitingThing) -> Result<String, StoreFault> {
        match thing {
            WaitingThing::Approval(approval) => self.of_run(rows, approval.run),
            WaitingThing::Run { run, .. } => Ok(self.of(run.agent)),
            WaitingThing::Effect { effect, .. } => self.of_run(rows, effect.run),
            WaitingThing::Schedule(waiting) => {
                Ok(waiting.agent.map(|agent| self.of(agent)).unwrap_or_default())
            }
            WaitingThing::Incident(_) | WaitingThing::FailedTask(_) | WaitingThing::Review(_) => {
                Ok(String::new())
            }
        }
    }

    fn of(&self, agent: AgentId) -> String {
        self.0.get(&agent).cloned().unwrap_or_default()
    }

    fn of_run(&self, rows: &mut dyn RowStore, run: RunId) -> Result<String, StoreFault> {
        Ok(runs::record(rows, run)?.map(|run| self.of(run.agent)).unwrap_or_default())
    }
}
