//! The tarball, the Debian package, and their checksums.
//!
//! Owns their names and forms. GNU tar, gzip, dpkg-deb and sha256sum make them; every file has the date of the commit and
//! belongs to root, so that the same tree gives the same bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::programs;
use super::tree::{Tree, run};
use crate::evidence_page;

/// What a release is called, and from when it is.
pub(super) struct Release {
    pub(super) version: String,
    /// Seconds since 1970.
    pub(super) date: u64,
}

/// The files that were made.
pub(super) struct PackageFiles {
    pub(super) tarball: PathBuf,
    pub(super) debian: PathBuf,
    pub(super) checksums: PathBuf,
}

/// How much time packing may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    /// As small as gzip and xz make it.
    Best,
    /// For packages that are only looked at.
    Fast,
}

/// The trees to pack.
pub(super) struct Trees {
    pub(super) system: Tree,
    pub(super) person: Tree,
}

impl PackageFiles {
    pub(super) fn print(&self) {
        for file in [&self.tarball, &self.debian, &self.checksums] {
            println!("{}", file.display());
        }
    }
}

/// Packs everything into `out`.
pub(super) fn make(
    trees: &Trees,
    release: &Release,
    out: &Path,
    compression: Compression,
) -> Result<PackageFiles> {
    let tarball = tarball(&trees.person, release, out, compression)?;
    let debian = debian(&trees.system, release, out, compression)?;
    let checksums = out.join("SHA256SUMS");
    let mut summed = String::new();
    for file in [&tarball, &debian] {
        let name = file.file_name().context("a package without a name")?.to_string_lossy().into_owned();
        let output = Command::new("sha256sum").arg(&name).current_dir(out).output();
        let output = output.context("could not start sha256sum")?;
        ensure!(output.status.success(), "sha256sum failed on {name}");
        summed.push_str(&String::from_utf8_lossy(&output.stdout));
    }
    fs::write(&checksums, summed).context("could not write the checksums")?;
    Ok(PackageFiles { tarball, debian, checksums })
}

fn tarball(tree: &Tree, release: &Release, out: &Path, compression: Compression) -> Result<PathBuf> {
    let level = if compression == Compression::Best { "--best" } else { "--fast" };
    let name = format!("palyra-{}-{}-linux", release.version, std::env::consts::ARCH);
    let (plain, packed) = (out.join(format!("{name}.tar")), out.join(format!("{name}.tar.gz")));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--format=gnu", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.arg(format!("--mtime=@{}", release.date)).arg(format!("--transform=flags=r;s,^usr,{name},"));
    tar.arg("--file").arg(&plain).arg("--directory").arg(&tree.folder).arg("usr");
    tar.env_remove("TAR_OPTIONS");
    run(&mut tar)?;
    run(Command::new("gzip").args(["--no-name", level, "--force"]).arg(&plain))?;
    Ok(packed)
}

fn debian(tree: &Tree, release: &Release, out: &Path, compression: Compression) -> Result<PathBuf> {
    let method: &[&str] = if compression == Compression::Best { &["-Zxz"] } else { &["-Zgzip", "-z1"] };
    let architecture = evidence_page::stdout_of("dpkg", &["--print-architecture"])?.trim().to_owned();
    let control = tree.folder.join("DEBIAN");
    fs::create_dir_all(&control).context("could not make the folder of the control file")?;
    let text = control_file(release, &architecture, &c_library(&tree.folder)?, size(&tree.folder)?);
    fs::write(control.join("control"), text).context("could not write the control file")?;
    let package = out.join(format!("palyra_{}_{architecture}.deb", release.version));
    let mut build = Command::new("dpkg-deb");
    build.arg("--root-owner-group").args(method).arg("--build").arg(&tree.folder).arg(&package);
    run(build.env("SOURCE_DATE_EPOCH", release.date.to_string()).stdout(std::process::Stdio::null()))?;
    fs::remove_dir_all(&control).context("could not remove the folder of the control file")?;
    Ok(package)
}

/// Returns the control file (<https://www.debian.org/doc/debian-policy/ch-controlfields.html>).
fn control_file(release: &Release, architecture: &str, c_library: &str, kibibytes: u64) -> String {
    format!(
        "Package: palyra\n\
         Version: {}\n\
         Architecture: {architecture}\n\
         Maintainer: Palyra developers <developers@palyra.invalid>\n\
         Installed-Size: {kibibytes}\n\
         Depends: libc6 (>= {c_library}), libgcc-s1\n\
         Section: utils\n\
         Priority: optional\n\
         Description: self-hosted agent gateway\n \
         One daemon between people, language models and tools that touch real systems.\n \
         It asks before anything is changed and records every step.\n",
        release.version
    )
}

/// Returns the newest version of the C library that a program wants a symbol of.
fn c_library(tree: &Path) -> Result<String> {
    let mut newest = (2, 0);
    for name in programs::NAMES {
        let program = tree.join("usr/bin").join(name);
        let symbols = evidence_page::stdout_of("objdump", &["-T", &program.to_string_lossy()])?;
        newest = newest.max(newest_symbol(&symbols).with_context(|| format!("{name} wants no C library"))?);
    }
    Ok(format!("{}.{}", newest.0, newest.1))
}

fn newest_symbol(symbols: &str) -> Option<(u32, u32)> {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let mut parts = digits.split('.').map(str::parse::<u32>);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    });
    versions.max()
}

/// Returns the size of a folder in KiB, as `du` counts files.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("could not list {}", folder.display()))? {
            let entry = entry.context("could not read a folder")?;
            let about = entry.metadata().context("could not look at a file")?;
            if about.is_dir() { open.push(entry.path()) } else { bytes += about.len() }
        }
    }
    Ok(bytes.div_ceil(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_symbol_counts_by_numbers() {
        let symbols =
            "0000 DF *UND* (GLIBC_2.9) a\n0000 DF *UND* (GLIBC_2.34) b\n0000 DF *UND* (GLIBC_2.2.5) c\n";
        assert_eq!(newest_symbol(symbols), Some((2, 34)));
        assert_eq!(newest_symbol("no symbols"), None);
    }
}
