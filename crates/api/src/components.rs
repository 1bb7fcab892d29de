//! `ComponentsService`: the tools there are, and the components that the owner adds to them.

use std::path::PathBuf;

use palyra_admin::components::{ComponentAddition, ComponentExamination};
use palyra_runtime::Caller;
use palyra_types::Content;
use palyra_types::component::{ComponentRecord, ExaminedComponent};
use palyra_types::tool::{ToolSpec, ToolVerdict};
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;

impl OperationHandlers {
    /// Returns what becomes of an ordinary call of a tool.
    fn treatment(&self, caller: Caller, tool: &ToolSpec) -> v1::ToolTreatment {
        match self.state.admin.policy.ordinary_verdict(caller, &tool.name) {
            ToolVerdict::Allow => v1::ToolTreatment::Runs,
            ToolVerdict::Ask => v1::ToolTreatment::Asks,
            ToolVerdict::Deny => v1::ToolTreatment::Off,
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
        contract: translate::effect_contract(added.contract),
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
        contract: translate::effect_contract(description.contract),
        capabilities: description.capabilities.iter().map(ToString::to_string).collect(),
        sha256: translate::hex(&examined.sha256),
        bytes: examined.bytes,
        ..v1::Component::default()
    }
}

fn tool(spec: &ToolSpec, component: Option<&ComponentRecord>) -> v1::Tool {
    v1::Tool {
        name: spec.name.to_string(),
        version: spec.version,
        description: spec.description.clone(),
        contract: translate::effect_contract(spec.contract),
        risk: translate::risk(spec.risk),
        component: component.map(added),
        treatment: 0,
    }
}

fn path(text: String) -> Content<PathBuf> {
    Content::new(PathBuf::from(text))
}

impl OperationHandlers {
    /// Answers `ListTools`.
    pub async fn list_tools(
        &self,
        caller: Caller,
        _message: v1::ListToolsRequest,
    ) -> Result<v1::ListToolsResponse, ApiError> {
        let tools = self.state.admin.components.list(caller).await?;
        let shown = tools.iter().map(|(spec, component)| v1::Tool {
            treatment: self.treatment(caller, spec).into(),
            ..tool(spec, component.as_ref())
        });
        Ok(v1::ListToolsResponse { tools: shown.collect() })
    }

    /// Answers `ExamineComponent`.
    pub async fn examine_component(
        &self,
        caller: Caller,
        message: v1::ExamineComponentRequest,
    ) -> Result<v1::ExamineComponentResponse, ApiError> {
        let looked = self.state.admin.components.examine(caller, path(message.path)).await?;
        let ComponentExamination { examined: found, replaces } = looked;
        let version = replaces.as_ref().map_or(1, |record| record.added.tool_version + 1);
        Ok(v1::ExamineComponentResponse {
            component: Some(examined(&found, version)),
            replaces: replaces.as_ref().map(added),
        })
    }

    /// Answers `AddComponent`.
    pub async fn add_component(
        &self,
        caller: Caller,
        message: v1::AddComponentRequest,
    ) -> Result<v1::AddComponentResponse, ApiError> {
        let shown = translate::digest(&message.sha256).ok_or_else(|| {
            ApiError::invalid_argument("sha256 is the digest of what was looked at, in 64 hex digits")
        })?;
        let done = self.state.admin.components.add(caller, path(message.path), shown).await?;
        let ComponentAddition { component, replaced } = done;
        Ok(v1::AddComponentResponse {
            component: Some(added(&component)),
            replaced: replaced.map(|old| old.to_string()).unwrap_or_default(),
        })
    }

    /// Answers `RemoveComponent`.
    pub async fn remove_component(
        &self,
        caller: Caller,
        message: v1::RemoveComponentRequest,
    ) -> Result<v1::RemoveComponentResponse, ApiError> {
        let removed = self.state.admin.components.remove(caller, &message.name).await?;
        Ok(v1::RemoveComponentResponse {
            component_id: removed.added.component.to_string(),
            name: removed.added.name.into_exposed(),
        })
    }
}
