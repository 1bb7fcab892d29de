//! The crates that are in the programs.
//!
//! Owns reading `cargo metadata`: all that the shipped packages need to run, on this kind of machine, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::evidence_page;

/// The packages whose programs ship.
const SHIPPED: [&str; 3] = ["palyra", "palyra-verify", "palyra-wasm"];

/// What they are built with beyond their default features.
const FEATURES: &str = "palyra/jemalloc,palyra-wasm/compiler";

/// A crate, ours or another's.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct CratePackage {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) license: Option<String>,
    pub(super) repository: Option<String>,
    #[serde(default)]
    pub(super) authors: Vec<String>,
    /// Where it comes from; `None` for ours.
    pub(super) source: Option<String>,
    pub(super) manifest_path: PathBuf,
    id: String,
}

/// All crates of the programs, and which needs which.
#[derive(Debug)]
pub(super) struct Dependencies {
    packages: BTreeMap<String, CratePackage>,
    needs: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<CratePackage>,
    resolve: ResolvedGraph,
}

#[derive(Deserialize)]
struct ResolvedGraph {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<DependencyEdge>,
}

#[derive(Deserialize)]
struct DependencyEdge {
    pkg: String,
    dep_kinds: Vec<NeedKind>,
}

#[derive(Deserialize)]
struct NeedKind {
    /// `None` is what runs; tests and build scripts have a word here.
    kind: Option<String>,
}

impl Dependencies {
    /// Reads what the shipped packages need.
    pub(super) fn of_shipped() -> Result<Self> {
        let host = evidence_page::stdout_of("rustc", &["--print", "host-tuple"])?;
        let mut arguments = vec!["metadata", "--format-version", "1", "--locked"];
        arguments.extend(["--features", FEATURES, "--filter-platform", host.trim()]);
        Self::read(&evidence_page::stdout_of("cargo", &arguments)?)
    }

    fn read(text: &str) -> Result<Self> {
        let metadata: Metadata = serde_json::from_str(text).context("cargo's metadata has another form")?;
        let nodes: BTreeMap<&str, &Node> =
            metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let ours =
            |package: &&CratePackage| SHIPPED.contains(&package.name.as_str()) && package.source.is_none();
        let mut open: Vec<String> =
            metadata.packages.iter().filter(ours).map(|package| package.id.clone()).collect();
        let mut needs = BTreeMap::new();
        while let Some(id) = open.pop() {
            if needs.contains_key(&id) {
                continue;
            }
            let node = nodes.get(id.as_str()).with_context(|| format!("cargo resolved no {id}"))?;
            let runs = |need: &&DependencyEdge| need.dep_kinds.iter().any(|kind| kind.kind.is_none());
            let below: BTreeSet<String> =
                node.deps.iter().filter(runs).map(|need| need.pkg.clone()).collect();
            open.extend(below.iter().cloned());
            needs.insert(id, below);
        }
        let packages = metadata.packages.into_iter().filter(|package| needs.contains_key(&package.id));
        let packages = packages.map(|package| (package.id.clone(), package)).collect();
        Ok(Self { packages, needs })
    }

    /// Returns them by name and version.
    pub(super) fn all(&self) -> Vec<&CratePackage> {
        let mut all: Vec<_> = self.packages.values().collect();
        all.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        all
    }

    /// Returns what a crate needs to run, by name and version.
    pub(super) fn needs_of(&self, package: &CratePackage) -> Vec<&CratePackage> {
        let ids = self.needs.get(&package.id).into_iter().flatten();
        let mut needs: Vec<_> = ids.filter_map(|id| self.packages.get(id)).collect();
        needs.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        needs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_tests_and_build_scripts_need_does_not_ship() {
        let package = |name: &str| {
            serde_json::json!({"name": name, "version": "1.0.0", "license": "MIT", "repository": null,
                "source": (!name.starts_with("palyra")).then_some("registry"),
                "manifest_path": "/x/Cargo.toml", "id": name})
        };
        let need =
            |name: &str, kind: Option<&str>| serde_json::json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let packages: Vec<_> =
            ["palyra", "palyra-verify", "palyra-wasm", "runs", "below", "tests", "builds", "xtask"]
                .map(package)
                .into();
        let metadata = serde_json::json!({
            "packages": packages,
            "resolve": {"nodes": [
                {"id": "palyra", "deps": [need("runs", None), need("tests", Some("dev")), need("builds", Some("build"))]},
                {"id": "palyra-verify", "deps": []},
                {"id": "palyra-wasm", "deps": []},
                {"id": "runs", "deps": [need("below", None)]},
                {"id": "below", "deps": []},
                {"id": "tests", "deps": []},
                {"id": "builds", "deps": []},
                {"id": "xtask", "deps": [need("tests", None)]},
            ]},
        });
        let read = Dependencies::read(&metadata.to_string()).expect("it is read");
        let names: Vec<&str> = read.all().iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["below", "palyra", "palyra-verify", "palyra-wasm", "runs"]);
        let palyra = read.all().into_iter().find(|package| package.name == "palyra").expect("it ships");
        assert_eq!(read.needs_of(palyra).len(), 1);
    }
}
