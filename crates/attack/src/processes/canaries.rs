//! What attacks by programs go for; made anew for each run of each.
//!
//! Owns looking at it afterwards: files by their bytes, modes, times and owners, sockets by who came, a process by its
//! life and its limits, and processes that were left over by a mark in their environment.

use std::fs;
use std::io::{self, Read};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal};

use super::descriptors::LeakedDescriptors;
use super::host_activity::HostActivity;
use super::victim::VictimProcess;
use super::written::ProgramAttack;
use crate::trial_folder::{SECRET, TrialFolder};

/// A file of the workspace that git runs later.
const HOOK: &str = ".git/hooks/pre-commit";

/// Makes names that nobody else has.
static MADE: AtomicU32 = AtomicU32::new(1);

/// The canaries of one run; taken away when dropped.
pub(crate) struct Canaries {
    pub(crate) trial_folder: TrialFolder,
    pub(crate) descriptors: Option<LeakedDescriptors>,
    victim: VictimProcess,
    _host: HostActivity,
    sockets: Sockets,
    pipe: fs::File,
    outside: String,
    /// What a program is told to say when it was given what it should not have.
    word: String,
    /// In the environment of the program and of all that it starts.
    mark: String,
    kept: bool,
    /// Whether the attack runs from one process to the next.
    moves: bool,
}

/// Everybody who listens.
struct Sockets {
    tcp: TcpListener,
    tcp6: TcpListener,
    udp: UdpSocket,
    udp6: UdpSocket,
    stream: UnixListener,
    datagrams: UnixDatagram,
    packets: OwnedFd,
    abstract_stream: UnixListener,
    abstract_datagrams: UnixDatagram,
}

impl Canaries {
    /// Makes them.
    pub(crate) fn new(attack: &ProgramAttack) -> io::Result<Self> {
        let trial_folder = TrialFolder::new()?;
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let mark = format!("palyra-attack-{}-{number}", std::process::id());
        let outside = trial_folder.outside();
        for name in ["file", "victim.txt"] {
            fs::write(outside.join(name), SECRET)?;
        }
        if attack.has("closed") {
            fs::set_permissions(outside.join("file"), fs::Permissions::from_mode(0o600))?;
        }
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, outside.join("pipe"), fifo, rustix::fs::Mode::RWXU, 0)?;
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let pipe = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(nonblocking)
            .open(outside.join("pipe"))?;
        let sockets = Sockets::new(&outside, &mark)?;
        let kept = attack.has("kept");
        if kept {
            let hook = trial_folder.work().join(HOOK);
            fs::create_dir_all(hook.parent().unwrap_or(&hook))?;
            fs::write(&hook, SECRET)?;
        }
        let victim = VictimProcess::start(attack, &outside.join("file"), number)?;
        let descriptors = attack.has("descriptors").then(|| LeakedDescriptors::open(&outside)).transpose()?;
        let mut made = Self {
            victim,
            _host: HostActivity::begin(attack)?,
            sockets,
            pipe,
            descriptors,
            outside: String::new(),
            word: format!("word-{number}-{SECRET}").replace("canary", "given"),
            mark,
            kept,
            moves: attack.case == 12,
            trial_folder,
        };
        made.outside = made.look_outside();
        Ok(made)
    }

    /// Returns the files that stay as they are.
    pub(crate) fn kept(&self) -> Vec<PathBuf> {
        if self.kept { vec![self.trial_folder.work().join(".git/hooks")] } else { Vec::new() }
    }

    /// Returns the variables of the attack.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let port = |socket: io::Result<std::net::SocketAddr>| {
            socket.map(|address| address.port().to_string()).unwrap_or_default()
        };
        let sockets = &self.sockets;
        let mut all = vec![
            ("OUT", self.trial_folder.outside().display().to_string()),
            ("PORT", port(sockets.tcp.local_addr())),
            ("PORT6", port(sockets.tcp6.local_addr())),
            ("UDP", port(sockets.udp.local_addr())),
            ("UDP6", port(sockets.udp6.local_addr())),
            ("ABSTRACT", self.mark.clone()),
            ("VICTIM", self.victim.pid().to_string()),
            ("SHARED", self.victim.shared_key().to_string()),
            ("WORD", self.word.clone()),
            ("MARK", self.mark.clone()),
        ];
        if let Some(descriptors) = &self.descriptors {
            all.extend(descriptors.environment());
        }
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Says which were touched, given what the program printed; ends what it left over.
    pub(crate) fn touched(mut self, printed: &str) -> Vec<String> {
        let mut touched = Vec::new();
        let left = self.left_over_at_last();
        if !left.is_empty() {
            touched.push(format!("{} processes are left over", left.len()));
        }
        for pid in left {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        if self.look_outside() != self.outside {
            touched.push("the folder outside changed".to_owned());
        }
        let mut piped = [0; 64];
        if self.pipe.read(&mut piped).is_ok_and(|length| length > 0) {
            touched.push("the pipe was written".to_owned());
        }
        if self.kept {
            let hook = fs::read_to_string(self.trial_folder.work().join(HOOK));
            if !hook.is_ok_and(|hook| hook == SECRET) {
                touched.push("a hook changed".to_owned());
            }
        }
        touched.extend(self.sockets.touched());
        touched.extend(self.victim.touched());
        if self.descriptors.as_mut().is_some_and(LeakedDescriptors::touched) {
            touched.push("an inherited socket was written".to_owned());
        }
        if printed.contains(SECRET) {
            touched.push("the secret was seen".to_owned());
        }
        if printed.contains(&self.word) {
            touched.push("it was given what it asked for".to_owned());
        }
        touched
    }

    /// Describes all that lies outside: names, bytes, modes, owners, times of change, attributes.
    fn look_outside(&self) -> String {
        let mut lines = Vec::new();
        for entry in fs::read_dir(self.trial_folder.outside()).into_iter().flatten().flatten() {
            let Ok(data) = entry.metadata() else { continue };
            let bytes = if data.is_file() { fs::read(entry.path()).unwrap_or_default() } else { Vec::new() };
            let mut names = [0_u8; 256];
            let named = rustix::fs::listxattr(entry.path(), &mut names[..]).unwrap_or_default();
            let name = entry.file_name();
            let (mode, uid, gid, time) = (data.mode(), data.uid(), data.gid(), data.mtime());
            lines.push(format!(
                "{name:?} {mode:o} {uid} {gid} {time} {} {bytes:?} {:?}",
                data.ctime_nsec(),
                &names[..named]
            ));
        }
        lines.sort();
        lines.join("\n")
    }

    /// Looks until some are found, where a process that never stays is what is tried.
    fn left_over_at_last(&self) -> Vec<Pid> {
        let looks = if self.moves { 20 } else { 1 };
        (0..looks).map(|_| self.left_over()).find(|left| !left.is_empty()).unwrap_or_default()
    }

    /// Returns the processes that carry the mark and still run.
    fn left_over(&self) -> Vec<Pid> {
        let mark = format!("MARK={}", self.mark);
        let carries = |bytes: &Vec<u8>| bytes.split(|byte| *byte == 0).any(|pair| pair == mark.as_bytes());
        let mut left = Vec::new();
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let pid = process.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
            let environment = fs::read(process.path().join("environ"));
            if let (Some(pid), true) = (pid, environment.is_ok_and(|bytes| carries(&bytes))) {
                left.push(pid);
            }
        }
        left
    }
}

