//! A server that answers as a test tells it, however wrong that is.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// One thing that the server does on a connection.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends bytes.
    Say(Vec<u8>),
    /// Sends bytes again and again, with a pause before each time, until nobody listens.
    Repeat(Vec<u8>, Duration),
    /// Hears until the body holds some bytes.
    Hear(&'static str),
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
    book: Arc<Book>,
    over: watch::Receiver<usize>,
    _tasks: JoinSet<()>,
}

/// What was said to the server.
#[derive(Default)]
struct Book {
    /// The first head of each connection.
    heads: Mutex<Vec<String>>,
    /// All bytes of each connection, TLS taken off.
    connections: Mutex<Vec<Vec<u8>>>,
}

impl Book {
    fn begin(&self) -> usize {
        let mut connections = self.connections.lock().unwrap();
        connections.push(Vec::new());
        connections.len() - 1
    }

    fn take(&self, connection: usize, bytes: &[u8]) {
        self.connections.lock().unwrap()[connection].extend_from_slice(bytes);
    }
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
        let book = Arc::<Book>::default();
        let (count, over) = watch::channel(0);
        let (all, script): (_, Arc<Script>) = (book.clone(), Arc::new(script));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut visitors = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (all, script, tls, count) = (all.clone(), script.clone(), tls.clone(), count.clone());
                visitors.spawn(async move {
                    match tls {
                        None => play(stream, &all, &*script).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                play(stream, &all, &*script).await;
                            }
                        }
                    }
                    count.send_modify(|count| *count += 1);
                });
            }
        });
        Self { port, book, over, _tasks: tasks }
    }

    /// Returns its port.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the heads of all requests, in order.
    pub(crate) fn seen_requests(&self) -> Vec<String> {
        self.book.heads.lock().unwrap().clone()
    }

    /// Waits until so many connections are over, and returns all that was said in each, whoever it was for.
    pub(crate) async fn received(&self, connections: usize) -> Vec<String> {
        self.over.clone().wait_for(|over| *over >= connections).await.unwrap();
        let received = self.book.connections.lock().unwrap();
        received.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
    }
}

async fn play(mut stream: impl AsyncRead + AsyncWrite + Unpin, all: &Book, script: &Script) {
    let connection = all.begin();
    let mut said = Vec::new();
    let mut piece = [0; 4096];
    let end = loop {
        match stream.read(&mut piece).await {
            Ok(length @ 1..) => {
                said.extend_from_slice(&piece[..length]);
                all.take(connection, &piece[..length]);
            }
            Ok(0) | Err(_) => return,
        }
        if let Some(end) = said.windows(4).position(|end| end == b"\r\n\r\n") {
            break end;
        }
    };
    let body = end + 4;
    let head = String::from_utf8_lossy(&said[..end]).into_owned();
    all.heads.lock().unwrap().push(head.clone());
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
            Step::Hear(end) => {
                while !holds(&said[body..], end.as_bytes()) {
                    match stream.read(&mut piece).await {
                        Ok(length @ 1..) => {
                            said.extend_from_slice(&piece[..length]);
                            all.take(connection, &piece[..length]);
                        }
                        Ok(0) | Err(_) => return,
                    }
                }
            }
            Step::Hang => while matches!(stream.read(&mut piece).await, Ok(1..)) {},
        }
    }
    drop(stream.shutdown().await);
    while let Ok(length @ 1..) = stream.read(&mut piece).await {
        all.take(connection, &piece[..length]);
    }
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    wanted.is_empty() || bytes.windows(wanted.len()).any(|part| part == wanted)
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
