//! The existing tool whose name is most like one that does not exist.

use palyra_types::spelling::nearest_name;
use palyra_types::tool::{ToolCatalog, ToolName};

/// Returns the tool whose name is nearest; a namespace before the name counts for nothing.
pub(crate) fn near_tool<'c>(given: &str, catalog: &'c ToolCatalog) -> Option<&'c ToolName> {
    let name = given.rsplit(['.', '/', ':']).next().unwrap_or(given);
    let near = nearest_name(name, catalog.iter().map(|tool| tool.name.as_str()))?;
    catalog.iter().map(|tool| &tool.name).find(|tool| tool.as_str() == near)
}
