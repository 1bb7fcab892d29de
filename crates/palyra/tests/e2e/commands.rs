//! Programs that a model asks for: asked about, held, streamed, bound, and gone when the daemon is.

use std::fs;
use std::io::BufReader;
use std::path::Path;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::asked::{asked, is_whole, of, tape};
use crate::caller::{call, caller};
use crate::home::{Home, read_until, until_ended};
use crate::openai_server::{home_with, runtime, serve};

/// Asks for a command, says yes, and returns the outcome of the call.
#[track_caller]
fn run(home: &Home, argv: &[&str]) -> Value {
    let waits = asked(home, &call("run_command", &json!({ "argv": argv })));
    home.palyra(&["approve", "yes", "last"]).expect(0);
    let tape = tape(home, &waits.run);
    of(&tape, "tool_finished").first().copied().cloned().unwrap_or_else(|| panic!("{tape:#?}"))
}

fn output(outcome: &Value) -> &str {
    outcome["output"].as_str().unwrap_or_else(|| panic!("{outcome:#}"))
}

#[test]
fn a_command_is_asked_about_and_does_real_work_in_its_workspace() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    home.write("main.c", "#include <stdio.h>\nint main(void) { puts(\"lantern 4711\"); return 0; }\n");

    let waits = asked(&home, &call("run_command", &json!({ "argv": ["gcc", "-o", "lantern", "main.c"] })));
    assert!(waits.told.err.contains("gcc -o lantern main.c"), "{}", waits.told.err);
    assert!(!home.work().join("lantern").exists(), "nothing runs before the yes");
    home.palyra(&["approve", "yes", "last"]).expect(0);
    let told = tape(&home, &waits.run);
    let outcome = of(&told, "tool_finished")[0];
    assert_eq!(outcome["executor"], "process", "{outcome:#}");
    assert!(outcome["isolation"].as_str().unwrap().starts_with("isolated"), "{outcome:#}");

    let ran = run(&home, &["./lantern"]);
    assert!(output(&ran).contains("lantern 4711"), "{ran:#}");
    let python = run(&home, &["python3", "-c", "print(6 * 7)"]);
    assert!(output(&python).contains("42"), "{python:#}");
    is_whole(&home);
}

#[test]
fn what_a_command_prints_is_on_the_tape_while_it_runs() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let gate = home.work().join("gate");
    assert!(std::process::Command::new("mkfifo").arg(&gate).status().unwrap().success());
    home.write("slow.py", "print('beat 4711', flush=True)\nopen('gate').read()\nprint('through')\n");
    let waits = asked(&home, &call("run_command", &json!({ "argv": ["python3", "slow.py"] })));
    home.palyra(&["approve", "yes", &waits.approval]).expect(0);
    let mut tail = home.command(&["runs", "tail", &waits.run, "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap());
    let told = read_until(&mut lines, "beat 4711");
    assert!(!told.contains("tool_finished"), "it waits at the gate:\n{told}");
    fs::write(&gate, "go").unwrap();
    let told = read_until(&mut lines, "run_finished");
    assert!(told.contains("tool_finished") && told.contains("through"), "{told}");
    tail.wait().unwrap();
    is_whole(&home);
}

#[test]
fn what_a_result_left_out_is_read_on_by_its_own_conversation() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let long = "print('\\n'.join(f'line {number} of many' for number in range(6000)))";
    let waits = asked(&home, &call("run_command", &json!({ "argv": ["python3", "-c", long] })));
    home.palyra(&["approve", "yes", "last"]).expect(0);
    let told = tape(&home, &waits.run);
    let session = told[0]["session_id"].as_str().unwrap_or_else(|| panic!("{:#}", told[0])).to_owned();
    let ran = of(&told, "tool_finished")[0];
    let (_, note) = output(ran).split_once(" goes on: ").unwrap_or_else(|| panic!("{ran:#}"));
    assert!(!output(ran).contains("line 2000 of many"), "the middle is left out");
    let arguments: Value = serde_json::from_str(note.split(']').next().unwrap()).unwrap();

    // By hand to another conversation: it has no such call.
    home.palyra(&["run", &call("read_output", &arguments)]).expect(0);
    let refused = tape(&home, "last");
    assert!(output(of(&refused, "tool_finished")[0]).contains("has no call"), "{refused:#?}");

    // In its own one it is read to the end of what was printed.
    let (mut from, mut pages) = (arguments["from"].clone(), String::new());
    loop {
        let next = json!({ "call": arguments["call"], "from": from });
        home.palyra(&["run", "--session", &session, &call("read_output", &next)]).expect(0);
        let read = tape(&home, "last");
        let (line, page) = output(of(&read, "tool_finished")[0]).split_once('\n').unwrap();
        pages += page;
        match line.split_once("\"from\": ") {
            Some((_, next)) => from = next.trim_end_matches(']').parse::<u64>().unwrap().into(),
            None => break assert!(line.ends_with("which is the end]"), "{line}"),
        }
    }
    assert!(pages.contains("line 2000 of many") && pages.ends_with("line 5999 of many\n"), "{pages}");
    is_whole(&home);
}

