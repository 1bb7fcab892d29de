//! `ComponentsService`: the tools there are, and the components that the owner adds to them.

use std::path::PathBuf;

use palyra_runtime::Caller;
use palyra_runtime::components::{Added, ComponentsHandle, Examination};
use palyra_runtime::rules::PolicyHandle;
use palyra_types::Redacted;
use palyra_types::component::{ComponentRecord, ExaminedComponent};
use palyra_types::tool::{ToolSpec, ToolVerdict};
use palyra_wire::v1;
use palyra_wire::v1::components_service_server::ComponentsService;
use tonic::{Request, Response, Status};

use crate::auth;
use crate::status::Refusal;
use crate::translate;

/// Answers `palyra.v1.ComponentsService`.
pub(crate) struct ComponentsServiceImpl {
    components: ComponentsHandle,
    rules: PolicyHandle,
}

impl ComponentsServiceImpl {
    pub(crate) fn new(components: ComponentsHandle, rules: PolicyHandle) -> Self {
        Self { components, rules }
    }

    /// Returns what becomes of an ordinary call of a tool.
    fn treatment(&self, caller: Caller, tool: &ToolSpec) -> &'static str {
        match self.rules.ordinary_verdict(caller, &tool.name) {
            ToolVerdict::Allow => "runs",
            ToolVerdict::Ask => "asks",
            ToolVerdict::Deny => "off",
        }
    }
}

fn added(record: &ComponentRecord) -> v1::Component {
    let ComponentRecord { added, by, created, .. } = record;
    v1::Component {
        component_id: added.component.to_string(),
        name: added.name.expose().clone(),
        version: added.tool_version,
        description: added.text.expose().clone(),
        schema: added.schema.expose().clone(),
        contract: translate::effect_contract(added.contract).to_owned(),
        capabilities: added.capabilities.iter().map(ToString::to_string).collect(),
        sha256: translate::hex(&added.sha256),
        bytes: added.bytes,
        source: added.source.expose().clone(),
        added: translate::timestamp(*created),
        added_by: by.to_string(),
    }
}

fn examined(examined: &ExaminedComponent, version: u32) -> v1::Component {
    let description = &examined.description;
    v1::Component {
        name: description.name.to_string(),
        version,
        description: description.text.clone(),
        schema: description.schema.clone(),
        contract: translate::effect_contract(description.contract).to_owned(),
        capabilities: description.capabilities.iter().map(ToString::to_string).collect(),
        sha256: translate::hex(&examined.sha256),
        bytes: examined.bytes,
        ..v1::Component::default()
    }
}

fn tool((spec, component): &(ToolSpec, Option<ComponentRecord>)) -> v1::Tool {
    v1::Tool {
        name: spec.name.to_string(),
        version: spec.version,
        description: spec.description.clone(),
        contract: translate::effect_contract(spec.contract).to_owned(),
        risk: translate::risk(spec.risk).to_owned(),
        component: component.as_ref().map(added),
        treatment: String::new(),
    }
}

fn path(text: String) -> Redacted<PathBuf> {
    Redacted::new(PathBuf::from(text))
}

#[tonic::async_trait]
impl ComponentsService for ComponentsServiceImpl {
    async fn list_tools(
        &self,
        request: Request<v1::ListToolsRequest>,
    ) -> Result<Response<v1::ListToolsResponse>, Status> {
        let (caller, _) = auth::open(request)?;
        let tools = self.components.list(caller).await.map_err(Refusal::from)?;
        let shown = |listed: &(ToolSpec, Option<ComponentRecord>)| v1::Tool {
            treatment: self.treatment(caller, &listed.0).to_owned(),
            ..tool(listed)
        };
        Ok(Response::new(v1::ListToolsResponse { tools: tools.iter().map(shown).collect() }))
    }

    async fn examine_component(
        &self,
        request: Request<v1::ExamineComponentRequest>,
    ) -> Result<Response<v1::ExamineComponentResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let looked = self.components.examine(caller, path(message.path)).await.map_err(Refusal::from)?;
        let Examination { examined: found, replaces } = looked;
        let version = replaces.as_ref().map_or(1, |record| record.added.tool_version + 1);
        Ok(Response::new(v1::ExamineComponentResponse {
            component: Some(examined(&found, version)),
            replaces: replaces.as_ref().map(added),
        }))
    }

    async fn add_component(
        &self,
        request: Request<v1::AddComponentRequest>,
    ) -> Result<Response<v1::AddComponentResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let shown = translate::digest(&message.sha256).ok_or_else(|| {
            Refusal::invalid_argument("sha256 is the digest of what was looked at, in 64 hex digits")
        })?;
        let done = self.components.add(caller, path(message.path), shown).await.map_err(Refusal::from)?;
        let Added { component, replaced } = done;
        Ok(Response::new(v1::AddComponentResponse {
            component: Some(added(&component)),
            replaced: replaced.map(|old| old.to_string()).unwrap_or_default(),
        }))
    }

    async fn remove_component(
        &self,
        request: Request<v1::RemoveComponentRequest>,
    ) -> Result<Response<v1::RemoveComponentResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let removed = self.components.remove(caller, &message.name).await.map_err(Refusal::from)?;
        Ok(Response::new(v1::RemoveComponentResponse {
            component_id: removed.added.component.to_string(),
            name: removed.added.name.into_exposed(),
        }))
    }
}
