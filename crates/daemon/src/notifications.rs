//! The ways on which notifications leave this daemon.

use std::collections::BTreeMap;
use std::sync::Arc;

use palyra_delivery::{MessageDeliverer, SecretSource, TargetAddresses};
use palyra_notify::WebhookSecret;
use palyra_ports::{FetchHttp, SecretReader, SecretStore};
use palyra_providers::{KeyReference, secret_host};
use tokio::sync::watch;

use crate::config::Config;
use crate::system::SystemClock;

/// What deliveries need of the daemon.
pub(crate) struct DeliveryAccess {
    pub(crate) config: watch::Receiver<Arc<Config>>,
    pub(crate) environment: Arc<BTreeMap<String, String>>,
    pub(crate) vault: Arc<dyn SecretStore>,
    /// `None` where the network is switched off.
    pub(crate) fetch: Option<Arc<dyn FetchHttp>>,
}

impl DeliveryAccess {
    /// Returns what sends notifications as the configuration in force says.
    pub(crate) fn into_deliverer(self) -> MessageDeliverer {
        let Self { config, environment, vault, fetch } = self;
        let secret: SecretSource = {
            let config = config.clone();
            let environment = Arc::clone(&environment);
            Arc::new(move |addresses| {
                let reference = config.borrow().webhook_secret().to_owned();
                webhook_secret(&reference, addresses, &environment, &*vault)
            })
        };
        let addresses = Arc::new(move || config.borrow().notify_addresses());
        MessageDeliverer { addresses, secret, fetch, clock: Arc::new(SystemClock), environment }
    }
}

/// Reads the secret; a secret of the vault is given out for the server that it is bound to.
fn webhook_secret(
    reference: &str,
    addresses: &TargetAddresses,
    environment: &BTreeMap<String, String>,
    vault: &dyn SecretStore,
) -> Result<WebhookSecret, String> {
    let unusable = |cause: &dyn std::fmt::Display| format!("`notify.webhook_secret` cannot be used: {cause}");
    let text = match reference.parse::<KeyReference>().map_err(|error| unusable(&error))? {
        KeyReference::Vault(name) => {
            let host = secret_host(&addresses.webhook_url).map_err(|error| unusable(&error))?.host;
            let opened = vault.open(&name, &host, SecretReader::Owner).map_err(|error| unusable(&error))?;
            opened.value
        }
        reference @ (KeyReference::Env(_) | KeyReference::File(_)) => {
            reference.resolve(environment).map_err(|error| unusable(&error))?.to_be_redacted()
        }
    };
    WebhookSecret::parse(text.expose()).map_err(|error| unusable(&error))
}
