//! The certificate and the key of a listener beyond this machine.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Where certificate and key are, both in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by those above it.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read or holds nothing of its kind.
    #[error("{} holds no {what} in PEM that can be read: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
        /// Why not.
        cause: String,
    },
    /// Certificate and key cannot be used together.
    #[error("the certificate and the key cannot be used: {cause}")]
    Unusable {
        /// Why not.
        cause: String,
    },
}

/// Reads certificate and key; the protocol is HTTP/1.1.
///
/// # Errors
/// [`TlsError`].
pub fn server_config(files: &TlsFiles) -> Result<Arc<ServerConfig>, TlsError> {
    let unreadable =
        |path: &PathBuf, what, cause: String| TlsError::Unreadable { path: path.clone(), what, cause };
    let chain = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|cause| unreadable(&files.certificate, "certificate", cause.to_string()))?;
    if chain.is_empty() {
        return Err(unreadable(&files.certificate, "certificate", "it has none".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|cause| unreadable(&files.key, "private key", cause.to_string()))?;
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
    let mut config = config.map_err(|cause| TlsError::Unusable { cause: cause.to_string() })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn pem(kind: &str, der: &[u8]) -> String {
        format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", STANDARD.encode(der))
    }

    #[test]
    fn a_certificate_needs_its_own_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let made =
            || rcgen::generate_simple_self_signed(vec!["palyra.example".to_owned()]).expect("a certificate");
        let (one, other) = (made(), made());
        let files =
            TlsFiles { certificate: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
        assert!(matches!(server_config(&files), Err(TlsError::Unreadable { what: "certificate", .. })));
        std::fs::write(&files.certificate, pem("CERTIFICATE", one.cert.der())).expect("written");
        assert!(matches!(server_config(&files), Err(TlsError::Unreadable { what: "private key", .. })));
        std::fs::write(&files.key, pem("PRIVATE KEY", &other.signing_key.serialize_der())).expect("written");
        assert!(matches!(server_config(&files), Err(TlsError::Unusable { .. })));
        std::fs::write(&files.key, pem("PRIVATE KEY", &one.signing_key.serialize_der())).expect("written");
        let config = server_config(&files).expect("a pair");
        assert_eq!(config.alpn_protocols, [b"http/1.1"]);
        std::fs::write(&files.certificate, "no certificate").expect("written");
        assert!(matches!(server_config(&files), Err(TlsError::Unreadable { what: "certificate", .. })));
    }
}
