//! What is typed, piped and sent wrongly: one error with its code, nothing recorded, and the daemon goes on.

use std::ffi::OsStr;
use std::io::{BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;

use palyra_client::read_lock_record;
use rustix::process::Signal;

use crate::home::{Ended, Home, ended, read_until, signal};

fn piped(home: &Home, arguments: &[&str], input: &[u8]) -> Ended {
    let mut child = home.command(arguments).stdin(std::process::Stdio::piped()).spawn().unwrap();
    // One that has heard enough closes its end.
    let _ = child.stdin.take().unwrap().write_all(input);
    ended(child)
}

#[test]
fn an_input_that_is_too_large_is_refused_with_its_limit_and_the_mend_works() {
    let home = Home::new();
    let text = "a line of text\n".repeat((1 << 20) / 15 + 1);
    let refused = home.palyra_reading(&["run", "-"], &text).expect(2);
    let told = format!("error[PLY-1003]: the input has {} bytes; at most 524288 are taken\n", text.len() - 1);
    assert!(refused.err.contains(&told), "{}", refused.err);
    assert!(refused.err.contains("  send less, or put it into a file of this folder"), "{}", refused.err);
    let refused = piped(&home, &["run"], &vec![b'a'; 5 << 20]).expect(2);
    assert!(refused.err.contains("error[PLY-1003]: standard input is larger than"), "{}", refused.err);
    assert!(home.palyra(&["runs", "list", "--json"]).expect(0).json().is_empty(), "nothing was recorded");
    home.write("long.txt", &text);
    let read = home.palyra(&["run", "read long.txt"]).expect(0);
    assert!(read.out.contains("a line of text"), "{}", read.out);

    let most = "a".repeat(524_288);
    home.palyra_reading(&["run", "-"], &most).expect(0);
    let key = "k".repeat(5_000);
    let refused = home.palyra(&["run", "--session", &key, "hello"]).expect(2);
    assert!(
        refused.err.contains("error[PLY-1004]: a session key has 1 to 512 characters"),
        "{}",
        refused.err
    );
}

#[test]
fn what_is_not_text_is_refused_and_named() {
    let home = Home::new();
    let bad = OsStr::from_bytes(b"caf\xe9");
    for arguments in [&["run"][..], &["run", "--session"]] {
        let child = home.command(arguments).arg(bad).spawn().unwrap();
        let refused = ended(child).expect(2);
        assert!(refused.err.contains("invalid UTF-8"), "{}", refused.err);
    }
    let refused = piped(&home, &["run"], b"caf\xe9").expect(2);
    assert!(refused.err.contains("error[PLY-1004]: standard input is not valid UTF-8\n"), "{}", refused.err);
    let folder = home.work().join(bad);
    std::fs::create_dir(&folder).unwrap();
    let refused = ended(home.command(&["run", "hello"]).current_dir(&folder).spawn().unwrap()).expect(2);
    assert!(
        refused.err.contains("error[PLY-1004]: this folder's name is not valid UTF-8"),
        "{}",
        refused.err
    );
    assert!(home.palyra(&["runs", "list", "--json"]).expect(0).json().is_empty());
}

#[test]
fn files_that_are_not_text_are_read_as_far_as_they_are_and_never_reach_the_terminal_raw() {
    let home = Home::new();
    std::fs::write(home.work().join("bad.txt"), b"# Title \xfe\ncaf\xe9 \x80\xff\n").unwrap();
    std::fs::write(home.work().join("evil.txt"), "# Evil\n\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}text\n")
        .unwrap();
    std::fs::write(home.work().join("bytes.bin"), [0_u8, 1, 2, 255]).unwrap();
    std::fs::write(home.work().join(OsStr::from_bytes(b"n\xe9.md")), "# Named\n").unwrap();
    let read = home.palyra(&["run", "read bad.txt"]).expect(0);
    assert!(read.out.contains("Title \u{fffd}"), "{}", read.out);
    let found = home.palyra(&["run", "search for \"Title\""]).expect(0);
    assert!(found.out.contains("bad.txt:1: `# Title \u{fffd}"), "{}", found.out);
    for ask in ["read evil.txt", "search for \"Evil\"", "list the files", "find *.md"] {
        let told = home.palyra(&["run", ask]).expect(0);
        assert!(!told.err.contains(['\u{1b}', '\u{202e}']), "{}", told.err);
        let json = home.palyra(&["runs", "tail", "--json", "last"]).expect(0);
        assert!(!json.out.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{}", json.out);
    }
    let binary = home.palyra(&["run", "read bytes.bin"]).expect(0);
    assert!(binary.err.contains("✗ PLY-4005 "), "{}", binary.err);
}

#[test]
fn bytes_that_are_no_call_close_one_connection_and_no_more() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let socket = read_lock_record(&home.state_dir()).unwrap().socket;
    let preface: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let frame = |length: u32, kind: u8, flags: u8, stream: u32, body: &[u8]| {
        let mut bytes = length.to_be_bytes()[1..].to_vec();
        bytes.extend([kind, flags]);
        bytes.extend(stream.to_be_bytes());
        bytes.extend(body);
        bytes
    };
    let settings = frame(0, 4, 0, 0, b"");
    let with = |more: Vec<u8>| [preface, &settings, &more].concat();
    for bytes in [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        vec![0; 4_096],
        [preface, &[0xff; 64]].concat(),
        // A length of 16 MiB, headers that are no HPACK, data on a stream that was never opened, a bad window.
        with(frame(0x00ff_ffff, 0, 0, 1, b"")),
        with(frame(4, 1, 4, 1, &[0xff; 4])),
        with(frame(5, 0, 1, 7, b"hello")),
        with(frame(4, 8, 0, 0, &[0; 4])),
    ] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(&bytes).unwrap();
        let mut answer = Vec::new();
        // It ends; what it says before is its own affair.
        let _ = stream.read_to_end(&mut answer);
    }
    assert_eq!(home.palyra(&["--no-start", "runs", "list", "--json"]).expect(0).json().len(), 1);
    home.palyra(&["--no-start", "journal", "verify"]).expect(0);
}

