//! `VaultService`: secrets, between the wire and the runtime. No answer holds a value.

use palyra_ports::{RootKind, SecretName, SecretRecord, VaultStatus};
use palyra_runtime::RequestError;
use palyra_runtime::access::AccessHandle;
use palyra_runtime::vault::{PutRequest, PutStanding, VaultHandle};
use palyra_types::{PrincipalId, Redacted};
use palyra_wire::v1;
use palyra_wire::v1::vault_service_server::VaultService;
use tonic::{Request, Response, Status};

use crate::auth;
use crate::status::Refusal;
use crate::translate;

/// Answers `palyra.v1.VaultService`.
pub(crate) struct VaultServiceImpl {
    vault: VaultHandle,
    access: AccessHandle,
}

impl VaultServiceImpl {
    pub(crate) fn new(access: AccessHandle) -> Self {
        Self { vault: access.vault(), access }
    }

    fn secret(&self, record: SecretRecord) -> v1::Secret {
        let known = self.access.known();
        let name_of = |id: &PrincipalId| match known.name_of(*id) {
            Some(name) if !name.is_empty() => name.to_owned(),
            Some(_) | None => id.to_string(),
        };
        let principals = record.principals.iter().map(name_of).collect();
        v1::Secret { principals, ..secret(record) }
    }
}

/// Names what a request binds.
enum Bound<'a> {
    Host(&'a str),
    Principal(&'a str),
}

fn bound<'a>(host: &'a str, principal: &'a str) -> Result<Bound<'a>, Refusal> {
    match (host, principal) {
        (host, "") => Ok(Bound::Host(host)),
        ("", principal) => Ok(Bound::Principal(principal)),
        (_, _) => {
            let what = "a secret is bound to a host or to a principal, one at a time".to_owned();
            Err(RequestError::InvalidArgument { what }.into())
        }
    }
}

fn secret(record: SecretRecord) -> v1::Secret {
    v1::Secret {
        principals: Vec::new(),
        name: record.name.as_str().to_owned(),
        version: record.version,
        hosts: record.hosts.into_iter().collect(),
        sent_as: record.sent_as.to_string(),
        changed: translate::timestamp(record.changed),
    }
}

fn vault(status: VaultStatus) -> v1::Vault {
    let key = match status.key {
        RootKind::KeyFile => "key_file",
        RootKind::Passphrase => "passphrase",
    };
    v1::Vault {
        key: key.to_owned(),
        open: status.locked.is_none(),
        locked: status.locked.unwrap_or_default(),
        secrets: u32::try_from(status.secrets).unwrap_or(u32::MAX),
        damaged: status.damaged.iter().map(SecretName::as_str).map(str::to_owned).collect(),
    }
}

#[tonic::async_trait]
impl VaultService for VaultServiceImpl {
    async fn get_vault(
        &self,
        request: Request<v1::GetVaultRequest>,
    ) -> Result<Response<v1::GetVaultResponse>, Status> {
        let (caller, _) = auth::open(request)?;
        let status = self.vault.status(caller).await.map_err(Refusal::from)?;
        Ok(Response::new(v1::GetVaultResponse { vault: Some(vault(status)) }))
    }

    async fn list_secrets(
        &self,
        request: Request<v1::ListSecretsRequest>,
    ) -> Result<Response<v1::ListSecretsResponse>, Status> {
        let (caller, _) = auth::open(request)?;
        let records = self.vault.list(caller).await.map_err(Refusal::from)?;
        Ok(Response::new(v1::ListSecretsResponse {
            secrets: records.into_iter().map(|it| self.secret(it)).collect(),
        }))
    }

    async fn put_secret(
        &self,
        request: Request<v1::PutSecretRequest>,
    ) -> Result<Response<v1::PutSecretResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let wish = PutRequest {
            name: message.name,
            value: Redacted::new(message.value),
            hosts: (!message.hosts.is_empty()).then_some(message.hosts),
            sent_as: (!message.sent_as.is_empty()).then_some(message.sent_as),
            standing: if message.another { PutStanding::Another } else { PutStanding::New },
        };
        let record = self.vault.put(caller, wish).await.map_err(Refusal::from)?;
        Ok(Response::new(v1::PutSecretResponse { secret: Some(self.secret(record)) }))
    }

    async fn bind_secret(
        &self,
        request: Request<v1::BindSecretRequest>,
    ) -> Result<Response<v1::BindSecretResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let v1::BindSecretRequest { name, host, principal } = message;
        let bound = match bound(&host, &principal)? {
            Bound::Host(host) => self.vault.bind(caller, &name, host).await,
            Bound::Principal(principal) => self.vault.bind_principal(caller, &name, principal).await,
        };
        let bound = self.secret(bound.map_err(Refusal::from)?);
        Ok(Response::new(v1::BindSecretResponse { secret: Some(bound) }))
    }

    async fn unbind_secret(
        &self,
        request: Request<v1::UnbindSecretRequest>,
    ) -> Result<Response<v1::UnbindSecretResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let v1::UnbindSecretRequest { name, host, principal } = message;
        let unbound = match bound(&host, &principal)? {
            Bound::Host(host) => self.vault.unbind(caller, &name, host).await,
            Bound::Principal(principal) => self.vault.unbind_principal(caller, &name, principal).await,
        };
        let unbound = self.secret(unbound.map_err(Refusal::from)?);
        Ok(Response::new(v1::UnbindSecretResponse { secret: Some(unbound) }))
    }

    async fn remove_secret(
        &self,
        request: Request<v1::RemoveSecretRequest>,
    ) -> Result<Response<v1::RemoveSecretResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        self.vault.remove(caller, &message.name).await.map_err(Refusal::from)?;
        Ok(Response::new(v1::RemoveSecretResponse {}))
    }

    async fn unlock_vault(
        &self,
        request: Request<v1::UnlockVaultRequest>,
    ) -> Result<Response<v1::UnlockVaultResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let unlocked = self.vault.unlock(caller, Redacted::new(message.passphrase)).await;
        Ok(Response::new(v1::UnlockVaultResponse { vault: Some(vault(unlocked.map_err(Refusal::from)?)) }))
    }

    async fn set_vault_passphrase(
        &self,
        request: Request<v1::SetVaultPassphraseRequest>,
    ) -> Result<Response<v1::SetVaultPassphraseResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let set = self.vault.set_passphrase(caller, Redacted::new(message.passphrase)).await;
        Ok(Response::new(v1::SetVaultPassphraseResponse { vault: Some(vault(set.map_err(Refusal::from)?)) }))
    }
}
