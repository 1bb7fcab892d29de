//! `PeopleService`: who may use the daemon, and with which role.

use palyra_runtime::Caller;
use palyra_types::PrincipalId;
use palyra_types::access::{PrincipalKind, PrincipalRecord, Role};
use palyra_wire::v1::{self, Person};

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;
use crate::translate::InvalidValue;

impl OperationHandlers {
    /// Answers `ListPeople`.
    pub async fn list_people(
        &self,
        _caller: Caller,
        _message: v1::ListPeopleRequest,
    ) -> Result<v1::ListPeopleResponse, ApiError> {
        let known = self.state.admin.access.known();
        let mut people: Vec<Person> = known.principals.iter().map(|record| self.person(record)).collect();
        people.sort_by(|one, other| (&one.name, &one.principal_id).cmp(&(&other.name, &other.principal_id)));
        Ok(v1::ListPeopleResponse { people })
    }

    /// Answers `CreatePerson`.
    pub async fn create_person(
        &self,
        caller: Caller,
        message: v1::CreatePersonRequest,
    ) -> Result<v1::CreatePersonResponse, ApiError> {
        let role = role_from(message.role)?;
        let record = self.state.admin.access.create_person(caller, &message.name, role).await?;
        Ok(v1::CreatePersonResponse { person: Some(self.person(&record)) })
    }

    /// Answers `RenamePerson`.
    pub async fn rename_person(
        &self,
        caller: Caller,
        message: v1::RenamePersonRequest,
    ) -> Result<v1::RenamePersonResponse, ApiError> {
        let id = principal(&message.principal_id)?;
        let record = self.state.admin.access.rename_person(caller, id, &message.name).await?;
        Ok(v1::RenamePersonResponse { person: Some(self.person(&record)) })
    }

    /// Answers `SetRole`.
    pub async fn set_role(
        &self,
        caller: Caller,
        message: v1::SetRoleRequest,
    ) -> Result<v1::SetRoleResponse, ApiError> {
        let id = principal(&message.principal_id)?;
        let role = role_from(message.role)?;
        let record = self.state.admin.access.set_role(caller, id, role).await?;
        Ok(v1::SetRoleResponse { person: Some(self.person(&record)) })
    }

    /// Answers `DisablePerson`.
    pub async fn disable_person(
        &self,
        caller: Caller,
        message: v1::DisablePersonRequest,
    ) -> Result<v1::DisablePersonResponse, ApiError> {
        let id = principal(&message.principal_id)?;
        let record = self.state.admin.access.disable_person(caller, id).await?;
        Ok(v1::DisablePersonResponse { person: Some(self.person(&record)) })
    }

    /// Answers `EnablePerson`.
    pub async fn enable_person(
        &self,
        caller: Caller,
        message: v1::EnablePersonRequest,
    ) -> Result<v1::EnablePersonResponse, ApiError> {
        let id = principal(&message.principal_id)?;
        let record = self.state.admin.access.enable_person(caller, id).await?;
        Ok(v1::EnablePersonResponse { person: Some(self.person(&record)) })
    }

    /// Answers `SetTimeZone`.
    pub async fn set_time_zone(
        &self,
        caller: Caller,
        message: v1::SetTimeZoneRequest,
    ) -> Result<v1::SetTimeZoneResponse, ApiError> {
        let record = self.state.admin.access.set_time_zone(caller, &message.time_zone).await?;
        Ok(v1::SetTimeZoneResponse { person: Some(self.person(&record)) })
    }

    fn person(&self, record: &PrincipalRecord) -> Person {
        let role = self.state.admin.access.known().role_of(record);
        Person {
            principal_id: record.id.to_string(),
            name: record.name.expose().clone(),
            kind: kind_to_wire(record.kind).into(),
            role: role_to_wire(role).into(),
            disabled: record.disabled.and_then(translate::timestamp),
            time_zone: record.time_zone.expose().clone(),
        }
    }
}

fn principal(text: &str) -> Result<PrincipalId, ApiError> {
    Ok(translate::id("principal_id", text)?)
}

fn role_from(number: i32) -> Result<Role, InvalidValue> {
    match v1::PrincipalRole::try_from(number) {
        Ok(v1::PrincipalRole::Owner) => Ok(Role::Owner),
        Ok(v1::PrincipalRole::Member) => Ok(Role::Member),
        Ok(v1::PrincipalRole::Approver) => Ok(Role::Approver),
        Ok(v1::PrincipalRole::Viewer) => Ok(Role::Viewer),
        Ok(v1::PrincipalRole::Worker) => Ok(Role::Worker),
        Ok(v1::PrincipalRole::Unspecified) | Err(_) => {
            Err(InvalidValue::new("role", "owner, member, approver, viewer or worker"))
        }
    }
}

fn role_to_wire(role: Role) -> v1::PrincipalRole {
    match role {
        Role::Owner => v1::PrincipalRole::Owner,
        Role::Member => v1::PrincipalRole::Member,
        Role::Approver => v1::PrincipalRole::Approver,
        Role::Viewer => v1::PrincipalRole::Viewer,
        Role::Worker => v1::PrincipalRole::Worker,
    }
}

fn kind_to_wire(kind: PrincipalKind) -> v1::PrincipalKind {
    match kind {
        PrincipalKind::Person => v1::PrincipalKind::Person,
        PrincipalKind::ChannelAccount => v1::PrincipalKind::ChannelAccount,
        PrincipalKind::Service => v1::PrincipalKind::Service,
        PrincipalKind::Worker => v1::PrincipalKind::Worker,
    }
}
