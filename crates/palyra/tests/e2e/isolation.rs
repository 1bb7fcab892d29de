//! What is said of how programs are held, beside what this host's kernel says when it is asked without Palyra.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::caller::caller;
use crate::fetches::approved;
use crate::openai_server::{home_with, runtime, serve};

/// Whether this user gets all the namespaces of tier C.
fn has_namespaces() -> bool {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"]);
    unshare.args(["--net", "--ipc", "--uts", "true"]);
    unshare.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
}

/// Returns the version of Landlock that the kernel has.
fn landlock() -> String {
    // landlock_create_ruleset(2) with LANDLOCK_CREATE_RULESET_VERSION.
    let ask = "import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))";
    let asked = Command::new("python3").args(["-c", ask]).output().unwrap();
    String::from_utf8(asked.stdout).unwrap().trim().to_owned()
}

/// Returns the folder of this process's group: `controller` is empty for version 2.
fn group(controller: &str) -> Option<PathBuf> {
    let (own, mounts) =
        (fs::read_to_string("/proc/self/cgroup").unwrap(), fs::read_to_string("/proc/self/mounts").unwrap());
    let path = own.lines().find_map(|line| {
        let parts: Vec<_> = line.splitn(3, ':').collect();
        parts[1]
            .split(',')
            .any(|name| name == controller)
            .then(|| parts[2].trim_start_matches('/').to_owned())
    })?;
    let kind = if controller.is_empty() { "cgroup2" } else { "cgroup" };
    let mount = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>()).find(|parts| {
        parts[2] == kind && (controller.is_empty() || parts[3].split(',').any(|option| option == controller))
    })?;
    Some(Path::new(mount[1]).join(path))
}

/// Whether a group can be made below another that counts these.
fn counts(place: &Path, files: &[&str]) -> bool {
    let tried = place.join(format!("palyra-e2e-{}", std::process::id()));
    let made = fs::create_dir(&tried).is_ok();
    let counts = made && files.iter().all(|file| tried.join(file).exists());
    if made {
        fs::remove_dir(&tried).unwrap();
    }
    counts
}

/// Returns what counts the memory and the processes of a program, after a daemon has divided what it could.
fn rung() -> &'static str {
    let divided = group("")
        .map(|own| if own.ends_with("palyra-daemon") { own.parent().unwrap().to_owned() } else { own });
    if divided.is_some_and(|divided| counts(&divided, &["memory.max", "pids.max"])) {
        return "memory and processes counted by cgroup v2";
    }
    let old = [("memory", "memory.limit_in_bytes"), ("pids", "pids.max")];
    if old.iter().all(|(controller, file)| group(controller).is_some_and(|own| counts(&own, &[file]))) {
        "memory and processes counted by cgroup v1"
    } else {
        "limits of each process, and a watch over the memory of all together"
    }
}

#[test]
fn the_doctor_and_the_record_of_a_call_say_what_holds_commands_here() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let told = home.palyra(&["doctor", "--json"]);
    let check =
        told.json().into_iter().flat_map(|line| line["checks"].as_array().cloned().unwrap_or(vec![line]));
    let check = check.into_iter().find(|check| check["name"] == "tool_isolation");
    let check = check.unwrap_or_else(|| panic!("{}", told.out));
    let found = check["found"].as_str().unwrap();

    let (namespaces, rung) = (has_namespaces(), rung());
    let (tier, level) = if namespaces {
        ("commands run in namespaces of their own (tier C);", "ok")
    } else {
        ("commands run without namespaces (tier B),", "warning")
    };
    assert!(found.starts_with(tier), "{found}");
    assert_eq!(check["level"], level, "{check:#}");
    assert!(found.contains(&format!("; Landlock {}, seccomp; {rung}; ", landlock())), "{rung}: {found}");

    let ran: Value = approved(&home, "run_command", &json!({ "argv": ["true"] }));
    let counted = rung.contains("counted by");
    let isolation = match (namespaces, counted) {
        (true, true) => "isolated",
        (true, false) => "isolated_uncounted",
        (false, _) => "confined_without_namespaces",
    };
    assert_eq!(ran["isolation"], isolation, "{ran:#}");
}
