//! Standing settings of tools, between the wire and the runtime.

use palyra_admin::postures::{PostureToClear, PostureWhere};
use palyra_runtime::Caller;
use palyra_types::posture::{Posture, PostureRecord, PostureScope};
use palyra_types::tool::ToolName;
use palyra_types::{PrincipalId, Seq};
use palyra_wire::v1;
use palyra_wire::v1::posture_scope::Place;

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;
use crate::translate::InvalidValue;

impl OperationHandlers {
    /// Answers `ListPostures`.
    pub async fn list_postures(
        &self,
        _caller: Caller,
        _message: v1::ListPosturesRequest,
    ) -> Result<v1::ListPosturesResponse, ApiError> {
        let standing = self.state.admin.policy.postures();
        let configured = standing.configured.iter().map(|(tool, posture)| v1::Posture {
            tool: tool.to_string(),
            posture: posture_setting(*posture).into(),
            ..v1::Posture::default()
        });
        let stored = standing.stored.iter().flat_map(|stored| stored.iter());
        Ok(v1::ListPosturesResponse {
            postures: configured.chain(stored.map(|record| self.posture(record))).collect(),
            unreadable: standing.stored.is_none(),
        })
    }

    /// Answers `SetPosture`.
    pub async fn set_posture(
        &self,
        caller: Caller,
        message: v1::SetPostureRequest,
    ) -> Result<v1::SetPostureResponse, ApiError> {
        let wanted = match v1::PostureSetting::try_from(message.posture) {
            Ok(v1::PostureSetting::AlwaysAllow) => Posture::AlwaysAllow,
            Ok(v1::PostureSetting::Ask) => Posture::Ask,
            Ok(v1::PostureSetting::Disabled) => Posture::Disabled,
            Ok(v1::PostureSetting::Unspecified) | Err(_) => {
                return Err(InvalidValue::new("posture", "always_allow, ask or disabled").into());
            }
        };
        let tool = ToolName::new(&message.tool);
        let place = place(message.scope)?;
        let record = self.state.admin.policy.set_posture(caller, tool, place, wanted).await?;
        Ok(v1::SetPostureResponse { posture: Some(self.posture(&record)) })
    }

    /// Answers `ClearPosture`.
    pub async fn clear_posture(
        &self,
        caller: Caller,
        message: v1::ClearPostureRequest,
    ) -> Result<v1::ClearPostureResponse, ApiError> {
        let wanted = match message.seq {
            Some(seq) => PostureToClear::Entry(Seq(seq)),
            None => PostureToClear::Of(ToolName::new(&message.tool), place(message.scope)?),
        };
        let record = self.state.admin.policy.clear_posture(caller, wanted).await?;
        Ok(v1::ClearPostureResponse { posture: Some(self.posture(&record)) })
    }

    fn posture(&self, record: &PostureRecord) -> v1::Posture {
        let change = &record.change;
        v1::Posture {
            tool: change.tool.expose().clone(),
            posture: change.posture.map(posture_setting).unwrap_or_default().into(),
            scope: self.posture_scope(&change.scope),
            seq: Some(record.seq.0),
            set_by: change.by.to_string(),
            set_by_name: self.state.admin.access.known().name_of(change.by).unwrap_or_default().to_owned(),
            set: translate::timestamp(record.set),
        }
    }

    fn posture_scope(&self, scope: &PostureScope) -> Option<v1::PostureScope> {
        let place = match scope {
            PostureScope::Global => return None,
            PostureScope::Agent(id) => {
                let known = self.state.agents.by_id(*id).map(|agent| agent.profile.name.into_exposed());
                Place::Agent(known.filter(|name| !name.is_empty()).unwrap_or_else(|| id.to_string()))
            }
            PostureScope::Workspace(path) => Place::Workspace(path.expose().clone()),
            PostureScope::Session(session) => Place::Session(v1::PostureSession {
                session_id: session.id.to_string(),
                principal_id: session.principal.to_string(),
            }),
        };
        Some(v1::PostureScope { place: Some(place) })
    }
}

fn posture_setting(posture: Posture) -> v1::PostureSetting {
    match posture {
        Posture::AlwaysAllow => v1::PostureSetting::AlwaysAllow,
        Posture::Ask => v1::PostureSetting::Ask,
        Posture::Disabled => v1::PostureSetting::Disabled,
    }
}

fn place(scope: Option<v1::PostureScope>) -> Result<PostureWhere, ApiError> {
    Ok(match scope.and_then(|scope| scope.place) {
        None => PostureWhere::Global,
        Some(Place::Agent(name)) => PostureWhere::Agent(name),
        Some(Place::Workspace(path)) => PostureWhere::Workspace(path),
        Some(Place::Session(of)) => PostureWhere::Session {
            session: translate::id("session_id", &of.session_id)?,
            principal: principal(&of.principal_id)?,
        },
    })
}

fn principal(text: &str) -> Result<Option<PrincipalId>, ApiError> {
    if text.is_empty() { Ok(None) } else { Ok(Some(translate::id("principal_id", text)?)) }
}
