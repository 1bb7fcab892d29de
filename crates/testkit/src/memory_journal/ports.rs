//! The four ports.

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use palyra_ports::maintain_journal::{
    JournalHealth, JournalStatus, MaintainJournal, Progress, RebuildError, VerifyReport,
};
use palyra_ports::read_records::{
    IdQuery, IdTable, OPEN_RUNS_MAX, RECORD_PAGE_ROWS_MAX, ReadRecords, RunFilter, RunQuery, SessionFilter,
    SessionQuery, SessionTextQuery, SessionTexts,
};
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries, TAPE_PAGE_BYTES_MAX};
use palyra_ports::{AppendError, AppendTape, Committed, JournalAppendRequest, ReadError, ReadTape, TapePage};
use palyra_types::access::{PrincipalRecord, TokenRecord};
use palyra_types::agent::AgentRecord;
use palyra_types::attachment::{Blob, BlobRef};
use palyra_types::component::ComponentRecord;
use palyra_types::posture::PostureRecord;
use palyra_types::run::{IdempotencyDigest, RunRecord};
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::shadow::ShadowCounts;
use palyra_types::skill::SkillRecord;
use palyra_types::tape::JournalEventRecord;
use palyra_types::{PrincipalId, RunId, Seq, TapeSeq};

use super::entry::Entry;
use super::{MEMORY_LOG_ID, MemoryJournal};

type Reading<T> = BoxFuture<'static, Result<T, ReadError>>;

fn done<T: Send + 'static>(value: T) -> Reading<T> {
    ready(Ok(value)).boxed()
}

impl AppendTape for MemoryJournal {
    fn append(&self, request: JournalAppendRequest) -> BoxFuture<'static, Result<Committed, AppendError>> {
        let answered = self.lock().append(self.epoch, request);
        async move { answered.await.unwrap_or(Err(AppendError::Closed)) }.boxed()
    }
}

impl ReadTape for MemoryJournal {
    fn tape(&self, run: RunId, after: TapeSeq, limit: usize) -> Reading<TapePage> {
        let state = self.lock();
        let wanted = |entry: &&Entry| entry.new.run.is_some_and(|(own, at)| own == run && at > after);
        done(page(state.entries.iter().filter(wanted), limit))
    }

    fn session_tape(&self, session: SessionRef, after: Option<Seq>, limit: usize) -> Reading<TapePage> {
        let state = self.lock();
        let wanted = |entry: &&Entry| {
            entry.new.run.is_some()
                && entry.new.principal == session.principal
                && entry.new.session == Some(session.id)
                && after.is_none_or(|after| entry.seq > after)
        };
        done(page(state.entries.iter().filter(wanted), limit))
    }

    fn blob(&self, place: BlobRef) -> Reading<Option<Blob>> {
        let state = self.lock();
        let wanted = |entry: &&Entry| entry.new.run == Some((place.run, place.tape_seq));
        let index = usize::try_from(place.index).unwrap_or(usize::MAX);
        done(state.entries.iter().find(wanted).and_then(|entry| entry.blobs.get(index).cloned()))
    }
}

/// Returns whether a session's names, or an input of it, hold the text that is searched.
fn is_found(state: &super::state::State, session: &OrchestratorSessionRecord, search: &str) -> bool {
    let needle = search.to_lowercase();
    let holds = |text: &str| text.to_lowercase().contains(&needle);
    let named = [&session.key, &session.label].into_iter().flatten().any(|text| holds(text.expose()));
    named
        || state.records.runs.values().any(|run| {
            run.principal == session.session.principal
                && run.session == session.session.id
                && holds(run.input_preview.expose())
        })
}

fn page<'a>(entries: impl Iterator<Item = &'a Entry>, limit: usize) -> TapePage {
    let limit = limit.clamp(1, MAX_TAPE_ENTRIES_PER_RESPONSE);
    let mut page = TapePage::default();
    let mut bytes = 0;
    for entry in entries {
        bytes += entry.content_bytes();
        let full = page.entries.len() >= limit || (!page.entries.is_empty() && bytes > TAPE_PAGE_BYTES_MAX);
        if full {
            page.more = MoreEntries::Some;
            break;
        }
        page.entries.extend(entry.tape_record());
    }
    page
}

