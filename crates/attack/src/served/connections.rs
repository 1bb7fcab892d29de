//! Connections without a token that stay, crowd others out or fill the log (114). The control is a listener that takes
//! everybody, keeps them, and writes a line for each that it refuses.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{interval, timeout};

use super::home::{ServedHome, blocking};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// How long a connection may stay without a token: the longest of the daemon's limits, and time for a busy machine.
const STAY_MAX: Duration = Duration::from_secs(50);
/// How many crowd together: more than the daemon lets in without a token.
const CROWD: usize = 600;
/// Places of the careless listener.
const CARELESS_PLACES: usize = 512;
/// What a flood may add to a log.
const LOG_BYTES_MAX: u64 = 64 * 1024;
const FLOOD: usize = 3_000;

/// The preface and an empty SETTINGS frame.
const GREETING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
const PING: &[u8] = b"\0\0\x08\x06\0\0\0\0\0lanterns";
const PING_ACK: &[u8] = b"\0\0\x08\x06\x01\0\0\0\0lanterns";
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
/// A window for no byte.
const NO_WINDOW: &[u8] = b"\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\0";
/// Headers of a stream that go on.
const OPEN_HEADERS: &[u8] = b"\0\0\x01\x01\0\0\0\0\x01\x83";
const MORE_HEADERS: &[u8] = b"\0\0\x01\x09\0\0\0\0\x01\x86";
/// A frame whose length says more than comes.
const HALF_FRAME: &[u8] = b"\0\x40\0\x04\0\0\0\0\0";

/// What a connection says at first, and then again and again.
struct SilentClient {
    variant: &'static str,
    first: &'static [u8],
    again: &'static [u8],
}

const fn silence(variant: &'static str, first: &'static [u8], again: &'static [u8]) -> SilentClient {
    SilentClient { variant, first, again }
}

const SILENCES: &[SilentClient] = &[
    silence("it says nothing", b"", b""),
    silence("it greets by halves", b"PRI * HTTP/2.0\r\n", b""),
    silence("it never ends its greeting", b"", b"P"),
    silence("it greets and says nothing", GREETING, b""),
    silence("it sends pings", GREETING, PING),
    silence("it answers pings that were not sent", GREETING, PING_ACK),
    silence("it sends settings", GREETING, SETTINGS),
    silence("it lets nothing be sent to it", GREETING, NO_WINDOW),
    silence("it sends headers without an end", &[], MORE_HEADERS),
    silence("it sends half a frame", &[], b""),
    silence("it speaks another protocol, slowly", b"GET / HTTP/1.1\r\nX: ", b"x"),
    silence("it speaks TLS", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", b""),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let stays = SILENCES.iter().map(|silence| CasePair::new(114, silence.variant, "time without a token"));
    let crowds = ["silent", "greeting", "pinging"].map(|kind| {
        let pair = CasePair::new(114, format!("{CROWD} {kind} connections"), "places without a token");
        AttackTrial::new(vec![pair], move |place, pairs| crowded(kind, place, pairs)).alone()
    });
    let floods = ["connections", "bytes of no protocol", "greetings by halves"].map(|kind| {
        let pair = CasePair::new(114, format!("{FLOOD} {kind}"), "lines of the log a minute");
        AttackTrial::new(vec![pair], move |place, pairs| flooded(kind, place, pairs)).alone()
    });
    [AttackTrial::new(stays.collect(), staying)].into_iter().chain(crowds).chain(floods).collect()
}

/// A listener that keeps everybody.
struct CarelessListener {
    port: u16,
    task: tokio::task::JoinHandle<()>,
}

impl CarelessListener {
    async fn start(log: Option<std::path::PathBuf>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let places = Arc::new(Semaphore::new(if log.is_some() { 0 } else { CARELESS_PLACES }));
        let task = tokio::spawn(async move {
            let mut kept = Vec::new();
            while let Ok((mut stream, from)) = listener.accept().await {
                let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                    if let Some(log) = &log {
                        note(log, &format!("WARN palyra: a connection from {from} was refused: no place\n"));
                    }
                    continue;
                };
                // Who gets a place is answered.
                let _ = stream.write_all(SETTINGS).await;
                kept.push((stream, place));
            }
        });
        Ok(Self { port, task })
    }
}

impl Drop for CarelessListener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn note(log: &Path, line: &str) {
    use std::io::Write;
    let file = fs::OpenOptions::new().append(true).create(true).open(log);
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}

