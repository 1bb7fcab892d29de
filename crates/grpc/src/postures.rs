//! Standing settings of tools, between the wire and the runtime.

use palyra_runtime::Caller;
use palyra_runtime::access::AccessHandle;
use palyra_runtime::agents::AgentRegistry;
use palyra_runtime::postures::{PostureToClear, PostureWhere};
use palyra_runtime::rules::PolicyHandle;
use palyra_types::posture::{Posture, PostureRecord, PostureScope};
use palyra_types::tool::ToolName;
use palyra_types::{PrincipalId, Seq};
use palyra_wire::v1;
use palyra_wire::v1::posture_scope::Place;

use crate::status::Refusal;
use crate::translate;
use crate::translate::InvalidValue;

/// Lists, makes and takes back settings.
pub(crate) struct Postures {
    policy: PolicyHandle,
    agents: AgentRegistry,
    access: AccessHandle,
}

impl Postures {
    pub(crate) fn new(policy: PolicyHandle, agents: AgentRegistry, access: AccessHandle) -> Self {
        Self { policy, agents, access }
    }

    pub(crate) fn list(&self) -> v1::ListPosturesResponse {
        let standing = self.policy.postures();
        let configured = standing.configured.iter().map(|(tool, posture)| v1::Posture {
            tool: tool.to_string(),
            posture: posture_name(*posture).to_owned(),
            ..v1::Posture::default()
        });
        let stored = standing.stored.iter().flat_map(|stored| stored.iter());
        v1::ListPosturesResponse {
            postures: configured.chain(stored.map(|record| self.shown(record))).collect(),
            unreadable: standing.stored.is_none(),
        }
    }

    pub(crate) async fn set(
        &self,
        caller: Caller,
        message: v1::SetPostureRequest,
    ) -> Result<v1::SetPostureResponse, Refusal> {
        let wanted = POSTURES.into_iter().find(|posture| posture_name(*posture) == message.posture);
        let wanted = wanted.ok_or_else(|| InvalidValue::new("posture", "always_allow, ask or disabled"))?;
        let place = (ToolName::new(&message.tool), place(message.scope)?);
        let record = self.policy.set_posture(caller, place, wanted).await?;
        Ok(v1::SetPostureResponse { posture: Some(self.shown(&record)) })
    }

    pub(crate) async fn clear(
        &self,
        caller: Caller,
        message: v1::ClearPostureRequest,
    ) -> Result<v1::ClearPostureResponse, Refusal> {
        let wanted = match message.seq {
            Some(seq) => PostureToClear::Entry(Seq(seq)),
            None => PostureToClear::Of(ToolName::new(&message.tool), place(message.scope)?),
        };
        let record = self.policy.clear_posture(caller, wanted).await?;
        Ok(v1::ClearPostureResponse { posture: Some(self.shown(&record)) })
    }

    fn shown(&self, record: &PostureRecord) -> v1::Posture {
        let change = &record.change;
        v1::Posture {
            tool: change.tool.expose().clone(),
            posture: change.posture.map_or("", posture_name).to_owned(),
            scope: self.scope(&change.scope),
            seq: Some(record.seq.0),
            set_by: change.by.to_string(),
            set_by_name: self.access.known().name_of(change.by).unwrap_or_default().to_owned(),
            set: translate::timestamp(record.set),
        }
    }

    fn scope(&self, scope: &PostureScope) -> Option<v1::PostureScope> {
        let place = match scope {
            PostureScope::Global => return None,
            PostureScope::Agent(id) => {
                let known = self.agents.by_id(*id).map(|agent| agent.profile.name.into_exposed());
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

const POSTURES: [Posture; 3] = [Posture::AlwaysAllow, Posture::Ask, Posture::Disabled];

fn posture_name(posture: Posture) -> &'static str {
    match posture {
        Posture::AlwaysAllow => "always_allow",
        Posture::Ask => "ask",
        Posture::Disabled => "disabled",
    }
}

fn place(scope: Option<v1::PostureScope>) -> Result<PostureWhere, Refusal> {
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

fn principal(text: &str) -> Result<Option<PrincipalId>, Refusal> {
    if text.is_empty() { Ok(None) } else { Ok(Some(translate::id("principal_id", text)?)) }
}
