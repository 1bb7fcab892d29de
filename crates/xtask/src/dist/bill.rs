//! The bill of materials, in the form of CycloneDX 1.5 (<https://cyclonedx.org/docs/1.5/json/>).
//!
//! Owns the document; its content is a function of the crates alone.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::dependencies::{CratePackage, Dependencies};

/// Returns the document as text.
pub(super) fn of(dependencies: &Dependencies) -> Result<String> {
    let all = dependencies.all();
    let product = all.iter().find(|package| package.name == "palyra").context("`palyra` does not ship")?;
    let components: Vec<Value> =
        all.iter().filter(|package| package.name != product.name).map(|package| component(package)).collect();
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

/// The package's URL (<https://github.com/package-url/purl-spec>).
fn url(package: &CratePackage) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}
