//! Counters of structs that carry much to many functions.
//!
//! Owns which struct a name in a file is, where several share it: see [`DeclaredStructs::named`].

use std::collections::BTreeMap;

use super::hits::{CountedHit, product};
use crate::tidy::house::RepositoryView;
use crate::tidy::rules::Rules;
use crate::tidy::source::{Import, SourceFile, Struct};

/// Structs with fewer fields are values, and are fine wherever they go.
const FIELDS_OF_A_BUNCH: usize = 4;

const CARRIERS: [&str; 4] = ["Args", "Params", "Parts", "Context"];

/// Returns one hit for each product function with a struct of many fields among its parameters.
pub(super) fn users_of_passed(house: &RepositoryView, rules: &Rules) -> Vec<CountedHit> {
    let declared = DeclaredStructs::of(house);
    let is_dev = |folder: &str| rules.crates.get(folder).is_some_and(|rule| rule.floor == "dev");
    let mut hits = Vec::new();
    for file in product(house).filter(|file| !is_dev(&file.crate_folder)) {
        for function in &file.shapes.functions {
            let bunches = function.passed_types.iter().filter_map(|ident| declared.named(file, ident));
            for bunch in bunches.filter(|bunch| bunch.structure.fields.len() >= FIELDS_OF_A_BUNCH) {
                let name = &bunch.structure.name;
                let fields = bunch.structure.fields.len();
                hits.push(CountedHit {
                    group: bunch.group(),
                    path: file.path.clone(),
                    line: function.line,
                    item: function.name.clone(),
                    what: format!("`{name}`, of {fields} fields, is passed to `{}`", function.name),
                });
            }
        }
    }
    hits
}

/// Returns one hit for each field of the structs that have more users than is free.
pub(super) fn fields_of_passed(house: &RepositoryView, rules: &Rules) -> Vec<CountedHit> {
    let mut users: BTreeMap<String, usize> = BTreeMap::new();
    for hit in users_of_passed(house, rules) {
        *users.entry(hit.group).or_default() += 1;
    }
    let most = rules.caps.passed_to_functions_max;
    let mut hits = Vec::new();
    for bunch in DeclaredStructs::of(house).all() {
        let group = bunch.group();
        if users.get(&group).is_none_or(|users| *users <= most) {
            continue;
        }
        let name = &bunch.structure.name;
        hits.extend(bunch.structure.fields.iter().map(|field| CountedHit {
            group: group.clone(),
            path: bunch.file.path.clone(),
            line: field.line,
            item: name.clone(),
            what: format!("`{name}.{}` goes wherever `{name}` is passed", field.name),
        }));
    }
    hits
}

/// Returns one hit for each struct that is only a list of parameters with a name.
pub(super) fn wide_carriers(house: &RepositoryView, rules: &Rules) -> Vec<CountedHit> {
    let declared = DeclaredStructs::of(house);
    let mut built: BTreeMap<String, usize> = BTreeMap::new();
    for file in product(house) {
        for bunch in file.shapes.literals.iter().filter_map(|literal| declared.named(file, &literal.name)) {
            *built.entry(bunch.group()).or_default() += 1;
        }
    }
    let most = rules.caps.carrier_fields_max;
    let mut hits = Vec::new();
    for bunch in declared.all() {
        let name = &bunch.structure.name;
        let fields = bunch.structure.fields.len();
        let is_carrier = CARRIERS.iter().any(|ending| name.ends_with(ending));
        if is_carrier && fields > most && built.get(&bunch.group()) == Some(&1) {
            hits.push(CountedHit {
                group: bunch.file.crate_folder.clone(),
                path: bunch.file.path.clone(),
                line: bunch.structure.line,
                item: name.clone(),
                what: format!(
                    "`{name}` carries {fields} fields, cap {most}, from the one place that builds it"
                ),
            });
        }
    }
    hits
}

/// Every struct of the product, by name.
struct DeclaredStructs<'a>(BTreeMap<&'a str, Vec<DeclaredStruct<'a>>>);

#[derive(Clone, Copy)]
struct DeclaredStruct<'a> {
    file: &'a SourceFile,
    structure: &'a Struct,
}

impl DeclaredStruct<'_> {
    /// Returns the path of the struct, from its crate on.
    fn group(&self) -> String {
        let mut path = vec![self.file.crate_folder.as_str()];
        path.extend(self.file.module.iter().map(String::as_str));
        path.push(&self.structure.name);
        path.join("::")
    }

    /// Returns whether an import names the crate, or the module, of this struct.
    fn is_from(&self, import: &Import) -> bool {
        let Some(first) = import.segments.first() else { return false };
        let crate_name = format!("palyra_{}", self.file.crate_folder.replace('-', "_"));
        let module = import.segments.iter().rev().nth(1);
        *first == crate_name || (module.is_some() && module == self.file.module.last())
    }
}

impl<'a> DeclaredStructs<'a> {
    fn of(house: &'a RepositoryView) -> Self {
        let mut declared: BTreeMap<&str, Vec<DeclaredStruct<'_>>> = BTreeMap::new();
        for file in product(house) {
            for structure in &file.structs {
                declared.entry(&structure.name).or_default().push(DeclaredStruct { file, structure });
            }
        }
        Self(declared)
    }

    fn all(&self) -> impl Iterator<Item = &DeclaredStruct<'a>> {
        self.0.values().flatten()
    }

    /// Returns the struct that `ident` is in `file`: the file's own, else the only one that its import fits, else the
    /// only one in its crate, or of all where it is imported from a crate of this repository.
    fn named(&self, file: &SourceFile, ident: &str) -> Option<DeclaredStruct<'a>> {
        let known = self.0.get(ident)?;
        let only = |fits: &dyn Fn(&DeclaredStruct<'_>) -> bool| {
            let mut fitting = known.iter().filter(|one| fits(one));
            let first = fitting.next().copied();
            first.filter(|_| fitting.next().is_none())
        };
        if let Some(own) = known.iter().find(|one| one.file.path == file.path) {
            return Some(*own);
        }
        let import = file.imports.iter().find(|import| import.name == ident);
        match import {
            Some(import) => only(&|one| one.is_from(import)).or_else(|| only(&|_| is_own(import))),
            None => only(&|one| one.file.crate_folder == file.crate_folder),
        }
    }
}

/// Returns whether an import is of a crate of this repository.
fn is_own(import: &Import) -> bool {
    let first = import.segments.first().map(String::as_str).unwrap_or_default();
    matches!(first, "crate" | "self" | "super") || first.starts_with("palyra_")
}
