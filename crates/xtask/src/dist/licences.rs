//! The licence texts of all crates in the programs, and of scripts and data of others that are part of the programs.
//!
//! Owns finding them and the form of `THIRD-PARTY.txt`. Invariant: no crate is left without a text; where one brings none,
//! that of a crate of the same repository or licence stands for it, and the page says so.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};

use super::dependencies::{CratePackage, Dependencies};

/// How names of such files begin, in small letters.
const BEGINNINGS: [&str; 6] = ["license", "licence", "copying", "notice", "unlicense", "copyright"];
/// Folders of C code below a crate that has terms of its own.
const BUNDLED: [&str; 1] = ["jemalloc"];

/// Data in the programs that are not ours, with their terms.
const ASSETS: [(&str, &str); 1] = [(
    "the embedding table of memory (Apache-2.0), derived from all-MiniLM-L6-v2",
    include_str!("../../../memory/embedding/NOTICE"),
)];

/// Returns the page.
pub(super) fn text(dependencies: &Dependencies) -> Result<String> {
    let others: Vec<&CratePackage> =
        dependencies.all().into_iter().filter(|package| package.source.is_some()).collect();
    let mut found = BTreeMap::new();
    for package in &others {
        let folder = package.manifest_path.parent().context("a crate without a folder")?;
        found.insert(key(package), texts_in(folder)?);
    }
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in &others {
        let label = label(package);
        let own = found.get(&key(package)).filter(|texts| !texts.is_empty());
        let (texts, note) = match own {
            Some(texts) => (texts, String::new()),
            None => {
                let lender = lender(package, &others, &found)
                    .with_context(|| format!("no licence text for {label} was found"))?;
                (
                    &found[&key(lender)],
                    format!(", which has no text of its own; this is that of {}", lender.name),
                )
            }
        };
        for text in texts {
            by_text.entry(text.clone()).or_default().push(format!("{label}{note}"));
        }
    }
    for (label, text) in ASSETS {
        by_text.entry(text.to_owned()).or_default().push(label.to_owned());
    }
    Ok(page(others.len(), by_text))
}

fn page(crates: usize, by_text: BTreeMap<String, Vec<String>>) -> String {
    let mut sections: Vec<(Vec<String>, String)> = by_text.into_iter().map(|(text, of)| (of, text)).collect();
    sections.sort();
    let mut page = format!("Palyra contains code of {crates} other crates. Their terms:\n");
    for (of, text) in sections {
        // Writing into a text does not fail.
        let _ = write!(page, "\n{}\n{}\n\n{}\n", "=".repeat(78), of.join("\n"), text.trim_end());
    }
    page
}

fn key(package: &CratePackage) -> (String, String) {
    (package.name.clone(), package.version.clone())
}

fn label(package: &CratePackage) -> String {
    let license = package.license.as_deref().unwrap_or("see below");
    let authors = package.authors.join(", ");
    let by = if authors.is_empty() { String::new() } else { format!(", by {authors}") };
    format!("{} {} ({license}){by}", package.name, package.version)
}

/// Returns whose text stands for that of a crate without one.
fn lender<'a>(
    of: &CratePackage,
    all: &[&'a CratePackage],
    found: &BTreeMap<(String, String), Vec<String>>,
) -> Option<&'a CratePackage> {
    let has_text = |package: &&&CratePackage| found.get(&key(package)).is_some_and(|texts| !texts.is_empty());
    let same_terms = |package: &&&CratePackage| of.license.is_some() && package.license == of.license;
    let same_home = |package: &&&CratePackage| of.repository.is_some() && package.repository == of.repository;
    let mut candidates = all.iter().filter(has_text).filter(same_terms);
    candidates.clone().find(same_home).or_else(|| candidates.next()).copied()
}

fn texts_in(folder: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    let folders = std::iter::once(folder.to_owned()).chain(BUNDLED.map(|name| folder.join(name)));
    for folder in folders.filter(|folder| folder.is_dir()) {
        let listed =
            std::fs::read_dir(&folder).with_context(|| format!("could not list {}", folder.display()))?;
        let mut files: Vec<_> =
            listed.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            let is_code = name.ends_with(".rs") || name.ends_with(".toml");
            if BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) && !is_code {
                let bytes =
                    std::fs::read(&file).with_context(|| format!("could not read {}", file.display()))?;
                texts.push(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"));
            }
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crate_in_the_programs_has_a_licence_text() {
        let dependencies = Dependencies::of_shipped().expect("cargo's metadata");
        let page = text(&dependencies).expect("a page");
        for package in dependencies.all().iter().filter(|package| package.source.is_some()) {
            assert!(page.contains(&label(package)), "{}", package.name);
        }
        assert!(page.contains("tikv-jemalloc-sys "), "the allocator of what ships");
        assert!(page.contains("Redistribution and use in source and binary forms"), "the terms of C code");
    }
}