impl ReadRecords for MemoryJournal {
    fn run(&self, run: RunId) -> Reading<Option<RunRecord>> {
        done(self.lock().records.runs.get(&run).cloned())
    }

    fn run_by_idempotency(
        &self,
        principal: PrincipalId,
        digest: IdempotencyDigest,
    ) -> Reading<Option<RunId>> {
        done(self.lock().records.started_by.get(&(principal, digest)).copied())
    }

    fn runs(&self, query: RunQuery) -> Reading<Vec<RunRecord>> {
        let state = self.lock();
        let wanted = |run: &&RunRecord| {
            run.principal == query.principal
                && query.session.is_none_or(|session| run.session == session)
                && query.before.is_none_or(|before| run.first_seq < before)
                && match query.only {
                    RunFilter::All => true,
                    RunFilter::Open => !run.state.is_terminal(),
                    RunFilter::Finished => run.state.is_terminal(),
                }
        };
        let mut runs: Vec<RunRecord> = state.records.runs.values().filter(wanted).cloned().collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.first_seq));
        runs.truncate(query.limit.clamp(1, RECORD_PAGE_ROWS_MAX));
        done(runs)
    }

    fn open_runs(&self) -> Reading<Vec<RunRecord>> {
        let state = self.lock();
        let open = state.records.runs.values().filter(|run| !run.state.is_terminal());
        let mut runs: Vec<RunRecord> = open.cloned().collect();
        runs.sort_by_key(|run| run.first_seq);
        runs.truncate(OPEN_RUNS_MAX);
        done(runs)
    }

    fn session(&self, session: SessionRef) -> Reading<Option<OrchestratorSessionRecord>> {
        done(self.lock().records.sessions.get(&session).cloned())
    }

    fn session_by_key(
        &self,
        principal: PrincipalId,
        key: String,
    ) -> Reading<Option<OrchestratorSessionRecord>> {
        done(self.lock().records.session_by_key(principal, &key).cloned())
    }

    fn reset_before(&self, session: SessionRef, seq: Seq) -> Reading<Option<Seq>> {
        let state = self.lock();
        let before = state.records.resets.range((session, Seq(0))..(session, seq));
        done(before.last().map(|(_, at)| *at))
    }

    fn sessions(&self, query: SessionQuery) -> Reading<Vec<OrchestratorSessionRecord>> {
        let state = self.lock();
        let place = |session: &OrchestratorSessionRecord| (session.updated, session.session.id);
        let wanted = |session: &&OrchestratorSessionRecord| {
            session.session.principal == query.principal
                && query.after.is_none_or(|after| place(session) < after)
                && match query.only {
                    SessionFilter::Current => session.archived.is_none(),
                    SessionFilter::Archived => session.archived.is_some(),
                    SessionFilter::All => true,
                }
                && query.search.as_ref().is_none_or(|search| is_found(&state, session, search.expose()))
        };
        let mut sessions: Vec<_> = state.records.sessions.values().filter(wanted).cloned().collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(place(session)));
        sessions.truncate(query.limit.clamp(1, RECORD_PAGE_ROWS_MAX));
        done(sessions)
    }

    fn session_texts(&self, query: SessionTextQuery) -> Reading<Vec<SessionTexts>> {
        let state = self.lock();
        let texts = query.sessions.iter().take(RECORD_PAGE_ROWS_MAX).map(|session| {
            let own = |run: &&RunRecord| run.principal == session.principal && run.session == session.id;
            let mut runs: Vec<&RunRecord> = state.records.runs.values().filter(own).collect();
            runs.sort_by_key(|run| run.first_seq);
            let needle = query.search.as_ref().map(|text| text.expose().to_lowercase());
            let holds = |run: &&&RunRecord| {
                needle
                    .as_ref()
                    .is_some_and(|needle| run.input_preview.expose().to_lowercase().contains(needle))
            };
            let preview =
                |run: Option<&&RunRecord>| run.map(|run| run.input_preview.clone()).unwrap_or_default();
            SessionTexts { first_input: preview(runs.first()), matched: preview(runs.iter().rfind(holds)) }
        });
        done(texts.collect())
    }

    fn ids(&self, query: IdQuery) -> Reading<Vec<[u8; 16]>> {
        let state = self.lock();
        let records = &state.records;
        let mut ids: Vec<(PrincipalId, [u8; 16])> = match query.table {
            IdTable::Runs => records.runs.values().map(|run| (run.principal, run.run.to_bytes())).collect(),
            IdTable::Sessions => {
                records.sessions.keys().map(|session| (session.principal, session.id.to_bytes())).collect()
            }
            IdTable::Approvals => {
                let approvals = state.approvals().into_values();
                approvals.map(|record| (record.principal, record.approval.to_bytes())).collect()
            }
        };
        ids.retain(|(principal, id)| {
            query.principal.is_none_or(|wanted| wanted == *principal)
                && query.below.is_none_or(|below| *id < below)
                && query.fragment.matches(*id)
        });
        ids.sort_by_key(|(_, id)| std::cmp::Reverse(*id));
        ids.truncate(query.limit.clamp(1, RECORD_PAGE_ROWS_MAX));
        done(ids.into_iter().map(|(_, id)| id).collect())
    }

    fn agents(&self) -> Reading<Vec<AgentRecord>> {
        done(self.lock().records.agents.values().cloned().collect())
    }

    fn components(&self) -> Reading<Vec<ComponentRecord>> {
        let mut components: Vec<_> = self.lock().records.components.values().cloned().collect();
        components.sort_by_key(|component| component.seq);
        done(components)
    }

    fn skills(&self) -> Reading<Vec<SkillRecord>> {
        let mut skills: Vec<_> = self.lock().records.skills.values().cloned().collect();
        skills.sort_by_key(|skill| skill.seq);
        done(skills)
    }

    fn postures(&self) -> Reading<Vec<PostureRecord>> {
        done(self.lock().postures())
    }

    fn shadow(&self, candidate: Option<[u8; 32]>) -> Reading<Option<ShadowCounts>> {
        done(self.lock().shadow(candidate))
    }

    fn principals(&self) -> Reading<Vec<PrincipalRecord>> {
        done(self.lock().records.principals.values().cloned().collect())
    }

    fn tokens(&self) -> Reading<Vec<TokenRecord>> {
        done(self.lock().records.tokens.values().cloned().collect())
    }
}

