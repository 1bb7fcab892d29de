//! The packages read back: what must be in them, whom it belongs to, what it says, and that dpkg installs and removes it.
//!
//! Owns the expectations; looks at the packages alone, never at the trees that they were made of. Needs no root, but
//! user namespaces: dpkg runs as root of one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::packages::{PackageFiles, Release};
use super::tree::ReleaseTexts;
use super::{bill, programs};
use crate::suite;

/// Files that each package has, below its prefix.
const EXPECTED: [&str; 11] = [
    "bin/palyrad",
    "lib/systemd/user/palyrad.service",
    "share/bash-completion/completions/palyra",
    "share/zsh/vendor-completions/_palyra",
    "share/fish/vendor_completions.d/palyra.fish",
    "share/man/man1/palyra.1.gz",
    "share/doc/palyra/copyright",
    "share/doc/palyra/README.md",
    "share/doc/palyra/CHANGELOG.md",
    "share/doc/palyra/THIRD-PARTY.txt",
    "share/doc/palyra/palyra.cdx.json",
];
/// There is a manual page for each verb.
const MANUALS_MIN: usize = 50;

/// Reads both packages back and tries the Debian one below `place`, which is removed again.
pub(super) fn check(
    made: &PackageFiles,
    release: &Release,
    papers: &ReleaseTexts,
    place: &Path,
) -> Result<()> {
    let out = made.checksums.parent().context("the checksums have no folder")?;
    capture(Command::new("sha256sum").args(["--check", "--strict"]).arg(&made.checksums).current_dir(out))?;
    renew(place)?;
    let fsys = place.join("system.tar");
    let data = capture(Command::new("dpkg-deb").arg("--fsys-tarfile").arg(&made.debian))?;
    fs::write(&fsys, data).context("could not write the archive of the Debian package")?;
    let system = entries(&fsys, "usr")?;
    let person = entries(&made.tarball, &folder_name(&made.tarball)?)?;
    let paths = |entries: &BTreeMap<String, ArchiveEntry>| entries.keys().cloned().collect::<BTreeSet<_>>();
    let differing: Vec<String> = paths(&system).symmetric_difference(&paths(&person)).cloned().collect();
    ensure!(differing.is_empty(), "only one of the two packages has {differing:?}");
    for entries in [&system, &person] {
        check_entries(entries, release)?;
    }
    let unpacked = place.join("person");
    fs::create_dir(&unpacked).context("could not make a folder to unpack into")?;
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--strip-components=1", "--file"]).arg(&made.tarball);
    capture(tar.arg("--directory").arg(&unpacked))?;
    check_files(&unpacked, "%h/.local/bin/palyrad", release, papers)?;
    check_installed(made, release, papers, &place.join("system"))?;
    fs::remove_dir_all(place).with_context(|| format!("could not remove {}", place.display()))
}

/// A file of an archive.
#[derive(Debug, PartialEq, Eq)]
struct ArchiveEntry {
    /// As `ls -l` shows it.
    mode: String,
    /// Numbers of user and group.
    owner: String,
    /// Day and time, in UTC.
    date: String,
    /// Where a link leads.
    target: Option<String>,
}

/// Lists an archive: each path below `prefix`.
fn entries(archive: &Path, prefix: &str) -> Result<BTreeMap<String, ArchiveEntry>> {
    let mut tar = Command::new("tar");
    tar.args(["--list", "--verbose", "--numeric-owner", "--full-time", "--file"]).arg(archive);
    let listing = capture(tar.env("TZ", "UTC").env("LC_ALL", "C").env_remove("TAR_OPTIONS"))?;
    listed(&String::from_utf8_lossy(&listing), prefix)
}

fn listed(listing: &str, prefix: &str) -> Result<BTreeMap<String, ArchiveEntry>> {
    let mut entries = BTreeMap::new();
    for line in listing.lines() {
        let (path, entry) =
            entry_of(line).with_context(|| format!("tar lists a file in another form: {line}"))?;
        let path = path.trim_start_matches("./").trim_end_matches('/');
        match path.strip_prefix(prefix) {
            Some(below) => entries.insert(below.trim_start_matches('/').to_owned(), entry),
            None => {
                ensure!(path.is_empty(), "{path} is outside of {prefix}");
                None
            }
        };
    }
    Ok(entries)
}

fn entry_of(line: &str) -> Option<(String, ArchiveEntry)> {
    let mut rest = line;
    let mut word = || {
        let (word, after) = rest.trim_start().split_once(' ')?;
        rest = after;
        Some(word.to_owned())
    };
    let (mode, owner, _size, day, time) = (word()?, word()?, word()?, word()?, word()?);
    let name = rest.trim_start();
    let (path, target) = match name.split_once(" -> ") {
        Some((path, target)) => (path, Some(target.to_owned())),
        None => (name, None),
    };
    Some((path.to_owned(), ArchiveEntry { mode, owner, date: format!("{day} {time}"), target }))
}

