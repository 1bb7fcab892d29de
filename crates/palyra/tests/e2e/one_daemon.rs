//! One daemon per state directory, whatever happens to the lock, the socket and the directory itself.

use std::io::{BufReader, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Child;

use palyra_client::read_lock_record;
use rustix::process::{Signal, kill_process};

use crate::home::{Home, ended, read_until, signal, until_ended};

#[test]
fn of_eight_that_start_at_once_one_serves_and_the_others_name_it() {
    let home = Home::new();
    let daemons: Vec<_> = (0..8).map(|_| home.command(&["serve"]).spawn().unwrap()).collect();
    home.palyra(&["run", "hello"]).expect(0);
    let winner = home.daemon_pid();
    let mut won = 0;
    for daemon in daemons {
        if i32::try_from(daemon.id()).unwrap() == winner.as_raw_pid() {
            won += 1;
            signal(&daemon, Signal::TERM);
            ended(daemon).expect(0);
            continue;
        }
        let lost = ended(daemon).expect(5);
        assert!(lost.err.contains("error[PLY-1402]: another daemon"), "{}", lost.err);
        assert_eq!(lost.json()[0]["code"], "PLY-1402", "{}", lost.out);
    }
    assert!(won <= 1, "a client may have started it");
    let status = home.palyra(&["journal", "status", "--json"]).expect(0).json();
    assert_eq!(status[0]["epoch"], 2, "only one ever served before");
}

#[test]
fn a_second_daemon_names_the_first_from_its_first_moment_on() {
    let home = Home::new();
    let mut first = home.command(&["serve"]).spawn().unwrap();
    read_until(&mut BufReader::new(first.stdout.take().unwrap()), "\"ready\":true");
    let second = home.palyra(&["serve"]).expect(5);
    let named = format!("another daemon (pid {}) serves {}", first.id(), home.state_dir().display());
    assert!(second.err.contains(&named), "{}", second.err);
    signal(&first, Signal::TERM);
    ended(first).expect(0);
}

/// Follows a run, takes the lock away with `remove`, and expects the run's reader to see its end by another daemon.
fn survives(remove: impl FnOnce(&Path)) {
    let home = Home::new();
    home.write("README.md", "# Twin\n\nOne of two.\n");
    let ask = "[pace=100] read README.md then list the files";
    // Entries come as they are recorded; a pipe would show the text only when it is whole.
    let mut reader = home.command(&["run", "--json", ask]).spawn().unwrap();
    let mut out = BufReader::new(reader.stdout.take().unwrap());
    let mut text = read_until(&mut out, "model_text");
    let old = home.daemon_pid();
    remove(&home.state_dir().join("lock"));
    home.palyra(&["run", "hello"]).expect(0);
    let new = home.daemon_pid();
    assert_ne!(old, new);
    out.read_to_string(&mut text).unwrap();
    let reader = ended(reader).expect(0);
    assert!(reader.err.contains("· the daemon is back; going on\n"), "{}", reader.err);
    assert!(text.contains("Twin"), "{text}");

    let tape = home.palyra(&["runs", "tail", "--json", "last"]);
    assert_eq!(tape.code, 0, "{}", tape.err);
    let verified = home.palyra(&["--no-start", "journal", "verify"]).expect(0);
    assert!(verified.out.starts_with("ok: "), "{}", verified.out);
    assert_eq!(home.daemon_pid(), new, "the old one took nothing away when it left");
    let log = std::fs::read_to_string(home.state_dir().join("log/palyrad.log")).unwrap();
    assert!(log.contains("the lock file is no longer in its place; stopping"), "{log}");
    until_ended(old);
}

#[test]
fn a_daemon_whose_lock_file_is_removed_leaves_and_takes_nothing_with_it() {
    survives(|lock| std::fs::remove_file(lock).unwrap());
}

#[test]
fn a_daemon_whose_lock_file_is_replaced_leaves_and_takes_nothing_with_it() {
    survives(|lock| {
        let copy = lock.with_extension("copy");
        std::fs::copy(lock, &copy).unwrap();
        std::fs::rename(copy, lock).unwrap();
    });
}

#[test]
fn a_stale_lock_is_taken_over_whoever_it_names() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    kill_process(home.daemon_pid(), Signal::KILL).unwrap();
    let lock = home.state_dir().join("lock");
    let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&lock).unwrap()).unwrap();
    // A number that somebody else has by now.
    record["pid"] = std::process::id().into();
    std::fs::write(&lock, record.to_string()).unwrap();
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0);
    assert_eq!(runs.json().len(), 1);
    for nonsense in ["", "{", "[]", "\u{0}\u{1}"] {
        home.palyra(&["admin", "stop"]).expect(0);
        std::fs::write(&lock, nonsense).unwrap();
        home.palyra(&["runs", "list"]).expect(0);
    }
}

