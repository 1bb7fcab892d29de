//! Several makers of tools as one [`ToolRuntime`].
//!
//! Invariant: a call goes to the first maker whose catalogue has its tool, so that a name that comes later never takes
//! one that ships; and no person is asked about a call whose secret the vault would refuse.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::{BoxFuture, FutureExt};
use palyra_ports::{
    CredentialUser, ExecuteToolError, FillCredential, PreparedCall, Supervision, ToolRuntime,
};
use palyra_run_core::{Grant, Intent, PrepareRefusal};
use palyra_types::tool::{Isolation, ToolCatalog, ToolExecutionOutcome, ToolName};
use palyra_types::{ErrorCode, Redacted};

/// Tools of several makers.
pub(crate) struct Toolbox {
    makers: Vec<Arc<dyn ToolRuntime>>,
    credentials: Arc<dyn FillCredential>,
    joined: Mutex<Joined>,
}

/// The catalogues that were joined last, and what came of it.
#[derive(Default)]
struct Joined {
    parts: Vec<Arc<ToolCatalog>>,
    whole: Arc<ToolCatalog>,
}

impl Toolbox {
    /// Puts makers together, the most trusted one first. `credentials` fills the secrets of their calls.
    pub(crate) fn new(makers: Vec<Arc<dyn ToolRuntime>>, credentials: Arc<dyn FillCredential>) -> Self {
        Self { makers, credentials, joined: Mutex::default() }
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
            let user =
                CredentialUser { principal: intent.principal(), run: intent.run(), effect: intent.effect() };
            let (preparing, credentials) = (maker.prepare(intent), Arc::clone(&self.credentials));
            return async move { within_bounds(preparing.await?, user, credentials).await }.boxed();
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

/// Refuses a call that carries a secret to a server to which it is not bound.
async fn within_bounds(
    prepared: PreparedCall,
    user: CredentialUser,
    credentials: Arc<dyn FillCredential>,
) -> Result<PreparedCall, PrepareRefusal> {
    if prepared.secrets.is_empty() {
        return Ok(prepared);
    }
    let mut secrets = prepared.secrets.clone();
    // Where a secret may go is on a disk.
    let refusal = tokio::task::spawn_blocking(move || {
        secrets.iter_mut().find_map(|secret| {
            secret.used_by = Some(user);
            credentials.certain_refusal(secret)
        })
    });
    let message = match refusal.await {
        Ok(None) => return Ok(prepared),
        Ok(Some(refusal)) => (refusal.code, format!("{}; nothing was sent", refusal.why)),
        Err(_) => (ErrorCode::ShuttingDown, "the vault could not be asked".to_owned()),
    };
    Err(PrepareRefusal { code: message.0, message: Redacted::new(message.1) })
}

#[cfg(test)]
mod tests {
    use palyra_tools::BuiltinTools;

    use super::*;
    use crate::way_out::parts_tests::Nothing;

    #[test]
    fn the_catalogue_is_joined_once_and_knows_each_maker() {
        let toolbox = Toolbox::new(vec![Arc::new(BuiltinTools::new())], Arc::new(Nothing));
        let catalog = toolbox.catalog();
        assert!(Arc::ptr_eq(&catalog, &toolbox.catalog()), "nothing changed in between");
        assert!(catalog.get(&ToolName::new("read_file")).is_some());
        assert!(toolbox.maker_of(&ToolName::new("read_file")).is_some());
        assert!(toolbox.maker_of(&ToolName::new("no_such_tool")).is_none());
    }
}
