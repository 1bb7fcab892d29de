//! Tools by name, with the catalogue that shows them.

use std::collections::BTreeMap;
use std::sync::Arc;

use palyra_types::tool::{ToolCatalog, ToolName};

use crate::tool::Tool;

/// Tools by name. Their declarations are read once, when the table is made.
#[derive(Clone, Default)]
pub struct ToolTable {
    pub(crate) tools: BTreeMap<ToolName, Arc<Tool>>,
    pub(crate) catalog: Arc<ToolCatalog>,
}

impl ToolTable {
    /// Makes a table; of two tools with one name the first counts.
    ///
    /// # Panics
    /// When a tool does not act as it declares: that is a bug of the crate that makes it.
    #[must_use]
    pub fn new(tools: Vec<Tool>) -> Self {
        let mut table = BTreeMap::new();
        for tool in tools {
            assert!(tool.is_consistent(), "`{}` does not act as it declares", tool.spec.name);
            table.entry(tool.spec.name.clone()).or_insert_with(|| Arc::new(tool));
        }
        let catalog = ToolCatalog::new(table.values().map(|tool| tool.spec.clone()).collect());
        Self { tools: table, catalog: Arc::new(catalog) }
    }

    /// Returns the catalogue of these tools.
    #[must_use]
    pub fn catalog(&self) -> &Arc<ToolCatalog> {
        &self.catalog
    }
}
