//! The index of one principal, brought in step with the items that a request names.
//!
//! Owns which items are in the index and the names of folders in it. Invariant: between two requests the index has the items
//! of the last request and no others. Blocks.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_ports::search_memories::{MemoryDemand, MemoryRanking};
use palyra_types::memory::{MemoryRecord, MemoryScope as RecordedScope};
use palyra_types::{MemoryId, PrincipalId};

use crate::embedding_table::EmbeddingTable;
use crate::error::MemoryIndexError;
use crate::item::{MemoryItem, MemoryScope, ScopeName};
use crate::memory_index::MemoryIndex;
use crate::query::MemoryQuery;
use crate::ranking::{ASKED_RELEVANCE_MIN, UNASKED_RELEVANCE_MIN};

/// The index of a principal and what it was made of.
#[derive(Debug)]
pub(crate) struct PrincipalIndex {
    principal: PrincipalId,
    index: MemoryIndex,
    /// Items in the index, each with the item that supersedes it; nothing else of an item changes.
    known: HashMap<MemoryId, Option<MemoryId>>,
    folders: FolderNames,
}

/// Short names of folders, whose paths may be longer than the name of a scope.
#[derive(Debug, Default)]
struct FolderNames {
    names: HashMap<PathBuf, ScopeName>,
    next: u64,
}

impl PrincipalIndex {
    pub(crate) fn new(principal: PrincipalId, table: Arc<EmbeddingTable>) -> Result<Self, MemoryIndexError> {
        let index = MemoryIndex::new(principal, table)?;
        Ok(Self { principal, index, known: HashMap::new(), folders: FolderNames::default() })
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// Brings the index in step with the items of a request and answers it.
    pub(crate) fn rank(&mut self, request: &MemoryRanking) -> Result<Vec<MemoryId>, MemoryIndexError> {
        self.bring_in_step(&request.items)?;
        let query = MemoryQuery {
            principal: request.principal,
            text: request.text.expose().clone(),
            scopes: request.scopes.iter().filter_map(|scope| self.folders.known_scope(scope)).collect(),
            now: request.now,
            limit: request.limit,
            minimum_relevance: match request.demand {
                MemoryDemand::Asked => ASKED_RELEVANCE_MIN,
                MemoryDemand::Unasked => UNASKED_RELEVANCE_MIN,
            },
            token_budget: usize::MAX,
        };
        Ok(self.index.search(&query)?.into_iter().map(|hit| hit.id).collect())
    }

    fn bring_in_step(&mut self, items: &[MemoryRecord]) -> Result<(), MemoryIndexError> {
        let named: HashSet<MemoryId> = items.iter().map(|item| item.saved.memory).collect();
        let gone: Vec<MemoryId> = self.known.keys().filter(|id| !named.contains(id)).copied().collect();
        for id in gone {
            self.index.remove(id)?;
            self.known.remove(&id);
        }
        self.folders.retain_of(items);
        let changed = items.iter().filter(|item| {
            self.known
                .get(&item.saved.memory)
                .is_none_or(|superseded_by| *superseded_by != item.superseded_by)
        });
        let changed: Vec<&MemoryRecord> = changed.collect();
        if changed.is_empty() {
            return Ok(());
        }
        let mut entries = Vec::with_capacity(changed.len());
        for item in &changed {
            self.folders.name(&item.saved.scope)?;
            entries.push(self.folders.item(item)?);
        }
        self.index.upsert_all(entries)?;
        self.known.extend(changed.iter().map(|item| (item.saved.memory, item.superseded_by)));
        Ok(())
    }

    pub(crate) fn principal(&self) -> PrincipalId {
        self.principal
    }
}

impl FolderNames {
    /// Forgets folders in which no item holds any more.
    fn retain_of(&mut self, items: &[MemoryRecord]) {
        let used: HashSet<&Path> = items.iter().filter_map(|item| folder(&item.saved.scope)).collect();
        self.names.retain(|path, _| used.contains(path.as_path()));
    }

    /// Gives the folder of a scope a name, if it is one without a name.
    fn name(&mut self, scope: &RecordedScope) -> Result<(), MemoryIndexError> {
        if let Some(path) = folder(scope)
            && !self.names.contains_key(path)
        {
            self.names.insert(path.to_owned(), ScopeName::new(self.next.to_string())?);
            self.next += 1;
        }
        Ok(())
    }

    /// Returns an item as the index has it. An item of a folder without a name is refused: with another scope it would hold
    /// where it does not.
    fn item(&self, record: &MemoryRecord) -> Result<MemoryItem, MemoryIndexError> {
        let saved = &record.saved;
        let scope = self.known_scope(&saved.scope);
        Ok(MemoryItem {
            id: saved.memory,
            principal: record.principal,
            scope: scope.ok_or(MemoryIndexError::UnnamedFolder { id: saved.memory })?,
            text: saved.text.expose().clone(),
            created: record.created,
            expires: saved.expires,
            superseded_by: record.superseded_by,
        })
    }

    /// Returns a scope as the index names it; `None` for a folder in which no item holds.
    fn known_scope(&self, scope: &RecordedScope) -> Option<MemoryScope> {
        match scope {
            RecordedScope::Principal => Some(MemoryScope::Principal),
            RecordedScope::Session(session) => Some(MemoryScope::Session(*session)),
            RecordedScope::PrincipalRoot(root) => {
                self.names.get(root.expose()).cloned().map(MemoryScope::Workspace)
            }
        }
    }
}

fn folder(scope: &RecordedScope) -> Option<&Path> {
    match scope {
        RecordedScope::PrincipalRoot(root) => Some(root.expose()),
        RecordedScope::Session(_) | RecordedScope::Principal => None,
    }
}

#[cfg(test)]
mod tests {
    use palyra_types::memory::{MemoryAuthor, MemorySaved};
    use palyra_types::surface::Surface;
    use palyra_types::tool::Taints;
    use palyra_types::{Redacted, Seq, Timestamp};

    use super::*;

    fn record(scope: RecordedScope) -> MemoryRecord {
        let saved = MemorySaved {
            memory: MemoryId::from_parts(1, 1),
            scope,
            author: MemoryAuthor::Person,
            via: Surface::LocalSocket,
            source: None,
            taints: Taints::NONE,
            expires: None,
            supersedes: None,
            text: "Tests run with nextest.".into(),
        };
        MemoryRecord {
            saved,
            principal: PrincipalId::from_parts(1, 1),
            seq: Seq(1),
            created: Timestamp(1),
            superseded_by: None,
            forgotten: None,
        }
    }

    #[test]
    fn an_item_of_a_folder_without_a_name_is_refused_and_holds_nowhere_else() {
        let mut folders = FolderNames::default();
        let work = record(RecordedScope::PrincipalRoot(Redacted::cleaned("/work".into())));
        let refused = folders.item(&work);
        assert!(
            matches!(refused, Err(MemoryIndexError::UnnamedFolder { id }) if id == work.saved.memory),
            "{refused:?}"
        );
        folders.name(&work.saved.scope).unwrap();
        assert!(matches!(folders.item(&work).unwrap().scope, MemoryScope::Workspace(_)));
        folders.retain_of(&[]);
        assert!(folders.item(&work).is_err());
        assert_eq!(folders.item(&record(RecordedScope::Principal)).unwrap().scope, MemoryScope::Principal);
    }
}