#[test]
fn git_is_asked_without_a_question_and_cannot_change_anything() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let git = |arguments: &[&str]| {
        let done =
            std::process::Command::new("git").args(arguments).current_dir(home.work()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    home.write("lantern.txt", "it shines\n");
    let told = home.palyra(&["run", &call("git", &json!({ "subcommand": "status" }))]).expect(0);
    let tape = tape(&home, "last");
    let outcome = of(&tape, "tool_finished")[0];
    assert!(output(outcome).contains("lantern.txt"), "{outcome:#}\n{}", told.err);
}

#[test]
fn what_a_command_was_not_given_it_does_not_reach() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let outside = home.work().with_file_name("canary.txt");
    fs::write(&outside, "canary").unwrap();
    let script = format!(
        "import os,socket\nfor path in {:?}, {:?}:\n  try: print('read', open(path, 'rb').read(6))\n  except OSError as e: print('no', e.errno)\n\
         try: socket.socket(socket.AF_UNIX).connect({:?}); print('connected')\nexcept OSError as e: print('no', e.errno)\n\
         print('environment', sorted(os.environ))\n",
        outside.display().to_string(),
        home.state_dir().join("journal.db").display().to_string(),
        home.state_dir().join("palyrad.sock").display().to_string(),
    );
    home.write("try.py", &script);
    let told = run(&home, &["python3", "try.py"]);
    let text = output(&told);
    assert!(!text.contains("canary") && !text.contains("read") && !text.contains("connected"), "{text}");
    assert!(!text.contains("OPENAI_API_KEY"), "{text}");
    assert_eq!(text.matches("no ").count(), 3, "{text}");
    // The control: outside of the sandbox the same script reads and connects.
    let plain =
        std::process::Command::new("python3").arg("try.py").current_dir(home.work()).output().unwrap();
    let plain = String::from_utf8_lossy(&plain.stdout).into_owned();
    assert!(plain.contains("canary") && plain.contains("connected"), "{plain}");
}

#[test]
fn a_script_that_changed_after_the_question_is_not_run() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    home.write("build.sh", "echo first\n");
    let waits = asked(&home, &call("run_command", &json!({ "argv": ["sh", "build.sh"] })));
    home.write("build.sh", "echo pwned > pwned.txt\n");
    home.palyra(&["approve", "yes", &waits.approval]);
    let again = tape(&home, &waits.run);
    assert!(!home.work().join("pwned.txt").exists(), "{again:#?}");
    assert!(of(&again, "tool_finished").iter().all(|outcome| !outcome.to_string().contains("pwned")));
}

