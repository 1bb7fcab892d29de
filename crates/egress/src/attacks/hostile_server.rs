//! A server that answers as a test tells it, however wrong that is.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// One thing that the server does on a connection.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends bytes.
    Say(Vec<u8>),
    /// Sends bytes again and again, with a pause before each time, until nobody listens.
    Repeat(Vec<u8>, Duration),
    /// Says nothing, and keeps the connection.
    Hang,
}

impl From<&str> for Step {
    fn from(text: &str) -> Self {
        Self::Say(text.as_bytes().to_vec())
    }
}

/// The server; gone when dropped.
pub(crate) struct HostileServer {
    port: u16,
    heard: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

type Script = dyn Fn(&str) -> Vec<Step> + Send + Sync;

impl HostileServer {
    /// Listens at 127.0.0.1; the script turns the head of a request into steps.
    pub(crate) async fn start(script: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::listen(TcpListener::bind("127.0.0.1:0").await.unwrap(), None, script)
    }

    /// Listens at 127.0.0.1 and speaks TLS.
    pub(crate) async fn start_tls(
        identity: &Identity,
        script: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        Self::listen(TcpListener::bind("127.0.0.1:0").await.unwrap(), Some(identity.acceptor.clone()), script)
    }

    /// Serves a listener.
    pub(crate) fn listen(
        listener: TcpListener,
        tls: Option<TlsAcceptor>,
        script: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (all, script): (_, Arc<Script>) = (heard.clone(), Arc::new(script));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut visitors = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (all, script, tls) = (all.clone(), script.clone(), tls.clone());
                visitors.spawn(async move {
                    match tls {
                        None => play(stream, &all, &*script).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                play(stream, &all, &*script).await;
                            }
                        }
                    }
                });
            }
        });
        Self { port, heard, _tasks: tasks }
    }

    /// Returns its port.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the heads of all requests, in order.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

async fn play(mut stream: impl AsyncRead + AsyncWrite + Unpin, all: &Mutex<Vec<String>>, script: &Script) {
    let mut said = Vec::new();
    let mut piece = [0; 4096];
    let end = loop {
        match stream.read(&mut piece).await {
            Ok(length @ 1..) => said.extend_from_slice(&piece[..length]),
            Ok(0) | Err(_) => return,
        }
        if let Some(end) = said.windows(4).position(|end| end == b"\r\n\r\n") {
            break end;
        }
    };
    let head = String::from_utf8_lossy(&said[..end]).into_owned();
    all.lock().unwrap().push(head.clone());
    for step in script(&head) {
        match step {
            Step::Say(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Step::Repeat(bytes, pause) => loop {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            },
            Step::Hang => while matches!(stream.read(&mut piece).await, Ok(1..)) {},
        }
    }
    drop(stream.shutdown().await);
}

/// A certificate for some names, and the authority behind it.
pub(crate) struct Identity {
    pub(crate) authority: CertificateDer<'static>,
    pub(crate) acceptor: TlsAcceptor,
}

impl Identity {
    /// Makes one that nobody trusts who is not told to.
    pub(crate) fn of(names: &[&str]) -> Self {
        let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority_key = rcgen::KeyPair::generate().unwrap();
        let authority_certificate = authority.self_signed(&authority_key).unwrap();
        let issuer = rcgen::Issuer::new(authority, authority_key);
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = rcgen::KeyPair::generate().unwrap();
        let leaf = rcgen::CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![leaf.der().clone()],
                rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        Self { authority: authority_certificate.der().clone(), acceptor: TlsAcceptor::from(Arc::new(config)) }
    }
}
