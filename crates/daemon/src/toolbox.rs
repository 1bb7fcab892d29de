//! Several makers of tools as one [`ToolRuntime`].
//!
//! Invariant: a call goes to the first maker whose catalogue has its tool, so that a name that comes later never takes
//! one that ships.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::{BoxFuture, FutureExt};
use palyra_ports::{ExecuteToolError, PreparedCall, Supervision, ToolRuntime};
use palyra_run_core::{Grant, Intent, PrepareRefusal};
use palyra_types::tool::{Isolation, ToolCatalog, ToolExecutionOutcome, ToolName};
use palyra_types::{ErrorCode, Redacted};

/// Tools of several makers.
pub(crate) struct Toolbox {
    makers: Vec<Arc<dyn ToolRuntime>>,
    joined: Mutex<Joined>,
}

/// The catalogues that were joined last, and what came of it.
#[derive(Default)]
struct Joined {
    parts: Vec<Arc<ToolCatalog>>,
    whole: Arc<ToolCatalog>,
}

impl Toolbox {
    /// Puts makers together, the most trusted one first.
    pub(crate) fn new(makers: Vec<Arc<dyn ToolRuntime>>) -> Self {
        Self { makers, joined: Mutex::default() }
    }

    fn maker_of(&self, tool: &ToolName) -> Option<&Arc<dyn ToolRuntime>> {
        self.makers.iter().find(|maker| maker.catalog().get(tool).is_some())
    }
}

impl ToolRuntime for Toolbox {
    fn catalog(&self) -> Arc<ToolCatalog> {
        let parts: Vec<_> = self.makers.iter().map(|maker| maker.catalog()).collect();
        let mut joined = self.joined.lock().unwrap_or_else(PoisonError::into_inner);
        let same = joined.parts.len() == parts.len()
            && joined.parts.iter().zip(&parts).all(|(old, new)| Arc::ptr_eq(old, new));
        if !same {
            // Of two with one name the later wins, so that the most trusted comes last.
            let specs = parts.iter().rev().flat_map(|part| part.iter().cloned()).collect();
            *joined = Joined { parts, whole: Arc::new(ToolCatalog::new(specs)) };
        }
        Arc::clone(&joined.whole)
    }

    fn isolation(&self, tool: &ToolName) -> Isolation {
        self.maker_of(tool).map_or(Isolation::DescriptorRelative, |maker| maker.isolation(tool))
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, PrepareRefusal>> {
        if let Some(maker) = self.maker_of(intent.tool()) {
            return maker.prepare(intent);
        }
        let message = format!("there is no tool `{}` any more", intent.tool());
        let refusal = PrepareRefusal { code: ErrorCode::ToolUnknown, message: Redacted::new(message) };
        async { Err(refusal) }.boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<ToolExecutionOutcome, ExecuteToolError>> {
        if let Some(maker) = self.maker_of(grant.tool()) {
            return maker.execute(grant, supervision);
        }
        let tool = grant.tool().clone();
        async { Err(ExecuteToolError::Unknown { tool }) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use palyra_tools::BuiltinTools;

    use super::*;

    #[test]
    fn the_catalogue_is_joined_once_and_knows_each_maker() {
        let toolbox = Toolbox::new(vec![Arc::new(BuiltinTools::new())]);
        let catalog = toolbox.catalog();
        assert!(Arc::ptr_eq(&catalog, &toolbox.catalog()), "nothing changed in between");
        assert!(catalog.get(&ToolName::new("read_file")).is_some());
        assert!(toolbox.maker_of(&ToolName::new("read_file")).is_some());
        assert!(toolbox.maker_of(&ToolName::new("no_such_tool")).is_none());
    }
}
