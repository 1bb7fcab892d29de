//! Where to find the daemon and what may be done when it is not there.

use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use palyra_types::Content;
use palyra_types::state_dir::state_dir;

use crate::error::ClientError;
use crate::listener_owner::foreign_listener;
use crate::notice::NoticeSink;

/// This program's own file, as long as it runs, even when the path was replaced meanwhile.
const OWN_PROGRAM: &str = "/proc/self/exe";
const READY_WITHIN: Duration = Duration::from_secs(10);
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
const REATTACH_WITHIN: Duration = Duration::from_secs(30);

/// Whether a daemon may be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartPolicy {
    /// Start one where none serves.
    Allowed,
    /// Only use one that serves already.
    Never,
}

/// Where the daemon is.
#[derive(Debug, Clone)]
pub enum DaemonTarget {
    /// The daemon of a state directory, by its lock file and Unix socket.
    StateDir(PathBuf),
    /// A daemon's TCP listener; never started from here.
    Tcp(TcpAddress),
}

impl fmt::Display for DaemonTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StateDir(dir) => dir.display().fmt(f),
            Self::Tcp(address) => f.write_str(&address.uri),
        }
    }
}

/// A TCP listener with the credential for it.
#[derive(Debug, Clone)]
pub struct TcpAddress {
    pub(crate) uri: String,
    pub(crate) token: Option<Content<String>>,
    pub(crate) confirmation: Option<Content<String>>,
}

impl TcpAddress {
    /// Reads `http://HOST:PORT` where the host is a loopback address, since nothing encrypts the way there.
    ///
    /// # Errors
    /// [`ClientError::InvalidAddress`] for anything else; credentials in an address are refused, because
    /// addresses end up in logs and process lists.
    pub fn parse(address: &str, token: Option<Content<String>>) -> Result<Self, ClientError> {
        let invalid = |reason| {
            let shown = address.rsplit('@').next().unwrap_or_default();
            let shown = shown.split(['?', '#']).next().unwrap_or_default().to_owned();
            ClientError::InvalidAddress { address: shown, reason }
        };
        let Some(rest) = address.strip_prefix("http://") else {
            return Err(invalid("an address looks like http://127.0.0.1:PORT"));
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains(['@', '?', '#', '/']) {
            return Err(invalid("only host and port belong there, a token goes into PALYRA_TOKEN"));
        }
        let Some((host, port)) = authority.rsplit_once(':') else {
            return Err(invalid("the port is missing"));
        };
        if !port.parse::<u16>().is_ok_and(|port| port != 0) {
            return Err(invalid("the port is not a number from 1 to 65535"));
        }
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let loopback = host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        if !loopback {
            return Err(invalid("the connection is not encrypted, so only loopback addresses are allowed"));
        }
        Ok(Self { uri: format!("http://{authority}"), token, confirmation: None })
    }

    /// Sends a one-time code along, with which an owner confirms a change.
    #[must_use]
    pub fn with_confirmation(self, confirmation: Option<Content<String>>) -> Self {
        Self { confirmation, ..self }
    }

    /// Returns the user who would read the token, where that is neither this one nor root: nothing encrypts the way, and
    /// a port that no daemon has is anybody's to take.
    #[must_use]
    pub fn token_reader(&self) -> Option<u32> {
        self.token.as_ref()?;
        let port = self.uri.rsplit_once(':')?.1.parse().ok()?;
        foreign_listener(port)
    }
}

/// Computes the fingerprint of a model under a salt, or says why no daemon could be started with it.
pub type ModelFingerprint = dyn Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync;

/// As [`ModelFingerprint`], of a selection that need not exist.
pub type UnnamedFingerprint = dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync;

/// The model that a daemon started in this environment would use.
#[derive(Clone)]
pub struct OwnModel {
    /// Its name for messages.
    pub name: String,
    /// The variables of this environment that are there to select a model.
    pub variables: Vec<&'static str>,
    /// The variable of the key, where variables select the server and none has a key for it.
    pub unset_key: Option<&'static str>,
    /// The variable that names the model's server and is not set: only a daemon that has it has this model, and none starts
    /// here.
    pub unset_server: Option<&'static str>,
    /// Returns its fingerprint under a salt, or why no daemon could be started here.
    pub fingerprint: Arc<ModelFingerprint>,
    /// Returns the fingerprint of the same server and key where the server names the model; `None` where no variable names
    /// one.
    pub unnamed_fingerprint: Arc<UnnamedFingerprint>,
    /// Returns the fingerprint of the same server and model without a key; `None` where no key is there.
    pub keyless_fingerprint: Arc<UnnamedFingerprint>,
}

/// How to connect.
#[derive(Clone)]
pub struct ConnectOptions {
    /// Where the daemon is.
    pub target: DaemonTarget,
    /// Whether one may be started.
    pub start: StartPolicy,
    /// The program that is started with `serve`; by default this very program.
    pub program: PathBuf,
    /// Arguments for it, after `serve --auto-started --state-dir DIR`.
    pub serve_arguments: Vec<OsString>,
    /// How long a start may take.
    pub ready_within: Duration,
    /// How long a daemon that holds the lock may say nothing.
    pub answers_within: Duration,
    /// How long a lost daemon is waited for.
    pub reattach_within: Duration,
    /// Where the newest signed head of each journal is kept. With a folder, every connection begins with the
    /// demand that the journal continues what was seen of it.
    pub heads: Option<PathBuf>,
    /// The model that is meant. With one, a daemon that uses another is replaced or refused, and no run starts at a
    /// daemon whose model changed after that.
    pub own_model: Option<OwnModel>,
    /// Who hears what happens on the way.
    pub notices: NoticeSink,
}

impl ConnectOptions {
    /// Options with the usual limits, for one target.
    #[must_use]
    pub fn new(target: DaemonTarget) -> Self {
        Self {
            target,
            start: StartPolicy::Allowed,
            program: OWN_PROGRAM.into(),
            serve_arguments: Vec::new(),
            ready_within: READY_WITHIN,
            answers_within: ANSWERS_WITHIN,
            reattach_within: REATTACH_WITHIN,
            heads: None,
            own_model: None,
            notices: Arc::new(|_| {}),
        }
    }

