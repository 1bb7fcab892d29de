//! What a program must not reach: each attack is run unconfined first, where it has to touch its canary, and then
//! under both tiers, where it must not.
//!
//! A canary is a file whose content may not change or be seen, a socket that nobody may reach, or a process that nobody
//! may end. It is looked at, never what the attack says.

use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::host::{BOTH, HOLDS, Hold, Host};

mod files;
mod processes;
mod sockets;
mod kernel;
mod given;
mod roots;
mod activity;
mod replaced;

const SECRET: &str = "canary-7f3a91";

/// What the attacks go for; new for each run of each.
struct Canaries {
    /// A folder outside the workspace, with everything in it.
    outside: PathBuf,
    modified: SystemTime,
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixListener,
    semaphores: Semaphores,
    victim: Child,
    printed: String,
}

impl Canaries {
    fn new(host: &Host) -> Self {
        let outside = host.folder.path().join("outside");
        let _ = std::fs::remove_dir_all(&outside);
        std::fs::create_dir(&outside).expect("a folder");
        for name in ["file", "victim.txt"] {
            std::fs::write(outside.join(name), SECRET).expect("a canary");
        }
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
        udp.set_nonblocking(true).expect("settings");
        let unix = UnixListener::bind(outside.join("socket")).expect("a socket");
        tcp.set_nonblocking(true).expect("settings");
        unix.set_nonblocking(true).expect("settings");
        let victim = Command::new("/bin/sleep")
            .arg("1000")
            .env_clear()
            .env("VICTIM", SECRET)
            .stdout(Stdio::null())
            .spawn()
            .expect("a victim");
        let semaphores = Semaphores::new();
        // Whatever changes a file now changes its times too.
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let file = std::fs::File::open(outside.join("file")).expect("a canary");
        file.set_modified(long_ago).expect("its time");
        Self { outside, modified: long_ago, tcp, udp, unix, semaphores, victim, printed: String::new() }
    }

    /// The attack's variables.
    fn environment(&self) -> Vec<(String, String)> {
        let port = self.tcp.local_addr().expect("its address").port();
        vec![
            ("OUT".into(), self.outside.display().to_string()),
            ("PORT".into(), port.to_string()),
            ("DATAGRAMS".into(), self.udp.local_addr().expect("its address").port().to_string()),
            ("SEMAPHORES".into(), self.semaphores.0.to_string()),
            ("VICTIM".into(), self.victim.id().to_string()),
            ("DAEMON".into(), std::process::id().to_string()),
        ]
    }

    /// Says which canaries were touched.
    fn touched(mut self) -> Vec<String> {
        let mut touched = Vec::new();
        for name in ["file", "victim.txt"] {
            if std::fs::read_to_string(self.outside.join(name)).is_ok_and(|text| text == SECRET) {
                continue;
            }
            touched.push(format!("{name} changed"));
        }
        let extra = std::fs::read_dir(&self.outside).expect("the folder").count();
        if extra != 3 {
            touched.push(format!("{extra} files outside"));
        }
        if self.tcp.accept().is_ok() {
            touched.push("TCP connection".into());
        }
        if self.udp.recv(&mut [0; 8]).is_ok() {
            touched.push("datagram".into());
        }
        if self.unix.accept().is_ok() {
            touched.push("local connection".into());
        }
        touched.extend(self.file_is_another().map(str::to_owned));
        touched.extend(self.victim_is_another().map(str::to_owned));
        if !self.semaphores.are_there() {
            touched.push("the semaphores are gone".into());
        }
        if self.victim.try_wait().expect("the victim").is_some() {
            touched.push("the victim ended".into());
        }
        if self.printed.contains(SECRET) {
            touched.push("the secret was seen".into());
        }
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        touched
    }
}

impl Canaries {
    /// Says what is different about the file, but for its content.
    fn file_is_another(&self) -> Option<&'static str> {
        let file = self.outside.join("file");
        let Ok(found) = std::fs::metadata(&file) else { return Some("no file") };
        let mut names = [0_u8; 256];
        if found.permissions().mode() & 0o777 != 0o644 {
            Some("another mode")
        } else if found.modified().ok() != Some(self.modified) {
            Some("another time")
        } else if rustix::fs::listxattr(&file, &mut names[..]).is_ok_and(|length| length > 0) {
            Some("another attribute")
        } else {
            None
        }
    }

    /// Says what is different about the process, but for its end.
    fn victim_is_another(&self) -> Option<&'static str> {
        let pid = rustix::process::Pid::from_child(&self.victim);
        let ours = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        // SAFETY: all-zero bytes are a limit; it is filled in by the call, which changes nothing.
        let (asked, limit) = unsafe {
            let mut limit: libc::rlimit = std::mem::zeroed();
            let process = pid.as_raw_nonzero().get();
            (libc::prlimit(process, libc::RLIMIT_NOFILE, std::ptr::null(), &raw mut limit), limit)
        };
        if asked == 0 && Some(limit.rlim_cur) != ours.current {
            Some("another limit")
        } else if rustix::process::getpriority_process(Some(pid))
            != rustix::process::getpriority_process(None)
        {
            Some("another priority")
        } else {
            None
        }
    }
}

/// A set of semaphores, which anybody of the same user finds by its number.
struct Semaphores(i32);

impl Semaphores {
    fn new() -> Self {
        // SAFETY: takes numbers only.
        Self(unsafe { libc::semget(libc::IPC_PRIVATE, 1, 0o600) })
    }

    fn are_there(&self) -> bool {
        // SAFETY: takes numbers only.
        unsafe { libc::semctl(self.0, 0, libc::GETVAL) >= 0 }
    }
}

impl Drop for Semaphores {
    fn drop(&mut self) {
        // SAFETY: takes numbers only; removes the set that was made here, if it is still there.
        unsafe { libc::semctl(self.0, 0, libc::IPC_RMID) };
    }
}

/// How an attack is written.
enum By {
    Shell(&'static str),
    Python(&'static str),
}

/// Runs an attack unconfined, and held in every way.
async fn check(attack: By) {
    check_held(attack, &HOLDS).await;
}

/// Runs an attack unconfined, and held where there are namespaces: what it does is not held without them, which
/// `docs/sandbox.md` says.
async fn check_in_namespaces(attack: By) {
    check_held(attack, &BOTH.map(Hold::Tier)).await;
}

async fn check_held(attack: By, holds: &[Hold]) {
    let host = Host::new();
    let (program, flag, script) = match attack {
        By::Shell(script) => ("/bin/sh", "-c", script),
        By::Python(script) => ("/usr/bin/python3", "-c", script),
    };

    let mut canaries = Canaries::new(&host);
    let mut control = Command::new(program);
    control.args([flag, script]).envs(canaries.environment()).current_dir(host.work());
    let output = control.stdin(Stdio::null()).output().expect("it runs unconfined");
    canaries.printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let touched = canaries.touched();
    assert!(
        !touched.is_empty(),
        "unconfined it touches nothing: {}",
        String::from_utf8_lossy(&output.stderr)
    );

    for &hold in holds {
        let (host, tier) = Host::new().held_as(hold);
        let mut canaries = Canaries::new(&host);
        let mut command = host.command(tier, program, &[flag, script]);
        command
            .environment
            .extend(canaries.environment().into_iter().map(|(name, value)| (name.into(), value.into())));
        let done = host.run(command).await;
        canaries.printed = done.output.clone();
        let touched = canaries.touched();
        assert!(touched.is_empty(), "{hold:?}: {touched:?} {done:?}");
    }
}
