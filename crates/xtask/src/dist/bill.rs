//! The bill of materials, in the form of CycloneDX 1.5 (<https://cyclonedx.org/docs/1.5/json/>).
//!
//! Owns the document; its content is a function of the crates alone, and of the scripts of others that the console serves.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::dependencies::{CratePackage, Dependencies};

/// Returns the document as text.
pub(super) fn of(dependencies: &Dependencies) -> Result<String> {
    let all = dependencies.all();
    let product = all.iter().find(|package| package.name == "palyra").context("`palyra` does not ship")?;
    let crates = all.iter().filter(|package| package.name != product.name);
    let components: Vec<Value> = crates.map(|package| component(package)).collect();
    let edges: Vec<Value> = all
        .iter()
        .map(|package| {
            let needs: Vec<String> = dependencies.needs_of(package).into_iter().map(url).collect();
            json!({ "ref": url(package), "dependsOn": needs })
        })
        .collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": component(product) },
        "components": components,
        "dependencies": edges,
    });
    serde_json::to_string_pretty(&bill).context("the bill of materials cannot be written")
}

fn component(package: &CratePackage) -> Value {
    let kind = if package.name == "palyra" { "application" } else { "library" };
    let mut component = json!({
        "type": kind,
        "bom-ref": url(package),
        "name": package.name,
        "version": package.version,
        "purl": url(package),
    });
    if let Some(license) = &package.license {
        component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
    }
    component
}

/// Checks the form of a document: its product has this version, its parts are named once each, and all edges lead to parts.
pub(super) fn check(text: &str, version: &str) -> Result<()> {
    let bill: Value = serde_json::from_str(text).context("the bill of materials is not JSON")?;
    ensure!(bill["bomFormat"] == "CycloneDX" && bill["specVersion"] == "1.5", "the bill has another format");
    let product = &bill["metadata"]["component"];
    ensure!(
        product["name"] == "palyra" && product["version"] == version,
        "the bill is of {} {}, not of palyra {version}",
        product["name"],
        product["version"]
    );
    let components = bill["components"].as_array().context("the bill has no parts")?;
    let mut parts = BTreeSet::new();
    for part in components.iter().chain([product]) {
        let reference = part["bom-ref"].as_str().context("a part of the bill has no reference")?;
        ensure!(part["purl"] == reference, "{reference} has another package URL");
        ensure!(parts.insert(reference), "{reference} is in the bill twice");
    }
    for edge in bill["dependencies"].as_array().context("the bill has no edges")? {
        let needs = edge["dependsOn"].as_array().context("an edge of the bill leads nowhere")?;
        for end in needs.iter().chain([&edge["ref"]]) {
            ensure!(end.as_str().is_some_and(|end| parts.contains(end)), "the bill has no part {end}");
        }
    }
    Ok(())
}

/// The package's URL (<https://github.com/package-url/purl-spec>).
fn url(package: &CratePackage) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bill_is_complete_and_a_lost_part_is_found() {
        let dependencies = Dependencies::of_shipped().expect("cargo's metadata");
        let text = of(&dependencies).expect("a bill");
        let version = env!("CARGO_PKG_VERSION");
        check(&text, version).expect("it is complete");
        assert!(check(&text, "0.0.1").is_err(), "another version");
        let mut spoilt: Value = serde_json::from_str(&text).expect("JSON");
        let parts = spoilt["components"].as_array_mut().expect("parts");
        let names: Vec<_> = parts.iter().filter_map(|part| part["name"].as_str()).collect();
        for name in ["tikv-jemalloc-sys", "cranelift-codegen", "libsqlite3-sys", "palyra-verify"] {
            assert!(names.contains(&name), "{name} ships");
        }
        assert!(!names.contains(&"proptest"), "what only tests need does not ship");
        parts.retain(|part| part["name"] != "serde");
        let error = check(&spoilt.to_string(), version).expect_err("a part is lost");
        assert!(format!("{error}").contains("pkg:cargo/serde@"), "{error}");
    }
}
