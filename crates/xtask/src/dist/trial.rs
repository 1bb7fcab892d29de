//! The Debian package on a bare Debian: installed, used by an ordinary user, removed without a trace.
//!
//! Owns the bare system, which mmdebstrap makes of this machine's package sources, and what is looked at.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};

use super::tree::run;
use crate::suite;

const USER: &str = "person:x:1000:1000:A person:/home/person:/bin/sh";
const PROJECT: &str = "/home/person/project";
const NOTE: &str = "The lantern is number 4711.";

/// What the person does: the README's first command, a change after a yes, a program in the sandbox after a yes, and a look at
/// the record with the program that has none of the daemon's code.
const MAIN_JOB: &str = r#"
cd ~/project
palyrad --version
palyra run 'Read notes.txt'
ends_with() { wanted=$1; shift; "$@" && code=0 || code=$?; test "$code" = "$wanted"; }
ends_with 3 palyra run 'create list.txt with milk'
palyra approve yes last
palyra runs tail last
test "$(cat list.txt)" = milk
ends_with 3 palyra run 'run ls -l'
palyra approve yes last
palyra runs tail last
palyra journal verify
palyra doctor
palyra admin stop
palyra-verify --db ~/.local/state/palyra/journal.db --keys ~/.local/state/palyra
"#;

/// Installs, uses and removes the package below `place`.
pub(super) fn run_trial(package: &Path, place: &Path) -> Result<()> {
    suite::ensure_program("mmdebstrap", "mmdebstrap")?;
    if place.exists() {
        fs::remove_dir_all(place).with_context(|| format!("could not remove {}", place.display()))?;
    }
    let bare = BareSystem::make(place)?;
    let before = bare.files()?;
    fs::copy(package, place.join("palyra.deb")).context("could not copy the package")?;
    bare.root(&["dpkg", "--install", "/palyra.deb"])?;
    fs::remove_file(place.join("palyra.deb")).context("could not remove the copy")?;
    bare.main_job()?;
    bare.root(&["dpkg", "--purge", "palyra"])?;
    let after = bare.files()?;
    let is_other = |path: &&PathBuf| before.get(*path) != after.get(*path);
    let differing: Vec<&PathBuf> = before
        .keys()
        .chain(after.keys().filter(|path| !before.contains_key(*path)))
        .filter(is_other)
        .collect();
    ensure!(differing.is_empty(), "after its removal the package has left or changed {differing:?}");
    fs::remove_dir_all(place).with_context(|| format!("could not remove {}", place.display()))?;
    println!("trial: installed, answered an ordinary user, removed without a trace");
    Ok(())
}

struct BareSystem {
    folder: PathBuf,
}

impl BareSystem {
    fn make(folder: &Path) -> Result<Self> {
        let mut bootstrap = Command::new("mmdebstrap");
        bootstrap.args(["--quiet", "--mode=root", "--variant=essential", "--include=mount", ""]).arg(folder);
        run(bootstrap.args(package_sources()?))?;
        let bare = Self { folder: folder.to_owned() };
        let project = bare.folder.join(PROJECT.trim_start_matches('/'));
        fs::create_dir_all(&project).context("could not make a project")?;
        fs::write(project.join("notes.txt"), NOTE).context("could not write a note")?;
        for (file, line) in [("etc/passwd", USER), ("etc/group", "person:x:1000:")] {
            let path = bare.folder.join(file);
            let text =
                fs::read_to_string(&path).with_context(|| format!("the bare system has no /{file}"))?;
            fs::write(&path, format!("{text}{line}\n"))
                .with_context(|| format!("could not write /{file}"))?;
        }
        bare.root(&["chown", "-R", "person:person", "/home/person"])?;
        Ok(bare)
    }

    /// Runs a program in the system, with a `/proc` and processes of its own, which end with it.
    fn inside(&self, words: &[&str]) -> Result<Output> {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child"]);
        // Not chroot alone: in one nobody may make namespaces, which programs of the sandbox are started in.
        let script = "mount --bind \"$0\" \"$0\" && cd \"$0\" && mount -t proc proc proc && \
                      pivot_root . mnt && umount --lazy /mnt && exec \"$@\"";
        command.args(["sh", "-c", script]).arg(&self.folder).args(words).env_clear();
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("DEBIAN_FRONTEND", "noninteractive");
        command.output().context("could not start unshare")
    }

    fn root(&self, words: &[&str]) -> Result<()> {
        let output = self.inside(words)?;
        if output.status.success() {
            return Ok(());
        }
        bail!("`{}` failed: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim())
    }

    /// Has the person do what people do first.
    fn main_job(&self) -> Result<()> {
        const PERSON: [&str; 5] = ["setpriv", "--reuid=person", "--regid=person", "--init-groups", "env"];
        const SHELL: [&str; 6] = ["-i", "HOME=/home/person", "PATH=/usr/bin:/bin", "sh", "-ec", MAIN_JOB];
        let output = self.inside(&[&PERSON[..], &SHELL].concat())?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success() && out.contains("4711"), "the main job failed:\n{out}{err}");
        for file in ["usr/share/man/man1/palyra.1.gz", "usr/lib/systemd/user/palyrad.service"] {
            ensure!(self.folder.join(file).is_file(), "the package brought no {file}");
        }
        Ok(())
    }

    /// Returns all files but the package manager's own notes and the person's home, each with its mode, owner, size and time
    /// of change; for a folder the size and the time say nothing.
    fn files(&self) -> Result<BTreeMap<PathBuf, [u64; 5]>> {
        const LEFT_OUT: [&str; 5] = ["var/lib/dpkg", "var/log", "var/cache", "home/person", "proc"];
        let (mut found, mut open) = (BTreeMap::new(), vec![PathBuf::new()]);
        while let Some(below) = open.pop() {
            let folder = self.folder.join(&below);
            for entry in
                fs::read_dir(&folder).with_context(|| format!("could not list {}", folder.display()))?
            {
                let entry = entry.context("could not read a folder")?;
                let path = below.join(entry.file_name());
                if LEFT_OUT.iter().any(|left_out| path == Path::new(left_out)) {
                    continue;
                }
                let about = entry.metadata().context("could not look at a file")?;
                let (size, changed) =
                    if about.is_dir() { (0, 0) } else { (about.len(), about.mtime().unsigned_abs()) };
                if about.is_dir() {
                    open.push(path.clone());
                }
                let owner = [u64::from(about.uid()), u64::from(about.gid())];
                found.insert(path, [u64::from(about.mode()), owner[0], owner[1], size, changed]);
            }
        }
        Ok(found)
    }
}

/// Returns this machine's lists of package sources.
fn package_sources() -> Result<Vec<PathBuf>> {
    let listed =
        fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_list = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "sources" || kind == "list");
    let main = Some(PathBuf::from("/etc/apt/sources.list")).filter(|path| path.is_file());
    let mut sources: Vec<PathBuf> = main.into_iter().chain(listed.filter(is_list)).collect();
    sources.sort();
    ensure!(!sources.is_empty(), "this machine names no package sources in /etc/apt");
    Ok(sources)
}
