//! `VaultService`: secrets, between the wire and the runtime. No answer holds a value.

use palyra_admin::vault::{PutRequest, PutStanding};
use palyra_ports::{RootKind, SecretName, SecretRecord, VaultStatus};
use palyra_runtime::Caller;
use palyra_runtime::RequestError;
use palyra_types::{Content, PrincipalId};
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;

impl OperationHandlers {
    fn secret(&self, record: SecretRecord) -> v1::Secret {
        let known = self.state.admin.access.known();
        let name_of = |id: &PrincipalId| match known.name_of(*id) {
            Some(name) if !name.is_empty() => name.to_owned(),
            Some(_) | None => id.to_string(),
        };
        let principals = record.principals.iter().map(name_of).collect();
        v1::Secret { principals, ..secret(record) }
    }

    /// Model servers use what the vault gives out from now on. The change itself is recorded already.
    async fn renew_model_keys(&self) {
        if let Err(error) = self.daemon.reload.renew_vault_keys().await {
            tracing::warn!(%error, "model servers keep the keys that they have");
        }
    }
}

/// Names what a request binds.
enum SecretBinding<'a> {
    Host(&'a str),
    Principal(&'a str),
}

fn bound<'a>(host: &'a str, principal: &'a str) -> Result<SecretBinding<'a>, ApiError> {
    match (host, principal) {
        (host, "") => Ok(SecretBinding::Host(host)),
        ("", principal) => Ok(SecretBinding::Principal(principal)),
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
        RootKind::KeyFile => v1::VaultKeySource::KeyFile,
        RootKind::Passphrase => v1::VaultKeySource::Passphrase,
    };
    v1::Vault {
        key: key.into(),
        open: status.locked.is_none(),
        locked: status.locked.unwrap_or_default(),
        secrets: u32::try_from(status.secrets).unwrap_or(u32::MAX),
        damaged: status.damaged.iter().map(SecretName::as_str).map(str::to_owned).collect(),
    }
}

impl OperationHandlers {
    /// Answers `GetVault`.
    pub async fn get_vault(
        &self,
        caller: Caller,
        _message: v1::GetVaultRequest,
    ) -> Result<v1::GetVaultResponse, ApiError> {
        let status = self.state.admin.vault.status(caller).await?;
        Ok(v1::GetVaultResponse { vault: Some(vault(status)) })
    }

    /// Answers `ListSecrets`.
    pub async fn list_secrets(
        &self,
        caller: Caller,
        _message: v1::ListSecretsRequest,
    ) -> Result<v1::ListSecretsResponse, ApiError> {
        let records = self.state.admin.vault.list(caller).await?;
        Ok(v1::ListSecretsResponse { secrets: records.into_iter().map(|it| self.secret(it)).collect() })
    }

    /// Answers `PutSecret`.
    pub async fn put_secret(
        &self,
        caller: Caller,
        message: v1::PutSecretRequest,
    ) -> Result<v1::PutSecretResponse, ApiError> {
        let request = PutRequest {
            name: message.name,
            value: Content::new(message.value),
            hosts: (!message.hosts.is_empty()).then_some(message.hosts),
            sent_as: (!message.sent_as.is_empty()).then_some(message.sent_as),
            standing: if message.another { PutStanding::Another } else { PutStanding::New },
        };
        let record = self.state.admin.vault.put(caller, request).await?;
        self.renew_model_keys().await;
        Ok(v1::PutSecretResponse { secret: Some(self.secret(record)) })
    }

    /// Answers `BindSecret`.
    pub async fn bind_secret(
        &self,
        caller: Caller,
        message: v1::BindSecretRequest,
    ) -> Result<v1::BindSecretResponse, ApiError> {
        let v1::BindSecretRequest { name, host, principal } = message;
        let bound = match bound(&host, &principal)? {
            SecretBinding::Host(host) => self.state.admin.vault.bind(caller, &name, host).await,
            SecretBinding::Principal(principal) => {
                self.state.admin.vault.bind_principal(caller, &name, principal).await
            }
        };
        let bound = self.secret(bound?);
        self.renew_model_keys().await;
        Ok(v1::BindSecretResponse { secret: Some(bound) })
    }

    /// Answers `UnbindSecret`.
    pub async fn unbind_secret(
        &self,
        caller: Caller,
        message: v1::UnbindSecretRequest,
    ) -> Result<v1::UnbindSecretResponse, ApiError> {
        let v1::UnbindSecretRequest { name, host, principal } = message;
        let unbound = match bound(&host, &principal)? {
            SecretBinding::Host(host) => self.state.admin.vault.unbind(caller, &name, host).await,
            SecretBinding::Principal(principal) => {
                self.state.admin.vault.unbind_principal(caller, &name, principal).await
            }
        };
        let unbound = self.secret(unbound?);
        self.renew_model_keys().await;
        Ok(v1::UnbindSecretResponse { secret: Some(unbound) })
    }

    /// Answers `RemoveSecret`.
    pub async fn remove_secret(
        &self,
        caller: Caller,
        message: v1::RemoveSecretRequest,
    ) -> Result<v1::RemoveSecretResponse, ApiError> {
        self.state.admin.vault.remove(caller, &message.name).await?;
        self.renew_model_keys().await;
        Ok(v1::RemoveSecretResponse {})
    }

    /// Answers `UnlockVault`.
    pub async fn unlock_vault(
        &self,
        caller: Caller,
        message: v1::UnlockVaultRequest,
    ) -> Result<v1::UnlockVaultResponse, ApiError> {
        let unlocked = self.state.admin.vault.unlock(caller, Content::new(message.passphrase)).await;
        let unlocked = vault(unlocked?);
        self.renew_model_keys().await;
        Ok(v1::UnlockVaultResponse { vault: Some(unlocked) })
    }

    /// Answers `SetVaultPassphrase`.
    pub async fn set_vault_passphrase(
        &self,
        caller: Caller,
        message: v1::SetVaultPassphraseRequest,
    ) -> Result<v1::SetVaultPassphraseResponse, ApiError> {
        let set = self.state.admin.vault.set_passphrase(caller, Content::new(message.passphrase)).await;
        Ok(v1::SetVaultPassphraseResponse { vault: Some(vault(set?)) })
    }
}
