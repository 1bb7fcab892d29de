//! Types that own a set of tools beside something else, such as jobs, as a [`ToolRuntime`](palyra_ports::ToolRuntime).

/// What [`delegate_tool_runtime!`](crate::delegate_tool_runtime) names.
#[doc(hidden)]
pub mod named {
    pub use futures::future::BoxFuture;
    pub use palyra_ports::{ExecuteToolError, PreparedCall, Supervision, ToolRuntime};
    pub use palyra_run_core::{Grant, Intent, RawPrepareRefusal};
    pub use palyra_types::tool::{Isolation, RawToolOutcome, ToolCatalog, ToolName};
}

/// Passes each call to the [`ToolSet`](crate::ToolSet) in a type's field `tools`.
#[macro_export]
macro_rules! delegate_tool_runtime {
    ($owner:ty) => {
        impl $crate::named::ToolRuntime for $owner {
            fn catalog(&self) -> std::sync::Arc<$crate::named::ToolCatalog> {
                $crate::named::ToolRuntime::catalog(&self.tools)
            }

            fn isolation(&self, tool: &$crate::named::ToolName) -> $crate::named::Isolation {
                $crate::named::ToolRuntime::isolation(&self.tools, tool)
            }

            fn prepare(
                &self,
                intent: $crate::named::Intent,
            ) -> $crate::named::BoxFuture<
                'static,
                Result<$crate::named::PreparedCall, $crate::named::RawPrepareRefusal>,
            > {
                $crate::named::ToolRuntime::prepare(&self.tools, intent)
            }

            fn execute(
                &self,
                grant: $crate::named::Grant,
                supervision: $crate::named::Supervision,
            ) -> $crate::named::BoxFuture<
                'static,
                Result<$crate::named::RawToolOutcome, $crate::named::ExecuteToolError>,
            > {
                $crate::named::ToolRuntime::execute(&self.tools, grant, supervision)
            }
        }
    };
}
