//! `cargo xtask components`: builds the example components, and tries each.
//!
//! Owns what is installed for it (below `target/tools/components`, by name and version from PyPI), and what counts as a
//! proof: the component says what it is, is called once, and leaves the file that it should.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::repo;

/// The package that makes components of Python, and its version.
const COMPONENTIZE: &str = "componentize-py==0.25.1";
/// The target for which Rust makes components.
const RUST_TARGET: &str = "wasm32-wasip2";
/// What the page that an example asks for says, in the file that it writes.
const WRITTEN: &str = "page.txt: Lamps Lantern 4711 It shines.";

/// Builds and tries all examples; what cannot be built here is named with its reason.
pub(crate) fn verb() -> Result<ExitCode> {
    let root = repo::root();
    let built = root.join("target/components");
    std::fs::create_dir_all(&built).context("could not make target/components")?;
    let python = python(&root, &built)?;
    try_out(&root, &python)?;
    match rust(&root, &built)? {
        Some(component) => try_out(&root, &component)?,
        None => println!(
            "templates/wasm-tool-rust: not built, since this toolchain has no {RUST_TARGET}; \
             `rustup target add {RUST_TARGET}` installs it"
        ),
    }
    Ok(ExitCode::SUCCESS)
}

fn python(root: &Path, built: &Path) -> Result<PathBuf> {
    let home = root.join("target/tools/components");
    let program = home.join("bin/componentize-py");
    if !program.is_file() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        let mut pip = Command::new(home.join("bin/pip"));
        run(pip.args(["install", "--quiet", "--disable-pip-version-check", COMPONENTIZE]))?;
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

fn rust(root: &Path, built: &Path) -> Result<Option<PathBuf>> {
    let mut sysroot = Command::new("rustc");
    let told = sysroot.args(["--print", "sysroot"]).output().context("could not ask rustc")?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&told.stdout).trim());
    if !sysroot.join("lib/rustlib").join(RUST_TARGET).is_dir() {
        return Ok(None);
    }
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--release", "--target", RUST_TARGET, "--manifest-path"]);
    cargo.arg(root.join("templates/wasm-tool-rust/Cargo.toml")).arg("--target-dir").arg(built.join("rust"));
    run(&mut cargo)?;
    let made = built.join("rust").join(RUST_TARGET).join("release/wasm_tool_rust.wasm");
    let component = built.join("save_page_rust.wasm");
    std::fs::copy(&made, &component).context("could not copy the component")?;
    Ok(Some(component))
}

/// Calls a component once, as its author would.
fn try_out(root: &Path, component: &Path) -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args(["run", "--quiet", "-p", "palyra-wasm", "--example", "try_component", "--"]);
    cargo.arg(component).arg(r#"{"path": "/", "file": "page.txt"}"#);
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
