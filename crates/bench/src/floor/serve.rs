//! The floor's process: a Unix socket, a connection per client, one question at a time on each.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::oneshot;

use super::protocol::{ASK, END, Frames, TEXT, send};
use super::writer::Writer;
use crate::model::ask::{Asker, Said};

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
    let mut asker = Asker::connect(model).await?;
    while let Some((tag, question)) = frames.next(&mut stream).await? {
        anyhow::ensure!(tag == ASK, "not a question");
        relay(&mut stream, writer, &mut asker, &question).await?;
    }
    Ok(())
}

/// Relays one question: accepted, asked, each piece recorded and then sent, ended.
async fn relay(
    stream: &mut UnixStream,
    writer: &Writer,
    asker: &mut Asker,
    question: &[u8],
) -> anyhow::Result<()> {
    let text = std::str::from_utf8(question).context("a question that is not text")?;
    writer.append(vec![question.to_vec()])?.await?;
    for tools in 0_usize.. {
        asker.ask(text, tools).await?;
        if pieces(stream, writer, asker).await? == Ended::WithAnswer {
            return send(stream, END, b"").await;
        }
        // The intent is durable; the tool reads what may not be there, and its outcome becomes durable.
        let found = std::fs::read(format!("notes-{tools}.txt")).unwrap_or_default();
        writer.append(vec![found])?.await?;
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
enum Ended {
    WithAnswer,
    WithCall,
}

/// A commit on its way, with the text that may be shown after it.
struct InFlight {
    durable: oneshot::Receiver<()>,
    text: Vec<u8>,
}

async fn pieces(stream: &mut UnixStream, writer: &Writer, asker: &mut Asker) -> anyhow::Result<Ended> {
    let mut in_flight: Option<InFlight> = None;
    let mut gathered: Vec<u8> = Vec::new();
    let mut ended = Ended::WithAnswer;
    loop {
        let said = match &mut in_flight {
            None => asker.next().await?,
            Some(commit) => {
                tokio::select! {
                    biased;
                    said = asker.next() => said?,
                    durable = &mut commit.durable => {
                        durable?;
                        let shown = in_flight.take().map(|commit| commit.text).unwrap_or_default();
                        send(stream, TEXT, &shown).await?;
                        in_flight = begin(writer, &mut gathered)?;
                        continue;
                    }
                }
            }
        };
        match said {
            Said::Text(text) => gathered.extend(text),
            Said::Call => ended = Ended::WithCall,
            Said::End => break,
        }
        if in_flight.is_none() {
            in_flight = begin(writer, &mut gathered)?;
        }
    }
    // The rest of the text and the end go into one commit, behind the one that is on its way.
    let last = writer.append(vec![gathered.clone(), b"end".to_vec()])?;
    if let Some(commit) = in_flight {
        commit.durable.await?;
        send(stream, TEXT, &commit.text).await?;
    }
    last.await?;
    if !gathered.is_empty() {
        send(stream, TEXT, &gathered).await?;
    }
    Ok(ended)
}

fn begin(writer: &Writer, gathered: &mut Vec<u8>) -> anyhow::Result<Option<InFlight>> {
    if gathered.is_empty() {
        return Ok(None);
    }
    let text = std::mem::take(gathered);
    Ok(Some(InFlight { durable: writer.append(vec![text.clone()])?, text }))
}