/// Two principals with tokens, at one daemon's TCP listener.
struct Two {
    home: Home,
    daemon: std::process::Child,
    address: String,
    tokens: [String; 2],
}

impl Two {
    fn start() -> Self {
        let home = Home::new();
        let mut daemon = home.command(&["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        read_until(&mut BufReader::new(daemon.stdout.take().unwrap()), "\"ready\":true");
        let checks = home.palyra(&["doctor", "--json"]).expect(0).json();
        let listening = checks.iter().find(|check| check["name"] == "listening").unwrap();
        let found = listening["found"].as_str().unwrap();
        let port = found.split("127.0.0.1:").nth(1).unwrap().split(',').next().unwrap();
        let address = format!("http://127.0.0.1:{port}");
        let token =
            |name: &str| home.palyra(&["admin", "tokens", "create", name]).expect(0).out.trim().to_owned();
        let tokens = [token("user:alice"), token("user:mallory")];
        Self { home, daemon, address, tokens }
    }

    fn ask(&self, who: usize, arguments: &[&str]) -> Ended {
        let all = [&["--connect", &self.address][..], arguments].concat();
        ended(self.home.command(&all).env("PALYRA_TOKEN", &self.tokens[who]).spawn().unwrap())
    }
}

/// Makes a command line from a run and its session.
type Call<'a> = &'a dyn Fn(&str, &str) -> Vec<String>;

#[test]
fn a_stranger_s_ids_are_answered_like_ids_that_nobody_has() {
    let two = Two::start();
    let mine = two.ask(0, &["run", "--json", "hello"]).expect(0).json();
    let run = mine[0]["run_id"].as_str().unwrap().to_owned();
    let session = two.ask(0, &["sessions", "list", "--json"]).expect(0).json()[0]["session_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let nobodys = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let calls: [Call; 7] = [
        &|run, _| vec!["runs".into(), "show".into(), run.into()],
        &|run, _| vec!["runs".into(), "tail".into(), run.into()],
        &|run, _| vec!["runs".into(), "cancel".into(), run.into()],
        &|run, _| vec!["runs".into(), "answer".into(), run.into(), "yes".into()],
        &|_, session| vec!["sessions".into(), "show".into(), session.into()],
        &|_, session| vec!["sessions".into(), "reset".into(), session.into()],
        &|_, session| vec!["run".into(), "--session".into(), session.into(), "hello".into()],
    ];
    for call in calls {
        let answer = |run: &str, session: &str| {
            let arguments = call(run, session);
            let ended = two.ask(1, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
            let told = ended.err.replace(run, "RUN").replace(session, "SESSION");
            (ended.code, ended.out, told)
        };
        let of_a_stranger = answer(&run, &session);
        assert_eq!(of_a_stranger, answer(nobodys, nobodys));
        assert!(of_a_stranger.0 == 1 && of_a_stranger.2.contains("error[PLY-110"), "{of_a_stranger:?}");
    }
    assert!(two.ask(1, &["runs", "list", "--json"]).expect(0).out.is_empty());
    assert!(two.ask(1, &["sessions", "list", "--json"]).expect(0).out.is_empty());
    let state = &two.ask(0, &["runs", "show", "--json", &run]).expect(0).json()[0]["state"];
    assert_eq!(*state, "RUN_STATE_DONE", "untouched");
    // What is the machine's own is for nobody with a token.
    for verb in
        [&["journal", "verify"][..], &["config", "show"], &["admin", "tokens", "list"], &["journal", "show"]]
    {
        let refused = two.ask(0, verb).expect(1);
        assert!(refused.err.contains("error[PLY-1203]"), "{verb:?}: {}", refused.err);
    }
    let Two { home: _home, daemon, .. } = two;
    signal(&daemon, Signal::TERM);
    ended(daemon).expect(0);
}

#[test]
fn an_empty_name_or_a_list_of_nothing_is_a_slip() {
    let home = Home::new();
    for arguments in [
        &["run", "--session", "", "hello"][..],
        &["run", "--session", "", "--steer", "hello"],
        &["chat", "--session", ""],
        &["sessions", "list", "--limit", "0"],
        &["runs", "list", "--limit", "0"],
    ] {
        let refused = home.palyra(arguments).expect(2);
        assert!(refused.out.is_empty() && refused.err.contains("--"), "{}", refused.err);
    }
    assert!(!home.state_dir().exists(), "nobody was started for it");
    let talk = "/model nowhere/small\nhello\n";
    let talked = home.palyra_reading(&["chat"], talk).expect(0);
    assert!(talked.err.contains("no provider `nowhere` is configured"), "{}", talked.err);
    assert!(!talked.out.is_empty(), "the model before answers on");
}
