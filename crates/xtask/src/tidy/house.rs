//! The repository as values: crates with their arrows, source files with their facts, other texts.
//!
//! Owns walking the folders and the shape that checks read. Invariant: a [`RepositoryView`] depends only on
//! the texts it was made of, so a check can be tried on a house of three lines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::read_source;
use super::source::SourceFile;

/// The repository as the checks see it.
#[derive(Debug, Default)]
pub(crate) struct RepositoryView {
    pub(crate) crates: Vec<CrateFolder>,
    pub(crate) files: Vec<SourceFile>,
    /// Every text that is not Rust: manifests, documents, by path from the root.
    pub(crate) texts: BTreeMap<String, String>,
    /// Paths of everything else that was seen, so that links to it count as alive.
    pub(crate) others: Vec<String>,
    /// Commits that a document names and the repository does not have.
    pub(crate) missing_commits: BTreeSet<String>,
}

/// One folder below `crates/` and what its manifest depends on.
#[derive(Debug)]
pub(crate) struct CrateFolder {
    pub(crate) folder: String,
    pub(crate) manifest: String,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One line of a manifest's dependency tables.
#[derive(Debug)]
pub(crate) struct Dependency {
    /// The package's name as cargo knows it.
    pub(crate) package: String,
    pub(crate) table: Table,
    pub(crate) line: usize,
}

/// The table a dependency stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Normal,
    Tests,
    BuildScript,
}

const FOLDERS: [&str; 4] = ["crates", "docs", "contrib", ".ci"];

impl RepositoryView {
    /// Reads the repository at `root`.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let mut texts = Vec::new();
        let mut others = Vec::new();
        for entry in list(root)? {
            if entry.is_file() {
                read(root, &entry, &mut texts, &mut others)?;
            }
        }
        for folder in FOLDERS {
            let path = root.join(folder);
            if path.is_dir() {
                walk(root, &path, &mut texts, &mut others)?;
            }
        }
        Self::from_texts(texts, others)
    }

    /// Makes a house of `(path, text)` pairs and the paths of files nobody needs to read.
    pub(crate) fn from_texts(texts: Vec<(String, String)>, others: Vec<String>) -> Result<Self> {
        let (sources, texts): (Vec<_>, Vec<_>) =
            texts.into_iter().partition(|(path, _)| Path::new(path).extension().is_some_and(|e| e == "rs"));
        let files = read_in_parallel(&sources)?;
        let texts: BTreeMap<String, String> = texts.into_iter().collect();
        let mut crates = Vec::new();
        for (path, text) in &texts {
            if let ["crates", folder, "Cargo.toml"] = path.split('/').collect::<Vec<_>>()[..] {
                crates.push(CrateFolder {
                    folder: folder.to_owned(),
                    manifest: path.clone(),
                    dependencies: dependencies(text).with_context(|| format!("could not read {path}"))?,
                });
            }
        }
        Ok(Self { crates, files, texts, others, missing_commits: BTreeSet::new() })
    }

    /// Returns the text at `path`, empty where there is none.
    pub(crate) fn text(&self, path: &str) -> &str {
        self.texts.get(path).map_or("", String::as_str)
    }

    /// Returns whether `path` is a file or a folder of the repository.
    pub(crate) fn has(&self, path: &str) -> bool {
        let below = format!("{path}/");
        let files = self.files.iter().map(|f| f.path.as_str());
        let all =
            files.chain(self.texts.keys().map(String::as_str)).chain(self.others.iter().map(String::as_str));
        path.is_empty() || all.into_iter().any(|p| p == path || p.starts_with(&below))
    }
}

fn walk(
    root: &Path,
    folder: &Path,
    texts: &mut Vec<(String, String)>,
    others: &mut Vec<String>,
) -> Result<()> {
    for path in list(folder)? {
        if path.is_file() {
            read(root, &path, texts, others)?;
        } else if !is_built(&path) {
            walk(root, &path, texts, others)?;
        }
    }
    Ok(())
}

/// Whether cargo builds into a folder, which it marks (<https://bford.info/cachedir/>); any other may be called so, too.
fn is_built(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == "target") && folder.join("CACHEDIR.TAG").exists()
}