#[test]
fn a_script_behind_a_wrapper_that_changed_is_not_run_and_a_grant_covers_only_its_bytes() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let wrapped = call("run_command", &json!({ "argv": ["timeout", "9", "sh", "./build.sh"] }));
    home.write("build.sh", "echo first >> made.txt\n");
    let waits = asked(&home, &wrapped);
    home.write("build.sh", "echo pwned > pwned.txt\n");
    home.palyra(&["approve", "yes", &waits.approval]);
    tape(&home, &waits.run);
    assert!(!home.work().join("pwned.txt").exists());
    let again = home.palyra(&["approve", "list", "--json"]).expect(0).json().remove(0);
    home.palyra(&["approve", "no", again["approval_id"].as_str().unwrap()]).expect(0);

    home.write("build.sh", "echo first >> made.txt\n");
    let waits = asked(&home, &wrapped);
    home.palyra(&["approve", "always", &waits.approval]).expect(0);
    tape(&home, &waits.run);
    // The control: the same bytes run by the grant.
    home.palyra(&["run", &wrapped]).expect(0);
    assert_eq!(fs::read_to_string(home.work().join("made.txt")).unwrap(), "first\nfirst\n");
    home.write("build.sh", "echo pwned > pwned.txt\n");
    let changed = asked(&home, &wrapped);
    assert!(!home.work().join("pwned.txt").exists());
    let shown = home.palyra(&["approve", "show", &changed.approval]).expect(0);
    assert!(shown.out.contains("was given for other contents of the files that run"), "{}", shown.out);
}

#[test]
fn the_output_of_a_quick_command_is_on_the_tape_like_that_of_a_slow_one() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    for (printed, argv) in [("lantern\n", &["printf", "lantern\\n"][..]), ("", &["true"])] {
        let waits = asked(&home, &call("run_command", &json!({ "argv": argv })));
        home.palyra(&["approve", "yes", &waits.approval]).expect(0);
        let told = tape(&home, &waits.run);
        let pieces = of(&told, "tool_output");
        let shown: String = pieces.iter().filter_map(|piece| piece["text"].as_str()).collect();
        assert_eq!(shown, printed, "{told:#?}");
    }
}

#[test]
fn a_shell_line_waits_for_a_yes_to_the_line_and_its_commands() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let line = |line: &str| call("run_command", &json!({ "argv": ["bash", "-c", line] }));
    let waits = asked(&home, &line("mkdir -p made && echo lantern"));
    let shown = home.palyra(&["approve", "show", &waits.approval]).expect(0).out;
    for part in [
        "high risk",
        "  shell line  mkdir -p made && echo lantern",
        "  commands    mkdir -p made",
        "              echo lantern",
        "`shell-lines`",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!home.work().join("made").exists(), "nothing ran without a yes");
    // A grant of any line is refused; the same words are remembered, and no others.
    let wide = home.palyra(&["approve", "always", &waits.approval, "--any", "argv"]).expect(2);
    assert!(wide.err.contains("only word for word"), "{}", wide.err);
    home.palyra(&["approve", "always", &waits.approval]).expect(0);
    tape(&home, &waits.run);
    fs::remove_dir(home.work().join("made")).unwrap();
    home.palyra(&["run", &line("mkdir -p made && echo lantern")]).expect(0);
    assert!(home.work().join("made").exists(), "remembered word for word");
    let other = asked(&home, &line("mkdir -p other && echo $(pwd)"));
    let shown = home.palyra(&["approve", "show", &other.approval]).expect(0).out;
    assert!(shown.contains("could not be read further: it has a command substitution"), "{shown}");
    assert!(!home.work().join("other").exists());
}

