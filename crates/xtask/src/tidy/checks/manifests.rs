//! Every manifest inherits the workspace's lints, and takes from outside only what its floor may have.
//!
//! Owns what cargo itself does not ask: a crate without `[lints] workspace = true` is checked by nothing.
//! `deny.toml` fences crates wherever they come in; here stand those that only single floors may name.

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::{CrateFolder, RepositoryView, Table};
use crate::tidy::rules::Rules;

const RULE: &str = "manifests";

/// Returns manifests that opt out of the lints, are misnamed, or take what their floor must not have.
pub(super) fn check(house: &RepositoryView, rules: &Rules) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for folder in &house.crates {
        let manifest: toml::Table = house.text(&folder.manifest).parse().unwrap_or_default();
        let lints = manifest.get("lints").and_then(|l| l.get("workspace")).and_then(toml::Value::as_bool);
        if lints != Some(true) {
            let what = "the workspace's lints are not inherited".to_owned();
            findings.push(finding(folder, 1, what, "add `[lints]` with `workspace = true`"));
        }
        let name = manifest.get("package").and_then(|p| p.get("name")).and_then(toml::Value::as_str);
        let expected = [folder.folder.clone(), format!("palyra-{}", folder.folder)];
        if !name.is_some_and(|name| expected.iter().any(|e| e == name)) {
            let what = format!("the package is called {}", name.unwrap_or("nothing"));
            findings.push(finding(folder, 1, what, "name it palyra-<folder>"));
        }
        for dependency in folder.dependencies.iter().filter(|d| d.table != Table::Tests) {
            if let Some(only) = rules.foreign_only_in.get(&dependency.package)
                && !only.contains(&folder.folder)
            {
                let what = format!("`{}` must not use `{}`", folder.folder, dependency.package);
                let mend = "put what needs it behind a port, or on a floor that may have it";
                findings.push(finding(folder, dependency.line, what, mend));
            }
        }
    }
    findings
}

fn finding(folder: &CrateFolder, line: usize, what: String, mend: &'static str) -> TidyFinding {
    TidyFinding { path: folder.manifest.clone(), line, rule: RULE, item: folder.folder.clone(), what, mend }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;

    fn found(manifest: &str) -> Vec<String> {
        let only = [("tokio".to_owned(), ["runtime".to_owned()].into())].into();
        let rules = Rules { foreign_only_in: only, ..Rules::default() };
        let house = house(&[("crates/policy/Cargo.toml", manifest)]);
        check(&house, &rules).into_iter().map(|f| f.what).collect()
    }

    const HEAD: &str = "[package]\nname = \"palyra-policy\"\n[lints]\nworkspace = true\n";

    #[test]
    fn an_ordinary_manifest_is_fine() {
        assert!(found(&format!("{HEAD}[dependencies]\nserde = \"1\"\n")).is_empty());
        assert!(found(&format!("{HEAD}[dev-dependencies]\ntokio = \"1\"\n")).is_empty());
    }

    #[test]
    fn lints_that_are_not_inherited_are_found() {
        assert_eq!(
            found("[package]\nname = \"palyra-policy\"\n"),
            ["the workspace's lints are not inherited"]
        );
    }

    #[test]
    fn a_misnamed_package_is_found() {
        let manifest = HEAD.replace("palyra-policy", "rules");
        assert_eq!(found(&manifest), ["the package is called rules"]);
    }

    #[test]
    fn a_foreign_crate_on_the_wrong_floor_is_found() {
        let manifest = format!("{HEAD}[dependencies]\ntokio = \"1\"\n");
        assert_eq!(found(&manifest), ["`policy` must not use `tokio`"]);
    }
}
