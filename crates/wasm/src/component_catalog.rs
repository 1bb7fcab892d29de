//! Which components are offered, as this process knows it, and a file that says so before the journal is open.
//!
//! Owns `offered.json`. Invariant: the journal is right; what the file says is replaced by it at every start, and a file
//! that cannot be read offers nothing until then.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use palyra_types::component::{AddedComponent, ComponentRecord};
use palyra_types::tool::{EffectContract, ToolCatalog};
use palyra_types::{ComponentId, Redacted};
use serde::{Deserialize, Serialize};

use crate::examine::spec_of;

/// The name of the file.
pub(crate) const FILE: &str = "offered.json";

/// Returns the tools that a daemon offered last from this folder, as they were written beside the journal; none where
/// nothing can be read.
#[must_use]
pub fn offered_tools(folder: &Path) -> Arc<ToolCatalog> {
    ComponentCatalog::read(folder).catalog
}

/// What is offered.
#[derive(Debug, Clone, Default)]
pub(crate) struct ComponentCatalog {
    pub(crate) catalog: Arc<ToolCatalog>,
    pub(crate) components: Vec<AddedComponent>,
}

impl ComponentCatalog {
    /// Takes those that were not removed.
    pub(crate) fn of(records: Vec<ComponentRecord>) -> Self {
        Self::made(
            records
                .into_iter()
                .filter(|record| record.removed.is_none())
                .map(|record| record.added)
                .collect(),
        )
    }

    fn made(mut components: Vec<AddedComponent>) -> Self {
        components.retain(|added| !added.is_erased());
        let specs = components.iter().filter_map(spec_of).collect();
        Self { catalog: Arc::new(ToolCatalog::new(specs)), components }
    }

    /// Reads what was offered last.
    pub(crate) fn read(folder: &Path) -> Self {
        let lines: Vec<CatalogLine> = std::fs::read(folder.join(FILE))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        Self::made(lines.into_iter().filter_map(CatalogLine::into_added).collect())
    }

    /// Writes what is offered now.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let lines: Vec<_> = self.components.iter().map(CatalogLine::of).collect();
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let unfinished = folder.join(format!(".new-{FILE}"));
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        file.write_all(&serde_json::to_vec(&lines)?)?;
        file.sync_all()?;
        std::fs::rename(&unfinished, folder.join(FILE))?;
        File::open(folder)?.sync_all()
    }
}

/// One component in the file.
#[derive(Serialize, Deserialize)]
struct CatalogLine {
    component: String,
    sha256: String,
    bytes: u64,
    version: u32,
    contract: ContractName,
    name: String,
    text: String,
    schema: String,
    capabilities: Vec<String>,
    source: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ContractName {
    Pure,
    Keyed,
    Probe,
    Local,
    Opaque,
}

impl CatalogLine {
    fn of(added: &AddedComponent) -> Self {
        Self {
            component: added.component.to_string(),
            sha256: added.sha256.iter().map(|byte| format!("{byte:02x}")).collect(),
            bytes: added.bytes,
            version: added.tool_version,
            contract: match added.contract {
                EffectContract::Pure => ContractName::Pure,
                EffectContract::Keyed => ContractName::Keyed,
                EffectContract::Probe => ContractName::Probe,
                EffectContract::Local => ContractName::Local,
                EffectContract::Opaque => ContractName::Opaque,
            },
            name: added.name.expose().clone(),
            text: added.text.expose().clone(),
            schema: added.schema.expose().clone(),
            capabilities: added.capabilities.iter().map(ToString::to_string).collect(),
            source: added.source.expose().clone(),
        }
    }

    fn into_added(self) -> Option<AddedComponent> {
        let component: ComponentId = self.component.parse().ok()?;
        let digits: Vec<_> =
            (0..32).map(|at| u8::from_str_radix(self.sha256.get(2 * at..2 * at + 2)?, 16).ok()).collect();
        Some(AddedComponent {
            component,
            sha256: digits.into_iter().collect::<Option<Vec<_>>>()?.try_into().ok()?,
            bytes: self.bytes,
            tool_version: self.version,
            contract: match self.contract {
                ContractName::Pure => EffectContract::Pure,
                ContractName::Keyed => EffectContract::Keyed,
                ContractName::Probe => EffectContract::Probe,
                ContractName::Local => EffectContract::Local,
                ContractName::Opaque => EffectContract::Opaque,
            },
            name: Redacted::from_stored(self.name),
            text: Redacted::from_stored(self.text),
            schema: Redacted::from_stored(self.schema),
            capabilities: self.capabilities.iter().map(|one| one.parse().ok()).collect::<Option<_>>()?,
            source: Redacted::from_stored(self.source),
        })
    }
}

#[cfg(test)]
mod tests {
    use palyra_types::component::ComponentCapability;

    use super::*;

    #[test]
    fn what_is_offered_is_known_again_and_a_damaged_file_offers_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let added = AddedComponent {
            component: ComponentId::from_parts(1, 2),
            sha256: [0xa5; 32],
            bytes: 7,
            tool_version: 3,
            contract: EffectContract::Keyed,
            name: "count".into(),
            text: "Counts.".into(),
            schema: r#"{"type":"object"}"#.into(),
            capabilities: vec![ComponentCapability::Http("a.example".to_owned())],
            source: "/x".into(),
        };
        ComponentCatalog::made(vec![added.clone()]).write(folder.path()).unwrap();
        let read = ComponentCatalog::read(folder.path());
        assert_eq!(read.components, [added]);
        assert_eq!(read.catalog.iter().count(), 1);
        std::fs::write(folder.path().join(FILE), "[{").unwrap();
        assert!(ComponentCatalog::read(folder.path()).catalog.is_empty());
    }
}
