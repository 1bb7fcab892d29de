//! What tools do with memory: the same as callers, for the principal of their run and with what the run has read.
//!
//! An item holds for a call when it holds everywhere, in its conversation or in its folder. The text of a refusal holds no
//! content: the model reads it.

use futures::future::BoxFuture;
use palyra_journal_core::families::runs::{SessionTextQuery, has_input, session_texts};
use palyra_journal_core::families::sessions;
use palyra_journal_core::family::{QueryFamilies, RowStore, StoreFault};
use palyra_ports::read_records::{SessionFilter, SessionQuery};
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_ports::search_memories::{
    FoundSession, MemoryCall, MemoryDraft, MemoryReach, MemoryRefusal, ShownRun, UseMemories, WantedRun,
};
use palyra_types::event::{RunEvent, TapeEvent, ToolEvent};
use palyra_types::memory::{ForgetCause, MemoryAuthor, MemoryRecord, MemoryScope, MemorySource};
use palyra_types::session::SessionRef;
use palyra_types::surface::Surface;
use palyra_types::tape::ContentState;
use palyra_types::{Content, MemoryId, TapeSeq};

use super::memory_search::holds_in;
use super::past_runs::past_run;
use super::{MemoriesHandle, MemoryWriter, PAGE_ITEMS_MAX, invalid};
use crate::error::AdminError;

/// Words of a search of conversations, at most; further ones are left out.
const WORDS_MAX: usize = 8;

const SOURCE_ERASED: &str = "content of the run was erased, so nothing of it is saved";

impl UseMemories for MemoriesHandle {
    fn search(
        &self,
        call: MemoryCall,
        text: Content<String>,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<MemoryRecord>, MemoryRefusal>> {
        let handle = self.clone();
        Box::pin(async move { Ok(handle.find_for(&call, text, limit).await?) })
    }

    fn save(
        &self,
        call: MemoryCall,
        draft: MemoryDraft,
    ) -> BoxFuture<'static, Result<MemoryRecord, MemoryRefusal>> {
        let handle = self.clone();
        Box::pin(async move { Ok(handle.save_for(&call, draft).await?) })
    }

    fn forget(
        &self,
        call: MemoryCall,
        memory: MemoryId,
    ) -> BoxFuture<'static, Result<MemoryRecord, MemoryRefusal>> {
        let handle = self.clone();
        Box::pin(async move {
            Ok(handle.record_forgotten(call.principal, None, memory, ForgetCause::Model).await?)
        })
    }

    fn search_sessions(
        &self,
        call: MemoryCall,
        text: Content<String>,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<FoundSession>, MemoryRefusal>> {
        let handle = self.clone();
        Box::pin(async move { Ok(handle.sessions_for(&call, text, limit).await?) })
    }

    fn read_run(
        &self,
        call: MemoryCall,
        wanted: WantedRun,
    ) -> BoxFuture<'static, Result<ShownRun, MemoryRefusal>> {
        let handle = self.clone();
        Box::pin(async move { Ok(past_run(&handle.ports, &call, &wanted).await?) })
    }
}

impl MemoriesHandle {
    async fn find_for(
        &self,
        call: &MemoryCall,
        text: Content<String>,
        limit: usize,
    ) -> Result<Vec<MemoryRecord>, AdminError> {
        let admits = |scope: &MemoryScope| holds_in(scope, call.session, &call.root);
        if text.expose().trim().is_empty() {
            let mut items = self.usable(call.principal).await?;
            items.retain(|item| admits(&item.saved.scope));
            items.reverse();
            items.truncate(limit.clamp(1, PAGE_ITEMS_MAX));
            return Ok(items);
        }
        self.ranked(call.principal, text, admits, limit).await
    }

    async fn save_for(&self, call: &MemoryCall, draft: MemoryDraft) -> Result<MemoryRecord, AdminError> {
        let _no_erasure = self.without_erasure()?;
        let (via, tape_seq) = self.place_of(call).await?;
        let writer = MemoryWriter {
            principal: call.principal,
            actor: None,
            author: MemoryAuthor::Model,
            via,
            session: Some(call.session),
            source: Some(MemorySource { run: call.run, tape_seq }),
            taints: call.taints,
        };
        let scope = match draft.reach {
            MemoryReach::Everywhere => MemoryScope::Principal,
            MemoryReach::Session => MemoryScope::Session(call.session),
            MemoryReach::Folder => self.folder(call.principal, Content::new(call.root.clone()))?,
        };
        let item = self.checked(&writer, &draft.text, scope, draft.lifetime, draft.replaces)?;
        self.record(writer, item).await
    }

    /// Returns the surface of the call's run, and the entry that started the call.
    async fn place_of(&self, call: &MemoryCall) -> Result<(Surface, TapeSeq), AdminError> {
        let mut surface = Surface::LocalSocket;
        let mut last = TapeSeq::default();
        loop {
            let page = self.ports.tapes.tape(call.run, last, MAX_TAPE_ENTRIES_PER_RESPONSE).await?;
            for entry in &page.entries {
                last = entry.tape_seq;
                if entry.content == ContentState::Erased {
                    return invalid(SOURCE_ERASED);
                }
                match &entry.event {
                    TapeEvent::Run(RunEvent::Started(started)) => surface = started.surface,
                    TapeEvent::Tool(ToolEvent::Started(started)) if started.effect == call.effect => {
                        return Ok((surface, entry.tape_seq));
                    }
                    TapeEvent::Run(_)
                    | TapeEvent::Tool(_)
                    | TapeEvent::Model(_)
                    | TapeEvent::Approval(_)
                    | TapeEvent::Unknown { .. } => {}
                }
            }
            if page.more == MoreEntries::None || page.entries.is_empty() {
                return Ok((surface, last));
            }
        }
    }

    async fn sessions_for(
        &self,
        call: &MemoryCall,
        text: Content<String>,
        limit: usize,
    ) -> Result<Vec<FoundSession>, AdminError> {
        let principal = call.principal;
        let limit = limit.clamp(1, PAGE_ITEMS_MAX);
        let query = SessionQuery {
            principal,
            after: None,
            search: Some(text.clone()),
            only: SessionFilter::All,
            surface: None,
            limit,
        };
        let lower = text.expose().to_lowercase();
        let words: Vec<String> = lower.split_whitespace().take(WORDS_MAX).map(str::to_owned).collect();
        let first_word = words.first().cloned().unwrap_or_default();
        let has_words = move |rows: &mut dyn RowStore, session: SessionRef, _: &str| {
            words
                .iter()
                .try_fold(true, |all, word| Ok::<_, StoreFault>(all && has_input(rows, session, word)?))
        };
        let found = self.ports.families.query(move |rows, _| {
            let records = sessions::records(rows, &query, has_words)?;
            let sessions = records.iter().map(|record| record.session).collect();
            let search = Some(Content::new(first_word));
            let texts = session_texts(rows, &SessionTextQuery { sessions, search })?;
            Ok(records.into_iter().zip(texts).collect::<Vec<_>>())
        });
        let found = found.await?.into_iter().map(|(record, texts)| FoundSession {
            session: record.session.id,
            title: record.label.or(record.key).unwrap_or_default(),
            updated: record.updated,
            first_input: texts.first_input,
            matched: texts.matched,
        });
        Ok(found.collect())
    }
}

impl From<AdminError> for MemoryRefusal {
    fn from(error: AdminError) -> Self {
        Self { code: error.code(), message: error.to_string() }
    }
}
