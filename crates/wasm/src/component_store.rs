//! Looking at a component before a person adds it, and offering what was added.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{ComponentStore, ComponentStoreError as Fault};
use palyra_tool_kit::ToolTable;
use palyra_types::Content;
use palyra_types::component::{ComponentRecord, ExaminedComponent};
use palyra_types::tool::ToolName;
use tokio::sync::watch;

use crate::call::CallError;
use crate::compile_cache::{KeptFault, blocking};
use crate::component_catalog::ComponentCatalog;
use crate::components::{ComponentTools, ComponentsInner};
use crate::examine;

impl ComponentsInner {
    async fn examine(self: &Arc<Self>, source: std::path::PathBuf) -> Result<ExaminedComponent, Fault> {
        let cache = Arc::clone(&self.cache);
        let (held, bytes) = blocking(move || cache.keep(&source)).await??;
        let sha256 = held.digest;
        let compiled = self.ready(sha256).await.map_err(|fault| match fault {
            KeptFault::Changed => Fault::System { what: "the copy differs from what was read".to_owned() },
            KeptFault::Shelf(fault) => fault,
        })?;
        let told = self.engine()?.describe(&compiled).await.map_err(|error| match error {
            CallError::Said(what) => Fault::Invalid { what },
            CallError::Workspace(what) => Fault::System { what },
            CallError::Trapped(_) => Fault::Trapped { what: format!("asked what it is, {error}") },
            CallError::OutOfFuel | CallError::TimedOut | CallError::NoRoom => {
                Fault::Limit { what: format!("asked what it is, {error}") }
            }
        })?;
        let description = examine::read(told).map_err(|what| Fault::Invalid { what })?;
        Ok(ExaminedComponent { sha256, bytes, description })
    }

    async fn offer_now(
        self: Arc<Self>,
        offer: Arc<watch::Sender<Arc<ToolTable>>>,
        records: Vec<ComponentRecord>,
    ) -> Result<(), Fault> {
        let turn = Arc::clone(&self.offering).lock_owned().await;
        let offered = ComponentCatalog::of(records);
        self.forget_compiled(&offered);
        offer.send_replace(Arc::new(self.table(&offered)));
        let written = blocking(move || {
            let _turn = turn;
            let digests: Vec<_> = offered.components.iter().map(|added| added.sha256).collect();
            self.cache.keep_only(&digests);
            let written = offered.write(&self.folder);
            let names: Vec<_> = offered.components.iter().map(|added| added.name.expose().as_str()).collect();
            let kept = self.values.keep_only(&names);
            written.map_err(|error| Fault::System { what: format!("the disk said no: {error}") })?;
            kept.map_err(|error| Fault::System { what: error.to_string() })
        });
        written.await?
    }
}

impl ComponentStore for ComponentTools {
    fn examine(
        &self,
        source: Content<std::path::PathBuf>,
    ) -> BoxFuture<'static, Result<ExaminedComponent, Fault>> {
        let inner = Arc::clone(&self.inner);
        async move { inner.examine(source.into_exposed()).await }.boxed()
    }

    fn check(&self, _components: &[ComponentRecord]) -> Result<(), Fault> {
        Ok(())
    }

    fn offer(&self, components: Vec<ComponentRecord>) -> BoxFuture<'static, Result<(), Fault>> {
        Arc::clone(&self.inner).offer_now(Arc::clone(&self.offer), components).boxed()
    }

    fn forget_values(&self, tool: ToolName) -> BoxFuture<'static, Result<(), Fault>> {
        let values = Arc::clone(&self.inner.values);
        async move {
            let forgotten = blocking(move || values.forget(tool.as_str())).await?;
            forgotten.map_err(|error| Fault::System { what: error.to_string() })
        }
        .boxed()
    }
}
