//! The first words in a tunnel: whom the program means to speak to.
//!
//! Owns reading them without answering. A tunnel is for the host that was granted, so what is spoken in it has to be
//! TLS that asks for that very host; another tenant of a shared front is somebody else.

use std::io;

use rustls::server::Acceptor;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::target::Host;

/// The longest greeting that is read.
const HELLO_BYTES_MAX: usize = 32 << 10;

/// Reads a greeting and returns its bytes if they ask for a host, or nothing if they do not.
///
/// # Errors
/// When the program's side of the connection fails.
pub(super) async fn read(client: &mut (impl AsyncRead + Unpin), host: &Host) -> io::Result<Option<Vec<u8>>> {
    let mut acceptor = Acceptor::default();
    let mut said = Vec::new();
    let mut piece = [0; 4096];
    while said.len() < HELLO_BYTES_MAX {
        let length = client.read(&mut piece).await?;
        if length == 0 {
            return Ok(None);
        }
        said.extend_from_slice(&piece[..length]);
        let mut rest = &piece[..length];
        while !rest.is_empty() {
            if acceptor.read_tls(&mut rest).is_err() {
                return Ok(None);
            }
        }
        match acceptor.accept() {
            Ok(None) => (),
            Ok(Some(accepted)) => {
                let asked = accepted.client_hello().server_name().map(str::to_ascii_lowercase);
                return Ok(asks_for(asked.as_deref(), host).then_some(said));
            }
            Err(_) => return Ok(None),
        }
    }
    Ok(None)
}

fn asks_for(asked: Option<&str>, host: &Host) -> bool {
    match host {
        Host::Name(name) => asked == Some(name),
        // Addresses are not asked for by name (RFC 6066, section 3).
        Host::Address(_) => asked.is_none(),
    }
}
