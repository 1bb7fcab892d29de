//! Building the programs as they ship.
//!
//! Owns their names and how each is built. `palyrad` is a link to `palyra`, which serves under that name.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::repo;

/// The programs that ship.
pub(super) const NAMES: [&str; 3] = ["palyra", "palyra-verify", "palyra-component-compile"];

/// Builds them; returns the folder where they are.
pub(super) fn build() -> Result<PathBuf> {
    // One after the other: built together, each would get the features of all.
    cargo(&["-p", "palyra", "--bin", "palyra", "--features", "jemalloc"])?;
    cargo(&["-p", "palyra-verify", "--bin", "palyra-verify"])?;
    cargo(&["-p", "palyra-wasm", "--bin", "palyra-component-compile", "--features", "compiler"])?;
    Ok(repo::target().join("dist"))
}

fn cargo(what: &[&str]) -> Result<()> {
    let root = repo::root();
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let home = home.context("neither CARGO_HOME nor HOME is set")?;
    // What is built must not depend on where it was built.
    let places = [(root.as_path(), "palyra"), (home.as_path(), "cargo")];
    let remap =
        |flag: &str, place: &(&std::path::Path, &str)| format!("{flag}{}={}", place.0.display(), place.1);
    let rust: Vec<String> = places.iter().map(|place| remap("--remap-path-prefix=", place)).collect();
    let c: Vec<String> = places.iter().map(|place| remap("-ffile-prefix-map=", place)).collect();
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--locked", "--profile", "dist"]).args(what).current_dir(&root);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", rust.join("\u{1f}")).env("CFLAGS", c.join(" "));
    let status = cargo.status().context("could not start cargo")?;
    ensure!(status.success(), "cargo could not build {}", what.join(" "));
    Ok(())
}
