//! The model's own server: started, watched and ended.
//!
//! Owns its arguments and what can be read of it from outside: health, slots, log. Invariant: it does
//! not outlive the value that stands for it.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::http;
use super::packages::InstalledPaths;

/// How many requests the server takes at once; the others wait in it.
pub(super) const SLOTS: usize = 3;
/// The room of each slot, in tokens: all that the model was trained for.
pub(super) const CONTEXT_TOKENS: usize = 8192;
/// What the server says at most when a request does not say it, in tokens.
pub(super) const ANSWER_TOKENS_MAX: usize = 600;
/// The room of a cramped server, in tokens.
pub(super) const CRAMPED_TOKENS: usize = 8192;
/// Reading 98 MB of weights from a cold disk.
const START_TIME: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A running `llama-server`.
#[derive(Debug)]
pub(super) struct ModelServer {
    child: Child,
    pub(super) address: SocketAddr,
    log: PathBuf,
}

/// How a server is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerSetting {
    /// With the chat template that came with the weights; it names no tools to the model.
    Usual,
    /// With a template of the same marks that names tools and asks for calls; made for other models.
    WithTools,
    /// With so little room that a session of three inputs does not fit.
    Cramped,
}

impl ServerSetting {
    /// Slots, room of each in tokens, cap on an answer in tokens.
    fn sizes(self) -> [usize; 3] {
        match self {
            Self::Usual | Self::WithTools => [SLOTS, CONTEXT_TOKENS, ANSWER_TOKENS_MAX],
            Self::Cramped => [1, CRAMPED_TOKENS, CRAMPED_TOKENS / 16],
        }
    }
}

/// What one slot of the server is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServerSlot {
    pub(super) busy: bool,
    /// Tokens generated for the present or the last request.
    pub(super) decoded: u64,
}

/// Returns the arguments, without the address.
pub(super) fn arguments(setting: ServerSetting, weights: &Path, tools_template: &Path) -> Vec<String> {
    let weights = weights.display().to_string();
    let [slots, room, answer] = setting.sizes();
    let (slots, context, answer) = (slots.to_string(), (slots * room).to_string(), answer.to_string());
    // One thread, greedy and seeded: the machine is shared, and two runs should say the same.
    let arguments = [
        &["--model", &weights, "--alias", "smollm2-135m-instruct", "--ctx-size", &context][..],
        &["--parallel", &slots, "--threads", "1", "--threads-batch", "1", "--threads-http", "8"],
        &["--temp", "0", "--seed", "1", "--n-predict", &answer, "--jinja"],
        &["--slots", "--metrics", "--no-ui", "--offline"],
    ];
    let mut arguments: Vec<String> = arguments.concat().into_iter().map(str::to_owned).collect();
    if setting == ServerSetting::WithTools {
        arguments.extend(["--chat-template-file".to_owned(), tools_template.display().to_string()]);
    }
    arguments
}

impl ModelServer {
    /// Starts the server on a free port and waits until it has read its weights.
    pub(super) fn start(installed: &InstalledPaths, log: &Path, setting: ServerSetting) -> Result<Self> {
        // The port is free when the server asks for it, unless somebody is very quick.
        let probe = TcpListener::bind(("127.0.0.1", 0)).context("could not find a free port")?;
        let address = probe.local_addr().context("could not read the free port")?;
        drop(probe);
        Self::start_at(installed, log, address, setting)
    }

    /// Starts the server at `address`.
    pub(super) fn start_at(
        installed: &InstalledPaths,
        log: &Path,
        address: SocketAddr,
        setting: ServerSetting,
    ) -> Result<Self> {
        let output = File::create(log).with_context(|| format!("could not make {}", log.display()))?;
        let errors = output.try_clone().context("could not share the log")?;
        let child = Command::new(&installed.server)
            .args(arguments(setting, &installed.weights, &installed.tools_template))
            .args(["--host", "127.0.0.1", "--port", &address.port().to_string()])
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .with_context(|| format!("could not start {}", installed.server.display()))?;
        let mut server = Self { child, address, log: log.to_owned() };
        server.until_ready()?;
        Ok(server)
    }

    fn until_ready(&mut self) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < START_TIME {
            if http::get(self.address, "/health").is_ok_and(|response| response.status == 200) {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait().context("could not look at the server")? {
                bail!("the model's server ended at once ({status}); see {}", self.log.display());
            }
            thread::sleep(LOOK_EVERY);
        }
        bail!("the model's server was not ready after {} s", START_TIME.as_secs())
    }

    /// Returns where its Chat Completions API begins.
    pub(super) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns what its slots are doing.
    pub(super) fn slots(&self) -> Result<Vec<ServerSlot>> {
        Ok(slots(&http::get(self.address, "/slots")?.json()?))
    }

    /// Looks at the slots until they please, or `time` is over; returns whether they did.
    pub(super) fn slots_become(
        &self,
        time: Duration,
        mut please: impl FnMut(&[ServerSlot]) -> bool,
    ) -> Result<bool> {
        let started = Instant::now();
        while started.elapsed() < time {
            if please(&self.slots()?) {
                return Ok(true);
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(false)
    }

    /// Returns the lines of its log, from the `skip`th on, that contain `wanted`.
    pub(super) fn log_lines(&self, skip: usize, wanted: &str) -> Vec<String> {
        let log = std::fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).into_owned();
        log.lines().skip(skip).filter(|line| line.contains(wanted)).map(str::to_owned).collect()
    }

    /// Ends it the hard way and waits until it is gone.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.child.kill().context("could not kill the model's server")?;
        self.child.wait().context("could not wait for the model's server")?;
        Ok(())
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // Ignored: it may have been killed already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads the answer to `GET /slots`.
fn slots(said: &Value) -> Vec<ServerSlot> {
    let slots = said.as_array().map(Vec::as_slice).unwrap_or_default();
    let slot = |slot: &Value| {
        let next = &slot["next_token"];
        // One server writes an object, another a list of one.
        let next = next.get(0).unwrap_or(next);
        ServerSlot {
            busy: slot["is_processing"].as_bool().unwrap_or_default(),
            decoded: next["n_decoded"].as_u64().unwrap_or_default(),
        }
    };
    slots.iter().map(slot).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn slots_are_read_in_both_shapes() {
        let said = json!([
            {"is_processing": true, "next_token": {"n_decoded": 7}},
            {"is_processing": false, "next_token": [{"n_decoded": 9}]},
            {"is_processing": false},
        ]);
        let slot = |busy, decoded| ServerSlot { busy, decoded };
        assert_eq!(slots(&said), [slot(true, 7), slot(false, 9), slot(false, 0)]);
    }

    #[test]
    fn the_server_runs_on_one_thread_and_takes_tools_where_asked() {
        let say = |setting| arguments(setting, Path::new("w.gguf"), Path::new("t.jinja")).join(" ");
        let (usual, tools, cramped) =
            (say(ServerSetting::Usual), say(ServerSetting::WithTools), say(ServerSetting::Cramped));
        assert!(usual.contains("--model w.gguf ") && usual.contains("--threads 1 "), "{usual}");
        assert_eq!(tools, format!("{usual} --chat-template-file t.jinja"));
        assert!(cramped.contains("--ctx-size 8192 --parallel 1 "), "{cramped}");
    }
}
