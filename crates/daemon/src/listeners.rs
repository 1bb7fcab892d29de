//! The sockets that the daemon serves: a private Unix socket, and loopback TCP when asked for.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use palyra_types::ErrorCode;
use tokio::sync::watch;

use crate::config::Config;
use crate::refusal::Refusal;

/// File name of the socket.
const SOCKET_FILE_NAME: &str = "palyrad.sock";
/// A socket path longer than this does not fit the kernel's address with room to spare.
const SOCKET_PATH_BYTES_MAX: usize = 100;

/// The bound sockets.
pub(crate) struct Listeners {
    pub(crate) socket: PathBuf,
    unix: UnixListener,
    tcp: Option<TcpListener>,
}

/// Binds every socket. The state directory's lock must be held: a socket that is there is a dead one.
pub(crate) fn bind(
    state_dir: &Path,
    config: &Config,
    environment: &BTreeMap<String, String>,
) -> Result<Listeners, Refusal> {
    let socket = socket_path(state_dir, environment);
    let unix = bind_unix(&socket).map_err(|error| {
        Refusal::new(ErrorCode::StateDirUnusable, &format!("{} cannot be bound: {error}", socket.display()))
    })?;
    let tcp = match config.listen_tcp() {
        "" => None,
        address => Some(bind_tcp(address)?),
    };
    Ok(Listeners { socket, unix, tcp })
}

impl Listeners {
    /// Returns what to show people.
    pub(crate) fn addresses(&self) -> Vec<String> {
        let tcp = self.tcp.as_ref().and_then(|tcp| tcp.local_addr().ok());
        let unix = format!("unix:{}", self.socket.display());
        std::iter::once(unix).chain(tcp.map(|address| format!("http://{address}"))).collect()
    }

    /// Hands the sockets over; `open` will hold the number of open connections.
    pub(crate) fn into_grpc(self, open: watch::Sender<usize>) -> palyra_grpc::Listeners {
        palyra_grpc::Listeners { unix: self.unix, tcp: self.tcp, open }
    }
}

fn socket_path(state_dir: &Path, environment: &BTreeMap<String, String>) -> PathBuf {
    let usual = state_dir.join(SOCKET_FILE_NAME);
    if usual.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        return usual;
    }
    let digest = palyra_ledger::sha256(state_dir.as_os_str().as_encoded_bytes());
    let tag: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let runtime_dir = environment.get("XDG_RUNTIME_DIR").map(PathBuf::from);
    let base = runtime_dir.filter(|dir| dir.is_absolute()).unwrap_or_else(std::env::temp_dir);
    base.join(format!("palyra-{tag}")).join(SOCKET_FILE_NAME)
}

fn bind_unix(socket: &Path) -> std::io::Result<UnixListener> {
    if let Some(dir) = socket.parent().filter(|dir| !dir.exists()) {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new().mode(0o700).create(dir)?;
    }
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(socket)?;
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn bind_tcp(address: &str) -> Result<TcpListener, Refusal> {
    let invalid = |what: String| Refusal::new(ErrorCode::ConfigInvalid, &what);
    let parsed: SocketAddr = address.parse().map_err(|_| {
        invalid(format!("listen.tcp is `{address}`; it takes an address and a port, such as 127.0.0.1:7070"))
    })?;
    if !parsed.ip().is_loopback() {
        let what = "listen.tcp takes a loopback address: beyond this machine nothing is served without TLS";
        return Err(invalid(what.to_owned()));
    }
    let bound = TcpListener::bind(parsed).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|error| invalid(format!("{address} cannot be bound: {error}")))
}
