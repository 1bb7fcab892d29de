//! Serves connections: reads a request, plays the reply, and notices when the client goes away.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use futures::future::pending;
use tokio::io::AsyncReadExt;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::act::{WireAction, WireReply};
use super::http;
use super::routes::{RoutedReply, route};
use super::shared_server::{ListenerState, SharedServer};

/// How many connections wait to be taken.
const BACKLOG: u32 = 64;

/// Takes connections until it is dropped; while the door is shut it keeps the port and refuses.
pub(super) async fn accept(
    listener: TcpListener,
    stage: Arc<SharedServer>,
    door: watch::Sender<ListenerState>,
) {
    let mut wishes = door.subscribe();
    let mut listener = Some(listener);
    let address = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let mut connections = JoinSet::new();
    loop {
        let wish = *wishes.borrow_and_update();
        match (wish, listener.take()) {
            (ListenerState::Shut, Some(open)) => {
                drop(open);
                connections.shutdown().await;
                let held = address.and_then(|address| bound(address).ok());
                door.send_replace(ListenerState::IsShut);
                drop(wishes.wait_for(|state| *state == ListenerState::Open).await);
                listener = held.and_then(|socket| socket.listen(BACKLOG).ok());
                door.send_replace(ListenerState::IsOpen);
            }
            (_, None) => return,
            (_, Some(open)) => {
                tokio::select! {
                    taken = open.accept() => {
                        let Ok((stream, _)) = taken else { return };
                        while connections.try_join_next().is_some() {}
                        stage.count(|counts| counts.connections += 1);
                        connections.spawn(serve(stream, stage.clone()));
                    }
                    _ = wishes.changed() => {}
                }
                listener = Some(open);
            }
        }
    }
}

/// Binds without listening: the port is ours, and whoever connects is refused.
fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// How playing a reply ended.
enum ReplyEnd {
    /// All of it was sent; the connection can go on.
    Sent,
    /// The fault closes the connection.
    Closed,
}

async fn serve(stream: TcpStream, stage: Arc<SharedServer>) {
    // Without it a piece may wait for the client's acknowledgement of the one before.
    drop(stream.set_nodelay(true));
    let (mut reader, mut writer) = stream.into_split();
    let mut buffer = Vec::new();
    while let Ok(Some(request)) = http::read_request(&mut reader, &mut buffer).await {
        let behaviour = stage.behaviour();
        let number = stage.see(&request);
        let RoutedReply { reply, exchange, is_invalid } = route(&request, &behaviour, number);
        stage.count(|counts| counts.invalid += usize::from(is_invalid));
        for _ in 0..reply.responses() {
            let performance = reply.performance(&exchange);
            let mut playing = std::pin::pin!(play(&mut writer, performance, &stage));
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
                Some(Ok(ReplyEnd::Sent)) => {}
                Some(Ok(ReplyEnd::Closed)) => return stage.count(|counts| counts.completed += 1),
                Some(Err(_)) | None => return stage.count(|counts| counts.aborted += 1),
            }
        }
        stage.count(|counts| counts.completed += 1);
    }
}

async fn play(
    writer: &mut OwnedWriteHalf,
    performance: WireReply,
    stage: &SharedServer,
) -> io::Result<ReplyEnd> {
    if let Some(head) = performance.head {
        http::write_head(writer, head.status, &head.headers).await?;
    }
    for act in performance.acts {
        match act {
            // An empty chunk would end the body.
            WireAction::Send(bytes) if bytes.is_empty() => {}
            WireAction::Send(bytes) => {
                http::write_chunk(writer, &bytes).await?;
                stage.count(|counts| counts.body_bytes += bytes.len());
            }
            WireAction::Flood(bytes) => loop {
                http::write_chunk(writer, &bytes).await?;
            },
            WireAction::Pause(span) => tokio::time::sleep(span).await,
            WireAction::Hold(gate) => gate.pass().await,
            WireAction::Hang => pending().await,
            WireAction::Close => return Ok(ReplyEnd::Closed),
            WireAction::Reset => {
                writer.as_ref().set_zero_linger()?;
                return Ok(ReplyEnd::Closed);
            }
            WireAction::End => break,
        }
    }
    http::write_chunk(writer, b"").await?;
    Ok(ReplyEnd::Sent)
}