fn list(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("could not list {}", folder.display()))?;
    let mut paths = entries.map(|e| e.map(|e| e.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn read(root: &Path, path: &Path, texts: &mut Vec<(String, String)>, others: &mut Vec<String>) -> Result<()> {
    let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
    let wanted = path.extension().is_some_and(|e| e == "rs" || e == "toml" || e == "md")
        || name.starts_with("docs/reference/");
    if !wanted {
        others.push(name);
        return Ok(());
    }
    match std::fs::read_to_string(path) {
        Ok(text) => texts.push((name, text)),
        // Somebody may be renaming files while we look; a file that is gone breaks no rule.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("could not read {name}")),
    }
    Ok(())
}

fn read_in_parallel(sources: &[(String, String)]) -> Result<Vec<SourceFile>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = sources.len().div_ceil(threads).max(1);
    let mut files = Vec::with_capacity(sources.len());
    std::thread::scope(|scope| {
        let readers: Vec<_> = sources
            .chunks(share)
            .map(|chunk| {
                scope.spawn(move || {
                    chunk.iter().map(|(p, t)| read_source::read(p, t)).collect::<Result<Vec<_>>>()
                })
            })
            .collect();
        for reader in readers {
            match reader.join() {
                Ok(read) => files.extend(read?),
                Err(_) => bail!("could not read the source files: the parser panicked"),
            }
        }
        Ok(())
    })?;
    read_source::mark_test_files(&mut files);
    Ok(files)
}

fn dependencies(manifest: &str) -> Result<Vec<Dependency>> {
    let manifest_table: toml::Table = manifest.parse()?;
    let mut found = Vec::new();
    let mut collect = |table: &toml::Table| {
        for (key, kind) in [
            ("dependencies", Table::Normal),
            ("dev-dependencies", Table::Tests),
            ("build-dependencies", Table::BuildScript),
        ] {
            let Some(entries) = table.get(key).and_then(toml::Value::as_table) else { continue };
            for (name, value) in entries {
                let package = value.get("package").and_then(toml::Value::as_str).unwrap_or(name);
                let line = line_of(manifest, key, name);
                found.push(Dependency { package: package.to_owned(), table: kind, line });
            }
        }
    };
    collect(&manifest_table);
    let targets = manifest_table.get("target").and_then(toml::Value::as_table);
    for target in targets.into_iter().flat_map(|t| t.values()).filter_map(toml::Value::as_table) {
        collect(target);
    }
    Ok(found)
}

fn line_of(manifest: &str, table: &str, name: &str) -> usize {
    let mut inside = false;
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            let header = line.trim_matches(['[', ']']);
            if header.ends_with(&format!("{table}.{name}")) {
                return index + 1;
            }
            inside = header == table || header.ends_with(&format!(".{table}"));
        } else if inside && line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ' ', '='])) {
            return index + 1;
        }
    }
    1
}

#[cfg(test)]
pub(super) fn house(texts: &[(&str, &str)]) -> RepositoryView {
    let texts = texts.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect();
    RepositoryView::from_texts(texts, Vec::new()).expect("the fixture parses")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_yields_its_dependencies_with_table_and_line() {
        let manifest = "[package]\nname = \"palyra-a\"\n[dependencies]\nserde.workspace = true\n\
                        [dev-dependencies]\nb = { package = \"palyra-b\", path = \"../b\" }\n";
        let house = house(&[("crates/a/Cargo.toml", manifest)]);
        let found: Vec<_> =
            house.crates[0].dependencies.iter().map(|d| (d.package.as_str(), d.table, d.line)).collect();
        assert_eq!(found, [("serde", Table::Normal, 4), ("palyra-b", Table::Tests, 6)]);
    }

    #[test]
    fn what_is_called_target_is_seen_unless_cargo_builds_there() {
        let root = std::env::temp_dir().join(format!("xtask-target-{}", std::process::id()));
        for (folder, marked) in [("crates/a/src/target", false), ("crates/a/target", true)] {
            let folder = root.join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("tests.rs"), "//! Tests.\n").unwrap();
            if marked {
                std::fs::write(folder.join("CACHEDIR.TAG"), "").unwrap();
            }
        }
        let (mut texts, mut others) = (Vec::new(), Vec::new());
        walk(&root, &root, &mut texts, &mut others).unwrap();
        std::fs::remove_dir_all(&root).unwrap();
        let seen: Vec<_> = texts.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(seen, ["crates/a/src/target/tests.rs"]);
    }

    #[test]
    fn a_folder_counts_as_there_when_a_file_lies_in_it() {
        let house = house(&[("docs/errors/README.md", "")]);
        assert!(house.has("docs/errors") && house.has("docs/errors/README.md"));
        assert!(!house.has("docs/error"));
    }
}
