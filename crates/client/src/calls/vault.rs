//! Secrets: for the owner, over the daemon's own socket.

use palyra_wire::v1;

use super::call::required;
use crate::client::Client;
use crate::error::ClientError;

impl Client {
    /// Says how the vault stands.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn get_vault(&self) -> Result<v1::Vault, ClientError> {
        required(self.call(v1::GetVaultRequest {}).await?.vault, "a vault")
    }

    /// Lists secrets, without their values.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_secrets(&self) -> Result<Vec<v1::Secret>, ClientError> {
        Ok(self.call(v1::ListSecretsRequest {}).await?.secrets)
    }

    /// Keeps a value.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn put_secret(&self, request: v1::PutSecretRequest) -> Result<v1::Secret, ClientError> {
        required(self.call(request).await?.secret, "a secret")
    }

    /// Lets a secret be given to one host more.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`]; repeating it is harmless.
    pub async fn bind_secret(&self, name: String, host: String) -> Result<v1::Secret, ClientError> {
        let request = v1::BindSecretRequest { name, host, ..Default::default() };
        required(self.call(request).await?.secret, "a secret")
    }

    /// Lets a principal beside the owner use a secret.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`]; repeating it is harmless.
    pub async fn bind_secret_to(&self, name: String, principal: String) -> Result<v1::Secret, ClientError> {
        let request = v1::BindSecretRequest { name, principal, ..Default::default() };
        required(self.call(request).await?.secret, "a secret")
    }

    /// Lets a principal no longer use a secret.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`]; repeating it is harmless.
    pub async fn unbind_secret_from(
        &self,
        name: String,
        principal: String,
    ) -> Result<v1::Secret, ClientError> {
        let request = v1::UnbindSecretRequest { name, principal, ..Default::default() };
        required(self.call(request).await?.secret, "a secret")
    }

    /// Lets a secret no longer be given to a host.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`]; repeating it is harmless.
    pub async fn unbind_secret(&self, name: String, host: String) -> Result<v1::Secret, ClientError> {
        let request = v1::UnbindSecretRequest { name, host, ..Default::default() };
        required(self.call(request).await?.secret, "a secret")
    }

    /// Forgets a secret.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn remove_secret(&self, name: String) -> Result<(), ClientError> {
        self.call(v1::RemoveSecretRequest { name }).await.map(drop)
    }

    /// Opens the vault until the daemon ends.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn unlock_vault(&self, passphrase: String) -> Result<v1::Vault, ClientError> {
        let unlocked = self.call(v1::UnlockVaultRequest { passphrase }).await?;
        required(unlocked.vault, "a vault")
    }

    /// Puts a passphrase in the place of the key before it.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn set_vault_passphrase(&self, passphrase: String) -> Result<v1::Vault, ClientError> {
        let request = v1::SetVaultPassphraseRequest { passphrase };
        required(self.call(request).await?.vault, "a vault")
    }
}
