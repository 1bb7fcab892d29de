//! Faults are planted through real files and processes, one after the other: `palyra doctor` finds each within two
//! seconds, says what to do, and finds it no more once that is done. A healthy installation has no such line.

use std::fs;
use std::io::BufReader;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use palyra_model_server::{Behaviour, Reply};
use rustix::process::{Signal, kill_process};
use serde_json::Value;

use crate::bound_hosts::identity;
use crate::home::{Ended, Home, read_until, until_ended};
use crate::openai_server::{runtime, serve};
use crate::web_server::WebServer;

/// How long a look at everything may take.
const FOUND_WITHIN: Duration = Duration::from_secs(2);
/// Of several looks the fastest counts, since other tests run beside this one.
const LOOKS_MAX: usize = 8;

/// What the doctor is to say of one fault.
struct Expected {
    row: &'static str,
    found: &'static str,
    mend: &'static str,
}

fn look(home: &Home, arguments: &[&str]) -> (Vec<Value>, Ended) {
    let ended = home.palyra(&[arguments, &["doctor", "--json"]].concat());
    (ended.json(), ended)
}

fn rows<'a>(checks: &'a [Value], row: &str) -> Vec<&'a Value> {
    checks.iter().filter(|check| check["name"] == row && check["level"] != "ok").collect()
}

/// Looks until a row is there and the look was fast enough; returns its mend.
#[track_caller]
fn finds_with(home: &Home, arguments: &[&str], expected: &Expected) -> String {
    let mut fastest = Duration::MAX;
    let mut said = Vec::new();
    for _ in 0..LOOKS_MAX {
        let begun = Instant::now();
        let (checks, ended) = look(home, arguments);
        fastest = fastest.min(begun.elapsed());
        let has = |check: &&&Value| check["found"].as_str().unwrap().contains(expected.found);
        if let Some(check) = rows(&checks, expected.row).iter().find(has) {
            let mend = check["mend"].as_str().unwrap().to_owned();
            assert!(mend.contains(expected.mend), "{}: {mend}", expected.row);
            if fastest < FOUND_WITHIN {
                // The same in words, and with an exit code where something does not work.
                let plain = home.palyra(&[arguments, &["doctor"]].concat());
                assert!(plain.out.contains(expected.found), "{}", plain.out);
                assert_eq!(check["level"] == "error", ended.code != 0, "{} {}", expected.row, ended.out);
                return mend;
            }
        }
        said = checks;
    }
    panic!("`{}` with `{}` within {fastest:?}: {said:#?}", expected.row, expected.found);
}

#[track_caller]
fn finds(home: &Home, row: &'static str, found: &'static str, mend: &'static str) -> String {
    finds_with(home, &[], &Expected { row, found, mend })
}

/// Does what the last words between backticks say.
fn follow(home: &Home, mend: &str) {
    let command = mend.rsplit('`').nth(1).unwrap();
    match command.strip_prefix("palyra ") {
        Some(verb) => drop(home.palyra(&verb.split(' ').collect::<Vec<_>>()).expect(0)),
        None => assert!(Command::new("sh").args(["-c", command]).status().unwrap().success(), "{command}"),
    }
}

#[track_caller]
fn clear(home: &Home, row: &str) {
    let (checks, _) = look(home, &[]);
    assert!(rows(&checks, row).is_empty(), "{row}: {checks:#?}");
}

/// A home whose daemon runs, after one run.
fn house() -> Home {
    let home = Home::new();
    home.write("README.md", "# Amber\n");
    home.palyra(&["run", "read README.md"]).expect(0);
    home
}

fn configure(home: &Home, text: &str) {
    fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    fs::write(home.config_file(), text).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn kill(home: &Home) {
    let daemon = home.daemon_pid();
    kill_process(daemon, Signal::KILL).unwrap();
    until_ended(daemon);
}

#[test]
fn a_healthy_installation_has_no_line_to_act_on() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("here")));
    let home = house();
    for text in
        ["", &format!("model.default = \"box/m\"\n[providers.box]\nbase_url = \"{}\"\n", server.base_url())]
    {
        configure(&home, text);
        home.palyra(&["run", "hello"]).expect(0);
        let (checks, ended) = look(&home, &[]);
        // What holds programs is a matter of the host.
        let bad = checks.iter().filter(|check| check["level"] != "ok" && check["name"] != "tool_isolation");
        assert_eq!(bad.collect::<Vec<_>>(), [&Value::Null; 0], "{}", ended.out);
        assert!(checks.len() >= 20, "{}", ended.out);
    }
}

