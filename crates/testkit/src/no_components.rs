//! No components: for runtimes whose tools are all there from the start.

use std::path::PathBuf;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{ComponentStore, ComponentStoreError};
use palyra_types::Content;
use palyra_types::component::{ComponentRecord, ExaminedComponent};
use palyra_types::tool::ToolName;

/// Refuses whatever is looked at, and offers nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoComponents;

type StoreAnswer<T> = BoxFuture<'static, Result<T, ComponentStoreError>>;

impl ComponentStore for NoComponents {
    fn examine(&self, _source: Content<PathBuf>) -> StoreAnswer<ExaminedComponent> {
        let what = "components are not run here".to_owned();
        async { Err(ComponentStoreError::Host { what }) }.boxed()
    }

    fn check(&self, _components: &[ComponentRecord]) -> Result<(), ComponentStoreError> {
        Ok(())
    }

    fn offer(&self, _components: Vec<ComponentRecord>) -> StoreAnswer<()> {
        async { Ok(()) }.boxed()
    }

    fn forget_values(&self, _tool: ToolName) -> StoreAnswer<()> {
        async { Ok(()) }.boxed()
    }
}
