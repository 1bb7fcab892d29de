//! Carrying out an attack by a program: unheld for the control, and held in each way.
//!
//! Invariant: a program that did not even begin touched nothing and proves nothing; that is told apart.

use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use palyra_ports::{ConfinedProcess, ProcessSandbox, SandboxError};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::sync::watch;
use tokio::time::timeout;

use super::canaries::Canaries;
use super::hold::{ConfinementKind, ENVIRONMENT, HOLDS, command};
use super::written::{self, ProgramAttack};
use crate::pair::{AttackerUser, CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext};

/// How long a program may take; what takes longer is stopped.
const SPAN: Duration = Duration::from_secs(60);
/// What a program says when it has begun.
const ALIVE: &str = "alive";
/// Bytes of output that are looked at.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// Returns every attack by a program.
pub(crate) fn trials() -> Vec<AttackTrial> {
    written::all().into_iter().map(trial).collect()
}

fn trial(attack: ProgramAttack) -> AttackTrial {
    let holds = HOLDS.into_iter().filter(|hold| hold.promises(&attack));
    let pairs = holds.map(|hold| CasePair::new(attack.case, attack.variant.clone(), hold.name())).collect();
    let (root_only, alone) = (attack.has("root"), attack.has("alone"));
    let attack = Arc::new(attack);
    let trial = AttackTrial::new(pairs, move |place, pairs| carry_out(Arc::clone(&attack), place, pairs));
    let trial = AttackTrial { root_only, ..trial };
    if alone { trial.alone() } else { trial }
}

async fn carry_out(attack: Arc<ProgramAttack>, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let half = place.half;
    let control = match run_unconfined(&attack).await {
        Ok(touched) => touched,
        Err(error) => return broken(&pairs, half, &format!("the control: {error}")),
    };
    if control.is_empty() && attack.has("kernel") {
        return pairs.into_iter().map(|pair| PairResult::left_out(pair, half)).collect();
    }
    let mut found = Vec::new();
    for pair in pairs {
        let hold =
            HOLDS.into_iter().find(|hold| hold.name() == pair.mechanism).unwrap_or(ConfinementKind::Isolated);
        found.push(match run_confined(&attack, hold, &place).await {
            Ok(touched) => PairResult::new(pair, half, touched, control.clone()),
            Err(error) => PairResult::broken(pair, half, error.to_string()),
        });
    }
    found
}

fn broken(pairs: &[CasePair], half: AttackerUser, why: &str) -> Vec<PairResult> {
    pairs.iter().map(|pair| PairResult::broken(pair.clone(), half, why)).collect()
}

/// The control: the same program, started as anything is.
async fn run_unconfined(attack: &ProgramAttack) -> io::Result<Vec<String>> {
    let (program, arguments) = attack.program();
    let mut plain = Command::new(program);
    plain.args(arguments);
    carried_out_by(plain, attack, Canaries::new(attack)?).await
}

/// An attack by a command that nothing holds.
pub(super) async fn carried_out_by(
    mut plain: Command,
    attack: &ProgramAttack,
    canaries: Canaries,
) -> io::Result<Vec<String>> {
    plain
        .env_clear()
        .envs(ENVIRONMENT)
        .envs(canaries.environment())
        .env("SCRATCH", canaries.trial_folder.scratch())
        .current_dir(canaries.trial_folder.work())
        .kill_on_drop(true);
    let mut child = plain.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let heard = ProgramOutput::default();
    if let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) {
        heard.listen(output);
        heard.listen(errors);
    }
    let ended = heard.until_over(attack, child.wait()).await;
    if !ended {
        let _ = child.start_kill();
        let _ = child.wait().await;
    }
    // What is left over may hold the pipes open, so that nobody waits for their end.
    let printed = heard.settled().await;
    began(&printed).map(|()| with_opened_port(canaries.touched(&printed), &printed))
}

/// The program held in one way.
async fn run_confined(
    attack: &ProgramAttack,
    hold: ConfinementKind,
    place: &TrialContext,
) -> io::Result<Vec<String>> {
    let canaries = Canaries::new(attack)?;
    let command = command(attack, hold, &canaries).map_err(io::Error::other)?;
    let started = hold.sandbox(place).start(command).await;
    if matches!((hold, &started), (ConfinementKind::WithoutNamespaces, Err(SandboxError::Missing { .. })) if attack.has("kept"))
    {
        // Without mounts nothing is kept, so that nothing is started: the refusal is the mechanism.
        return Ok(canaries.touched(""));
    }
    let process = started.map_err(|error| io::Error::other(format!("{error}: {error:?}")))?;
    carried_out_in(process, attack, canaries).await
}