#[test]
fn a_line_that_leaves_git_out_is_a_question_and_one_that_reaches_it_is_denied() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let line = |line: &str| call("run_command", &json!({ "argv": ["bash", "-lc", line] }));
    home.write("stock.txt", "lantern 4711\n");
    fs::create_dir(home.work().join(".git")).unwrap();
    let waits = asked(&home, &line("grep -rl lantern . --exclude-dir=.git | head"));
    home.palyra(&["approve", "yes", &waits.approval]).expect(0);
    let told = tape(&home, &waits.run);
    let pieces = of(&told, "tool_output");
    assert!(pieces.iter().any(|piece| piece["text"].as_str().unwrap().contains("stock.txt")), "{told:#?}");
    let denied = home.palyra(&["run", &line("grep -r lantern . --exclude-dir=.git > .git/found")]).expect(3);
    let shown = format!("{}{}", denied.out, denied.err).replace(['\n', '│', '✗'], " ");
    let words: Vec<&str> = shown.split_whitespace().collect();
    let told = words.join(" ");
    assert!(
        told.contains("no program may name `.git`: leave it out of the line; `read_file` reads a file in it"),
        "{shown}"
    );
    // What the refusal names works.
    home.write(".git/config", "[core]\n\tlantern = 4711\n");
    let read = asked(&home, &call("read_file", &json!({ "path": ".git/config" })));
    home.palyra(&["approve", "yes", &read.approval]).expect(0);
    let told = tape(&home, &read.run);
    assert!(
        of(&told, "tool_finished")[0]["output"].as_str().unwrap().contains("lantern = 4711"),
        "{told:#?}"
    );
}

#[test]
fn a_shell_line_runs_unasked_only_by_a_rule_of_ones_own() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let line = call("run_command", &json!({ "argv": ["sh", "-c", "echo lantern > made.txt"] }));
    home.palyra(&["policy", "posture", "set", "run_command", "always_allow"]).expect(0);
    home.palyra(&["run", &line]).expect(3);
    assert!(!home.work().join("made.txt").exists(), "no standing setting covers a line");
    let rules = home.config_file().with_file_name("policies");
    fs::create_dir_all(&rules).unwrap();
    fs::write(
        rules.join("shell.cedar"),
        "@id(\"shell\")\n@reason(\"a test\")\npermit (principal, action == Action::\"execute_unattended\", resource == \
         Tool::\"run_command\") when { context.sandbox like \"*isolated*\" };\n",
    )
    .unwrap();
    home.palyra(&["config", "reload"]).expect(0);
    home.palyra(&["run", &line]).expect(0);
    assert_eq!(fs::read_to_string(home.work().join("made.txt")).unwrap(), "lantern\n");
}

/// Leaves processes behind that gave up their session and their parents, says that it has, and stays.
const STAYS: &str = "import os,time
for _ in range(2):
  if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(600)
    os._exit(0)
for _ in range(2): os.wait()
open('began', 'w').write('x')
time.sleep(600)
";

/// Returns the processes whose command line holds a word.
fn processes_with(word: &str) -> Vec<i32> {
    let numbers = fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has = |pid: &i32| {
        let line = fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(word)
    };
    numbers.filter(has).filter(|pid| *pid != i32::try_from(std::process::id()).unwrap()).collect()
}

#[test]
fn nothing_of_a_command_is_left_when_the_daemon_is_killed() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let mark = format!("left-behind-{}", std::process::id());
    home.write("stay.py", STAYS);
    let waits = asked(&home, &call("run_command", &json!({ "argv": ["python3", "stay.py", mark] })));
    let began = home.work().join("began");
    let seen = inotify_until(
        &home.work(),
        || began.exists(),
        || {
            home.palyra(&["approve", "yes", &waits.approval]).expect(0);
        },
    );
    assert!(seen, "the command began");
    assert!(processes_with(&mark).len() >= 3, "{:?}", processes_with(&mark));
    let daemon = home.daemon_pid();
    let processes = processes_with(&mark);
    kill_process(daemon, Signal::KILL).unwrap();
    until_ended(daemon);
    for pid in processes {
        until_ended(rustix::process::Pid::from_raw(pid).unwrap());
    }
    assert!(processes_with(&mark).is_empty());
    // Nobody knows how far it came: that is said, and it is not run again.
    let told = tape(&home, &waits.run);
    assert_eq!(of(&told, "tool_outcome_unknown").len(), 1, "{told:#?}");
    assert!(processes_with(&mark).is_empty());
    // The command that settles it is named wherever the run is seen, and settles it.
    let settles = |resolution: &str| format!("palyra runs effects resolve {} 1 {resolution}", waits.run);
    let named = settles("happened|did-not-happen|retry");
    let seen = home.palyra(&["runs", "tail", &waits.run]).expect(3);
    assert!(
        seen.err.contains(&format!("the run waits; check whether it did, then settle it: `{named}`")),
        "{}",
        seen.err
    );
    let shown = home.palyra(&["runs", "show", &waits.run]).expect(0);
    assert!(
        shown.out.contains("effect 1, run_command: its outcome is not known") && shown.out.contains(&named),
        "{}",
        shown.out
    );
    let unknown = |home: &Home| home.palyra(&["doctor"]).out.contains("! unknown_effects");
    assert!(unknown(&home));
    let settle = |resolution: &str| {
        let command = settles(resolution);
        home.palyra(&command.split(' ').skip(1).collect::<Vec<_>>())
    };
    home.palyra(&["runs", "cancel", &waits.run]).expect(0);
    let refused = settle("retry").expect(5);
    assert!(
        refused.err.contains("say `happened` or `did-not-happen` in place of `retry`"),
        "{}",
        refused.err
    );
    settle("did-not-happen").expect(0);
    let shown = home.palyra(&["runs", "show", &waits.run]).expect(0);
    assert!(!shown.out.contains("its outcome is not known") && !unknown(&home), "{}", shown.out);
}

