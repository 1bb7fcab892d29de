//! The tools of the test daemon: one of each contract that a crash may meet, with effects that can be counted.
//!
//! Owns the format of the file of effects: a line `RUN EFFECT CALL` for each time the opaque tool acted, synced
//! before its outcome is told; CALL is what the call is called in its arguments, or `-`. Invariant: a line that is
//! there was written by exactly one execution. The keyed tool asks the server of [`crate::keyed`]; the tools that
//! write files are those that ship.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{EffectKey, ExecuteToolError, PreparedCall, Supervision, ToolRuntime};
use palyra_run_core::{Grant, Intent, RawPrepareRefusal};
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Isolation, Parallelism, RawToolOutcome, Taints,
    ToolCatalog, ToolConduct, ToolExecutionOutcome, ToolExecutor, ToolName, ToolSpec,
};

use crate::keyed;

/// The pure tool.
pub const LOOK: &str = "look";
/// The opaque tool.
pub const ACT: &str = "act";
/// The keyed tool; there only where a server for it is.
pub const KEYED: &str = "keyed";

const DEADLINE: Duration = Duration::from_secs(30);
const OUTPUT_BYTES_MAX: usize = 4 * 1024;

/// The argument by which a call is known in the logs of effects.
pub const CALL: &str = "call";
/// The argument with which a call wants to be asked about, where a daemon asks at all.
pub const ASK: &str = "ask";

/// What is wrong with the tools, on purpose: a suite that cannot find it proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolFlaw {
    /// The opaque tool declares that it can be repeated.
    ActRepeats,
    /// The keyed tool makes up a new key for each request.
    NewKeys,
}

/// The tools.
pub(crate) struct CountedTools {
    catalog: Arc<ToolCatalog>,
    effects: PathBuf,
    keyed: Option<String>,
    flaw: Option<ToolFlaw>,
    /// The tools that ship; they see to every other call.
    shipped: Arc<dyn ToolRuntime>,
}

impl CountedTools {
    /// Makes them beside the tools that ship; effects go to a file, and to the server at `keyed`.
    pub(crate) fn new(
        effects: &Path,
        keyed: Option<&str>,
        flaw: Option<ToolFlaw>,
        shipped: Arc<dyn ToolRuntime>,
    ) -> Self {
        let act = match flaw {
            Some(ToolFlaw::ActRepeats) => EffectContract::Pure,
            Some(ToolFlaw::NewKeys) | None => EffectContract::Opaque,
        };
        let mut tools: Vec<ToolSpec> = shipped.catalog().iter().cloned().collect();
        tools.extend([spec(LOOK, EffectContract::Pure, &[]), spec(ACT, act, &[])]);
        tools.extend(keyed.map(|_| spec(KEYED, EffectContract::Keyed, &[Capability::Network])));
        Self {
            catalog: Arc::new(ToolCatalog::new(tools)),
            effects: effects.to_owned(),
            keyed: keyed.map(str::to_owned),
            flaw,
            shipped,
        }
    }
}

impl ToolRuntime for CountedTools {
    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::clone(&self.catalog)
    }

    fn isolation(&self, tool: &ToolName) -> Isolation {
        self.shipped.isolation(tool)
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        self.shipped.prepare(intent)
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
        let tool = grant.tool().clone();
        match (tool.as_str(), &self.keyed) {
            (LOOK, _) => async { Ok(outcome("nothing has changed")) }.boxed(),
            (ACT, _) => {
                let effects = self.effects.clone();
                counted(tool, move || act(&effects, &grant))
            }
            (KEYED, Some(address)) => {
                let (address, call, flaw) = (address.clone(), call_of(&grant), self.flaw);
                counted(tool, move || keyed::ask(&address, &call, || key(flaw, supervision.key)))
            }
            _ => self.shipped.execute(grant, supervision),
        }
    }
}

/// Does something that blocks; an error of it leaves the outcome open.
fn counted(
    tool: ToolName,
    work: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
    async move {
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(())) => Ok(outcome("done")),
            Ok(Err(_)) | Err(_) => Err(ExecuteToolError::OutcomeUnknown { tool }),
        }
    }
    .boxed()
}