/// An attack by a program that was started by a sandbox.
pub(super) async fn carried_out_in(
    mut process: Box<dyn ConfinedProcess>,
    attack: &ProgramAttack,
    canaries: Canaries,
) -> io::Result<Vec<String>> {
    let heard = ProgramOutput::default();
    if let Some((output, errors)) = process.take_output() {
        heard.listen(receiver(output)?);
        heard.listen(receiver(errors)?);
    }
    if !heard.until_over(attack, process.wait()).await {
        process.stop();
        process.wait().await;
    }
    let printed = heard.settled().await;
    began(&printed).map(|()| with_opened_port(canaries.touched(&printed), &printed))
}

fn began(printed: &str) -> io::Result<()> {
    if printed.contains(ALIVE) {
        Ok(())
    } else {
        Err(io::Error::other(format!("it did not begin: {printed}")))
    }
}

fn with_opened_port(mut touched: Vec<String>, printed: &str) -> Vec<String> {
    if printed.contains(OPENED) {
        touched.push("a port of the host was opened".to_owned());
    }
    touched
}

/// What is added to the output when a port that a program opened leads to it.
const OPENED: &str = "\u{1}opened\u{1}";

fn receiver(end: OwnedFd) -> io::Result<pipe::Receiver> {
    rustix::io::ioctl_fionbio(&end, true)?;
    pipe::Receiver::from_owned_fd(end)
}

/// What a program has printed so far.
#[derive(Clone)]
struct ProgramOutput {
    text: Arc<Mutex<String>>,
    grown: watch::Sender<usize>,
    open: watch::Sender<usize>,
}

impl Default for ProgramOutput {
    fn default() -> Self {
        Self { text: Arc::default(), grown: watch::channel(0).0, open: watch::channel(0).0 }
    }
}

impl ProgramOutput {
    fn listen(&self, mut end: impl AsyncRead + Send + Unpin + 'static) {
        let heard = self.clone();
        heard.open.send_modify(|open| *open += 1);
        tokio::spawn(async move {
            let mut piece = vec![0; 16 * 1024];
            while let Ok(length @ 1..) = end.read(&mut piece).await {
                heard.add(&String::from_utf8_lossy(&piece[..length]));
            }
            heard.open.send_modify(|open| *open -= 1);
        });
    }

    fn add(&self, piece: &str) {
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        if text.len() < OUTPUT_BYTES_MAX {
            text.push_str(piece);
        }
        let length = text.len();
        drop(text);
        self.grown.send_replace(length);
    }

    fn text(&self) -> String {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for the end of a program, or until the attack wants it stopped; says whether it ended by itself.
    async fn until_over<T>(&self, attack: &ProgramAttack, end: impl Future<Output = T>) -> bool {
        let stops = async {
            if attack.has("stop") {
                self.wait_for_text("ready").await;
            } else {
                std::future::pending::<()>().await;
            }
        };
        let visits = async {
            if !attack.has("listens") {
                std::future::pending::<()>().await;
            }
            self.wait_for_text("listens").await;
            if let Some(port) = self.port() {
                let reached =
                    tokio::task::spawn_blocking(move || TcpStream::connect((Ipv4Addr::LOCALHOST, port)));
                if reached.await.is_ok_and(|reached| reached.is_ok()) {
                    self.add(OPENED);
                }
            }
        };
        tokio::select! {
            biased;
            _ = end => true,
            () = stops => false,
            () = visits => false,
            () = tokio::time::sleep(SPAN) => false,
        }
    }

    async fn wait_for_text(&self, word: &str) {
        let mut grown = self.grown.subscribe();
        while !self.text().contains(word) {
            if grown.changed().await.is_err() {
                return;
            }
        }
    }

    fn port(&self) -> Option<u16> {
        let text = self.text();
        text.split("listens ").nth(1)?.split_ascii_whitespace().next()?.parse().ok()
    }

    /// Returns all of it, once nobody can add to it, or after a while.
    async fn settled(&self) -> String {
        const AFTER: Duration = Duration::from_millis(300);
        let mut open = self.open.subscribe();
        let _ = timeout(AFTER, open.wait_for(|open| *open == 0)).await;
        self.text()
    }
}