#[test]
fn nothing_of_a_command_is_left_when_its_time_is_over_or_its_run_is_cancelled() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    home.write("stay.py", STAYS);
    for end in ["time", "cancel"] {
        let mark = format!("ended-by-{end}-{}", std::process::id());
        let seconds = if end == "time" { 2 } else { 600 };
        let arguments = json!({ "argv": ["python3", "stay.py", mark], "timeout_secs": seconds });
        let waits = asked(&home, &call("run_command", &arguments));
        let began = home.work().join("began");
        drop(fs::remove_file(&began));
        assert!(inotify_until(
            &home.work(),
            || began.exists(),
            || {
                home.palyra(&["approve", "yes", &waits.approval]).expect(0);
            }
        ));
        if end == "cancel" {
            home.palyra(&["runs", "cancel", &waits.run]).expect(0);
        }
        let told = tape(&home, &waits.run);
        assert!(processes_with(&mark).is_empty(), "{end}: {:?}", processes_with(&mark));
        if end == "time" {
            let finished = of(&told, "tool_finished")[0];
            assert!(output(finished).contains("longer than 2 s"), "{finished:#}");
        }
    }
}

/// Does something, and waits until a folder has what it should bring.
pub(crate) fn inotify_until(folder: &Path, is_there: impl Fn() -> bool, act: impl FnOnce()) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify;
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC).unwrap();
    inotify::add_watch(&watch, folder, inotify::WatchFlags::CREATE | inotify::WatchFlags::CLOSE_WRITE)
        .unwrap();
    act();
    let mut seen = [0_u8; 4096];
    while !is_there() {
        let limit = Timespec { tv_sec: 60, tv_nsec: 0 };
        if poll(&mut [PollFd::new(&watch, PollFlags::IN)], Some(&limit)).unwrap() == 0 {
            return false;
        }
        rustix::io::read(&watch, &mut seen).unwrap();
    }
    true
}

