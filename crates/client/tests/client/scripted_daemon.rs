//! A daemon that does what a test says: frames, losses, refusals, deaths.

use std::collections::VecDeque;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt};
use palyra_client::{ConnectOptions, DaemonNotice, DaemonTarget, StartPolicy};
use palyra_types::RunId;
use palyra_types::daemon_lock::DaemonLockRecord;
use palyra_wire::v1;
use palyra_wire::v1::admin_service_server::{AdminService, AdminServiceServer};
use palyra_wire::v1::gateway_service_server::{GatewayService, GatewayServiceServer};
use palyra_wire::v1::proof_service_server::ProofServiceServer;
use palyra_wire::v1::run_stream_request::Frame as First;
use palyra_wire::v1::run_stream_response::Frame;
use tokio::sync::mpsc;
use tonic::{Request, Response, Status, Streaming};

use crate::signed_log::SignedLog;

/// Streams of one connection, so few that leaving them without an end is noticed.
pub(crate) const STREAMS_MAX: u32 = 16;

/// One stream's script.
#[expect(clippy::large_enum_variant, reason = "a test holds a handful of them")]
pub(crate) enum Step {
    Send(Frame),
    /// The stream ends with this error.
    Fail(Status),
    /// Nothing more comes, and the stream stays open.
    Hold,
}

/// What the daemon was asked, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ScriptedRequest {
    Start(String),
    Attach(u32),
    Cancel,
    Input(String),
    Shutdown,
}

#[derive(Clone)]
pub(crate) struct Script {
    streams: Arc<Mutex<VecDeque<Vec<Step>>>>,
    asked: mpsc::UnboundedSender<ScriptedRequest>,
    pub(crate) cancels_lost: Arc<Mutex<u32>>,
    pub(crate) open_runs: u64,
    pub(crate) log: SignedLog,
}

impl Script {
    pub(crate) fn new(streams: Vec<Vec<Step>>) -> (Self, mpsc::UnboundedReceiver<ScriptedRequest>) {
        let (asked, received) = mpsc::unbounded_channel();
        let streams = Arc::new(Mutex::new(streams.into()));
        (
            Self { streams, asked, cancels_lost: Arc::default(), open_runs: 0, log: SignedLog::default() },
            received,
        )
    }

    fn note(&self, asked: ScriptedRequest) {
        let _ = self.asked.send(asked);
    }
}

/// A daemon that serves until it is killed.
pub(crate) struct ScriptedDaemon {
    runtime: Option<tokio::runtime::Runtime>,
    socket: PathBuf,
}

impl ScriptedDaemon {
    /// Serves `script` at STATE/palyrad.sock and says so in the lock file.
    pub(crate) fn serve(state: &Path, script: &Script, build_id: &str) -> Self {
        let daemon = Self::serve_unannounced(state, script);
        announce(state, &daemon.socket, build_id);
        daemon
    }

    /// Serves without a word in the lock file.
    pub(crate) fn serve_unannounced(state: &Path, script: &Script) -> Self {
        let socket = state.join("palyrad.sock");
        let _ = std::fs::remove_file(&socket);
        let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let script = script.clone();
        runtime.spawn(async move {
            let listener = tokio::net::UnixListener::from_std(listener).unwrap();
            let incoming = tokio_stream::wrappers::UnixListenerStream::new(listener);
            tonic::transport::Server::builder()
                .max_concurrent_streams(STREAMS_MAX)
                .add_service(GatewayServiceServer::new(script.clone()))
                .add_service(ProofServiceServer::new(script.log.clone()))
                .add_service(AdminServiceServer::new(script))
                .serve_with_incoming(incoming)
                .await
        });
        Self { runtime: Some(runtime), socket }
    }

    /// Ends the daemon as `kill -9` does: no goodbye, the socket file stays.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for ScriptedDaemon {
    fn drop(&mut self) {
        self.end();
    }
}

pub(crate) fn announce(state: &Path, socket: &Path, build_id: &str) {
    let record = DaemonLockRecord {
        pid: 4_000_000,
        started_unix_us: 1,
        boot_id: "boot".to_owned(),
        socket: socket.display().to_string(),
        build_id: build_id.to_owned(),
        model: "demo".to_owned(),
    };
    std::fs::write(state.join("lock"), serde_json::to_vec(&record).unwrap()).unwrap();
}

