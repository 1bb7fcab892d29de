//! Which group of events an event is of: the rows of a group are beside its events.

use crate::content_walk::content_rows;
use crate::event::{JournalEvent, TapeEvent};

content_rows! {
    fn journal_event(walk, event: JournalEvent) {
        match event {
            JournalEvent::Access(event) => walk.access_event(event),
            JournalEvent::Agent(event) => walk.agent_event(event),
            JournalEvent::Session(event) => walk.session_event(event),
            JournalEvent::Effect(event) => walk.effect_event(event),
            JournalEvent::Policy(event) => walk.policy_event(event),
            JournalEvent::Skill(event) => walk.skill_event(event),
            JournalEvent::Component(event) => walk.component_event(event),
            JournalEvent::Vault(event) => walk.vault_event(event),
            JournalEvent::Memory(event) => walk.memory_event(event),
            JournalEvent::Learning(event) => walk.learning_event(event),
            JournalEvent::Budget(event) => walk.budget_event(event),
            JournalEvent::Task(event) => walk.task_event(event),
            JournalEvent::Schedule(event) => walk.schedule_event(event),
            JournalEvent::Delivery(event) => walk.delivery_event(event),
            JournalEvent::Tape(event) => walk.tape_event(event),
            // Entries of these groups have no payload.
            JournalEvent::Log(_)
            | JournalEvent::Job(_)
            | JournalEvent::Incident(_)
            | JournalEvent::Unknown { kind: _ } => {}
        }
    }

    fn tape_event(walk, event: TapeEvent) {
        match event {
            TapeEvent::Run(event) => walk.run_event(event),
            TapeEvent::Model(event) => walk.model_event(event),
            TapeEvent::Tool(event) => walk.tool_event(event),
            TapeEvent::Approval(event) => walk.approval_event(event),
            TapeEvent::Unknown { kind: _ } => {}
        }
    }
}
