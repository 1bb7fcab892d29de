//! `/v1/models`.

use std::time::Duration;

use axum::response::Response;
use palyra_types::agent::{AgentRecord, DEFAULT_AGENT_NAME, TOOLLESS_AGENT_NAME};

use super::openai_call::{OpenAiCall, object_response};
use crate::error_reply::ErrorReply;
use crate::models::{OfferedModel, model_list};
use crate::request::requested_model::RequestedModel;

/// How long providers may take to say which models they have; those that take longer are left out.
const PROVIDERS_SPAN_MAX: Duration = Duration::from_secs(3);
/// Models of one list, at most.
const MODELS_MAX: usize = 2_000;

/// Lists agents, then models for embeddings, then the models that providers say they have.
pub(crate) async fn list(call: OpenAiCall) -> Result<Response, ErrorReply> {
    let agents = call.services.state.agents.offered();
    let mut models: Vec<OfferedModel> = agents.iter().map(offered).collect();
    let handle = &call.services.state.models;
    models.extend(handle.embedding_models().iter().map(OfferedModel::for_embeddings));
    let default = handle.directory().default_model().clone();
    models.push(OfferedModel::direct(default.provider.as_str(), default.model.as_str()));
    if let Ok(providers) = tokio::time::timeout(PROVIDERS_SPAN_MAX, handle.ask_all()).await {
        for (provider, listed) in providers {
            let listed = listed.unwrap_or_default();
            models.extend(
                listed.iter().map(|model| OfferedModel::direct(provider.as_str(), model.name.as_str())),
            );
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    models.retain(|model| seen.insert(model.name.clone()));
    models.truncate(MODELS_MAX);
    Ok(object_response(&model_list(&models)))
}

/// Returns one model.
pub(crate) async fn get(call: OpenAiCall) -> Result<Response, ErrorReply> {
    let unknown = || ErrorReply::model_not_found(&call.name);
    let embedding_models = call.services.state.models.embedding_models();
    if let Some(name) = embedding_models.iter().find(|name| name.to_string() == call.name) {
        return Ok(object_response(&OfferedModel::for_embeddings(name).object()));
    }
    let model = match RequestedModel::parse(&call.name).ok_or_else(unknown)? {
        RequestedModel::Agent(name) => {
            let agent = call.services.state.agents.by_name(name.as_deref()).map_err(|_| unknown())?;
            OfferedModel { name: call.name.clone(), ..offered(&agent) }
        }
        RequestedModel::Direct(model) => {
            call.services.state.models.directory().provider(&model).ok_or_else(unknown)?;
            OfferedModel::direct(model.provider.as_str(), model.model.as_str())
        }
    };
    Ok(object_response(&model.object()))
}

/// An agent is as old as its id.
fn offered(agent: &AgentRecord) -> OfferedModel {
    let name = agent.profile.name.expose().as_str();
    let ms = agent.id.to_bytes().iter().take(6).fold(0_u64, |ms, byte| (ms << 8) | u64::from(*byte));
    OfferedModel::agent((name != DEFAULT_AGENT_NAME).then_some(name), ms / 1_000)
}

/// Returns the name under which clients know who answers a run.
pub(crate) fn model_name(agent: &AgentRecord, model: Option<&palyra_types::model::ModelRef>) -> String {
    match model {
        Some(model) if agent.profile.name.expose() == TOOLLESS_AGENT_NAME => model.to_string(),
        Some(_) | None => offered(agent).name,
    }
}