    /// Options for the state directory that the environment names.
    ///
    /// # Errors
    /// [`ClientError::NoStateDir`] when it names none.
    pub fn from_environment() -> Result<Self, ClientError> {
        let dir = state_dir(|name| std::env::var_os(name)).ok_or(ClientError::NoStateDir)?;
        Ok(Self::new(DaemonTarget::StateDir(dir)))
    }
}

impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("target", &self.target)
            .field("start", &self.start)
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_loopback_addresses_are_taken() {
        let uri = |text: &str| TcpAddress::parse(text, None).map(|address| address.uri).ok();
        assert_eq!(uri("http://127.0.0.1:7700"), Some("http://127.0.0.1:7700".into()));
        assert_eq!(uri("http://[::1]:7700/"), Some("http://[::1]:7700".into()));
        assert_eq!(uri("http://localhost:7700"), Some("http://localhost:7700".into()));
        for bad in [
            "127.0.0.1:7700",
            "https://127.0.0.1:7700",
            "http://127.0.0.1",
            "http://127.0.0.1:0",
            "http://10.0.0.1:7700",
            "http://example.com:7700",
            "http://127.0.0.1:7700/x",
        ] {
            assert_eq!(uri(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_token_in_an_address_is_refused_and_not_repeated() {
        for address in ["http://sesame@127.0.0.1:7700", "http://127.0.0.1:7700?token=sesame", "sesame@x"] {
            let error = TcpAddress::parse(address, None).unwrap_err().to_string();
            assert!(!error.contains("sesame"), "{error}");
        }
    }
}