#[test]
fn a_job_goes_on_is_looked_at_and_ends_when_it_is_told_to() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let beat = "import time\nprint('beat 4711', flush=True)\nopen('begun', 'w').close()\ntime.sleep(600)\n";
    home.write("beat.py", beat);
    let mark = format!("job-of-{}", std::process::id());
    let session =
        home.palyra(&["run", "--json", &call("start_job", &json!({ "argv": ["python3", "beat.py", mark] }))]);
    let session = session.expect(3).json();
    let session =
        session.iter().find_map(|entry| entry["session_id"].as_str()).unwrap_or_default().to_owned();
    let begun = home.work().join("begun");
    let approve = || drop(home.palyra(&["approve", "yes", "last"]).expect(0));
    assert!(inotify_until(&home.work(), || begun.exists(), approve), "it does not begin");
    let told = tape(&home, "last");
    let started = of(&told, "tool_finished")[0];
    assert!(output(started).contains("job-1"), "{started:#}");
    assert!(!processes_with(&mark).is_empty());
    let stop = call("stop_job", &json!({ "job": "job-1" }));
    // Of another session it is nobody's.
    home.palyra(&["run", &stop]).expect(0);
    assert!(!processes_with(&mark).is_empty(), "a stranger does not end it");
    home.palyra(&["run", "--session", &session, &call("tail_job", &json!({ "job": "job-1" }))]).expect(0);
    let tailed = tape(&home, "last");
    assert!(output(of(&tailed, "tool_finished")[0]).contains("beat 4711"), "{tailed:#?}");
    home.palyra(&["run", "--session", &session, &stop]).expect(0);
    assert!(processes_with(&mark).is_empty());
}

/// Bytes that a command prints, from 4 MiB on at 16 MiB a second.
const FLOOD_BYTES: u64 = 48 << 20;
/// What a daemon may grow by while it reads them: one that kept them all would grow by twice as much.
const FLOOD_GROWTH_BYTES_MAX: u64 = 24 << 20;

/// Returns a number of bytes out of what the kernel knows of a process.
fn memory(pid: rustix::process::Pid, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_else(|| panic!("{status}"));
    line.trim_start_matches(':').split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn a_command_that_floods_both_of_its_outputs_is_not_kept_in_memory() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    home.write(
        "flood.py",
        "import os,sys\nleft = int(sys.argv[1])\nline = b'x' * 4095 + b'\\n'\n\
         while left > 0: left -= os.write(1, line) + os.write(2, line)\nfor end in (1, 2): os.write(end, b'through\\n')\n",
    );
    // Small first, so that what every command costs is there before it is counted.
    run(&home, &["python3", "flood.py", "100000"]);
    let daemon = home.daemon_pid();
    // From here on the peak is counted anew (proc(5)).
    fs::write(format!("/proc/{}/clear_refs", daemon.as_raw_nonzero()), "5").unwrap();
    let before = memory(daemon, "VmRSS");
    let flooded = run(&home, &["python3", "flood.py", &FLOOD_BYTES.to_string()]);
    // Whichever output is read to its end last, these are the last bytes.
    assert!(output(&flooded).contains("through"), "it was read to its end: {flooded:#}");
    assert_eq!(home.daemon_pid(), daemon);
    let grown = memory(daemon, "VmHWM").saturating_sub(before);
    assert!(grown < FLOOD_GROWTH_BYTES_MAX, "{} KiB more than {} KiB", grown >> 10, before >> 10);
    is_whole(&home);
}

/// Starts a job of a session of its own with a yes; returns the session and its run.
#[track_caller]
fn start_job(home: &Home, argv: &[&str]) -> (String, String) {
    let asks = home.palyra(&["run", "--json", &call("start_job", &json!({ "argv": argv }))]).expect(3).json();
    let id = |name: &str| {
        let named = asks.iter().find_map(|entry| entry[name].as_str());
        named.unwrap_or_else(|| panic!("{asks:#?}")).to_owned()
    };
    let (session, run) = (id("session_id"), id("run_id"));
    home.palyra(&["approve", "yes", "last"]).expect(0);
    let told = tape(home, &run);
    let outcome = of(&told, "tool_finished");
    assert!(outcome.len() == 1 && output(outcome[0]).starts_with("started as job-"), "{told:#?}");
    (session, run)
}

