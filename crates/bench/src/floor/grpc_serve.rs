//! The floor over gRPC: the same relay, spoken with our messages over tonic, and with reqwest to the model.
//!
//! What it adds to the floor is what the protocols and their libraries cost, before a daemon does anything.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use futures::channel::mpsc;
use futures::stream::BoxStream;
use futures::{SinkExt, StreamExt};
use palyra_wire::v1;
use palyra_wire::v1::gateway_service_server::{GatewayService, GatewayServiceServer};
use palyra_wire::v1::run_stream_request::Frame as Asked;
use palyra_wire::v1::run_stream_response::Frame;
use palyra_wire::v1::tape_entry::Event;
use tokio::net::UnixListener;
use tonic::{Request, Response, Status, Streaming};

use super::relay::{ModelRequester, ReplySink, relay};
use super::serve::FloorArgs;
use super::writer::Writer;
use crate::model::direct_client::{AnswerEvent, EventReader, body};

const FRAMES_WAITING_MAX: usize = 64;

type Frames = BoxStream<'static, Result<v1::RunStreamResponse, Status>>;

/// Serves until the process is ended; one line on standard output tells that it does.
///
/// # Errors
/// When it cannot begin.
pub fn grpc_floor(args: &FloorArgs) -> anyhow::Result<()> {
    let writer = Writer::start(&args.database)?;
    // Fails only when one is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().tcp_nodelay(true).no_proxy().tls_certs_only([]).build()?;
    crate::harness::on_one_thread(async {
        let listener = UnixListener::bind(&args.socket).context("the floor's socket")?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{{\"ready\":true}}")?;
        out.flush()?;
        drop(out);
        let accepted = futures::stream::unfold(listener, |listener| async move {
            let stream = listener.accept().await.map(|(stream, _)| stream);
            Some((stream, listener))
        });
        let relay = GrpcRelay(Arc::new(ServerParts { writer, client, model: args.model }));
        let server = tonic::transport::Server::builder().add_service(GatewayServiceServer::new(relay));
        server.serve_with_incoming(accepted).await.context("the floor cannot serve")
    })
}

struct ServerParts {
    writer: Writer,
    client: reqwest::Client,
    model: SocketAddr,
}

struct GrpcRelay(Arc<ServerParts>);

/// The way to the model.
struct HttpAsker {
    parts: Arc<ServerParts>,
    answer: Option<reqwest::Response>,
    events: EventReader,
    /// The last event was read; what is missing is the end of the body.
    ended: bool,
}

impl ModelRequester for HttpAsker {
    async fn ask(&mut self, question: &str, tools: usize) -> anyhow::Result<()> {
        self.events.begin();
        self.ended = false;
        let url = format!("http://{}/v1/chat/completions", self.parts.model);
        let request = self.parts.client.post(url).header("content-type", "application/json");
        self.answer = Some(request.body(body(question, tools)).send().await?);
        Ok(())
    }

    async fn next(&mut self) -> anyhow::Result<AnswerEvent> {
        let answer = self.answer.as_mut().context("nothing was asked")?;
        while !self.ended {
            match self.events.next() {
                Some(AnswerEvent::End) => self.ended = true,
                Some(said) => return Ok(said),
                None => {
                    let bytes = answer.chunk().await?.context("the mock model hung up")?;
                    self.events.raw.extend_from_slice(&bytes);
                }
            }
        }
        // Read to the end of the body, the connection can be used again.
        while answer.chunk().await?.is_some() {}
        Ok(AnswerEvent::End)
    }
}

/// The one who asked.
struct StreamHearer(mpsc::Sender<Result<v1::RunStreamResponse, Status>>);

impl StreamHearer {
    async fn send(&mut self, frame: Frame) -> anyhow::Result<()> {
        let frame = v1::RunStreamResponse { frame: Some(frame) };
        self.0.send(Ok(frame)).await.context("the client hung up")
    }
}

impl ReplySink for StreamHearer {
    async fn text(&mut self, text: &[u8]) -> anyhow::Result<()> {
        let text = String::from_utf8(text.to_vec())?;
        let event = Some(Event::ModelText(v1::ModelText { attempt: 1, text }));
        self.send(Frame::Entry(v1::TapeEntry { event, ..Default::default() })).await
    }

    async fn on_question(&mut self) -> anyhow::Result<()> {
        anyhow::bail!("nobody is asked over gRPC here")
    }

    async fn end(&mut self) -> anyhow::Result<()> {
        self.send(Frame::End(v1::StreamEnd { state: v1::RunState::Done.into(), ..Default::default() })).await
    }
}

#[tonic::async_trait]
impl GatewayService for GrpcRelay {
    async fn run_stream(
        &self,
        request: Request<Streaming<v1::RunStreamRequest>>,
    ) -> Result<Response<Frames>, Status> {
        let first = request.into_inner().message().await?.and_then(|message| message.frame);
        let Some(Asked::Start(start)) = first else { return Err(Status::invalid_argument("not a question")) };
        let (sender, frames) = mpsc::channel(FRAMES_WAITING_MAX);
        let parts = Arc::clone(&self.0);
        let mut asker = HttpAsker { parts, answer: None, events: EventReader::default(), ended: false };
        tokio::spawn(async move {
            let writer = asker.parts.writer.clone();
            let mut hearer = StreamHearer(sender);
            if let Err(error) = relay(&mut hearer, &writer, &mut asker, start.input.as_bytes()).await {
                eprintln!("floor: {error:#}");
            }
        });
        Ok(Response::new(frames.boxed()))
    }
}
