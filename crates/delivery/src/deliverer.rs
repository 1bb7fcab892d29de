//! Which way a message goes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_notify::WebhookSecret;
use palyra_ports::{Clock, DeliverError, DeliverMessages, FetchHttp, OutboundMessage};
use palyra_types::delivery::DeliveryTargetKind;

use crate::desktop;
use crate::not_sent::not_sent;
use crate::program::ProgramRun;
use crate::webhook::WebhookRequest;

/// How long a program may take.
const PROGRAM_TIME_MAX: Duration = Duration::from_secs(10);

/// Where messages go, as the configuration in force says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TargetAddresses {
    /// The program and its arguments; empty for none.
    pub command: Vec<String>,
    /// The address of the webhook; empty for none.
    pub webhook_url: String,
    /// Whether the desktop is used.
    pub desktop: bool,
}

/// Returns the secret that webhooks are signed with now, or why there is none. May wait for a disk.
pub type SecretSource = Arc<dyn Fn(&TargetAddresses) -> Result<WebhookSecret, String> + Send + Sync>;

/// Sends messages to the targets of the configuration in force.
pub struct MessageDeliverer {
    /// Returns where messages go.
    pub addresses: Arc<dyn Fn() -> TargetAddresses + Send + Sync>,
    /// Returns the secret of the webhook.
    pub secret: SecretSource,
    /// Asks servers; `None` where the network is switched off.
    pub fetch: Option<Arc<dyn FetchHttp>>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// The daemon's environment, from which the desktop's few variables are taken.
    pub environment: Arc<BTreeMap<String, String>>,
}

impl DeliverMessages for MessageDeliverer {
    fn deliver(&self, message: OutboundMessage) -> BoxFuture<'static, Result<(), DeliverError>> {
        let addresses = (self.addresses)();
        match message.target.kind {
            DeliveryTargetKind::Command if !addresses.command.is_empty() => {
                let body = message.body.into_exposed();
                let run = ProgramRun::new(addresses.command, BTreeMap::new(), PROGRAM_TIME_MAX);
                async move { run.feed(format!("{body}\n")).await }.boxed()
            }
            DeliveryTargetKind::Desktop if addresses.desktop => {
                let run = desktop::program(message.body.expose(), &self.environment, PROGRAM_TIME_MAX);
                async move { run?.feed(String::new()).await }.boxed()
            }
            DeliveryTargetKind::Webhook if !addresses.webhook_url.is_empty() => {
                let secret = Arc::clone(&self.secret);
                let clock = Arc::clone(&self.clock);
                let fetch = self.fetch.clone();
                async move {
                    let why = "outgoing requests are switched off; set `egress.enabled = true`".to_owned();
                    let fetch = fetch.ok_or(DeliverError::Refused { why })?;
                    let url = addresses.webhook_url.clone();
                    let found = tokio::task::spawn_blocking(move || secret(&addresses)).await;
                    let found = found.map_err(|_| not_sent("the secret of the webhook could not be read"))?;
                    // A locked vault may be open at the next attempt.
                    let secret = found.map_err(|why| DeliverError::NotSent { why })?;
                    WebhookRequest { url, secret, time: clock.wall() }.send(&*fetch, message).await
                }
                .boxed()
            }
            DeliveryTargetKind::Command | DeliveryTargetKind::Desktop | DeliveryTargetKind::Webhook => {
                let why = "this target is not configured".to_owned();
                std::future::ready(Err(DeliverError::Refused { why })).boxed()
            }
        }
    }
}
