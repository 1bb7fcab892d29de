//! A model server that refuses everything for good.
//!
//! Owns its socket; lives as long as the task that serves it.

use std::net::SocketAddr;

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A refusal that no attempt more would change.
const REFUSAL: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 79\r\n\
connection: close\r\n\r\n\
{\"error\":{\"message\":\"this model never answers\",\"type\":\"invalid_request_error\"}}";

/// The refusing server.
pub(super) struct FailingModel {
    listener: TcpListener,
}

impl FailingModel {
    /// Listens on a free port of 127.0.0.1.
    pub(super) async fn bind() -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port for the failing model")?;
        Ok(Self { listener })
    }

    /// Returns its base URL.
    pub(super) fn base_url(&self) -> anyhow::Result<String> {
        let address: SocketAddr = self.listener.local_addr()?;
        Ok(format!("http://{address}/v1"))
    }

    /// Refuses until dropped.
    pub(super) async fn serve(&self) {
        while let Ok((stream, _)) = self.listener.accept().await {
            tokio::spawn(async move {
                // Whoever hangs up first has been refused, too.
                let _ = refuse(stream).await;
            });
        }
    }
}

/// Hears the request out, so that it is the answer that is seen and no reset.
async fn refuse(mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = Vec::with_capacity(16 * 1024);
    while crate::model::request(&request).is_none() {
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    stream.write_all(REFUSAL).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::REFUSAL;

    #[test]
    fn the_refusal_is_as_long_as_it_says() {
        let text = std::str::from_utf8(REFUSAL).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{}", body.len());
    }
}
