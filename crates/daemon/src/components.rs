//! Components while the daemon runs: what a person adds is known to the rules before it is answered.
//!
//! Owns the order of the two: the tools there are change first, then the rules in force are compiled for them. Invariant:
//! the rules stay those that are in force; only the tools they know change. Begin at [`refit`].

use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::health::HealthCheck;
use palyra_policy::{CompilePolicyError, ToolCallPolicySnapshot};
use palyra_ports::{ComponentStore, ComponentStoreError, ToolRuntime};
use palyra_types::Content;
use palyra_types::component::{ComponentRecord, ExaminedComponent};
use palyra_types::tool::{ToolCatalog, ToolName, ToolSpec};
use tokio::sync::watch;

use crate::policies;

/// A shelf whose tools the rules in force always know.
pub(crate) struct KnownToTheRules {
    pub(crate) shelf: Arc<palyra_wasm::ComponentTools>,
    pub(crate) tools: Arc<dyn ToolRuntime>,
    pub(crate) policy: watch::Sender<Arc<ToolCallPolicySnapshot>>,
    pub(crate) checks: watch::Sender<Arc<Vec<HealthCheck>>>,
}

impl ComponentStore for KnownToTheRules {
    fn examine(
        &self,
        source: Content<PathBuf>,
    ) -> BoxFuture<'static, Result<ExaminedComponent, ComponentStoreError>> {
        self.shelf.examine(source)
    }

    fn check(&self, components: &[ComponentRecord]) -> Result<(), ComponentStoreError> {
        self.shelf.check(components)?;
        let now = self.tools.catalog();
        let own = self.shelf.catalog();
        let kept = now.iter().filter(|tool| own.get(&tool.name).is_none()).cloned();
        let then: Vec<ToolSpec> = kept.chain(components.iter().filter_map(palyra_wasm::tool_of)).collect();
        let compiled = compile(&self.policy.borrow(), Arc::new(ToolCatalog::new(then)));
        compiled.map(drop).map_err(|error| ComponentStoreError::Invalid {
            what: format!("the rules in force do not allow this: {error}"),
        })
    }

    fn offer(&self, components: Vec<ComponentRecord>) -> BoxFuture<'static, Result<(), ComponentStoreError>> {
        let (tools, policy, checks) = (Arc::clone(&self.tools), self.policy.clone(), self.checks.clone());
        let offered = self.shelf.offer(components);
        async move {
            let written = offered.await;
            // What is offered is so whatever the disk said.
            refit(&policy, &checks, &*tools);
            written
        }
        .boxed()
    }

    fn forget_values(&self, tool: ToolName) -> BoxFuture<'static, Result<(), ComponentStoreError>> {
        self.shelf.forget_values(tool)
    }
}

/// Compiles the rules in force anew where the tools are others than those they know.
pub(crate) fn refit(
    policy: &watch::Sender<Arc<ToolCallPolicySnapshot>>,
    checks: &watch::Sender<Arc<Vec<HealthCheck>>>,
    tools: &dyn ToolRuntime,
) {
    loop {
        let known = Arc::clone(&policy.borrow());
        let catalog = tools.catalog();
        if *known.catalog() == catalog {
            return;
        }
        let fitted = match compile(&known, catalog) {
            Ok(fitted) => Arc::new(fitted.beside(known.candidate().cloned())),
            Err(error) => {
                tracing::error!("the rules do not know all tools, whose calls are denied: {error}");
                return;
            }
        };
        let replaced = policy.send_if_modified(|now| {
            let same = Arc::ptr_eq(now, &known);
            if same {
                *now = Arc::clone(&fitted);
            }
            same
        });
        if replaced {
            let check = policies::in_force_check(&fitted);
            checks.send_modify(|all| {
                let with =
                    all.iter().map(|one| if one.name == check.name { check.clone() } else { one.clone() });
                *all = Arc::new(with.collect());
            });
            return;
        }
    }
}

fn compile(
    known: &ToolCallPolicySnapshot,
    catalog: Arc<ToolCatalog>,
) -> Result<ToolCallPolicySnapshot, CompilePolicyError> {
    let digest = |text: &str| palyra_ledger::sha256(text.as_bytes());
    ToolCallPolicySnapshot::compile(catalog, known.rules().clone(), digest)
}

#[cfg(test)]
mod tests {
    use palyra_policy::ToolPolicyRules;
    use palyra_types::component::AddedComponent;
    use palyra_types::tool::EffectContract;
    use palyra_types::{ComponentId, PrincipalId, Seq, Timestamp};

    use super::*;

    #[tokio::test]
    async fn the_rules_know_what_is_offered_whatever_the_disk_says() {
        let folder = tempfile::tempdir().unwrap();
        // Nothing can be put in the place of a folder that holds something.
        std::fs::create_dir_all(folder.path().join("offered.json/in-the-way")).unwrap();
        let shelf = Arc::new(palyra_wasm::ComponentTools::new(palyra_wasm::ComponentParts {
            folder: folder.path().to_owned(),
            program: PathBuf::new(),
            sandbox: crate::host_sandbox::HostSandbox::new(folder.path().join("scratch")),
            compiling: palyra_wasm::COMPILE_LIMITS,
            fetch: None,
            secrets: None,
            clock: Arc::new(crate::system::SystemClock),
        }));
        let digest = |text: &str| palyra_ledger::sha256(text.as_bytes());
        let rules =
            ToolCallPolicySnapshot::compile(shelf.catalog(), ToolPolicyRules::shipped(), digest).unwrap();
        let known = KnownToTheRules {
            tools: Arc::clone(&shelf) as _,
            shelf,
            policy: watch::Sender::new(Arc::new(rules)),
            checks: watch::Sender::new(Arc::default()),
        };
        let added = AddedComponent {
            component: ComponentId::from_parts(1, 2),
            sha256: [7; 32],
            bytes: 1,
            tool_version: 1,
            contract: EffectContract::Keyed,
            name: "count".into(),
            text: "Counts.".into(),
            schema: r#"{"type":"object"}"#.into(),
            capabilities: Vec::new(),
            source: "/count.wasm".into(),
        };
        let record = ComponentRecord {
            added,
            by: PrincipalId::from_parts(1, 1),
            created: Timestamp(1),
            removed: None,
            seq: Seq(1),
        };
        let told = known.offer(vec![record]).await;
        assert!(matches!(told, Err(ComponentStoreError::System { .. })), "{told:?}");
        let count = ToolName::new("count");
        assert!(known.tools.catalog().get(&count).is_some(), "it is offered");
        assert!(known.policy.borrow().catalog().get(&count).is_some(), "and judged by the rules");
    }
}
