//! Sibling modules do not use each other in a circle.
//!
//! Owns turning paths in the code into edges between siblings, and finding circles among those.
//! An edge exists where code of one sibling (or below it) names the other (or something below it);
//! names re-exported by a parent lead to the module that declares them. Begin at [`check`].

mod modules;

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;
use crate::tidy::source::{FilePlace, SourceFile};
use modules::ModuleTable;

/// Edges below one parent: from, to, and where the first such path stands.
type ModuleEdges = BTreeMap<String, BTreeMap<String, (String, usize)>>;

/// Returns one finding for each circle.
pub(super) fn check(house: &RepositoryView) -> Vec<TidyFinding> {
    let mut by_crate: BTreeMap<&str, Vec<&SourceFile>> = BTreeMap::new();
    for file in house.files.iter().filter(|f| f.place == FilePlace::Source) {
        by_crate.entry(&file.crate_folder).or_default().push(file);
    }
    by_crate.into_iter().flat_map(|(folder, files)| check_crate(folder, &files)).collect()
}

fn check_crate(folder: &str, files: &[&SourceFile]) -> Vec<TidyFinding> {
    let modules = ModuleTable::of(files);
    let mut parents: BTreeMap<Vec<String>, ModuleEdges> = BTreeMap::new();
    for file in files {
        for reference in &file.references {
            let Some(target) = modules.resolve(&reference.module, &reference.segments) else { continue };
            let Some((parent, from, to)) = siblings(&reference.module, &target) else { continue };
            let place = (file.path.clone(), reference.line);
            parents.entry(parent).or_default().entry(from).or_default().entry(to).or_insert(place);
        }
    }
    let circles = parents.iter().flat_map(|(parent, edges)| {
        circles(edges).into_iter().map(|circle| finding(folder, parent, &circle, edges)).collect::<Vec<_>>()
    });
    circles.collect()
}

/// Returns the parent and the two children of it through which `from` and `to` part ways.
fn siblings(from: &[String], to: &[String]) -> Option<(Vec<String>, String, String)> {
    let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    Some((from[..shared].to_vec(), from.get(shared)?.clone(), to.get(shared)?.clone()))
}

/// Returns each circle once, as the list of its members, beginning with the first by name.
fn circles(edges: &ModuleEdges) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut in_a_circle: BTreeSet<String> = BTreeSet::new();
    for start in edges.keys() {
        if !in_a_circle.contains(start)
            && let Some(circle) = shortest_way_back(edges, start)
        {
            in_a_circle.extend(circle.iter().cloned());
            found.push(circle);
        }
    }
    found
}

fn shortest_way_back(edges: &ModuleEdges, start: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![start.to_owned()]];
    let mut seen = BTreeSet::new();
    let mut next = 0;
    while let Some(way) = ways.get(next).cloned() {
        next += 1;
        let last = way.last()?;
        for to in edges.get(last).into_iter().flat_map(|targets| targets.keys()) {
            if to == start {
                return Some(way);
            }
            if seen.insert(to.clone()) {
                let mut longer = way.clone();
                longer.push(to.clone());
                ways.push(longer);
            }
        }
    }
    None
}

fn finding(folder: &str, parent: &[String], circle: &[String], edges: &ModuleEdges) -> TidyFinding {
    let mut path = String::new();
    let mut line = 1;
    let mut steps = Vec::new();
    for (index, from) in circle.iter().enumerate() {
        let to = &circle[(index + 1) % circle.len()];
        let (at_path, at_line) = &edges[from][to];
        if index == 0 {
            (path, line) = (at_path.clone(), *at_line);
        }
        steps.push(format!("{from} -> {to} ({at_path}:{at_line})"));
    }
    let inside = [&["crates".to_owned(), folder.to_owned()], parent].concat().join("/");
    TidyFinding {
        path,
        line,
        rule: "cycles",
        item: circle.join(","),
        what: format!("modules of {inside} use each other in a circle: {}", steps.join(", ")),
        mend: "move what both need into a module of its own, or let one side be handed the value",
    }
}

#[cfg(test)]
mod tests;