fn check_entries(entries: &BTreeMap<String, ArchiveEntry>, release: &Release) -> Result<()> {
    let date = capture(Command::new("date").args(["-u", "-d", &format!("@{}", release.date), "+%F %T"]))?;
    let date = String::from_utf8_lossy(&date).trim().to_owned();
    for (path, entry) in entries {
        let mode = match (path.starts_with("bin/"), entry.mode.as_bytes().first()) {
            (_, Some(b'l')) => "lrwxrwxrwx",
            (_, Some(b'd')) | (true, _) => "rwxr-xr-x",
            (false, _) => "rw-r--r--",
        };
        ensure!(entry.mode.ends_with(mode), "{path} has the mode {}, not {mode}", entry.mode);
        ensure!(entry.owner == "0/0", "{path} belongs to {}", entry.owner);
        ensure!(entry.date == date, "{path} is of {}, the commit of {date}", entry.date);
    }
    let programs = programs::NAMES.map(|name| format!("bin/{name}"));
    let expected = EXPECTED.map(str::to_owned);
    for path in programs.iter().chain(&expected) {
        ensure!(entries.contains_key(path), "no package has {path}");
    }
    let link = entries.get("bin/palyrad").and_then(|entry| entry.target.as_deref());
    ensure!(link == Some("palyra"), "palyrad leads to {link:?}");
    let is_manual = |path: &&String| path.starts_with("share/man/man1/") && path.ends_with(".1.gz");
    let manuals = entries.keys().filter(is_manual).count();
    ensure!(manuals >= MANUALS_MIN, "there are only {manuals} manual pages");
    Ok(())
}

/// Checks what the files below a prefix say.
fn check_files(prefix: &Path, daemon: &str, release: &Release, papers: &ReleaseTexts) -> Result<()> {
    let text = |path: &str| {
        fs::read_to_string(prefix.join(path)).with_context(|| format!("could not read {path} of a package"))
    };
    let unit = text("lib/systemd/user/palyrad.service")?;
    ensure!(
        unit.lines().any(|line| line == format!("ExecStart={daemon}")),
        "the unit does not start {daemon}"
    );
    ensure!(text("share/doc/palyra/THIRD-PARTY.txt")? == papers.licences, "the licence texts are others");
    let bill = text("share/doc/palyra/palyra.cdx.json")?;
    ensure!(bill == papers.bill, "the bill of materials is another");
    bill::check(&bill, &release.version)?;
    for (path, mark) in [
        ("share/bash-completion/completions/palyra", "complete -F _palyra"),
        ("share/zsh/vendor-completions/_palyra", "#compdef palyra"),
        ("share/fish/vendor_completions.d/palyra.fish", "complete -c palyra"),
        ("share/doc/palyra/copyright", "Apache License"),
    ] {
        ensure!(text(path)?.contains(mark), "{path} has no `{mark}`");
    }
    let footer = format!("\"palyra {}\"", release.version);
    let manuals = prefix.join("share/man/man1");
    for page in fs::read_dir(&manuals).context("could not list the manual pages")? {
        let page = page.context("could not list the manual pages")?.path();
        let page_text = capture(Command::new("gzip").args(["--decompress", "--stdout"]).arg(&page))?;
        let page_text = String::from_utf8_lossy(&page_text);
        let title = page_text.lines().find(|line| line.starts_with(".TH ")).unwrap_or_default();
        ensure!(title.contains(&footer), "{} has no version: {title}", page.display());
    }
    for (program, said) in [("palyra", "palyra"), ("palyrad", "palyra"), ("palyra-verify", "palyra-verify")] {
        let version = capture(Command::new(prefix.join("bin").join(program)).arg("--version"))?;
        let expected = format!("{said} {}\n", release.version);
        ensure!(version == expected.as_bytes(), "{program} says {}", String::from_utf8_lossy(&version));
    }
    Ok(())
}

/// Has dpkg install the package below an empty root and remove it again.
fn check_installed(made: &PackageFiles, release: &Release, papers: &ReleaseTexts, root: &Path) -> Result<()> {
    let database = root.join("var/lib/dpkg");
    fs::create_dir_all(database.join("updates")).context("could not make an empty root")?;
    fs::create_dir_all(database.join("info")).context("could not make an empty root")?;
    fs::write(database.join("status"), "").context("could not make an empty root")?;
    let dpkg = |words: &[&str], package: &Path| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "dpkg", "--force-depends", "--force-bad-path"]);
        command.arg("--root").arg(root).arg("--log=/dev/null").args(words).arg(package);
        suite::find_system_programs(&mut command);
        capture(&mut command).map(|_| ())
    };
    dpkg(&["--install"], &made.debian)?;
    check_files(&root.join("usr"), "/usr/bin/palyrad", release, papers)?;
    dpkg(&["--purge"], Path::new("palyra"))?;
    let mut left: Vec<PathBuf> = fs::read_dir(root)
        .context("could not list the root")?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| !path.ends_with("var"))
        .collect();
    left.extend(
        fs::read_dir(database.join("info")).into_iter().flatten().flatten().map(|entry| entry.path()),
    );
    left.retain(|path| !path.ends_with("format"));
    ensure!(left.is_empty(), "the removed package left {left:?}");
    Ok(())
}

fn folder_name(tarball: &Path) -> Result<String> {
    let name = tarball.file_name().context("a package without a name")?.to_string_lossy().into_owned();
    Ok(name.trim_end_matches(".tar.gz").to_owned())
}

fn renew(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("could not remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))
}

/// Runs a program and returns what it prints; a failure has what it says on standard error.
fn capture(command: &mut Command) -> Result<Vec<u8>> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("could not start {shown}"))?;
    let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    ensure!(output.status.success(), "{shown} failed: {error}");
    Ok(output.stdout)
}

#[cfg(test)]
mod tests;
