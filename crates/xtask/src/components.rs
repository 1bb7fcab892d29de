//! `cargo xtask components`: builds the example components, and tries each.
//!
//! Owns what is installed for it (below `target/tools/components`, from PyPI, by version and digest), and what counts as
//! a proof: the component says what it is, is called once, and leaves the file that it should. Invariant: it succeeds
//! only when every example was built and tried; what cannot be is named, with what is missing.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::repo;

/// The package that makes components of Python, with its version and digests.
const REQUIREMENTS: &str = include_str!("components/requirements.txt");
/// Where that list is.
const LIST: &str = "crates/xtask/src/components/requirements.txt";
/// The target for which Rust makes components.
const RUST_TARGET: &str = "wasm32-wasip2";
/// What the page that an example asks for says, in the file that it writes.
const WRITTEN: &str = "page.txt: Lamps Lantern 4711 It shines.";

/// Makes one example.
type BuildFn = fn(&Path, &Path) -> Result<PathBuf>;

/// The examples, by their folders.
const EXAMPLES: [(&str, BuildFn); 2] =
    [("examples/wasm/save_page_py", python), ("templates/wasm-tool-rust", rust)];

/// Builds and tries all examples, also those behind one that fails.
pub(crate) fn verb() -> Result<ExitCode> {
    let root = repo::root();
    let built = root.join("target/components");
    std::fs::create_dir_all(&built).context("could not make target/components")?;
    let mut failed = Vec::new();
    for (example, build) in EXAMPLES {
        let tried = build(&root, &built).and_then(|component| try_out(&root, &component));
        if let Err(error) = tried {
            failed.push(format!("{example}: {error:#}"));
        }
    }
    if failed.is_empty() { Ok(ExitCode::SUCCESS) } else { bail!("{}", failed.join("\n")) }
}

fn python(root: &Path, built: &Path) -> Result<PathBuf> {
    let home = root.join("target/tools/components");
    let program = home.join("bin/componentize-py");
    let installed = home.join("installed.txt");
    // What was installed by another version of the list is replaced.
    let current = std::fs::read_to_string(&installed).is_ok_and(|text| text == REQUIREMENTS);
    if !program.is_file() || !current {
        run(Command::new("python3").args(["-m", "venv"]).arg(&home))
            .context("a Python with `venv` is missing (Debian: `apt install python3-venv`)")?;
        let mut pip = Command::new(home.join("bin/pip"));
        pip.args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
            "--no-deps",
            "-r",
        ]);
        run(pip.arg(root.join(LIST))).context("componentize-py could not be installed")?;
        std::fs::write(&installed, REQUIREMENTS).context("could not write down what was installed")?;
    }
    let component = built.join("save_page.wasm");
    let mut componentize = Command::new(program);
    componentize.arg("-d").arg(root.join("crates/wasm/wit")).args([
        "-w",
        "tool",
        "componentize",
        "app",
        "-p",
    ]);
    componentize.arg(root.join("examples/wasm/save_page_py")).arg("-o").arg(&component);
    run(componentize.env("PYTHONDONTWRITEBYTECODE", "1"))?;
    Ok(component)
}

fn rust(root: &Path, built: &Path) -> Result<PathBuf> {
    let mut sysroot = Command::new("rustc");
    let told = sysroot.args(["--print", "sysroot"]).output().context("could not ask rustc")?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&told.stdout).trim());
    check_target(&sysroot)?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--locked", "--release", "--target", RUST_TARGET, "--manifest-path"]);
    cargo.arg(root.join("templates/wasm-tool-rust/Cargo.toml")).arg("--target-dir").arg(built.join("rust"));
    run(&mut cargo)?;
    let made = built.join("rust").join(RUST_TARGET).join("release/wasm_tool_rust.wasm");
    let component = built.join("save_page_rust.wasm");
    std::fs::copy(&made, &component).context("could not copy the component")?;
    Ok(component)
}

fn check_target(sysroot: &Path) -> Result<()> {
    if sysroot.join("lib/rustlib").join(RUST_TARGET).is_dir() {
        return Ok(());
    }
    bail!("this toolchain has no {RUST_TARGET}; `rustup target add {RUST_TARGET}` installs it")
}

/// Calls a component once, as its author would.
fn try_out(root: &Path, component: &Path) -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args(["run", "--quiet", "-p", "palyra-wasm", "--example", "try_component", "--"]);
    cargo.arg(component).arg(r#"{"page": "/", "file": "page.txt"}"#);
    let ran = cargo.output().context("could not start cargo")?;
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    if !ran.status.success() || !out.lines().any(|line| line == WRITTEN) {
        bail!("{} did not do its work:\n{out}{err}", component.display());
    }
    let bytes = std::fs::metadata(component).context("could not look at the component")?.len();
    println!("{} ({} KiB): {}", component.display(), bytes / 1024, out.lines().next().unwrap_or_default());
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("could not start {shown}"))?;
    if status.success() { Ok(()) } else { bail!("{shown} failed: {status}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolchain_without_the_target_is_told_how_to_get_it() {
        let sysroot = std::env::temp_dir().join(format!("palyra-components-{}", std::process::id()));
        let refused = check_target(&sysroot).unwrap_err().to_string();
        assert!(refused.contains("rustup target add wasm32-wasip2"), "{refused}");
        std::fs::create_dir_all(sysroot.join("lib/rustlib").join(RUST_TARGET)).unwrap();
        let checked = check_target(&sysroot);
        std::fs::remove_dir_all(&sysroot).unwrap();
        checked.unwrap();
    }
}
