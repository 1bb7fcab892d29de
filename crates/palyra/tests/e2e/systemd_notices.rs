//! What a service manager hears from a daemon: a real socket, real messages.

use std::io::BufReader;
use std::os::unix::net::UnixDatagram;
use std::process::Child;
use std::time::Duration;

use rustix::process::Signal;

use crate::home::{Home, ended, read_until, signal};

/// A message that does not come within this never comes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The service manager's end.
struct Listener {
    socket: UnixDatagram,
}

impl Listener {
    fn bind(home: &Home) -> (Self, String) {
        let path = home.work().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        (Self { socket }, path.display().to_string())
    }

    /// Returns the lines of the next message.
    fn next(&self) -> Vec<String> {
        let mut message = [0; 4096];
        let count = self.socket.recv(&mut message).expect("a message");
        String::from_utf8(message[..count].to_vec()).unwrap().lines().map(str::to_owned).collect()
    }

    /// Returns the next message that is no sign of life.
    fn news(&self) -> Vec<String> {
        loop {
            let lines = self.next();
            if lines != ["WATCHDOG=1"] {
                return lines;
            }
        }
    }
}

fn served(home: &Home) -> Child {
    let mut child = home.command(&["serve"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    read_until(&mut out, "\"ready\":true");
    child
}

/// Returns the number that a line gives a name.
fn number(lines: &[String], name: &str) -> u64 {
    let found = lines.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    found.unwrap_or_else(|| panic!("no {name} in {lines:?}")).parse().unwrap()
}

#[test]
fn a_service_manager_hears_of_every_turn() {
    let home = Home::new();
    let (listener, socket) = Listener::bind(&home);
    let home = home.with("NOTIFY_SOCKET", &socket).with("PALYRA__DAEMON__DRAIN_SECONDS", "7");
    let daemon = served(&home);
    let ready = listener.news();
    assert_eq!(ready[0], "READY=1");
    assert!(ready[1].starts_with("STATUS=serving unix:"), "{ready:?}");

    signal(&daemon, Signal::HUP);
    let reloading = listener.news();
    assert_eq!(reloading[0], "RELOADING=1");
    assert!(number(&reloading, "MONOTONIC_USEC") > 0);
    let again = listener.news();
    assert_eq!(again, ["READY=1", "STATUS=serving, with the configuration read again"]);

    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), "nonsense = 1").unwrap();
    signal(&daemon, Signal::HUP);
    assert_eq!(listener.news()[0], "RELOADING=1");
    let refused = listener.news();
    assert_eq!(refused[0], "READY=1", "it serves on");
    assert!(refused[1].contains("old configuration"), "{refused:?}");

    signal(&daemon, Signal::TERM);
    let stopping = listener.news();
    assert_eq!(stopping[0], "STOPPING=1");
    assert_eq!(number(&stopping, "EXTEND_TIMEOUT_USEC"), 17_000_000);
    ended(daemon).expect(0);
}

#[test]
fn signs_of_life_come_as_often_as_they_are_wished_for() {
    let home = Home::new();
    let (listener, socket) = Listener::bind(&home);
    let home = home.with("NOTIFY_SOCKET", &socket).with("WATCHDOG_USEC", "300000");
    let daemon = served(&home);
    assert_eq!(listener.news()[0], "READY=1");
    for _ in 0..3 {
        assert_eq!(listener.next(), ["WATCHDOG=1"]);
    }
    signal(&daemon, Signal::TERM);
    ended(daemon).expect(0);
}

#[test]
fn a_service_manager_that_is_deaf_or_gone_holds_nothing_up() {
    let home = Home::new();
    let (deaf, full) = Listener::bind(&home);
    // Its queue is full before the daemon says a word.
    let filler = UnixDatagram::unbound().unwrap();
    filler.set_nonblocking(true).unwrap();
    while filler.send_to(b"x", &full).is_ok() {}
    let gone = home.work().join("gone").display().to_string();
    let odd = ["", "@", "relative", "@/nobody/there", "/dev/null", "/", &gone, &"x".repeat(5_000)];
    for socket in [full.as_str()].into_iter().chain(odd) {
        let home = Home::new().with("NOTIFY_SOCKET", socket).with("WATCHDOG_USEC", "300000");
        let daemon = served(&home);
        signal(&daemon, Signal::HUP);
        home.palyra(&["--no-start", "run", "hello"]).expect(0);
        signal(&daemon, Signal::TERM);
        ended(daemon).expect(0);
    }
    drop(deaf);
}

#[test]
fn a_service_manager_may_listen_at_an_abstract_name() {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("palyra-test-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let socket = UnixDatagram::bind_addr(&address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let listener = Listener { socket };
    let home = Home::new().with("NOTIFY_SOCKET", &format!("@{name}"));
    let daemon = served(&home);
    assert_eq!(listener.news()[0], "READY=1");
    signal(&daemon, Signal::TERM);
    ended(daemon).expect(0);
}

#[test]
fn a_daemon_that_a_command_started_speaks_to_nobody() {
    let home = Home::new();
    let (listener, socket) = Listener::bind(&home);
    let home = home.with("NOTIFY_SOCKET", &socket).with("WATCHDOG_USEC", "300000");
    home.palyra(&["run", "hello"]).expect(0);
    home.palyra(&["admin", "stop"]).expect(0);
    listener.socket.set_nonblocking(true).unwrap();
    assert!(listener.socket.recv(&mut [0; 64]).is_err(), "somebody else's service manager");
}

#[test]
fn the_unit_that_is_shipped_names_what_the_daemon_does() {
    let unit = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/systemd/palyrad.service");
    let unit = std::fs::read_to_string(unit).unwrap();
    for line in ["Type=notify-reload", "NotifyAccess=main", "NoNewPrivileges=yes", "UMask=0077"] {
        assert!(unit.lines().any(|found| found == line), "{line}");
    }
    assert!(unit.lines().any(|line| line.starts_with("WatchdogSec=")));
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    assert!(start.ends_with("/palyrad"), "{start}");
}
