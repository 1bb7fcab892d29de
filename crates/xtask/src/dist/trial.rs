//! The Debian package on a bare Debian: installed, used by an ordinary user, removed without a trace.
//!
//! Owns the bare system, which mmdebstrap makes of this machine's package sources, and what is looked at.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};

use super::tree::run;
use crate::suite;

const USER: &str = "1000";
const PROJECT: &str = "/home/person/project";
const NOTE: &str = "The lantern is number 4711.";

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
    let left: Vec<PathBuf> = bare.files()?.difference(&before).cloned().collect();
    ensure!(left.is_empty(), "the removed package left {left:?}");
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
        bootstrap.args(["--quiet", "--mode=root", "--variant=essential", ""]).arg(folder);
        run(bootstrap.args(package_sources()?))?;
        let bare = Self { folder: folder.to_owned() };
        let project = bare.folder.join(PROJECT.trim_start_matches('/'));
        fs::create_dir_all(&project).context("could not make a project")?;
        fs::write(project.join("notes.txt"), NOTE).context("could not write a note")?;
        bare.root(&["chown", "-R", "1000:1000", "/home/person"])?;
        Ok(bare)
    }

    /// Runs a program in the system, with a `/proc` and processes of its own, which end with it.
    fn inside(&self, words: &[&str]) -> Result<Output> {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child"]);
        let script = "mount -t proc proc \"$0/proc\" && exec chroot \"$0\" \"$@\"";
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

    /// Has the demo model read a file, as the README's first command does.
    fn main_job(&self) -> Result<()> {
        let script = format!(
            "cd {PROJECT} && palyra run 'Read notes.txt' && palyrad --version && palyra-verify --version && \
             palyra doctor && palyra admin stop"
        );
        let output = self.inside(&[
            "setpriv",
            "--reuid",
            USER,
            "--regid",
            USER,
            "--clear-groups",
            "env",
            "-i",
            "HOME=/home/person",
            "PATH=/usr/bin:/bin",
            "sh",
            "-c",
            &script,
        ])?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success() && out.contains("4711"), "the main job failed:\n{out}{err}");
        for file in ["usr/share/man/man1/palyra.1.gz", "usr/lib/systemd/user/palyrad.service"] {
            ensure!(self.folder.join(file).is_file(), "the package brought no {file}");
        }
        Ok(())
    }

    /// Returns all files but the package manager's own notes and the person's home.
    fn files(&self) -> Result<BTreeSet<PathBuf>> {
        const LEFT_OUT: [&str; 5] = ["var/lib/dpkg", "var/log", "var/cache", "home/person", "proc"];
        let (mut found, mut open) = (BTreeSet::new(), vec![PathBuf::new()]);
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
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(path.clone());
                }
                found.insert(path);
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
