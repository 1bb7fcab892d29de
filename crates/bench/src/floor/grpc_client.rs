//! A client of the floor over gRPC: one connection, one question at a time.

use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use hyper_util::rt::TokioIo;
use palyra_wire::v1;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::run_stream_request::Frame as Asked;
use palyra_wire::v1::run_stream_response::Frame;
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint};

use super::client::TurnTimes;
use crate::model::directive::AnswerDirective;

/// A connection to the floor over gRPC.
#[derive(Clone)]
pub struct GrpcFloorClient(GatewayServiceClient<Channel>);

impl GrpcFloorClient {
    /// Connects.
    ///
    /// # Errors
    /// When nobody listens.
    pub async fn connect(socket: &Path) -> anyhow::Result<Self> {
        let socket = socket.to_owned();
        let connector = tower::service_fn(move |_| {
            let socket = socket.clone();
            async move { UnixStream::connect(socket).await.map(TokioIo::new) }
        });
        // The address is never looked up.
        let endpoint = Endpoint::from_static("http://localhost");
        let channel = endpoint.connect_with_connector(connector).await.context("no way to the floor")?;
        Ok(Self(GatewayServiceClient::new(channel)))
    }

    /// Asks, and hears the answer to its end.
    ///
    /// # Errors
    /// When the floor hung up.
    pub async fn ask(&mut self, directive: &AnswerDirective) -> anyhow::Result<TurnTimes> {
        let begun = Instant::now();
        let start = v1::StartRunRequest { input: directive.question(), ..Default::default() };
        let question = v1::RunStreamRequest { frame: Some(Asked::Start(start)) };
        let asked = futures::stream::iter([question]);
        let mut answer = self.0.run_stream(asked).await?.into_inner();
        let mut first = None;
        while let Some(message) = answer.message().await? {
            match message.frame {
                Some(Frame::Entry(_)) => first = first.or_else(|| Some(begun.elapsed())),
                Some(Frame::End(_)) => {
                    let first = first.context("an answer without text")?;
                    return Ok(TurnTimes { first, total: begun.elapsed() });
                }
                _ => anyhow::bail!("the floor said what it cannot say"),
            }
        }
        anyhow::bail!("the floor hung up")
    }
}
