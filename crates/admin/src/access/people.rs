//! People: creating them with a role, renaming, disabling.
//!
//! The principal behind the daemon's own socket stays as it is: it is found by its name at a start.

use std::sync::Arc;

use palyra_types::access::{PrincipalKind, PrincipalRecord, Role};
use palyra_types::event::AccessEvent;
use palyra_types::{PrincipalId, Redacted};
use tokio::sync::watch;

use super::{AccessHandle, AccessSnapshot, PRINCIPAL_NAME_CHARS_MAX, check_name, invalid};
use crate::access::time_zone::time_zone_name;
use crate::caller::Caller;
use crate::error::AdminError;
use crate::identity::check_identity;

impl AccessHandle {
    /// Makes a person known, with a role.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] for a name that is taken, empty, too long or not printable;
    /// [`AdminError::SecretInIdentity`]; [`AdminError::Append`].
    pub async fn create_person(
        &self,
        caller: Caller,
        name: &str,
        role: Role,
    ) -> Result<PrincipalRecord, AdminError> {
        let name = self.free_name(caller, name)?;
        let change = self.change.lock().await;
        self.check_free(&name)?;
        let record = PrincipalRecord { role, ..self.new_member(name) };
        self.register(caller, record.clone(), &change).await?;
        Ok(record)
    }

    /// Gives a principal another name.
    ///
    /// # Errors
    /// [`AdminError::PrincipalNotFound`]; those of [`Self::create_person`].
    pub async fn rename_person(
        &self,
        caller: Caller,
        id: PrincipalId,
        name: &str,
    ) -> Result<PrincipalRecord, AdminError> {
        let name = self.free_name(caller, name)?;
        let change = self.change.lock().await;
        self.changeable(id)?;
        self.check_free(&name)?;
        let renamed = AccessEvent::PrincipalRenamed { principal: id, name: name.clone() };
        self.change_person(caller, id, renamed, &change, |principal, _| principal.name = name).await
    }

    /// Gives a principal another role. Credentials that have more than it lose the rest at once.
    ///
    /// # Errors
    /// [`AdminError::PrincipalNotFound`]; [`AdminError::InvalidArgument`] for the principal of the daemon's own socket;
    /// [`AdminError::Append`].
    pub async fn set_role(
        &self,
        caller: Caller,
        id: PrincipalId,
        role: Role,
    ) -> Result<PrincipalRecord, AdminError> {
        let change = self.change.lock().await;
        let before = self.changeable(id)?;
        if before.role == role {
            return Ok(before);
        }
        let given = AccessEvent::RoleGiven { principal: id, role };
        self.change_person(caller, id, given, &change, |principal, _| principal.role = role).await
    }

    /// Stops every credential of a principal at once, open streams too. Disabling twice is not an error.
    ///
    /// # Errors
    /// Those of [`Self::set_role`].
    pub async fn disable_person(
        &self,
        caller: Caller,
        id: PrincipalId,
    ) -> Result<PrincipalRecord, AdminError> {
        let change = self.change.lock().await;
        let before = self.changeable(id)?;
        if before.disabled.is_some() {
            return Ok(before);
        }
        let disabled = AccessEvent::PrincipalDisabled { principal: id };
        let disable = |principal: &mut PrincipalRecord, time| principal.disabled = Some(time);
        let record = self.change_person(caller, id, disabled, &change, disable).await?;
        self.end_page_sessions_of(id);
        Ok(record)
    }

    /// Lets the credentials of a principal work again that are not revoked or over.
    ///
    /// # Errors
    /// Those of [`Self::set_role`].
    pub async fn enable_person(
        &self,
        caller: Caller,
        id: PrincipalId,
    ) -> Result<PrincipalRecord, AdminError> {
        let change = self.change.lock().await;
        let before = self.changeable(id)?;
        if before.disabled.is_none() {
            return Ok(before);
        }
        let enabled = AccessEvent::PrincipalEnabled { principal: id };
        self.change_person(caller, id, enabled, &change, |principal, _| principal.disabled = None).await
    }

    /// Sets the caller's own time zone; an empty name means the zone of the daemon's machine.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] for a name that is not in the IANA database; [`AdminError::PrincipalNotFound`];
    /// [`AdminError::Append`].
    pub async fn set_time_zone(&self, caller: Caller, name: &str) -> Result<PrincipalRecord, AdminError> {
        let Some(name) = time_zone_name(name) else {
            return invalid(format!(
                "{:?} is not a time zone of the IANA database; write a name such as Europe/Prague",
                name.chars().take(PRINCIPAL_NAME_CHARS_MAX).collect::<String>()
            ));
        };
        let id = caller.actor.principal;
        let change = self.change.lock().await;
        let before = self.known().principal(id).cloned().ok_or(AdminError::PrincipalNotFound)?;
        if *before.time_zone.expose() == name {
            return Ok(before);
        }
        let time_zone = check_identity(&self.ports.recorder, id, "the time zone", &name)?;
        let set = AccessEvent::TimeZoneSet { principal: id, time_zone: time_zone.clone() };
        self.change_person(caller, id, set, &change, |principal, _| principal.time_zone = time_zone).await
    }

    /// Returns a member that is not registered yet.
    pub(super) fn new_member(&self, name: Redacted<String>) -> PrincipalRecord {
        let id = self.ports.entropy.new_id(self.ports.clock.wall());
        PrincipalRecord {
            id,
            name,
            kind: PrincipalKind::Person,
            role: Role::Member,
            disabled: None,
            time_zone: Redacted::default(),
        }
    }

    pub(super) async fn register(
        &self,
        caller: Caller,
        record: PrincipalRecord,
        change: &watch::Sender<Arc<AccessSnapshot>>,
    ) -> Result<(), AdminError> {
        let registered = AccessEvent::PrincipalRegistered {
            principal: record.id,
            name: record.name.clone(),
            kind: record.kind,
            role: Some(record.role),
        };
        let id = record.id;
        self.change(caller.actor, id, registered, change, |known, _| known.put(record)).await
    }

    async fn change_person(
        &self,
        caller: Caller,
        id: PrincipalId,
        event: AccessEvent,
        change: &watch::Sender<Arc<AccessSnapshot>>,
        apply: impl FnOnce(&mut PrincipalRecord, palyra_types::Timestamp),
    ) -> Result<PrincipalRecord, AdminError> {
        self.change(caller.actor, id, event, change, |known, time| {
            if let Some(principal) = known.principal_mut(id) {
                apply(principal, time);
            }
        })
        .await?;
        self.known().principal(id).cloned().ok_or(AdminError::PrincipalNotFound)
    }

    fn free_name(&self, caller: Caller, name: &str) -> Result<Redacted<String>, AdminError> {
        check_name(name)?;
        check_identity(&self.ports.recorder, caller.actor.principal, "the principal's name", name)
    }

    fn check_free(&self, name: &Redacted<String>) -> Result<(), AdminError> {
        match self.known().id_of(name.expose()) {
            None => Ok(()),
            Some(_) => {
                let name = name.expose();
                invalid(format!(
                    "there is a principal `{name}` already: `palyra admin people role {name} ROLE` gives that one a role"
                ))
            }
        }
    }

    fn changeable(&self, id: PrincipalId) -> Result<PrincipalRecord, AdminError> {
        if id == self.local {
            return invalid(
                "`user:local` is the owner at the daemon's own socket and stays as it is".to_owned(),
            );
        }
        self.known().principal(id).cloned().ok_or(AdminError::PrincipalNotFound)
    }
}
