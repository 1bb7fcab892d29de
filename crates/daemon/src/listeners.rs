//! The sockets that the daemon serves: a private Unix socket, HTTP, and loopback TCP when asked for.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use std::time::Duration;

use palyra_types::ErrorCode;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::config::{Config, ValueOrigin};
use crate::http_listener::{self, BoundHttp};
use crate::lock_watch::{LockPlace, until_gone};
use crate::refusal::StartRefusal;

/// File name of the socket.
const SOCKET_FILE_NAME: &str = "palyrad.sock";
/// A socket path longer than this does not fit the kernel's address with room to spare.
const SOCKET_PATH_BYTES_MAX: usize = 100;
/// Between two sockets that are bound because the one before was removed.
const REBIND_PAUSE: Duration = Duration::from_millis(100);

/// The bound sockets.
pub(crate) struct Listeners {
    pub(crate) socket: PathBuf,
    unix: UnixListener,
    tcp: Option<TcpListener>,
    http: Option<BoundHttp>,
}

/// Binds every socket. The state directory's lock must be held: a socket that is there is a dead one.
pub(crate) fn bind(
    state_dir: &Path,
    config: &Config,
    environment: &BTreeMap<String, String>,
) -> Result<Listeners, StartRefusal> {
    let socket = socket_path(state_dir, environment)?;
    let unix = bind_unix(&socket).map_err(|error| {
        let code = match error.kind() {
            ErrorKind::StorageFull => ErrorCode::DiskFull,
            _ => ErrorCode::StateDirUnusable,
        };
        StartRefusal::new(code, &format!("{} cannot be bound: {error}", socket.display()))
    })?;
    let tcp = match config.listen_tcp() {
        "" => None,
        address => Some(bind_tcp(address, &config.origin("listen.tcp"))?),
    };
    let http = http_listener::bind(config)?;
    Ok(Listeners { socket, unix, tcp, http })
}

impl Listeners {
    /// Returns what to show people.
    pub(crate) fn addresses(&self) -> Vec<String> {
        let tcp = self.tcp.as_ref().and_then(|tcp| tcp.local_addr().ok());
        let unix = format!("unix:{}", self.socket.display());
        let tcp = tcp.map(|address| format!("http://{address}"));
        std::iter::once(unix).chain(tcp).chain(self.http.as_ref().map(BoundHttp::address)).collect()
    }

    /// Returns the origin of the HTTP API; `None` where it is off.
    pub(crate) fn http_origin(&self) -> Option<String> {
        self.http.as_ref().map(BoundHttp::address)
    }

    /// Hands the socket of the HTTP API over; `open` counts its connections too.
    pub(crate) fn take_http(&mut self, open: &watch::Sender<usize>) -> Option<palyra_http::HttpListener> {
        self.http.take().map(|http| http.into_listener(open.clone()))
    }

    /// Hands the sockets over; `open` will hold the number of open connections, `rebound` brings Unix sockets that
    /// take the place of the one before.
    pub(crate) fn into_grpc(
        self,
        open: watch::Sender<usize>,
        rebound: mpsc::Receiver<UnixListener>,
    ) -> palyra_grpc::Listeners {
        palyra_grpc::Listeners { unix: self.unix, tcp: self.tcp, open, rebound: Some(rebound) }
    }
}

/// Binds the socket anew whenever it is removed or replaced, as long as the lock is in its place. Where that cannot be
/// done it wishes for the stop: a daemon that nobody can reach only keeps the next one out.
pub(crate) async fn keep_socket(
    socket: PathBuf,
    lock: LockPlace,
    rebound: mpsc::Sender<UnixListener>,
    stop_requested: CancellationToken,
) {
    loop {
        if let Ok(found) = std::fs::symlink_metadata(&socket)
            && found.file_type().is_socket()
        {
            until_gone(&LockPlace::new(socket.clone(), &found)).await;
        }
        if !lock.is_locked() || stop_requested.is_cancelled() {
            return;
        }
        let path = socket.display();
        match bind_unix(&socket) {
            Ok(listener) => {
                tracing::warn!("the socket {path} was removed or replaced; it was bound again");
                if rebound.send(listener).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                tracing::error!(%error, "the socket {path} was removed and cannot be bound again; stopping");
                stop_requested.cancel();
                return;
            }
        }
        tokio::time::sleep(REBIND_PAUSE).await;
    }
}

