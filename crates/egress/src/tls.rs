//! TLS with servers of the open network.
//!
//! Owns whom to trust: the authorities that this machine trusts, read when first needed. A server proves the name that
//! was asked for, or there is no connection; there is no way to turn that off.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_ports::{TRUST_FILE_VARIABLE, trust_file_hint};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, InvalidMessage, RootCertStore};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::target::Host;

/// Speaks TLS as a client.
#[derive(Clone)]
pub struct Tls {
    made: Arc<OnceCell<TlsConnector>>,
    /// The file that the environment names for the authorities of this machine.
    trust_file: Option<PathBuf>,
}

impl Tls {
    /// Trusts whom this machine trusts; nothing is read yet.
    #[must_use]
    pub fn system() -> Self {
        let trust_file = std::env::var_os(TRUST_FILE_VARIABLE).map(PathBuf::from);
        Self { made: Arc::new(OnceCell::new()), trust_file }
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
        Ok(Self { made: Arc::new(made), trust_file: None })
    }

    /// Begins TLS on a connection, with a server that has to prove that it is `host`.
    ///
    /// # Errors
    /// When it does not, or no authority is trusted on this machine. What the file of authorities lacks has the kind
    /// [`io::ErrorKind::InvalidInput`], and holds no text of the server.
    pub(crate) async fn connect(&self, host: &Host, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let name = match host {
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(io::Error::other)?,
            Host::Address(address) => ServerName::from(*address),
        };
        let trust_file = self.trust_file.as_deref();
        let made = self.made.get_or_try_init(read_system).await;
        let connector = made.map_err(|error| with_trust_file(error, trust_file))?;
        connector.connect(name, stream).await.map_err(|error| with_trust_file(error, trust_file))
    }
}

/// Returns whether a server answered the beginning of TLS with something else, or with nothing at all.
pub(crate) fn is_no_tls(error: &io::Error) -> bool {
    let refused = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let is_other_protocol = matches!(
        refused,
        Some(rustls::Error::InvalidMessage(
            InvalidMessage::InvalidContentType
                | InvalidMessage::UnknownProtocolVersion
                | InvalidMessage::MessageTooLarge
        ))
    );
    let is_silent = matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::TimedOut);
    is_other_protocol || (refused.is_none() && is_silent)
}

/// Says what to check about the file of authorities, where the failure is about authorities and the environment names one.
fn with_trust_file(error: io::Error, trust_file: Option<&Path>) -> io::Error {
    let refused = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let is_unknown = matches!(
        refused,
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::Other(_)))
    );
    match trust_file.filter(|_| is_unknown || error.kind() == io::ErrorKind::NotFound) {
        Some(file) => {
            io::Error::new(io::ErrorKind::InvalidInput, trust_file_hint(file, &std::fs::File::open(file)))
        }
        None => error,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_that_answers_without_tls_differs_from_one_with_another_certificate() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        for answer in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"<html>", b""] {
            let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = server.local_addr().unwrap();
            let client = TcpStream::connect(address).await.unwrap();
            let (mut line, _) = server.accept().await.unwrap();
            let plain = tokio::spawn(async move {
                let _ = line.read(&mut [0; 4096]).await;
                let _ = line.write_all(answer).await;
                let _ = line.shutdown().await;
            });
            let tls = Tls::trusting([]).unwrap();
            let refused = tls.connect(&Host::Address(address.ip()), client).await.unwrap_err();
            assert!(is_no_tls(&refused), "{refused:?}");
            plain.await.unwrap();
        }
        let unknown = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        assert!(!is_no_tls(&io::Error::new(io::ErrorKind::InvalidData, unknown)));
        assert!(is_no_tls(&io::ErrorKind::TimedOut.into()) && !is_no_tls(&io::ErrorKind::NotFound.into()));
    }

    #[test]
    fn an_unknown_authority_is_said_of_the_file_that_the_environment_names() {
        let refused = |error: CertificateError| {
            io::Error::new(io::ErrorKind::InvalidData, rustls::Error::InvalidCertificate(error))
        };
        let (file, none) = (std::env::current_exe().unwrap(), PathBuf::from("/no/such.pem"));
        for (error, file, part) in [
            (refused(CertificateError::UnknownIssuer), &file, "no authority in it signed"),
            (refused(CertificateError::UnknownIssuer), &none, "which cannot be read"),
            (io::ErrorKind::NotFound.into(), &none, "which cannot be read"),
        ] {
            let hint = with_trust_file(error, Some(file));
            assert_eq!(hint.kind(), io::ErrorKind::InvalidInput);
            assert!(hint.to_string().contains(part), "{hint}");
        }
        // What is wrong with the server's certificate itself is another matter.
        let expired = with_trust_file(refused(CertificateError::Expired), Some(&file));
        assert_eq!(expired.kind(), io::ErrorKind::InvalidData);
        assert_eq!(
            with_trust_file(refused(CertificateError::UnknownIssuer), None).kind(),
            io::ErrorKind::InvalidData
        );
    }
}