#[test]
fn faults_of_the_state_directory_are_found_and_mended() {
    let home = house();
    let state = home.state_dir();

    set_mode(&state, 0o755);
    follow(&home, &finds(&home, "state_dir", "can be entered by others", "chmod 700"));
    clear(&home, "state_dir");

    let key = fs::read_dir(state.join("keys"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_file());
    let key = key.unwrap();
    set_mode(&key, 0o644);
    follow(&home, &finds(&home, "private_files", "others may read keys/", "chmod 600"));
    clear(&home, "private_files");
    set_mode(&state.join("journal.db"), 0o640);
    follow(&home, &finds(&home, "private_files", "others may read journal.db", "chmod 600"));
    clear(&home, "private_files");

    set_mode(&state.join("log"), 0o500);
    follow(&home, &finds(&home, "log", "cannot be written", "chmod u+w"));
    clear(&home, "log");

    fs::rename(state.join("log"), state.join("log.before")).unwrap();
    fs::write(state.join("log"), "in the way").unwrap();
    follow(&home, &finds(&home, "log", "is in the way", "mv "));
    clear(&home, "log");

    fs::create_dir_all(state.join("kept-aside/1-2")).unwrap();
    follow(&home, &finds(&home, "kept_aside", "1 in ", "rm -r"));
    clear(&home, "kept_aside");

    let tomorrow = state.join("from-tomorrow");
    fs::write(&tomorrow, "").unwrap();
    let then = SystemTime::now() + Duration::from_secs(86_400);
    fs::File::options().write(true).open(&tomorrow).unwrap().set_modified(then).unwrap();
    finds(&home, "clock", "from-tomorrow was changed", "timedatectl");
    fs::remove_file(tomorrow).unwrap();
    clear(&home, "clock");

    let list = state.join("components/offered.json");
    fs::create_dir_all(list.parent().unwrap()).unwrap();
    fs::write(&list, "[{").unwrap();
    finds(&home, "components", "is damaged", "palyra admin stop");
    fs::write(&list, format!("[{{\"name\":\"lost\",\"sha256\":\"{}\"}}]", "ab".repeat(32))).unwrap();
    finds(&home, "components", "the file of lost cannot be read", "palyra tools remove lost");
    fs::write(&list, "[]").unwrap();
    clear(&home, "components");
}

#[test]
fn a_disk_that_is_nearly_full_is_found() {
    let home = house();
    home.palyra(&["admin", "stop"]).expect(0);
    let plain = home.command(&["doctor"]);
    let mut command = Command::new("unshare");
    let script = "mount -t tmpfs -o size=64m none \"$1\" && shift && exec \"$@\"";
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]).arg(home.state_dir());
    command.arg(plain.get_program()).args(["doctor", "--json", "--no-start"]).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let said = command.output().expect("`unshare` (util-linux) makes the file system for this test");
    let said = String::from_utf8(said.stdout).unwrap();
    let checks: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found = rows(&checks, "free_space");
    assert!(found.len() == 1 && found[0]["mend"].as_str().unwrap().contains("free some space"), "{said}");
}

/// Locks a file for as long as it lives, as a process that is no daemon.
fn lock_holder(lock: &Path) -> Child {
    let script = "import fcntl,sys,time\nf=open(sys.argv[1])\nfcntl.flock(f,fcntl.LOCK_EX)\nprint('held',flush=True)\ntime.sleep(600)";
    let mut child =
        Command::new("python3").args(["-c", script]).arg(lock).stdout(Stdio::piped()).spawn().unwrap();
    read_until(&mut BufReader::new(child.stdout.take().unwrap()), "held");
    child
}