/// Returns where the socket lies: in the state directory, unless its path is too long for a socket's address.
fn socket_path(state_dir: &Path, environment: &BTreeMap<String, String>) -> Result<PathBuf, StartRefusal> {
    let fits = |path: &Path| path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX;
    let usual = state_dir.join(SOCKET_FILE_NAME);
    if fits(&usual) {
        return Ok(usual);
    }
    let digest = palyra_ledger::sha256(state_dir.as_os_str().as_encoded_bytes());
    let tag: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let below = |base: PathBuf| base.join(format!("palyra-{tag}")).join(SOCKET_FILE_NAME);
    let runtime_dir = environment.get("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let usable = |base: &PathBuf| keeps_names(base) && fits(&below(base.clone()));
    let base = runtime_dir.into_iter().chain([std::env::temp_dir()]).find(usable).ok_or_else(|| {
        let what = format!(
            "{} is too long for a socket, and neither XDG_RUNTIME_DIR nor {} can take it instead",
            usual.display(),
            std::env::temp_dir().display()
        );
        StartRefusal::new(ErrorCode::StateDirUnusable, &what)
    })?;
    let socket = below(base);
    if let Some(dir) = socket.parent() {
        make_own(dir).map_err(|what| {
            let told = format!("{} cannot hold the socket: {what}", dir.display());
            StartRefusal::new(ErrorCode::StateDirUnusable, &told)
        })?;
    }
    Ok(socket)
}

/// Returns whether nobody but us and root can take a name away in `base`.
fn keeps_names(base: &Path) -> bool {
    std::fs::metadata(base).is_ok_and(|found| {
        let shared = found.mode() & 0o022 != 0;
        let sticky = found.mode() & 0o1000 != 0;
        found.is_dir() && [own_uid(), 0].contains(&found.uid()) && (sticky || !shared)
    })
}

/// Makes a private folder, or takes one that is ours already; its name can be foreseen, so others may have been
/// there first.
fn make_own(dir: &Path) -> Result<(), String> {
    match std::fs::DirBuilder::new().mode(0o700).create(dir) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.to_string()),
        _ => {}
    }
    let found = std::fs::symlink_metadata(dir).map_err(|error| error.to_string())?;
    if !found.is_dir() || found.uid() != own_uid() {
        return Err("it is a link or belongs to another user; remove it, or set XDG_RUNTIME_DIR".to_owned());
    }
    let private = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(dir, private).map_err(|error| error.to_string())
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn bind_unix(socket: &Path) -> std::io::Result<UnixListener> {
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(socket)?;
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Binds an address that the configuration was checked for.
fn bind_tcp(address: &str, origin: &ValueOrigin) -> Result<TcpListener, StartRefusal> {
    let bound = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|error| {
        let what = format!("{}: `listen.tcp` is {address}, which cannot be bound: {error}", origin.place());
        StartRefusal::new(ErrorCode::ConfigInvalid, &what)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_runtime_dir(dir: &Path) -> BTreeMap<String, String> {
        BTreeMap::from([("XDG_RUNTIME_DIR".to_owned(), dir.display().to_string())])
    }

    fn chosen(state_dir: &Path, runtime_dir: &Path) -> Result<PathBuf, String> {
        socket_path(state_dir, &with_runtime_dir(runtime_dir)).map_err(|refusal| refusal.message)
    }

    #[test]
    fn a_path_too_long_for_a_socket_gives_way_to_a_private_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = folder.path().join("run");
        std::fs::DirBuilder::new().mode(0o700).create(&runtime).expect("made");
        let short = folder.path().join("state");
        assert_eq!(chosen(&short, &runtime), Ok(short.join(SOCKET_FILE_NAME)));

        let long = folder.path().join("x".repeat(120));
        let socket = chosen(&long, &runtime).expect("a place");
        assert!(socket.starts_with(&runtime) && socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX);
        let dir = socket.parent().expect("a parent");
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).expect("opened");
        assert_eq!(chosen(&long, &runtime), Ok(socket.clone()), "ours already");
        assert_eq!(std::fs::metadata(dir).expect("there").mode() & 0o777, 0o700);

        std::fs::remove_dir(dir).expect("removed");
        std::os::unix::fs::symlink(folder.path(), dir).expect("linked");
        let refused = chosen(&long, &runtime).expect_err("somebody was there first");
        assert!(refused.contains("it is a link or belongs to another user"), "{refused}");
    }

    #[test]
    fn a_runtime_folder_that_others_can_change_or_that_is_too_long_is_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let shared = folder.path().join("shared");
        std::fs::create_dir(&shared).expect("made");
        std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o777)).expect("opened");
        let long = folder.path().join("y".repeat(120));
        std::fs::create_dir(&long).expect("made");
        let state = folder.path().join("x".repeat(120));
        for runtime in [&shared, &long, &folder.path().join("missing")] {
            let socket = chosen(&state, runtime).expect("a place");
            assert!(socket.starts_with(std::env::temp_dir()) && !socket.starts_with(runtime));
            std::fs::remove_dir(socket.parent().expect("a parent")).expect("removed");
        }
    }
}
