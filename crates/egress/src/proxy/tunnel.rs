//! A tunnel: bytes both ways, once the first ones ask for the host that was granted.

use std::sync::Arc;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use palyra_ports::EgressVerdict;
use tokio::io::{AsyncWriteExt, copy_bidirectional};
use tokio::time::timeout;

use super::meter::{LastActivity, MeteredLine};
use super::{Call, client_hello};
use crate::server_line::ByteLine;
use crate::target::Endpoint;

/// A connection that was asked for, and the line that it is to be joined with.
pub(super) struct Tunnel {
    pub(super) client: OnUpgrade,
    pub(super) server: Box<dyn ByteLine>,
    pub(super) endpoint: Endpoint,
}

impl Tunnel {
    /// Carries bytes until one side is done. A server hears nothing before the program has asked for its name.
    pub(super) async fn run(self, call: &Call) {
        let Ok(client) = self.client.await else { return };
        let mut client = TokioIo::new(client);
        let greeting = client_hello::read(&mut client, &self.endpoint.host);
        let hello = match timeout(call.grant.limits.header_time_max, greeting).await {
            Ok(Ok(Some(hello))) => hello,
            Ok(Ok(None)) => {
                let reason = "what is spoken in its tunnel is not TLS with that host";
                call.contacts.note(Some(&self.endpoint), EgressVerdict::Refused { reason });
                return;
            }
            Ok(Err(_)) | Err(_) => return,
        };
        let mut server =
            MeteredLine::new(self.server, Arc::new(LastActivity::default()), Some(call.budget.clone()));
        if server.write_all(&hello).await.is_ok() {
            drop(copy_bidirectional(&mut client, &mut server).await);
        }
    }
}