#[test]
fn faults_of_the_lock_and_of_the_process_are_found_and_mended() {
    let home = house();
    kill(&home);
    let expected = Expected { row: "lock", found: "left by process", mend: "palyra doctor" };
    let mend = finds_with_exit_four(&home, &expected);
    drop(home.palyra(&mend.rsplit('`').nth(1).unwrap().split(' ').skip(1).collect::<Vec<_>>()));
    clear(&home, "lock");

    home.palyra(&["admin", "stop"]).expect(0);
    let mut holder = lock_holder(&home.state_dir().join("lock"));
    follow(&home, &finds(&home, "lock", "and is not a daemon", "kill "));
    holder.wait().unwrap();
    clear(&home, "lock");

    // An older daemon that has an open run stays beside a newer client.
    home.palyra(&["admin", "stop"]).expect(0);
    let older = home.work().join("older-palyra");
    fs::copy(env!("CARGO_BIN_EXE_palyra"), &older).unwrap();
    let then = SystemTime::now() - Duration::from_secs(86_400);
    fs::File::options().append(true).open(&older).unwrap().set_modified(then).unwrap();
    let plain = home.command(&["serve"]);
    let mut command = Command::new(&older);
    command.arg("serve").env_clear().stdout(Stdio::piped()).stderr(Stdio::null());
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut daemon = command.spawn().unwrap();
    read_until(&mut BufReader::new(daemon.stdout.take().unwrap()), "\"ready\":true");
    let mut waits = Command::new(&older);
    waits.args(["run", "create a.txt with x"]).current_dir(home.work()).env_clear();
    waits.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert_eq!(waits.stdin(Stdio::null()).output().unwrap().status.code(), Some(3));
    follow(
        &home,
        &finds(&home, "build", "another build than this program", "palyra admin stop")
            .replace(" does it now", ""),
    );
    daemon.wait().unwrap();
    clear(&home, "build");
}

/// As [`finds_with`], where no daemon serves and none may be started.
#[track_caller]
fn finds_with_exit_four(home: &Home, expected: &Expected) -> String {
    let begun = Instant::now();
    let (checks, ended) = look(home, &["--no-start"]);
    assert_eq!(ended.code, 4, "{}", ended.out);
    assert!(begun.elapsed() < FOUND_WITHIN * 4, "{:?}", begun.elapsed());
    let found = rows(&checks, expected.row);
    assert!(found.len() == 1 && found[0]["found"].as_str().unwrap().contains(expected.found), "{checks:#?}");
    found[0]["mend"].as_str().unwrap().to_owned()
}

#[test]
fn faults_of_the_configuration_and_of_the_policies_are_found_and_mended() {
    let home = house();
    configure(&home, "[limits]\nturns_max = 7\n");
    follow(
        &home,
        &finds(&home, "configuration_file", "not applied yet: limits.turns_max", "palyra config reload"),
    );
    clear(&home, "configuration_file");

    configure(&home, "[limits]\nturns_maks = 7\n");
    finds(&home, "configuration_file", "a reload would refuse it", "palyra config check");
    finds(&home, "config_file", "turns_maks", "palyra config check");
    configure(&home, "");
    home.palyra(&["config", "reload"]).expect(0);
    clear(&home, "config_file");
    clear(&home, "configuration_file");

    let policies = home.config_file().with_file_name("policies");
    fs::create_dir_all(&policies).unwrap();
    let rule =
        "@id(\"mine\")\n@reason(\"a test\")\nforbid (principal, action, resource == Tool::\"write_file\");\n";
    fs::write(policies.join("mine.cedar"), rule).unwrap();
    follow(&home, &finds(&home, "policy_files", "not applied yet", "palyra config reload"));
    clear(&home, "policy_files");

    fs::write(policies.join("mine.cedar"), "forbid nonsense").unwrap();
    finds(&home, "policy_files", "a reload would refuse them", "palyra policy check");
    fs::remove_dir_all(&policies).unwrap();
    home.palyra(&["config", "reload"]).expect(0);
    clear(&home, "policy_files");

    configure(&home, "[policy]\ndir = \"/nowhere/at/all\"\n");
    finds(&home, "config_file", "`policy.dir` names /nowhere/at/all", "palyra config check");
    home.palyra(&["admin", "stop"]).expect(0);
    finds(&home, "policy_dir", "policy.dir names /nowhere/at/all", "palyra config reload");
    configure(&home, "");
    home.palyra(&["config", "reload"]).expect(0);
    clear(&home, "policy_dir");
}

