//! A kept file that is replaced on the host, which takes its mount away: the program is ended.

use std::fs;
use std::path::Path;
use std::time::Duration;

use palyra_ports::ProcessTier;

use crate::host::{BOTH, Host};

/// Writes to a file again and again, and says so once it could.
const WRITES: &str = "while :; do if echo evil >> .git/config; then echo wrote > wrote; fi; done 2>/dev/null";

/// Starts the program, replaces a kept file, and returns how the program ended; nothing when it goes on.
async fn replaced(tier: ProcessTier, kept: bool, replace: impl Fn(&Path)) -> (Option<String>, bool) {
    let host = Host::new();
    let git = host.work().join(".git");
    fs::create_dir(&git).expect("a folder");
    fs::write(git.join("config"), "[core]\n").expect("a file");
    let mut command = host.command(tier, "/bin/sh", &["-c", WRITES]);
    if kept {
        command.kept = vec![git.join("config")];
    }
    let mut process = host.start(command).await.expect("it starts");
    let wrote = host.work().join("wrote");
    if kept {
        tokio::time::timeout(Duration::from_millis(200), process.wait()).await.expect_err("it goes on");
        assert!(!wrote.exists(), "{tier:?}: before it is replaced nothing is written");
    }
    replace(&git);
    let ended = tokio::time::timeout(Duration::from_secs(10), process.wait()).await;
    process.stop();
    process.wait().await;
    (ended.ok().map(|ended| format!("{ended:?}")), wrote.exists())
}

/// As `git config` does it.
fn rename_over(git: &Path) {
    fs::write(git.join("config.lock"), "[core]\n\tbare = false\n").expect("a file");
    fs::rename(git.join("config.lock"), git.join("config")).expect("it is replaced");
}

/// As an editor does it that keeps the file as it was.
fn move_away(git: &Path) {
    fs::rename(git.join("config"), git.join("config~")).expect("it is moved");
    fs::write(git.join("config"), "[core]\n\tbare = false\n").expect("a file");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_is_ended_when_a_kept_file_is_replaced_on_the_host() {
    for tier in BOTH {
        let lost = Some("KeptLost".to_owned());
        assert_eq!(replaced(tier, true, rename_over).await.0, lost, "{tier:?}");
        assert_eq!(replaced(tier, true, move_away).await.0, lost, "{tier:?}");
    }
    // Without it the program goes on, and writes.
    assert_eq!(replaced(ProcessTier::Isolated, false, rename_over).await, (None, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_beside_a_kept_file_ends_nothing() {
    for tier in BOTH {
        let host = Host::new();
        for name in [".envrc", "beside"] {
            fs::write(host.work().join(name), "").expect("a file");
        }
        let script = "while [ ! -e go ]; do :; done; sh -c 'exit 3' & wait $!; [ $? = 3 ] && (sleep 0.2 &) && echo well";
        let mut command = host.command(tier, "/bin/sh", &["-c", script]);
        command.kept = vec![host.work().join(".envrc")];
        let work = host.work();
        let beside = std::thread::spawn(move || {
            fs::write(work.join("new"), "").expect("a file");
            fs::rename(work.join("new"), work.join("beside")).expect("it is replaced");
            fs::write(work.join(".envrc"), "more").expect("it is written in its place");
            fs::write(work.join("go"), "").expect("a file");
        });
        assert_eq!(host.run(command).await.printed(), "well", "{tier:?}");
        beside.join().expect("it is done");
    }
}
