//! A person's home, a folder to work in and the shipped program; a daemon that was started there ends with it.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use palyra_client::read_lock_record;
use palyra_model_server::{Behaviour, ModelServer};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::runtime::Handle;

use crate::trial::TrialContext;
use crate::trial_folder::TrialFolder;

/// Seconds that a command may take.
const SECONDS_MAX: &str = "60";

/// The home of one attempt.
pub(crate) struct ServedHome {
    trial_folder: TrialFolder,
    program: PathBuf,
    variables: Vec<(String, String)>,
    _model: Option<ModelServer>,
}

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct ProgramExit {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl ProgramExit {
    /// Fails with all that was written unless the program ended like this.
    pub(crate) fn expect(self, code: i32) -> io::Result<Self> {
        if self.code == Some(code) { Ok(self) } else { Err(io::Error::other(format!("{self:?}"))) }
    }

    /// Returns the lines of standard output as JSON.
    pub(crate) fn json(&self) -> io::Result<Vec<Value>> {
        self.out.lines().map(|line| serde_json::from_str(line).map_err(io::Error::other)).collect()
    }
}

impl ServedHome {
    /// Makes an empty home, whose daemon has the model for demonstrations.
    pub(crate) fn new(place: &TrialContext) -> io::Result<Self> {
        let program = place.palyra.clone().ok_or_else(|| {
            io::Error::other(
                "there is no `palyra` beside this program; build it with `cargo build -p palyra`",
            )
        })?;
        let trial_folder = TrialFolder::new()?;
        let variables = vec![("TERM".to_owned(), "xterm".to_owned())];
        Ok(Self { trial_folder, program, variables, _model: None })
    }

    /// The same, with a model that behaves as it is told. Only outside of the runtime's own threads.
    pub(crate) fn with_model(place: &TrialContext, behaviour: Behaviour) -> io::Result<Self> {
        let server = Handle::current().block_on(ModelServer::start(behaviour))?;
        let mut home =
            Self::new(place)?.with("OPENAI_BASE_URL", &server.base_url()).with("PALYRA_MODEL", "test-model");
        home._model = Some(server);
        Ok(home)
    }

    /// Sets a variable for every program that is started from here.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the workspace.
    pub(crate) fn work(&self) -> PathBuf {
        self.trial_folder.work()
    }

    /// Returns the folder of the settings, which is there.
    pub(crate) fn settings(&self) -> io::Result<PathBuf> {
        let folder = self.trial_folder.scratch().join(".config/palyra");
        fs::create_dir_all(folder.join("policies"))?;
        Ok(folder)
    }

    /// Returns the folder beside the workspace.
    pub(crate) fn outside(&self) -> PathBuf {
        self.trial_folder.outside()
    }

    pub(crate) fn state_dir(&self) -> PathBuf {
        self.trial_folder.scratch().join(".local/state/palyra")
    }

    /// Writes a rule of the person.
    pub(crate) fn write_rule(&self, name: &str, text: &str) -> io::Result<()> {
        fs::write(self.settings()?.join("policies").join(name), text)
    }

    /// Returns the shipped program with these arguments, ready to start.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.clean(Command::new(&self.program), arguments)
    }

    fn clean(&self, mut command: Command, arguments: &[&str]) -> Command {
        command
            .args(arguments)
            .current_dir(self.work())
            .env_clear()
            .env("HOME", self.trial_folder.scratch())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub(crate) fn palyra(&self, arguments: &[&str]) -> io::Result<ProgramExit> {
        self.palyra_with(&[], arguments)
    }

    /// The same with more variables.
    pub(crate) fn palyra_with(
        &self,
        variables: &[(&str, &str)],
        arguments: &[&str],
    ) -> io::Result<ProgramExit> {
        let mut limited = Command::new("timeout");
        limited.arg(SECONDS_MAX).arg(&self.program);
        let output = self.clean(limited, arguments).envs(variables.iter().copied()).output()?;
        Ok(ProgramExit {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Runs an input whose call waits for a person; returns the approval's id.
    pub(crate) fn submit_and_park(&self, input: &str) -> io::Result<String> {
        self.palyra(&["run", input])?.expect(3)?;
        self.waiting()
    }

    /// Returns the id of the newest approval that waits.
    pub(crate) fn waiting(&self) -> io::Result<String> {
        let waiting = self.palyra(&["approve", "list", "--json"])?.expect(0)?.json()?;
        let id = waiting.first().and_then(|first| first["approval_id"].as_str());
        id.map(str::to_owned).ok_or_else(|| io::Error::other("nothing waits"))
    }

    /// Starts a daemon that also listens on a port.
    pub(crate) fn serve(&self) -> io::Result<ServingDaemon> {
        let log = fs::File::create(self.daemon_log())?;
        let mut daemon = self.command(&["serve", "--listen", "127.0.0.1:0"]).stderr(log).spawn()?;
        let out = daemon.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        let mut serving = ServingDaemon { daemon, out: BufReader::new(out), port: 0 };
        let mut line = String::new();
        while !line.contains("\"ready\":true") {
            line.clear();
            if serving.out.read_line(&mut line)? == 0 {
                return Err(io::Error::other("the daemon did not start"));
            }
        }
        let checks = self.palyra(&["doctor", "--json"])?.json()?;
        let found = checks.iter().find(|check| check["name"] == "listening");
        let found = found.and_then(|check| check["found"].as_str()).unwrap_or_default();
        let port = found.split("127.0.0.1:").nth(1).unwrap_or_default();
        let digits: String = port.chars().take_while(char::is_ascii_digit).collect();
        serving.port = digits.parse().map_err(io::Error::other)?;
        Ok(serving)
    }

    /// Returns the file that a daemon in the foreground logs to.
    pub(crate) fn daemon_log(&self) -> PathBuf {
        self.trial_folder.outside().join("daemon.log")
    }

    /// Makes a token of a principal.
    pub(crate) fn token(&self, principal: &str) -> io::Result<String> {
        let made = self.palyra(&["admin", "tokens", "create", principal])?.expect(0)?;
        Ok(made.out.trim().to_owned())
    }
}

impl Drop for ServedHome {
    fn drop(&mut self) {
        let Some(record) = read_lock_record(&self.state_dir()) else { return };
        // A number in a stale lock file may belong to somebody else by now.
        let program = fs::read_link(format!("/proc/{}/exe", record.pid));
        if program.is_ok_and(|program| program == self.program)
            && let Some(pid) = Pid::from_raw(record.pid.cast_signed())
        {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// A daemon in the foreground with a TCP listener; ended when dropped.
pub(crate) struct ServingDaemon {
    daemon: Child,
    out: BufReader<ChildStdout>,
    pub(crate) port: u16,
}

impl ServingDaemon {
    /// Returns the address as `--connect` takes it.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for ServingDaemon {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// Carries out what blocks, beside the runtime's own threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
