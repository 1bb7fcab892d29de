//! A web server of this machine that answers as it is told and remembers what it heard; gone when dropped.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// What is said to a request, which is its head and body; nothing leaves it without an answer for good.
type Script = dyn Fn(&str) -> Option<String> + Send + Sync;

pub(crate) struct WebServer {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
    hearing: Mutex<Receiver<String>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl WebServer {
    pub(crate) fn start(script: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::serve(None, script)
    }

    /// Speaks TLS, under some certificate for 127.0.0.1.
    pub(crate) fn start_tls(
        tls: &Arc<rustls::ServerConfig>,
        script: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self::serve(Some(Arc::clone(tls)), script)
    }

    fn serve(
        tls: Option<Arc<rustls::ServerConfig>>,
        script: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (heard, over) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicBool>::default());
        let (tell, hearing) = channel();
        let (script, book, ended) = (Arc::new(script) as Arc<Script>, Arc::clone(&heard), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let (script, book, tell) = (Arc::clone(&script), Arc::clone(&book), tell.clone());
                let tls = tls.clone();
                std::thread::spawn(move || match tls {
                    None => answer(stream, &*script, &book, &tell),
                    Some(tls) => {
                        let session = rustls::ServerConnection::new(tls).unwrap();
                        answer(rustls::StreamOwned::new(session, stream), &*script, &book, &tell);
                    }
                });
            }
        });
        Self { address, heard, hearing: Mutex::new(hearing), over, thread: Some(thread) }
    }

    /// Answers every request with one text.
    pub(crate) fn saying(content_type: &str, body: &str) -> Self {
        let answer = said("200 OK", &[("content-type", content_type)], body);
        Self::start(move |_| Some(answer.clone()))
    }

    /// Returns its `host:port`.
    pub(crate) fn place(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the requests so far.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    /// Waits for the next request.
    pub(crate) fn next(&self) -> String {
        self.hearing.lock().unwrap().recv_timeout(std::time::Duration::from_secs(120)).expect("a request")
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Returns an answer as it goes over the wire.
pub(crate) fn said(status: &str, headers: &[(&str, &str)], body: &str) -> String {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn answer(mut stream: impl Read + Write, script: &Script, heard: &Mutex<Vec<String>>, tell: &Sender<String>) {
    let Some(request) = read(&mut stream) else { return };
    heard.lock().unwrap().push(request.clone());
    drop(tell.send(request.clone()));
    match script(&request) {
        Some(answer) => drop(stream.write_all(answer.as_bytes())),
        // Until the other side has enough.
        None => while matches!(stream.read(&mut [0; 64]), Ok(1..)) {},
    }
}

fn read(stream: &mut impl Read) -> Option<String> {
    let (mut said, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&said).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(text);
            }
        }
        match stream.read(&mut piece) {
            Ok(length @ 1..) => said.extend_from_slice(&piece[..length]),
            Ok(0) | Err(_) => return None,
        }
    }
}
