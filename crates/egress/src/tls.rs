//! TLS with servers of the open network.
//!
//! Owns whom to trust: the authorities that this machine trusts, read when first needed. A server proves the name that
//! was asked for, or there is no connection; there is no way to turn that off.

use std::io;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::target::Host;

/// Speaks TLS as a client.
#[derive(Clone)]
pub struct Tls {
    made: Arc<OnceCell<TlsConnector>>,
}

impl Tls {
    /// Trusts whom this machine trusts; nothing is read yet.
    #[must_use]
    pub fn system() -> Self {
        Self { made: Arc::new(OnceCell::new()) }
    }

    /// Trusts only the authorities given.
    ///
    /// # Errors
    /// When one of them is no certificate.
    pub fn trusting(authorities: impl IntoIterator<Item = CertificateDer<'static>>) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        for authority in authorities {
            roots.add(authority).map_err(io::Error::other)?;
        }
        let made = OnceCell::new_with(Some(connector(roots)?));
        Ok(Self { made: Arc::new(made) })
    }

    /// Begins TLS on a connection, with a server that has to prove that it is `host`.
    ///
    /// # Errors
    /// When it does not, or nobody is trusted on this machine.
    pub(crate) async fn connect(&self, host: &Host, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let name = match host {
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(io::Error::other)?,
            Host::Address(address) => ServerName::from(*address),
        };
        let connector = self.made.get_or_try_init(read_system).await?;
        connector.connect(name, stream).await
    }
}

async fn read_system() -> io::Result<TlsConnector> {
    // Hundreds of files.
    let read = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs);
    let found = read.await.map_err(io::Error::other)?;
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "this machine trusts no certificate authority; install its `ca-certificates`",
        ));
    }
    connector(roots)
}

fn connector(roots: RootCertStore) -> io::Result<TlsConnector> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config = versions.map_err(io::Error::other)?.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // A session that is taken up again would link requests of different principals.
    config.resumption = rustls::client::Resumption::disabled();
    Ok(TlsConnector::from(Arc::new(config)))
}