impl MaintainJournal for MemoryJournal {
    fn status(&self) -> JournalStatus {
        let state = self.lock();
        JournalStatus {
            log_id: MEMORY_LOG_ID,
            epoch: self.epoch,
            health: match state.read_only {
                Some(_) => JournalHealth::Quarantined,
                None => JournalHealth::Writable,
            },
            cause: state.read_only,
            integrity: palyra_ports::Integrity::NotChecked,
            entries: state.entries.len() as u64,
            commits: state.commits,
            rows: state.rows,
            bytes: state.bytes,
            database_bytes: 0,
            wal_bytes: 0,
        }
    }

    fn verify(&self, progress: Progress) -> Reading<VerifyReport> {
        let entries = self.lock().entries.len() as u64;
        progress(entries, entries);
        done(VerifyReport { entries, head: [0; 32], fault: None, signed_heads: 0, signed_entries: 0 })
    }

    fn rebuild(&self, progress: Progress) -> BoxFuture<'static, Result<u64, RebuildError>> {
        let mut state = self.lock();
        if state.read_only.is_some() {
            return ready(Err(AppendError::Quarantined.into())).boxed();
        }
        state.refold();
        let entries = state.entries.len() as u64;
        progress(entries, entries);
        ready(Ok(entries)).boxed()
    }

    fn entries(&self, from: Seq, limit: usize) -> Reading<Vec<JournalEventRecord>> {
        let state = self.lock();
        let from = usize::try_from(from.0).unwrap_or(usize::MAX);
        let wanted = state.entries.iter().skip(from).take(limit.clamp(1, 1_000));
        done(wanted.map(|entry| state.record(entry)).collect())
    }
}
