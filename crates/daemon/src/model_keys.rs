//! The keys of model servers: of the environment, of files, and secrets of the vault.
//!
//! Invariant: a secret of the vault is given to the server that it is bound to, and only where others cannot read what is
//! sent. No error holds any part of a key. Begin at [`KeySources::key_of`].

use std::collections::BTreeMap;
use std::sync::Arc;

use palyra_ports::{GatewayTrail, SecretName, SecretReader, SecretStore, SecretStoreError};
use palyra_providers::{
    KeyReference, LinkPrivacy, ParseKeyReferenceError, ProviderConfigError, ResolveKeyError, Secret,
    secret_host,
};

use crate::config::ProviderConfig;
use crate::model_answers::ModelAnswers;
use crate::system::SystemEntropy;
use crate::vault::OpenVault;

/// Where keys are looked for, and what is shared by the servers of every reload.
#[derive(Clone)]
pub(crate) struct KeySources {
    pub(crate) environment: Arc<BTreeMap<String, String>>,
    /// `None` outside of a daemon, where the vault cannot be read.
    pub(crate) vault: Option<Arc<dyn SecretStore>>,
    /// Goes with each request beside the key, so that a daemon finds that it asks itself.
    pub(crate) gateways: GatewayTrail,
    /// Takes note of what the servers answer.
    pub(crate) answers: ModelAnswers,
}

/// Why a server has no key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModelKeyError {
    /// The text is not a reference.
    #[error(transparent)]
    Reference(#[from] ParseKeyReferenceError),
    /// The environment or the file has no key.
    #[error(transparent)]
    Resolve(#[from] ResolveKeyError),
    /// The address of the server is not valid.
    #[error(transparent)]
    Server(#[from] ProviderConfigError),
    /// Others could read the key on its way.
    #[error(
        "`providers.{provider}.key` names the secret `{0}` of the vault, which is sent over TLS or to this machine only: \
         write `https` in `providers.{provider}.base_url`", name.as_str()
    )]
    Readable { provider: String, name: SecretName },
    /// The vault does not give the key out.
    #[error(transparent)]
    Vault(#[from] VaultKeyError),
}

/// Why the vault does not give the key of a server out now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VaultKeyError {
    /// The vault does not have the secret.
    #[error(
        "`providers.{provider}.key` names the secret `{0}`, which the vault does not have: `palyra admin vault put {0} \
         --host {host}`, then `palyra config reload`", name.as_str()
    )]
    Missing { provider: String, name: SecretName, host: String },
    /// The secret is for other servers.
    #[error(
        "`providers.{provider}.key` names the secret `{0}`, which may not be sent to {host}: `palyra admin vault bind {0} \
         {host}`, then `palyra config reload`", name.as_str()
    )]
    NotBound { provider: String, name: SecretName, host: String },
    /// The vault has a passphrase, which was not given since the start.
    #[error(
        "`providers.{provider}.key` names the secret `{0}`, and the vault is locked: `palyra admin vault unlock`, then \
         `palyra config reload`", name.as_str()
    )]
    Locked { provider: String, name: SecretName },
    /// The vault's key file is missing.
    #[error("`providers.{provider}.key` names the secret `{0}`, and the vault is locked: {why}", name.as_str())]
    WithoutKeyFile { provider: String, name: SecretName, why: String },
    /// The vault cannot be read, or the secret is damaged.
    #[error("`providers.{provider}.key` cannot be read from the vault")]
    Unusable {
        provider: String,
        #[source]
        cause: SecretStoreError,
    },
}

impl KeySources {
    /// Returns the sources of a daemon.
    pub(crate) fn of_daemon(environment: &BTreeMap<String, String>, vault: &Arc<OpenVault>) -> Self {
        Self {
            environment: Arc::new(environment.clone()),
            vault: Some(Arc::clone(vault) as _),
            gateways: GatewayTrail::new(&SystemEntropy),
            answers: ModelAnswers::default(),
        }
    }

    /// Returns the key of a server; `None` for one that takes none, and for a secret of the vault outside of a daemon.
    pub(crate) fn key_of(&self, settings: &ProviderConfig) -> Result<Option<Secret>, ModelKeyError> {
        let Some(reference) = &settings.key else { return Ok(None) };
        match reference.parse::<KeyReference>()? {
            KeyReference::Vault(name) => self.of_vault(settings, name),
            reference @ (KeyReference::Env(_) | KeyReference::File(_)) => {
                Ok(Some(reference.resolve(&self.environment)?))
            }
        }
    }

    fn of_vault(&self, settings: &ProviderConfig, name: SecretName) -> Result<Option<Secret>, ModelKeyError> {
        let server = secret_host(&settings.base_url)?;
        let provider = settings.name.clone();
        if server.privacy == LinkPrivacy::Readable {
            return Err(ModelKeyError::Readable { provider, name });
        }
        let Some(vault) = &self.vault else { return Ok(None) };
        let host = server.host;
        match vault.open(&name, &host, SecretReader::Owner) {
            Ok(opened) => Ok(Some(Secret::new(opened.value.expose()).found_at(&KeyReference::Vault(name)))),
            Err(SecretStoreError::NotFound { .. }) => {
                Err(VaultKeyError::Missing { provider, name, host }.into())
            }
            Err(SecretStoreError::NotBound { .. }) => {
                Err(VaultKeyError::NotBound { provider, name, host }.into())
            }
            Err(SecretStoreError::Locked { why }) if why.contains("key file") => {
                Err(VaultKeyError::WithoutKeyFile { provider, name, why }.into())
            }
            Err(SecretStoreError::Locked { .. }) => Err(VaultKeyError::Locked { provider, name }.into()),
            Err(cause) => Err(VaultKeyError::Unusable { provider, cause }.into()),
        }
    }
}

#[cfg(test)]
mod tests;