/// Writes a program for the client to start in place of a daemon.
pub(crate) fn program(state: &Path, script: &str) -> PathBuf {
    let path = state.join("palyra");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Options for a state directory, and the notices that come.
pub(crate) fn options(state: &Path) -> (ConnectOptions, mpsc::UnboundedReceiver<DaemonNotice>) {
    let (sender, notices) = mpsc::unbounded_channel();
    let mut options = ConnectOptions::new(DaemonTarget::StateDir(state.to_owned()));
    options.start = StartPolicy::Never;
    options.reattach_within = Duration::from_secs(20);
    options.notices = Arc::new(move |notice| {
        let _ = sender.send(notice);
    });
    (options, notices)
}

/// The build id of the program that [`options`] names.
pub(crate) fn own_build(options: &ConnectOptions) -> String {
    palyra_client::build_id_of(&options.program).unwrap()
}

pub(crate) fn run_id() -> RunId {
    RunId::from_parts(7, 7)
}

pub(crate) fn opened() -> Step {
    let opened =
        v1::Opened { run_id: run_id().to_string(), model: "demo/demo".to_owned(), ..Default::default() };
    Step::Send(Frame::Opened(opened))
}

pub(crate) fn entry(tape_seq: u32) -> Step {
    let text = v1::ModelText { attempt: 1, text: format!("piece {tape_seq}") };
    Step::Send(Frame::Entry(v1::TapeEntry {
        run_id: run_id().to_string(),
        tape_seq,
        event: Some(v1::tape_entry::Event::ModelText(text)),
        ..Default::default()
    }))
}

pub(crate) fn caught_up(tape_seq: u32) -> Step {
    Step::Send(Frame::CaughtUp(v1::CaughtUp { tape_seq }))
}

pub(crate) fn end(tape_seq: u32) -> Step {
    Step::Send(Frame::End(v1::StreamEnd { state: v1::RunState::Done.into(), tape_seq, checkpoint: None }))
}

pub(crate) fn refusal(code: &'static str) -> Status {
    let mut status = Status::failed_precondition("refused by script");
    status.metadata_mut().insert("palyra-error-code", code.parse().unwrap());
    status
}

type Answer<T> = Result<Response<T>, Status>;
type Messages<T> = BoxStream<'static, Result<T, Status>>;

#[tonic::async_trait]
impl GatewayService for Script {
    async fn run_stream(
        &self,
        request: Request<Streaming<v1::RunStreamRequest>>,
    ) -> Answer<Messages<v1::RunStreamResponse>> {
        let mut requests = request.into_inner();
        match requests.message().await?.and_then(|first| first.frame) {
            Some(First::Start(start)) => self.note(ScriptedRequest::Start(start.idempotency_key)),
            Some(First::Attach(attach)) => self.note(ScriptedRequest::Attach(attach.after_tape_seq)),
            other => panic!("a stream began with {other:?}"),
        }
        let steps = self.streams.lock().unwrap().pop_front().expect("the script has one more stream");
        let frames = futures::stream::iter(steps).then(move |step| {
            // Held so that the client's side stays open as long as ours.
            let _held = &requests;
            async move {
                match step {
                    Step::Send(frame) => Ok(v1::RunStreamResponse { frame: Some(frame) }),
                    Step::Fail(status) => Err(status),
                    Step::Hold => futures::future::pending().await,
                }
            }
        });
        Ok(Response::new(frames.boxed()))
    }

    async fn read_attachment(
        &self,
        request: Request<v1::ReadAttachmentRequest>,
    ) -> Answer<Messages<v1::ReadAttachmentResponse>> {
        let part = |info: Option<v1::AttachmentInfo>, data: &str| {
            Ok(v1::ReadAttachmentResponse { info, data: data.as_bytes().to_vec() })
        };
        let info = v1::AttachmentInfo { name: "a.txt".to_owned(), bytes: 5, ..v1::AttachmentInfo::default() };
        let parts = match request.into_inner().index {
            0 => vec![part(Some(info), "he"), part(None, "llo")],
            1 => vec![part(Some(info), "he")],
            _ => vec![part(None, "hello")],
        };
        Ok(Response::new(futures::stream::iter(parts).boxed()))
    }

    async fn cancel_run(&self, _: Request<v1::CancelRunRequest>) -> Answer<v1::CancelRunResponse> {
        let lost = {
            let mut left = self.cancels_lost.lock().unwrap();
            let lost = *left > 0;
            *left = left.saturating_sub(1);
            lost
        };
        if lost {
            return Err(Status::unavailable("lost by script"));
        }
        self.note(ScriptedRequest::Cancel);
        Ok(Response::new(v1::CancelRunResponse::default()))
    }

    async fn send_input(&self, request: Request<v1::SendInputRequest>) -> Answer<v1::SendInputResponse> {
        let input = request.into_inner().input.unwrap_or_default();
        self.note(ScriptedRequest::Input(input.text));
        let accepted =
            v1::InputAccepted { run_id: run_id().to_string(), queued: false, ..Default::default() };
        Ok(Response::new(v1::SendInputResponse { accepted: Some(accepted) }))
    }

    async fn get_run(&self, _: Request<v1::GetRunRequest>) -> Answer<v1::GetRunResponse> {
        Err(refusal("PLY-1103"))
    }
}

#[tonic::async_trait]
impl AdminService for Script {
    async fn get_status(&self, _: Request<v1::GetStatusRequest>) -> Answer<v1::GetStatusResponse> {
        Ok(Response::new(v1::GetStatusResponse { open_runs: self.open_runs, ..Default::default() }))
    }

    async fn shutdown(&self, _: Request<v1::ShutdownRequest>) -> Answer<v1::ShutdownResponse> {
        self.note(ScriptedRequest::Shutdown);
        Ok(Response::new(v1::ShutdownResponse::default()))
    }
}