fn act(effects: &Path, grant: &Grant) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(effects)?;
    file.write_all(format!("{} {} {}\n", grant.run(), grant.effect(), call_of(grant)).as_bytes())?;
    file.sync_all()
}

/// Returns the key that a request is made under.
fn key(flaw: Option<ToolFlaw>, due: EffectKey) -> EffectKey {
    match flaw {
        Some(ToolFlaw::NewKeys) => keyed::made_up(),
        Some(ToolFlaw::ActRepeats) | None => due,
    }
}

/// Returns what a call is called.
fn call_of(grant: &Grant) -> String {
    let arguments: serde_json::Value = serde_json::from_str(grant.arguments().expose()).unwrap_or_default();
    arguments[CALL].as_str().unwrap_or("-").to_owned()
}

fn spec(name: &str, contract: EffectContract, capabilities: &[Capability]) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: "A tool for tests.".to_owned(),
        schema: serde_json::json!({
            "type": "object",
            "properties": { CALL: { "type": "string" }, ASK: { "type": "boolean" } },
        }),
        contract,
        parallelism: Parallelism::Exclusive,
        conduct: ToolConduct::Direct,
        capabilities: capabilities.to_vec(),
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Low,
        deadline: DEADLINE,
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

fn outcome(output: &str) -> RawToolOutcome {
    ToolExecutionOutcome {
        failure: None,
        output: output.into(),
        output_bytes_total: output.len() as u64,
        executor: ToolExecutor::Internal,
        isolation: Isolation::DescriptorRelative,
        taints: Taints::NONE,
    }
}

#[cfg(test)]
mod tests {
    use palyra_ports::{EffectKey, FillCredential};
    use palyra_testkit::grants::GrantRequest;

    use super::*;
    use crate::keyed::{KeyedServer, done, header};
    use crate::tool_setup::TestSettings;

    /// There is no vault here.
    struct NoCredentials;

    impl FillCredential for NoCredentials {
        fn fill(
            &self,
            credential: palyra_ports::BoundCredential,
        ) -> BoxFuture<'static, Result<palyra_ports::CredentialHeader, palyra_ports::CredentialUnavailable>>
        {
            panic!("{credential:?} is not asked for");
        }
    }

    #[tokio::test]
    async fn each_contract_has_its_tool_and_each_effect_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let (effects, log) = (folder.path().join("effects"), folder.path().join("keyed"));
        let server = KeyedServer::start(&log, 1).unwrap();
        let with = |keyed| {
            let setting = TestSettings { keyed, ..TestSettings::default() };
            let environment = std::collections::BTreeMap::new();
            let nobody: Arc<dyn FillCredential> = Arc::new(NoCredentials);
            let none: Arc<dyn palyra_ports::SecretNames> = Arc::new(palyra_testkit::MemorySecrets::default());
            let config = palyra_daemon::config::load(None, &environment, &[]).unwrap();
            let place = palyra_daemon::ToolContext {
                own_paths: &[],
                state_dir: folder.path(),
                config: &config,
                environment: &environment,
                credentials: &nobody,
                secrets: &none,
            };
            setting.tool_setup(&effects, place).tools
        };
        let tools = with(Some(server.address().to_string()));
        let run = |tool: &str, key: u8| {
            let contract = tools.catalog().get(&ToolName::new(tool)).unwrap().contract;
            let grant = GrantRequest::new(tool, "{}", folder.path()).contract(contract).grant();
            tools.execute(grant, Supervision { key: EffectKey([key; 32]), ..Supervision::default() })
        };
        for (tool, key) in [(LOOK, 0), (ACT, 1), (KEYED, 2), (KEYED, 2), (KEYED, 3)] {
            assert_eq!(run(tool, key).await.unwrap().failure, None, "{tool}");
        }
        assert_eq!(std::fs::read_to_string(&effects).unwrap().lines().count(), 1);
        let keys = [header(EffectKey([2; 32])), header(EffectKey([3; 32]))];
        assert!(done(&log).unwrap().keys().eq(keys.iter()));
        // What ships is there too, and nothing else is.
        assert!(run("list_dir", 4).await.unwrap().output.expose().contains("effects"));
        assert!(tools.catalog().get(&ToolName::new("write_file")).is_some());
        assert!(with(None).catalog().get(&ToolName::new(KEYED)).is_none());
    }
}