impl Sockets {
    fn new(outside: &std::path::Path, mark: &str) -> io::Result<Self> {
        let named = |name: String| SocketAddr::from_abstract_name(name);
        let all = Self {
            tcp: TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
            tcp6: TcpListener::bind((Ipv6Addr::LOCALHOST, 0))?,
            udp: UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?,
            udp6: UdpSocket::bind((Ipv6Addr::LOCALHOST, 0))?,
            stream: UnixListener::bind(outside.join("socket"))?,
            datagrams: UnixDatagram::bind(outside.join("datagrams"))?,
            packets: packets(outside.join("packets"))?,
            abstract_stream: UnixListener::bind_addr(&named(mark.to_owned())?)?,
            abstract_datagrams: UnixDatagram::bind_addr(&named(format!("{mark}-datagrams"))?)?,
        };
        all.tcp.set_nonblocking(true)?;
        all.tcp6.set_nonblocking(true)?;
        all.udp.set_nonblocking(true)?;
        all.udp6.set_nonblocking(true)?;
        all.stream.set_nonblocking(true)?;
        all.datagrams.set_nonblocking(true)?;
        all.abstract_stream.set_nonblocking(true)?;
        all.abstract_datagrams.set_nonblocking(true)?;
        Ok(all)
    }

    fn touched(&self) -> Vec<String> {
        let mut room = [0; 64];
        let came = [
            ("a TCP connection came", self.tcp.accept().is_ok()),
            ("a TCP connection came by IPv6", self.tcp6.accept().is_ok()),
            ("a UDP packet came", self.udp.recv(&mut room).is_ok()),
            ("a UDP packet came by IPv6", self.udp6.recv(&mut room).is_ok()),
            ("a local connection came", self.stream.accept().is_ok()),
            ("a local datagram came", self.datagrams.recv(&mut room).is_ok()),
            ("a local connection of packets came", rustix::net::accept(&self.packets).is_ok()),
            ("an abstract connection came", self.abstract_stream.accept().is_ok()),
            ("an abstract datagram came", self.abstract_datagrams.recv(&mut room).is_ok()),
        ];
        came.into_iter().filter(|(_, came)| *came).map(|(what, _)| what.to_owned()).collect()
    }
}

fn packets(path: PathBuf) -> io::Result<OwnedFd> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    listen(&socket, 4)?;
    Ok(socket)
}