/// Whether a connection is open after the time that it may stay.
async fn stays(port: u16, silence: &SilentClient) -> io::Result<Vec<String>> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    let (mut read, mut write) = stream.into_split();
    let first = match silence.variant {
        "it sends headers without an end" => [GREETING, OPEN_HEADERS].concat(),
        "it sends half a frame" => [GREETING, HALF_FRAME].concat(),
        _ => silence.first.to_vec(),
    };
    let talks = async {
        let _ = write.write_all(&first).await;
        let mut ticks = interval(Duration::from_secs(1));
        loop {
            ticks.tick().await;
            let _ = write.write_all(silence.again).await;
        }
    };
    let ends = async {
        let mut bytes = [0; 1024];
        while !matches!(read.read(&mut bytes).await, Ok(0) | Err(_)) {}
    };
    tokio::select! {
        () = ends => Ok(Vec::new()),
        () = talks => Ok(Vec::new()),
        () = tokio::time::sleep(STAY_MAX) => Ok(vec!["it is still open".to_owned()]),
    }
}

async fn staying(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let (half, lost) = (place.half, pairs.clone());
    let tried = async {
        let (home, serving) = served(&place).await?;
        let careless = CarelessListener::start(None).await?;
        let both = pairs.into_iter().map(|pair| {
            let (real, other) = (serving.port, careless.port);
            async move {
                let silence = SILENCES.iter().find(|silence| silence.variant == pair.variant);
                let silence = silence.ok_or_else(|| io::Error::other("an unknown variant"))?;
                let (touched, control) = tokio::try_join!(stays(real, silence), stays(other, silence))?;
                Ok::<_, io::Error>(PairResult::new(pair, half, touched, control))
            }
        });
        let found = futures::future::try_join_all(both).await?;
        drop((serving, home));
        Ok::<_, io::Error>(found)
    };
    tried.await.unwrap_or_else(|error| {
        lost.into_iter().map(|pair| PairResult::broken(pair, half, error.to_string())).collect()
    })
}

async fn served(place: &TrialContext) -> io::Result<(ServedHome, super::home::ServingDaemon)> {
    let place = place.clone();
    blocking(move || {
        let home = ServedHome::new(&place)?;
        let serving = home.serve()?;
        Ok((home, serving))
    })
    .await
}

/// Opens a connection from an address of this machine and says what comes first.
async fn open(from: Ipv4Addr, port: u16, first: &[u8]) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((from, 0).into())?;
    let mut stream = socket.connect((Ipv4Addr::LOCALHOST, port).into()).await?;
    // One that is closed at once is as good as another.
    let _ = stream.write_all(first).await;
    Ok(stream)
}

/// Whether somebody from another address still gets an answer while so many wait.
async fn crowded(kind: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        setrlimit(Resource::Nofile, limit)?;
        let first = match kind {
            "silent" => Vec::new(),
            "greeting" => GREETING.to_vec(),
            _ => [GREETING, PING].concat(),
        };
        let (home, serving) = served(&place).await?;
        let careless = CarelessListener::start(None).await?;
        let touched = kept_out(serving.port, &first).await?;
        let control = kept_out(careless.port, &first).await?;
        drop((serving, home));
        Ok(Some((touched, control)))
    })
    .await
}

async fn kept_out(port: u16, first: &[u8]) -> io::Result<Vec<String>> {
    let mut crowd = Vec::new();
    for _ in 0..CROWD {
        crowd.push(open(Ipv4Addr::LOCALHOST, port, first).await?);
    }
    let mut late = open(Ipv4Addr::new(127, 0, 0, 2), port, GREETING).await?;
    let mut byte = [0];
    let answered = timeout(Duration::from_secs(20), late.read(&mut byte)).await;
    drop(crowd);
    Ok(match answered {
        Ok(Ok(1)) => Vec::new(),
        _ => vec!["somebody from another address was kept out".to_owned()],
    })
}

/// How much a flood of connections adds to the log.
async fn flooded(kind: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let first: &[u8] = match kind {
            "connections" => b"",
            "bytes of no protocol" => &[b'x'; 900],
            _ => b"PRI * HTTP/2.0\r\n",
        };
        let (home, serving) = served(&place).await?;
        let log = home.outside().join("careless.log");
        let careless = CarelessListener::start(Some(log.clone())).await?;
        flood(serving.port, first).await?;
        flood(careless.port, first).await?;
        let grown = |path: &Path| {
            let bytes = fs::metadata(path).map_or(0, |found| found.len());
            if bytes > LOG_BYTES_MAX { vec![format!("the log grew by {bytes} bytes")] } else { Vec::new() }
        };
        let found = (grown(&home.daemon_log()), grown(&log));
        drop((serving, home));
        Ok(Some(found))
    })
    .await
}

async fn flood(port: u16, first: &[u8]) -> io::Result<()> {
    let mut held = std::collections::VecDeque::new();
    for _ in 0..FLOOD {
        held.push_back(open(Ipv4Addr::LOCALHOST, port, first).await?);
        if held.len() > 400 {
            held.pop_front();
        }
    }
    Ok(())
}