/// Returns the runs with an effect that is in doubt.
#[track_caller]
fn doubted(home: &Home) -> Vec<String> {
    let listed = home.palyra(&["runs", "effects", "--unknown", "--json"]).expect(0).json();
    let of_jobs = listed.iter().all(|effect| effect["tool"] == "start_job" && effect["state"] == "unknown");
    assert!(of_jobs, "{listed:#?}");
    listed.iter().map(|effect| effect["run_id"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn kill_daemon(home: &Home) {
    let daemon = home.daemon_pid();
    kill_process(daemon, Signal::KILL).unwrap();
    until_ended(daemon);
}

#[test]
fn a_job_that_died_with_the_daemon_is_in_doubt_until_a_person_says_what_became_of_it() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    home.write("stay.py", STAYS);
    home.write("short.py", "open('short', 'w').write('x')\n");
    let mark = format!("lost-job-{}", std::process::id());
    let (short_session, _) = start_job(&home, &["python3", "short.py"]);
    let stop = |session: &str, job: &str| {
        home.palyra(&["run", "--session", session, &call("stop_job", &json!({ "job": job }))]).expect(0);
        let told = tape(&home, "last");
        output(of(&told, "tool_finished")[0]).to_owned()
    };
    let ended = stop(&short_session, "job-1");
    assert!(!ended.contains("still running"), "{ended}");
    let began = home.work().join("began");
    let mut lost = None;
    let seen = inotify_until(
        &home.work(),
        || began.exists(),
        || lost = Some(start_job(&home, &["python3", "stay.py", &mark])),
    );
    assert!(seen, "the job began");
    let (session, run) = lost.unwrap();
    assert!(doubted(&home).is_empty());

    let processes = processes_with(&mark);
    assert!(processes.len() >= 3, "{processes:?}");
    kill_daemon(&home);
    for pid in processes {
        until_ended(rustix::process::Pid::from_raw(pid).unwrap());
    }
    assert!(processes_with(&mark).is_empty());
    assert_eq!(doubted(&home), [run.as_str()], "the job that had ended is in no doubt");
    let told = stop(&session, "job-2");
    assert!(told.contains("in doubt") && told.contains(&format!("of run {run}")), "{told}");
    kill_daemon(&home);
    assert_eq!(doubted(&home), [run.as_str()], "it is told once");

    home.palyra(&["runs", "effects", "resolve", &run, "1", "happened", "--note", "I looked"]).expect(0);
    assert!(doubted(&home).is_empty());
    home.palyra(&["admin", "stop"]).expect(0);
    assert!(doubted(&home).is_empty(), "what was said stays said");
    let told = stop(&session, "job-2");
    assert!(told.contains("a person said"), "{told}");
    is_whole(&home);
}

#[test]
fn a_daemon_that_is_told_to_stop_leaves_its_jobs_in_doubt() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let mark = format!("job-at-stop-{}", std::process::id());
    home.write("stay.py", STAYS);
    let (_, run) = start_job(&home, &["python3", "stay.py", &mark]);
    let processes = processes_with(&mark);
    home.palyra(&["admin", "stop"]).expect(0);
    for pid in processes {
        until_ended(rustix::process::Pid::from_raw(pid).unwrap());
    }
    assert_eq!(doubted(&home), [run]);
}

#[test]
fn a_daemon_that_nobody_uses_does_not_end_a_job() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    fs::write(home.config_file(), "[daemon]\nidle_stop_seconds = 1\n").unwrap();
    home.write("late.py", "import time\ntime.sleep(4)\nopen('late', 'w').write('x')\n");
    let late = home.work().join("late");
    let mut daemon = None;
    let seen = inotify_until(
        &home.work(),
        || late.exists(),
        || {
            start_job(&home, &["python3", "late.py"]);
            daemon = Some(home.daemon_pid());
        },
    );
    assert!(seen, "the job came to its end");
    // And then the daemon, which nobody asked for anything since.
    until_ended(daemon.unwrap());
    assert!(doubted(&home).is_empty());
}

#[test]
fn the_doctor_says_what_holds_commands_here() {
    let home = Home::new();
    let told = home.palyra(&["doctor", "--json"]);
    let check =
        told.json().into_iter().flat_map(|line| line["checks"].as_array().cloned().unwrap_or(vec![line]));
    let check = check.into_iter().find(|check| check["name"] == "tool_isolation");
    let check = check.unwrap_or_else(|| panic!("{}", told.out));
    assert!(check["found"].as_str().unwrap().contains("tier"), "{check:#}");
}
