//! Has a component called in a process of its own, listens, and judges by what is heard.
//!
//! Invariant: a component that was never begun proves nothing, and that is told apart.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::time::{Instant, timeout_at};

use super::call::{CallerKind, ComponentCall};
use super::host::INSIDE;
use crate::trial_folder::SECRET;

/// How long it may take until a component is called.
const BEGINNING_MAX: Duration = Duration::from_secs(90);
/// How long a call may go on that was given less, on a machine that is busy.
const HELD_MAX: Duration = Duration::from_secs(40);
/// What a component without limits is watched for.
const PLAIN_MAX: Duration = Duration::from_millis(1_500);
/// The same where it has to do something first.
const PLAIN_WORK_MAX: Duration = Duration::from_secs(40);

/// What must not become of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostCanary {
    /// It still runs the component when it should have ended it.
    Running,
    /// It holds more memory than components are given.
    Memory,
    /// It opens no further file.
    Files,
    /// It spent its own processor time.
    Used,
    /// It is dead.
    Dead,
    /// Another caller is not answered.
    Beside,
    /// What it printed or answered holds the secret.
    Secret,
}

/// What was heard of one call.
pub(super) struct CallLog {
    lines: Vec<String>,
    /// Whether it came to its end by itself.
    over: bool,
}

impl CallLog {
    fn has(&self, line: &str) -> bool {
        self.lines.iter().any(|heard| heard == line)
    }

    /// Says what was touched.
    pub(super) fn touched(&self, canaries: &[HostCanary]) -> Vec<String> {
        let touched = |canary: &HostCanary| match canary {
            HostCanary::Running => (!self.has("ended") && !self.over).then_some("it still ran"),
            HostCanary::Memory => self.has("memory").then_some("the host held more than 256 MiB"),
            HostCanary::Files => self.has("files").then_some("the host could open no file"),
            HostCanary::Used => self.has("used").then_some("the host itself was busy"),
            HostCanary::Dead => (self.over && !self.has("alive")).then_some("the host was dead"),
            HostCanary::Beside => (!self.has("beside")).then_some("another caller was not answered"),
            HostCanary::Secret => {
                self.lines.iter().any(|line| line.contains(SECRET)).then_some("the secret was seen")
            }
        };
        canaries.iter().filter_map(touched).map(str::to_owned).collect()
    }

    /// Returns what the component answered.
    pub(super) fn answer(&self) -> &str {
        self.lines.iter().find_map(|line| line.strip_prefix("answer ")).unwrap_or_default()
    }
}

/// Calls a component both ways; what each touched.
pub(super) async fn both(
    program: &Path,
    spec: &ComponentCall,
    canaries: &[HostCanary],
) -> io::Result<(Vec<String>, Vec<String>)> {
    let control = hear(program, CallerKind::Plain, spec, canaries).await?.touched(canaries);
    let held = hear(program, CallerKind::Held, spec, canaries).await?;
    Ok((held.touched(canaries), control))
}

/// Calls a component in a process, until it ends, or what is looked for was heard, or time is over.
pub(super) async fn hear(
    program: &Path,
    way: CallerKind,
    spec: &ComponentCall,
    canaries: &[HostCanary],
) -> io::Result<CallLog> {
    let mut command = Command::new(program);
    command.args([INSIDE, way.word(), &serde_json::to_string(spec)?]);
    command.env_clear().env("CANARY", SECRET).current_dir("/").kill_on_drop(true);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(format!("{SECRET}\n").as_bytes()).await?;
    }
    let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(io::Error::other("the host has no output"));
    };
    let errors = tokio::spawn(async move {
        let mut text = Vec::new();
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut BufReader::new(errors), &mut text).await;
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut heard = CallLog { lines: Vec::new(), over: false };
    let mut output = BufReader::new(output);
    let mut until = Instant::now() + BEGINNING_MAX;
    let mut line = Vec::new();
    loop {
        line.clear();
        match timeout_at(until, output.read_until(b'\n', &mut line)).await {
            Err(_) => break,
            Ok(read) => {
                heard.over = read? == 0;
                if heard.over {
                    break;
                }
            }
        }
        let said = String::from_utf8_lossy(&line).trim_end().to_owned();
        if said == "began" {
            until = Instant::now() + span(way, canaries);
        }
        let enough = enough(&said, canaries);
        heard.lines.push(said);
        if enough {
            break;
        }
    }
    let _ = child.start_kill();
    child.wait().await?;
    let errors = errors.await.unwrap_or_default();
    heard.lines.extend(errors.lines().map(|line| format!("! {line}")));
    let broken = heard.lines.iter().find(|line| line.starts_with("broken "));
    match broken {
        None if heard.has("began") => Ok(heard),
        _ => Err(io::Error::other(format!("it did not begin ({}): {:?}", way.word(), heard.lines))),
    }
}

fn span(way: CallerKind, canaries: &[HostCanary]) -> Duration {
    // Nobody waits long for what never comes; what has to grow first is given its time.
    let waits = canaries.iter().all(|canary| matches!(canary, HostCanary::Running | HostCanary::Beside));
    match way {
        CallerKind::Held => HELD_MAX,
        CallerKind::Plain if waits => PLAIN_MAX,
        CallerKind::Plain => PLAIN_WORK_MAX,
    }
}

/// Whether a line decides all that is looked for.
fn enough(said: &str, canaries: &[HostCanary]) -> bool {
    match said {
        "memory" => canaries.contains(&HostCanary::Memory),
        "files" => canaries.contains(&HostCanary::Files),
        "used" => canaries.contains(&HostCanary::Used),
        "ended" => canaries == [HostCanary::Running],
        "beside" => canaries == [HostCanary::Beside],
        _ => false,
    }
}