#[test]
fn faults_that_keep_a_daemon_from_starting_are_found_with_their_mend() {
    let fails = |text: &str, found: &str, mend: &str| {
        let home = Home::new();
        configure(&home, text);
        let (checks, ended) = look(&home, &[]);
        assert_eq!(ended.code, 4, "{}", ended.out);
        let rows = rows(&checks, "daemon");
        assert!(rows.len() == 1 && rows[0]["found"].as_str().unwrap().contains(found), "{checks:#?}");
        assert!(rows[0]["mend"].as_str().unwrap().contains(mend), "{checks:#?}");
        configure(&home, "");
        clear(&home, "daemon");
    };
    let foreign = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = foreign.local_addr().unwrap().port();
    fails(
        &format!("[listen]\ntcp = \"127.0.0.1:{port}\"\n"),
        "cannot be bound",
        "another program listens there",
    );
    let keyed = "model.default = \"x/m\"\n[providers.x]\nbase_url = \"http://127.0.0.1:1/v1\"\nkey = \"env:NOPE_KEY\"\n";
    fails(keyed, "`NOPE_KEY` is not set in the daemon's environment", "set it in this environment");

    let home = house();
    kill_process(home.daemon_pid(), Signal::STOP).unwrap();
    let (checks, ended) = look(&home, &[]);
    kill_process(home.daemon_pid(), Signal::CONT).unwrap();
    assert!(
        ended.code == 4 && ended.out.contains("does not answer") && ended.out.contains("kill -9"),
        "{checks:#?}"
    );
}

#[test]
fn faults_of_models_are_found_and_mended() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("here")).with_key("sesame"));
    let (tls, _) = identity();
    let untrusted =
        WebServer::start_tls(&tls, |_| Some("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]".to_owned()));
    let home = house();
    let provider = |url: &str| format!("model.default = \"box/m\"\n[providers.box]\nbase_url = \"{url}\"\n");
    let in_force = |text: &str| {
        configure(&home, text);
        home.palyra(&["config", "reload"]).expect(0);
    };
    in_force(&provider("http://127.0.0.1:1/v1"));
    finds(&home, "models", "box: PLY-3010", "start its server, or correct `providers.box.base_url`");
    in_force(&provider(&format!("https://{}/v1", untrusted.place())));
    finds(&home, "models", "certificate", "the certificate of `providers.box.base_url`");
    in_force(&provider(&server.base_url()));
    finds(&home, "models", "box: PLY-3001", "below `[providers.box]`");
    in_force("");
    clear(&home, "models");

    let key = home.work().join("box key");
    fs::write(&key, "sesame").unwrap();
    set_mode(&key, 0o644);
    in_force(&format!("{}key = \"file:{}\"\n", provider(&server.base_url()), key.display()));
    let mend = finds(&home, "key_files", "of `providers.box.key` has the mode 644", "chmod 600");
    follow(&home, &mend);
    clear(&home, "key_files");
    in_force("");

    let home = home.with("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let mend = finds(&home, "model_selection", "the daemon uses demo/demo", "palyra admin stop");
    let command = mend.split('`').nth(1).unwrap();
    home.palyra(&command.split(' ').skip(1).collect::<Vec<_>>()).expect(0);
    clear(&home, "model_selection");
}

fn copy_of_skill(home: &Home) -> PathBuf {
    fs::read_dir(home.state_dir().join("skills")).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn a_quarantined_skill_and_a_removed_journal_file_are_found_and_mended() {
    let home = house();
    fs::create_dir_all(home.work().join("notes")).unwrap();
    let text = "---\nname: notes\ndescription: Reads notes.\nallowed-tools: read_file\n---\nQuote.\n";
    home.write("notes/SKILL.md", text);
    home.palyra(&["tools", "skills", "install", "notes"]).expect(0);
    home.palyra(&["tools", "skills", "enable", "notes"]).expect(0);
    let copied = copy_of_skill(&home).join("SKILL.md");
    set_mode(&copied, 0o600);
    fs::write(&copied, text.replace("Quote", "Guess")).unwrap();
    home.palyra(&["run", "read README.md"]);
    finds(&home, "skills", "quarantined", "palyra tools skills list");
    home.palyra(&["tools", "skills", "remove", "notes"]).expect(0);
    clear(&home, "skills");

    fs::remove_file(home.state_dir().join("journal.db-wal")).unwrap();
    finds(&home, "journal_writable", "entries", "a file of the journal was removed");
    home.palyra(&["admin", "stop"]).expect(0);
    clear(&home, "journal_writable");
}
