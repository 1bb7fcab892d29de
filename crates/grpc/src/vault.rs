//! `VaultService`: secrets, between the wire and the runtime. No answer holds a value.

use palyra_ports::{RootKind, SecretName, SecretRecord, VaultStatus};
use palyra_runtime::vault::{PutRequest, PutStanding, VaultHandle};
use palyra_types::Redacted;
use palyra_wire::v1;
use palyra_wire::v1::vault_service_server::VaultService;
use tonic::{Request, Response, Status};

use crate::auth;
use crate::status::Refusal;
use crate::translate;

/// Answers `palyra.v1.VaultService`.
pub(crate) struct VaultServiceImpl {
    vault: VaultHandle,
}

impl VaultServiceImpl {
    pub(crate) fn new(vault: VaultHandle) -> Self {
        Self { vault }
    }
}

fn secret(record: SecretRecord) -> v1::Secret {
    v1::Secret {
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
        Ok(Response::new(v1::ListSecretsResponse { secrets: records.into_iter().map(secret).collect() }))
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
        Ok(Response::new(v1::PutSecretResponse { secret: Some(secret(record)) }))
    }

    async fn bind_secret(
        &self,
        request: Request<v1::BindSecretRequest>,
    ) -> Result<Response<v1::BindSecretResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let bound = self.vault.bind(caller, &message.name, &message.host).await.map_err(Refusal::from)?;
        Ok(Response::new(v1::BindSecretResponse { secret: Some(secret(bound)) }))
    }

    async fn unbind_secret(
        &self,
        request: Request<v1::UnbindSecretRequest>,
    ) -> Result<Response<v1::UnbindSecretResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let unbound = self.vault.unbind(caller, &message.name, &message.host).await.map_err(Refusal::from)?;
        Ok(Response::new(v1::UnbindSecretResponse { secret: Some(secret(unbound)) }))
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
