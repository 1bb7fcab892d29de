//! Serves connections: reads a request, plays the reply, and notices when the client goes away.

use std::io;
use std::sync::Arc;

use futures::future::pending;
use tokio::io::AsyncReadExt;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::behaviour::Behaviour;
use super::reply::{Act, Performance, Reply};
use super::validate::complaint;
use super::wire::{Envelope, model_list};
use super::{Records, SeenRequest, http};

/// Takes connections until it is dropped.
pub(super) async fn accept(listener: TcpListener, behaviour: Arc<Behaviour>, records: Arc<Records>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        records.count(|counts| counts.connections += 1);
        connections.spawn(serve(stream, behaviour.clone(), records.clone()));
    }
}

/// How playing a reply ended.
enum End {
    /// All of it was sent; the connection can go on.
    Sent,
    /// The fault closes the connection.
    Closed,
}

async fn serve(stream: TcpStream, behaviour: Arc<Behaviour>, records: Arc<Records>) {
    // Without it a piece may wait for the client's acknowledgement of the one before.
    drop(stream.set_nodelay(true));
    let (mut reader, mut writer) = stream.into_split();
    let mut buffer = Vec::new();
    while let Ok(Some(request)) = http::read_request(&mut reader, &mut buffer).await {
        let number = records.see(&request);
        let performance = answer(&request, &behaviour).performance(&Envelope::read(&request.body, number));
        let mut playing = std::pin::pin!(play(&mut writer, performance));
        let played = loop {
            tokio::select! {
                biased;
                played = &mut playing => break Some(played),
                read = reader.read_buf(&mut buffer) => match read {
                    Ok(0) | Err(_) => break None,
                    Ok(_) => {}
                },
            }
        };
        match played {
            Some(Ok(End::Sent)) => records.count(|counts| counts.completed += 1),
            Some(Ok(End::Closed)) => return records.count(|counts| counts.completed += 1),
            Some(Err(_)) | None => return records.count(|counts| counts.aborted += 1),
        }
    }
}

fn answer(request: &SeenRequest, behaviour: &Behaviour) -> Reply {
    if !behaviour.admits(request.authorization.as_deref()) {
        return Reply::error(401, "invalid_api_key", "Incorrect API key provided");
    }
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/v1/models") => {
            Reply::raw("application/json", model_list(behaviour.models()).to_string().as_bytes())
        }
        ("POST", "/v1/chat/completions") => match complaint(&request.body) {
            Some(complaint) => Reply::error(400, "invalid_request_error", &complaint),
            None => behaviour.choose(&request.body),
        },
        _ => Reply::error(404, "not_found", "no such address"),
    }
}

async fn play(writer: &mut OwnedWriteHalf, performance: Option<Performance>) -> io::Result<End> {
    let Some(performance) = performance else { return pending().await };
    http::write_head(writer, performance.status, &performance.headers).await?;
    for act in performance.acts {
        match act {
            // An empty chunk would end the body.
            Act::Send(bytes) if bytes.is_empty() => {}
            Act::Send(bytes) => http::write_chunk(writer, &bytes).await?,
            Act::Pause(span) => tokio::time::sleep(span).await,
            Act::Hold(gate) => gate.pass().await,
            Act::Hang => pending().await,
            Act::Close => return Ok(End::Closed),
        }
    }
    http::write_chunk(writer, b"").await?;
    Ok(End::Sent)
}
