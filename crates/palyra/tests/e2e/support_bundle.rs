//! A support bundle has no canary, however it was planted; each canary is found in what the bundle was made from.

use std::fs::File;
use std::io::{BufReader, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rustix::process::Signal;

use crate::home::{Home, ended, read_until, signal};
use crate::redaction::{files, forms, holds};

const SAID: &str = "quince-meadow-thimble-2201";
const VAULT_SECRET: &str = "walnut-harbour-lantern-0417";
const ENVIRONMENT_KEY: &str = "copper-orchard-candle-3308";
const CONFIG_TOKEN: &str = "amber-quarry-spindle-5512";
const LOGGED_TOKEN: &str = "ghp_Zk8sQ2vT9wLr4XnB7mYc3HdF6jPa1GuE5oiK";

/// A daemon of a person, with canaries in every place.
struct PlantedHome {
    home: Home,
    daemon: Child,
}

impl PlantedHome {
    fn new() -> Self {
        let home = Home::new().with("CANARY_API_KEY", ENVIRONMENT_KEY);
        home.configure(&format!(
            "[providers.far]\nformat = \"openai_chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\nkey = \"env:CANARY_API_KEY\"\n\
             [commands]\nenvironment = [\"DEPLOY={CONFIG_TOKEN}\"]\n"
        ));
        let log = home.state_dir().join("log");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&log).unwrap();
        let mut log = File::options().append(true).create(true).open(log.join("palyrad.log")).unwrap();
        let mut serving = home.command(&["serve"]);
        let mut daemon = serving.stderr(log.try_clone().unwrap()).spawn().unwrap();
        read_until(&mut BufReader::new(daemon.stdout.take().unwrap()), "\"ready\":true");
        home.palyra(&["run", "--session", "notes", &format!("remember {SAID}")]).expect(0);
        home.palyra_reading(&["admin", "vault", "put", "forge", "--host", "a.example"], VAULT_SECRET)
            .expect(0);
        let words = [LOGGED_TOKEN, ENVIRONMENT_KEY, CONFIG_TOKEN];
        for word in words {
            writeln!(log, "2026-11-30T11:32:16.100000Z  INFO canary: sent {word} to a server").unwrap();
        }
        writeln!(log, "2026-11-30T11:32:16.200000Z DEBUG canary: the person said {SAID}").unwrap();
        Self { home, daemon }
    }

    /// Makes a bundle and returns its files.
    fn bundle(&self, name: &str) -> Vec<(String, Vec<u8>)> {
        self.home.palyra(&["doctor", "--bundle", name]).expect(0);
        unpacked(&self.home.work().join(name))
    }
}

fn unpacked(archive: &Path) -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let tar = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder.path()).output().unwrap();
    assert!(tar.status.success() && tar.stderr.is_empty(), "{tar:?}");
    let mut found = Vec::new();
    files(folder.path(), &mut found);
    let base = |path: String| PathBuf::from(path).file_name().unwrap().to_str().unwrap().to_owned();
    found.into_iter().map(|(path, bytes)| (base(path), bytes)).collect()
}

/// Returns whether a process has bytes in its memory.
fn is_in_memory(pid: u32, wanted: &[u8]) -> bool {
    let memory = File::open(format!("/proc/{pid}/mem")).unwrap();
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let writable = maps.lines().filter(|line| line.contains(" rw"));
    writable.filter_map(|line| line.split_once(' ')?.0.split_once('-')).any(|(first, end)| {
        let first = u64::from_str_radix(first, 16).unwrap();
        let end = u64::from_str_radix(end, 16).unwrap();
        let mut bytes = vec![0; usize::try_from(end - first).unwrap().min(64 << 20)];
        memory.read_exact_at(&mut bytes, first).is_ok() && holds(&bytes, wanted)
    })
}

#[track_caller]
fn assert_clean(bundle: &[(String, Vec<u8>)]) {
    for (name, bytes) in bundle {
        for canary in [SAID, VAULT_SECRET, ENVIRONMENT_KEY, CONFIG_TOKEN, LOGGED_TOKEN] {
            for (form, value) in forms(canary) {
                assert!(!holds(bytes, &value), "{canary} as {form} is in {name}");
            }
        }
    }
}

#[test]
fn no_canary_is_in_a_support_bundle() {
    let planted = PlantedHome::new();
    let bundle = planted.bundle("with-daemon.tar.gz");
    assert_clean(&bundle);
    let names: Vec<&str> = bundle.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["contents.json", "doctor.json", "journal.json", "log.txt", "tasks.json", "incidents.json"] {
        assert!(names.contains(&name), "{name} is missing in {names:?}");
    }
    let text = |name: &str| {
        let (_, bytes) = bundle.iter().find(|(found, _)| found == name).unwrap();
        String::from_utf8(bytes.clone()).unwrap()
    };
    for (name, word) in [
        ("configuration.json", "env:CANARY_API_KEY"),
        ("configuration.json", "DEPLOY=[redacted]"),
        ("journal.json", "\"run_started\""),
        ("log.txt", "INFO canary: sent "),
        ("state-files.json", "journal.db"),
    ] {
        assert!(text(name).contains(word), "{word} is missing in {name}:\n{}", text(name));
    }

    let mut raw = Vec::new();
    files(&planted.home.state_dir(), &mut raw);
    let is_in_state = |canary: &str| raw.iter().any(|(_, bytes)| holds(bytes, canary.as_bytes()));
    assert!(is_in_state(SAID) && is_in_state(LOGGED_TOKEN), "controls: conversation and log");
    let pid = planted.daemon.id();
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    assert!(holds(&environment, ENVIRONMENT_KEY.as_bytes()), "control: environment");
    let config = std::fs::read(planted.home.config_file()).unwrap();
    assert!(holds(&config, CONFIG_TOKEN.as_bytes()), "control: configuration");
    assert!(is_in_memory(pid, VAULT_SECRET.as_bytes()), "control: vault");

    signal(&planted.daemon, Signal::TERM);
    ended(planted.daemon).expect(0);
    let home = planted.home;
    let alone = home.palyra(&["doctor", "--bundle", "alone.tar.gz", "--json"]).expect(0).json();
    assert!(alone[0]["contents"]["left_out"][0]["why"].as_str().unwrap().contains("no daemon"), "{alone:?}");
    assert_clean(&unpacked(&home.work().join("alone.tar.gz")));
    home.palyra(&["--no-start", "runs", "list"]).expect(4);
}

#[test]
fn a_bundle_is_listed_private_and_replaces_no_file() {
    let home = Home::new();
    let made = home.palyra(&["doctor", "--bundle"]).expect(0);
    assert!(
        made.out.contains("doctor.json") && made.out.contains("never in it: conversations"),
        "{}",
        made.out
    );
    let entries = std::fs::read_dir(home.work()).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<_> = entries.collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].to_str().unwrap().ends_with(".tar.gz"), "{found:?}");
    assert_eq!(std::fs::metadata(&found[0]).unwrap().permissions().mode() & 0o777, 0o600);
    home.write("mine", "text");
    let refused = home.palyra(&["doctor", "--bundle", "mine"]).expect(5);
    assert!(refused.err.contains("PLY-4921"), "{}", refused.err);
    assert_eq!(std::fs::read_to_string(home.work().join("mine")).unwrap(), "text");
    assert!(!home.state_dir().exists(), "nothing was started or made");
}
