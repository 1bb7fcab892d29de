//! `MemoryService`: what is remembered for the caller.
//!
//! Invariant: no request names a principal; the items are the caller's.

use std::path::PathBuf;
use std::time::Duration;

use palyra_admin::memories::{MemoryFilter, NewMemory};
use palyra_runtime::Caller;
use palyra_types::Content;
use palyra_types::memory::{MemoryAuthor, MemoryRecord, MemoryScope};
use palyra_wire::v1::{self, Memory};

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;
use crate::translate::InvalidValue;

/// Characters of a search, at most.
const SEARCH_CHARS_MAX: usize = 500;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl OperationHandlers {
    /// Answers `ListMemories`.
    pub async fn list_memories(
        &self,
        caller: Caller,
        message: v1::ListMemoriesRequest,
    ) -> Result<v1::ListMemoriesResponse, ApiError> {
        let filter = filter(&message.session_id, message.folder)?;
        let before = translate::run_cursor(&message.page_token)?;
        let limit = translate::page_rows(message.page_size);
        let page = self.state.admin.memories.list(caller, filter, before, limit).await?;
        Ok(v1::ListMemoriesResponse {
            memories: page.items.into_iter().map(memory).collect(),
            next_page_token: page.next.map(|seq| seq.to_string()).unwrap_or_default(),
        })
    }

    /// Answers `SearchMemories`.
    pub async fn search_memories(
        &self,
        caller: Caller,
        message: v1::SearchMemoriesRequest,
    ) -> Result<v1::SearchMemoriesResponse, ApiError> {
        let filter = filter(&message.session_id, message.folder)?;
        let chars = message.text.chars().count();
        if message.text.trim().is_empty() || chars > SEARCH_CHARS_MAX {
            return Err(InvalidValue::new("text", "1 to 500 characters").into());
        }
        let text = Content::new(message.text);
        let limit = translate::page_rows(message.limit);
        let found = self.state.admin.memories.search(caller, filter, text, limit).await?;
        Ok(v1::SearchMemoriesResponse { memories: found.into_iter().map(memory).collect() })
    }

    /// Answers `SaveMemory`.
    pub async fn save_memory(
        &self,
        caller: Caller,
        message: v1::SaveMemoryRequest,
    ) -> Result<v1::SaveMemoryResponse, ApiError> {
        let new = NewMemory {
            text: Content::new(message.text),
            scope: filter(&message.session_id, message.folder)?,
            lifetime: (message.days > 0).then(|| DAY.saturating_mul(message.days)),
            replaces: match message.replaces.as_str() {
                "" => None,
                text => Some(translate::id("replaces", text)?),
            },
        };
        let saved = self.state.admin.memories.save(caller, new).await?;
        Ok(v1::SaveMemoryResponse { memory: Some(memory(saved)) })
    }

    /// Answers `ForgetMemory`.
    pub async fn forget_memory(
        &self,
        caller: Caller,
        message: v1::ForgetMemoryRequest,
    ) -> Result<v1::ForgetMemoryResponse, ApiError> {
        let id = translate::id("memory_id", &message.memory_id)?;
        let forgotten = self.state.admin.memories.forget(caller, id).await?;
        Ok(v1::ForgetMemoryResponse { memory: Some(memory(forgotten)) })
    }
}

fn filter(session: &str, folder: String) -> Result<MemoryFilter, ApiError> {
    match (session, folder.as_str()) {
        ("", "") => Ok(MemoryFilter::All),
        ("", _) => Ok(MemoryFilter::Folder(Content::new(PathBuf::from(folder)))),
        (session, "") => Ok(MemoryFilter::Session(translate::id("session_id", session)?)),
        (_, _) => Err(ApiError::invalid_argument("give `session_id` or `folder`, not both")),
    }
}

fn memory(record: MemoryRecord) -> Memory {
    let saved = record.saved;
    let mut session_id = String::new();
    let mut folder = String::new();
    let reach = match saved.scope {
        MemoryScope::Principal => v1::MemoryReach::Everywhere,
        MemoryScope::Session(session) => {
            session_id = session.to_string();
            v1::MemoryReach::Session
        }
        MemoryScope::PrincipalRoot(root) => {
            folder = root.expose().to_string_lossy().into_owned();
            v1::MemoryReach::Folder
        }
    };
    let author = match saved.author {
        MemoryAuthor::Person => v1::MemoryAuthor::Person,
        MemoryAuthor::Model => v1::MemoryAuthor::Model,
    };
    Memory {
        memory_id: saved.memory.to_string(),
        text: saved.text.into_exposed(),
        reach: reach.into(),
        session_id,
        folder,
        author: author.into(),
        surface: translate::surface(saved.via),
        run_id: saved.source.map(|source| source.run.to_string()).unwrap_or_default(),
        tape_seq: saved.source.map_or(0, |source| source.tape_seq.0),
        taints: saved.taints.names().map(str::to_owned).collect(),
        created: translate::timestamp(record.created),
        expires: saved.expires.and_then(translate::timestamp),
        supersedes: saved.supersedes.map(|older| older.to_string()).unwrap_or_default(),
        superseded_by: record.superseded_by.map(|newer| newer.to_string()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_one_place_at_most() {
        let session = palyra_types::SessionId::from_parts(1, 1).to_string();
        assert!(matches!(filter("", String::new()), Ok(MemoryFilter::All)));
        assert!(matches!(filter(&session, String::new()), Ok(MemoryFilter::Session(_))));
        assert!(matches!(filter("", "/work".to_owned()), Ok(MemoryFilter::Folder(_))));
        assert!(filter(&session, "/work".to_owned()).is_err());
        assert!(filter("x", String::new()).is_err());
    }
}
