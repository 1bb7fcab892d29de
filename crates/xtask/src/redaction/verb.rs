//! Builds and runs the measurement, prints what it says, and writes it into docs/evidence.md between its two marks.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};
use clap::Args;
use serde::Deserialize;

use crate::evidence_page::PagePart;
use crate::repo;

/// Its part of the page.
const PART: PagePart = PagePart { name: "redaction-recall", command: "redaction-recall FILE" };

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct RedactionOptions {
    /// A rule list in the TOML format of gitleaks; it only serves to draw samples.
    file: PathBuf,
    /// The folder of clean text; cargo's registry sources unless named.
    #[arg(long)]
    clean: Option<PathBuf>,
    /// Another draw of samples.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Prints the result for programs.
    #[arg(long)]
    json: bool,
    /// Writes the result into docs/evidence.md.
    #[arg(long)]
    write: bool,
}

#[derive(Deserialize)]
struct RedactionReport {
    kinds: Vec<KindRecall>,
    recall: f64,
    samples: u64,
    registered: RegisteredRecall,
    clean: Option<CleanCorpus>,
}

#[derive(Deserialize)]
struct KindRecall {
    kind: String,
    samples: u64,
    found: u64,
}

#[derive(Deserialize)]
struct RegisteredRecall {
    tried: u64,
    found: u64,
}

#[derive(Deserialize)]
struct CleanCorpus {
    files: u64,
    lines: u64,
    changed: u64,
    bytes: u64,
    bytes_per_second: f64,
}

/// Measures the profile that ships; the exit code is 1 when a goal is missed.
pub(crate) fn verb(options: &RedactionOptions) -> Result<ExitCode> {
    let clean = options.clean.clone().map_or_else(registry_sources, Ok)?;
    let mut command = Command::new("cargo");
    command.current_dir(repo::root()).args(["run", "--quiet", "--profile", "dist"]);
    command
        .args(["--package", "palyra-redaction", "--example", "recall", "--"])
        .arg(std::path::absolute(&options.file)?);
    command.arg("--clean").arg(clean).args(["--seed", &options.seed.to_string()]);
    if options.json || options.write {
        command.arg("--json");
    }
    let output = command.stderr(Stdio::inherit()).output().context("could not start cargo")?;
    let said = String::from_utf8(output.stdout).context("the measurement did not speak text")?;
    print!("{said}");
    if options.write {
        let report = serde_json::from_str(&said).context("the measurement did not report")?;
        PART.write(&section(&report))?;
    }
    let code = output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

fn registry_sources() -> Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.map(|home| home.join("registry/src")).filter(|sources| sources.is_dir());
    sources.context("cargo has no registry sources here; name a folder with --clean")
}

fn section(report: &RedactionReport) -> String {
    let missed = report.kinds.iter().filter(|kind| kind.found < kind.samples);
    let missed: Vec<_> =
        missed.map(|kind| format!("`{}` {} of {}", kind.kind, kind.found, kind.samples)).collect();
    let missed = if missed.is_empty() { "none".to_owned() } else { missed.join(", ") };
    let mut text = format!(
        "\n| what | goal | seen |\n|---|---|---|\n\
         | kinds of the list, {} samples in five carriers each ten times | >= 99.5 % | {:.3} % of {} kinds |\n\
         | kinds not found every time | | {missed} |\n\
         | registered values, in every form, whole and in pieces | 100 % | {} of {} |\n",
        report.samples,
        report.recall * 100.0,
        report.kinds.len(),
        report.registered.found,
        report.registered.tried,
    );
    if let Some(clean) = &report.clean {
        let percent = clean.changed as f64 / clean.lines.max(1) as f64 * 100.0;
        text.push_str(&format!(
            "| lines of clean text changed ({} files, {} MB of crates' sources) | <= 0.1 % | {} of {}: {percent:.4} % |\n\
             | speed on clean text, one core | >= 200 MB/s | {:.0} MB/s |\n",
            clean.files,
            clean.bytes / 1_000_000,
            clean.changed,
            clean.lines,
            clean.bytes_per_second / 1e6,
        ));
    }
    text.push('\n');
    text
}