/// Returns once a process has a file open, or has ended.
fn until_open(process: &mut Child, path: &Path) {
    let table = format!("/proc/{}/fd", process.id());
    let has = || {
        let mut files = std::fs::read_dir(&table).into_iter().flatten().flatten();
        files.any(|file| std::fs::read_link(file.path()).is_ok_and(|open| open == path))
    };
    while !has() && process.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
}

/// A child between `fork` and `exec` has the lock of its parent for a moment after that was killed.
#[test]
fn a_lock_whose_holder_is_dead_is_waited_for_until_its_last_child_lets_go() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let killed = home.daemon_pid();
    kill_process(killed, Signal::KILL).unwrap();
    until_ended(killed);
    let path = home.state_dir().join("lock").canonicalize().unwrap();
    let child = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    rustix::fs::flock(&child, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let mut next = home.command(&["serve"]).spawn().unwrap();
    until_open(&mut next, &path);
    drop(child);
    let told = read_until(&mut BufReader::new(next.stdout.take().unwrap()), "\n");
    assert!(told.contains("\"ready\":true"), "{told}");
    // The control: one that lives is named at once, and one that never lets go is not waited for for ever.
    let second = home.palyra(&["serve"]).expect(5);
    assert!(second.err.contains(&format!("another daemon (pid {})", next.id())), "{}", second.err);
    signal(&next, Signal::KILL);
    next.wait().unwrap();
    let child = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    rustix::fs::flock(&child, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    home.palyra(&["serve"]).expect(5);
}

#[test]
fn a_daemon_whose_socket_is_removed_opens_another_one_in_its_place() {
    let home = Home::new();
    let mut daemon = home.command(&["serve"]).spawn().unwrap();
    read_until(&mut BufReader::new(daemon.stdout.take().unwrap()), "\"ready\":true");
    home.palyra(&["run", "hello"]).expect(0);
    let socket = home.state_dir().join("palyrad.sock");
    for _ in 0..2 {
        std::fs::remove_file(&socket).unwrap();
        home.palyra(&["runs", "list"]).expect(0);
    }
    std::fs::remove_file(&socket).unwrap();
    symlink("/nowhere", &socket).unwrap();
    home.palyra(&["runs", "list"]).expect(0);
    let found = std::fs::symlink_metadata(&socket).unwrap();
    assert!(found.file_type().is_socket(), "the link gave way to a socket");
    assert_eq!(found.mode() & 0o777, 0o600);
    assert_eq!(i32::try_from(daemon.id()).unwrap(), home.daemon_pid().as_raw_pid(), "the same daemon");
    signal(&daemon, Signal::TERM);
    ended(daemon).expect(0);
    assert!(std::fs::symlink_metadata(&socket).is_err(), "it takes its socket away");
}

#[test]
fn a_link_with_the_name_of_the_daemon_is_the_daemon() {
    let home = Home::new();
    let link = home.work().with_file_name("palyrad");
    symlink(env!("CARGO_BIN_EXE_palyra"), &link).unwrap();
    let mut daemon = home.command_of(&link, &[]).spawn().unwrap();
    read_until(&mut BufReader::new(daemon.stdout.take().unwrap()), "\"ready\":true");
    home.palyra(&["--no-start", "run", "hello"]).expect(0);
    assert_eq!(i32::try_from(daemon.id()).unwrap(), home.daemon_pid().as_raw_pid());
    signal(&daemon, Signal::TERM);
    ended(daemon).expect(0);
}

#[test]
fn the_daemon_prints_its_version_under_each_of_its_names() {
    let home = Home::new();
    let link = home.work().with_file_name("palyrad");
    symlink(env!("CARGO_BIN_EXE_palyra"), &link).unwrap();
    for program in [link.as_path(), env!("CARGO_BIN_EXE_palyrad").as_ref()] {
        for flag in ["--version", "-V"] {
            let ended = ended(home.command_of(program, &[flag]).spawn().unwrap()).expect(0);
            assert_eq!(ended.out, concat!("palyra ", env!("CARGO_PKG_VERSION"), "\n"), "{}", ended.err);
        }
    }
    home.palyra(&["--no-start", "runs", "list"]).expect(4);
}

/// Expects every verb that needs the daemon to be refused with PLY-1403 and these words, and the mend to work.
#[track_caller]
fn unusable(home: &Home, words: &str) {
    let refused = home.palyra(&["run", "hello"]).expect(4);
    assert!(
        refused.err.contains("error[PLY-1403]: the daemon did not start: the state directory"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains(words), "{}", refused.err);
    assert!(
        refused.err.contains("choose a directory of your own with --state-dir or PALYRA_HOME"),
        "{}",
        refused.err
    );
    let elsewhere = home.work().with_file_name("elsewhere");
    let other = elsewhere.to_str().unwrap();
    home.palyra(&["--state-dir", other, "run", "hello"]).expect(0);
    home.palyra(&["--state-dir", other, "admin", "stop"]).expect(0);
    std::fs::remove_dir_all(elsewhere).unwrap();
}

#[test]
fn what_others_planted_in_place_of_the_state_is_refused_and_left_alone() {
    let home = Home::new();
    let (state, canary) = (home.state_dir(), home.work().join("canary"));
    std::fs::create_dir_all(state.parent().unwrap()).unwrap();
    std::fs::create_dir(&canary).unwrap();
    symlink(&canary, &state).unwrap();
    unusable(&home, "it is a link; name the folder that it leads to");
    std::fs::remove_file(&state).unwrap();
    symlink("/nowhere", &state).unwrap();
    unusable(&home, "it is a link");
    std::fs::remove_file(&state).unwrap();
    std::fs::write(&state, "precious").unwrap();
    unusable(&home, "it is not a folder");
    assert_eq!(std::fs::read_to_string(&state).unwrap(), "precious");
    std::fs::remove_file(&state).unwrap();

    std::fs::create_dir(&state).unwrap();
    let victim = canary.join("victim");
    std::fs::write(&victim, "precious").unwrap();
    symlink(&victim, state.join("lock")).unwrap();
    unusable(&home, "its `lock` is not a file; remove it");
    std::fs::remove_file(state.join("lock")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, state.join("lock"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    unusable(&home, "its `lock` is not a file; remove it");
    std::fs::remove_file(state.join("lock")).unwrap();
    symlink(&victim, state.join("palyrad.sock")).unwrap();
    home.palyra(&["run", "hello"]).expect(0);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    assert_eq!(std::fs::read_dir(&canary).unwrap().count(), 1, "nothing was made there");
}

#[test]
fn a_directory_open_to_others_is_closed_and_its_files_are_private() {
    let home = Home::new();
    std::fs::create_dir_all(home.state_dir()).unwrap();
    std::fs::set_permissions(home.state_dir(), std::fs::Permissions::from_mode(0o777)).unwrap();
    home.palyra(&["run", "hello"]).expect(0);
    let mode = |path: &Path| std::fs::symlink_metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&home.state_dir()), 0o700);
    for entry in std::fs::read_dir(home.state_dir()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn a_directory_where_others_could_write_is_refused_once_there_is_something_in_it() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    home.palyra(&["admin", "stop"]).expect(0);
    let set =
        |mode| std::fs::set_permissions(home.state_dir(), std::fs::Permissions::from_mode(mode)).unwrap();
    for open in [0o777, 0o720] {
        set(open);
        unusable(
            &home,
            &format!("others may write in it (mode {open:04o}); look at what is in it, then `chmod 700"),
        );
    }
    // The control: one that others could only read is closed, and one that was looked at is used again.
    for fine in [0o755, 0o700] {
        set(fine);
        home.palyra(&["runs", "list"]).expect(0);
        home.palyra(&["admin", "stop"]).expect(0);
        assert_eq!(std::fs::metadata(home.state_dir()).unwrap().mode() & 0o777, 0o700);
    }
}

#[test]
fn a_path_too_long_for_a_socket_works_all_the_same() {
    let home = Home::new();
    let state = home.work().with_file_name("x".repeat(120));
    let runtime_dir = home.work().with_file_name("run");
    std::fs::create_dir(&runtime_dir).unwrap();
    std::fs::set_permissions(&runtime_dir, std::fs::Permissions::from_mode(0o700)).unwrap();
    let home = home.with("PALYRA_HOME", state.to_str().unwrap());
    let home = home.with("XDG_RUNTIME_DIR", runtime_dir.to_str().unwrap());
    home.palyra(&["run", "hello"]).expect(0);
    let socket = read_lock_record(&state).unwrap().socket;
    assert!(Path::new(&socket).starts_with(&runtime_dir) && socket.len() <= 100, "{socket}");
    assert_eq!(home.palyra(&["--no-start", "runs", "list", "--json"]).expect(0).json().len(), 1);
    home.palyra(&["admin", "stop"]).expect(0);
    assert!(!Path::new(&socket).exists(), "a daemon takes its socket away");

    let dir = Path::new(&socket).parent().unwrap();
    std::fs::remove_dir(dir).unwrap();
    let canary = home.work().join("canary");
    std::fs::create_dir(&canary).unwrap();
    symlink(&canary, dir).unwrap();
    let refused = home.palyra(&["run", "hello"]).expect(4);
    assert!(
        refused.err.contains("PLY-1403") && refused.err.contains("remove it, or set XDG_RUNTIME_DIR"),
        "{}",
        refused.err
    );
    assert_eq!(std::fs::read_dir(&canary).unwrap().count(), 0);
    std::fs::remove_file(dir).unwrap();
    home.palyra(&["run", "hello"]).expect(0);
    home.palyra(&["admin", "stop"]).expect(0);
}

#[test]
fn without_a_home_the_person_is_told_what_to_set() {
    let home = Home::new();
    for (verb, code) in [(&["run", "hello"][..], 4), (&["doctor"], 4), (&["serve"], 1)] {
        let refused = ended(home.command(verb).env_remove("HOME").spawn().unwrap()).expect(code);
        assert!(refused.err.contains("PLY-1403") && refused.err.contains("PALYRA_HOME"), "{}", refused.err);
    }
    let state = home.work().with_file_name("elsewhere");
    let named = |verb: &[&str]| {
        let mut command = home.command(verb);
        command.env_remove("HOME").env("PALYRA_HOME", &state);
        ended(command.spawn().unwrap())
    };
    named(&["run", "hello"]).expect(0);
    named(&["admin", "stop"]).expect(0);
}

#[test]
fn a_daemon_that_says_nothing_is_named_and_the_mend_works() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let stuck = home.daemon_pid();
    kill_process(stuck, Signal::STOP).unwrap();
    let number = stuck.as_raw_pid();
    let doctor = home.palyra(&["doctor"]).expect(4);
    let waits = format!("! the daemon (process {number}) does not answer; waiting for it\n");
    assert!(doctor.err.contains(&waits), "{}", doctor.err);
    let named = format!("error[PLY-1401]: process {number} holds the lock of ");
    assert!(doctor.out.contains(&named), "{}", doctor.out);
    assert!(doctor.out.contains(&format!("`kill -9 {number}`: nothing recorded is lost")), "{}", doctor.out);

    // One that is only slow is used as soon as it answers.
    let mut patient = home.command(&["runs", "list", "--json"]).spawn().unwrap();
    let mut err = BufReader::new(patient.stderr.take().unwrap());
    read_until(&mut err, &waits);
    kill_process(stuck, Signal::CONT).unwrap();
    assert_eq!(ended(patient).expect(0).json().len(), 1);
    assert_eq!(home.daemon_pid(), stuck);

    kill_process(stuck, Signal::STOP).unwrap();
    kill_process(stuck, Signal::KILL).unwrap();
    assert_eq!(home.palyra(&["runs", "list", "--json"]).expect(0).json().len(), 1);
}
