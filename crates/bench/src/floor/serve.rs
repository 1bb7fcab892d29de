//! The floor's process: a Unix socket, a connection per client, one question at a time on each.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use tokio::net::{UnixListener, UnixStream};

use super::protocol::{ASK, CALL, END, Frames, TEXT, YES, send};
use super::relay::{ModelRequester, ReplySink, relay};
use super::writer::Writer;
use crate::model::direct_client::{AnswerEvent, ModelClient};

/// How the floor is started.
#[derive(Debug, Clone, clap::Args)]
pub struct FloorArgs {
    /// Where to listen.
    #[arg(long)]
    pub socket: PathBuf,
    /// Its new database.
    #[arg(long)]
    pub database: PathBuf,
    /// The mock model.
    #[arg(long)]
    pub model: SocketAddr,
}

/// Serves until the process is ended; one line on standard output tells that it does.
///
/// # Errors
/// When it cannot begin.
pub fn floor(args: &FloorArgs) -> anyhow::Result<()> {
    let writer = Writer::start(&args.database)?;
    crate::harness::on_one_thread(async {
        let listener = UnixListener::bind(&args.socket).context("the floor's socket")?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{{\"ready\":true}}")?;
        out.flush()?;
        drop(out);
        let model = args.model;
        let local = tokio::task::LocalSet::new();
        local
            .run_until(async {
                loop {
                    let (stream, _) = listener.accept().await?;
                    let writer = writer.clone();
                    tokio::task::spawn_local(async move {
                        if let Err(error) = connection(stream, &writer, model).await {
                            eprintln!("floor: {error:#}");
                        }
                    });
                }
            })
            .await
    })
}

async fn connection(mut stream: UnixStream, writer: &Writer, model: SocketAddr) -> anyhow::Result<()> {
    let mut frames = Frames::default();
    let mut asker = ModelClient::connect(model).await?;
    while let Some((tag, question)) = frames.next(&mut stream).await? {
        anyhow::ensure!(tag == ASK, "not a question");
        relay(&mut FrameSink(&mut stream, &mut frames), writer, &mut asker, &question).await?;
    }
    Ok(())
}

struct FrameSink<'a>(&'a mut UnixStream, &'a mut Frames);

impl ReplySink for FrameSink<'_> {
    async fn text(&mut self, text: &[u8]) -> anyhow::Result<()> {
        send(self.0, TEXT, text).await
    }

    async fn on_question(&mut self) -> anyhow::Result<()> {
        send(self.0, CALL, b"").await?;
        let answer = self.1.next(self.0).await?.context("the client hung up")?;
        anyhow::ensure!(answer.0 == YES, "not an answer");
        Ok(())
    }

    async fn end(&mut self) -> anyhow::Result<()> {
        send(self.0, END, b"").await
    }
}

impl ModelRequester for ModelClient {
    async fn ask(&mut self, question: &str, tools: usize) -> anyhow::Result<()> {
        Self::ask(self, question, tools).await
    }

    async fn next(&mut self) -> anyhow::Result<AnswerEvent> {
        Self::next(self).await
    }
}
