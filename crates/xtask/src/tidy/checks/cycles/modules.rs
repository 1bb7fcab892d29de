//! Which module a path in the code leads to.
//!
//! Owns name resolution inside one crate, as far as modules need it: `crate`, `self`, `super`,
//! children, and names that a module imports and others find there. Paths to other crates lead nowhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::source::SourceFile;

/// Chains of re-exports longer than this are taken for a mistake of ours.
const REEXPORTS_MAX: usize = 8;

type Path = Vec<String>;

/// The modules of a crate with the names each one declares and imports.
pub(super) struct ModuleTable {
    known: BTreeSet<Path>,
    items: BTreeSet<(Path, String)>,
    imports: BTreeMap<(Path, String), Path>,
    globs: BTreeMap<Path, Vec<Path>>,
}

impl ModuleTable {
    /// Collects the modules of one crate's files.
    pub(super) fn of(files: &[&SourceFile]) -> Self {
        let mut all = Self {
            known: BTreeSet::new(),
            items: BTreeSet::new(),
            imports: BTreeMap::new(),
            globs: BTreeMap::new(),
        };
        for file in files {
            all.known.insert(file.module.clone());
            all.known.extend(file.inline_modules.iter().cloned());
            all.items.extend(file.items.iter().map(|i| (i.module.clone(), i.name.clone())));
            for import in &file.imports {
                if import.name == "*" {
                    all.globs.entry(import.module.clone()).or_default().push(import.segments.clone());
                } else {
                    all.imports.insert((import.module.clone(), import.name.clone()), import.segments.clone());
                }
            }
        }
        all
    }

    /// Returns the module that `segments`, written in module `from`, leads to.
    pub(super) fn resolve(&self, from: &[String], segments: &[String]) -> Option<Path> {
        self.resolve_within(from, segments, REEXPORTS_MAX)
    }

    fn resolve_within(&self, from: &[String], segments: &[String], left: usize) -> Option<Path> {
        let left = left.checked_sub(1)?;
        let (mut module, mut rest) = self.start(from, segments)?;
        while let [name, further @ ..] = rest {
            let mut child = module.clone();
            child.push(name.clone());
            if self.known.contains(&child) {
                (module, rest) = (child, further);
                continue;
            }
            let own = (module.clone(), name.clone());
            if self.items.contains(&own) {
                return Some(module);
            }
            if let Some(import) = self.imports.get(&own) {
                let onward = [import.as_slice(), further].concat();
                return if onward == segments && module == from {
                    None
                } else {
                    self.resolve_within(&module, &onward, left)
                };
            }
            return Some(self.through_globs(&module, rest, left).unwrap_or(module));
        }
        Some(module)
    }

    fn start<'a>(&self, from: &[String], segments: &'a [String]) -> Option<(Path, &'a [String])> {
        let (first, rest) = segments.split_first()?;
        match first.as_str() {
            "crate" => Some((Vec::new(), rest)),
            "self" => Some((from.to_vec(), rest)),
            "super" => {
                let mut module = from.to_vec();
                module.pop();
                let mut rest = rest;
                while let [again, further @ ..] = rest
                    && again == "super"
                {
                    module.pop();
                    rest = further;
                }
                Some((module, rest))
            }
            child => {
                let mut module = from.to_vec();
                module.push(child.to_owned());
                self.known.contains(&module).then_some((module, rest))
            }
        }
    }

    fn through_globs(&self, module: &[String], rest: &[String], left: usize) -> Option<Path> {
        for glob in self.globs.get(module).into_iter().flatten() {
            let Some(target) = self.resolve_within(module, glob, left) else { continue };
            let name = rest.first()?;
            if self.items.contains(&(target.clone(), name.clone())) {
                return Some(target);
            }
        }
        None
    }
}
