//! Sessions by a naive fold over all entries.

use std::collections::BTreeMap;

use palyra_types::SessionId;
use palyra_types::event::{JournalEvent, ModelEvent, RunEvent, SessionEvent, TapeEvent, ToolEvent};
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::tape::JournalEventRecord;

type FoundSessions = BTreeMap<SessionRef, OrchestratorSessionRecord>;

/// Returns every session there ever was.
pub(super) fn sessions(entries: &[JournalEventRecord]) -> FoundSessions {
    let mut sessions = Sessions::default();
    for entry in entries {
        sessions.fold_session(entry);
        sessions.touch(entry);
    }
    sessions.0
}

#[derive(Default)]
struct Sessions(FoundSessions);

impl Sessions {
    fn fold_session(&mut self, entry: &JournalEventRecord) {
        let principal = entry.principal;
        match &entry.event {
            JournalEvent::Session(SessionEvent::Opened { session, agent, key, label, branched_from }) => {
                let session = SessionRef { principal, id: *session };
                self.0.entry(session).or_insert_with(|| OrchestratorSessionRecord {
                    session,
                    agent: *agent,
                    key: key.clone(),
                    label: label.clone(),
                    created: entry.time,
                    updated: entry.time,
                    runs: 0,
                    last_run: None,
                    surface: None,
                    reset_at: None,
                    runs_before_reset: 0,
                    branched_from: *branched_from,
                    archived: None,
                    recall: None,
                });
            }
            JournalEvent::Session(SessionEvent::Reset { session }) => {
                self.change_session(entry, *session, |record| {
                    record.reset_at = Some(entry.seq);
                    record.runs_before_reset = record.runs;
                });
            }
            JournalEvent::Session(SessionEvent::Renamed { session, label }) => {
                self.change_session(entry, *session, |record| record.label.clone_from(label));
            }
            JournalEvent::Session(SessionEvent::Archived { session }) => {
                self.change_session(entry, *session, |record| record.archived = Some(entry.time));
            }
            JournalEvent::Session(SessionEvent::Restored { session }) => {
                self.change_session(entry, *session, |record| record.archived = None);
            }
            JournalEvent::Session(SessionEvent::RecallSet { session, recall }) => {
                self.change_session(entry, *session, |record| record.recall = *recall);
            }
            _ => {}
        }
    }

    fn change_session(
        &mut self,
        entry: &JournalEventRecord,
        id: SessionId,
        change: impl FnOnce(&mut OrchestratorSessionRecord),
    ) {
        let session = SessionRef { principal: entry.principal, id };
        if let Some(record) = self.0.get_mut(&session) {
            change(record);
            record.updated = entry.time;
        }
    }

    fn touch(&mut self, entry: &JournalEventRecord) {
        let JournalEvent::Tape(event) = &entry.event else { return };
        let (Some((run, _)), Some(session)) = (entry.run, entry.session) else { return };
        let session = SessionRef { principal: entry.principal, id: session };
        let speaking = matches!(
            event,
            TapeEvent::Model(ModelEvent::Text { .. } | ModelEvent::Reasoning { .. })
                | TapeEvent::Tool(ToolEvent::Output(_))
        );
        if let Some(session) = self.0.get_mut(&session).filter(|_| !speaking) {
            session.updated = entry.time;
            if let TapeEvent::Run(RunEvent::Started(started)) = event {
                if session.runs == 0 {
                    session.surface = Some(started.surface);
                }
                session.runs += 1;
                session.last_run = Some(run);
            }
        }
    }
}
