//! Names say what a thing is: no catch-all modules, no bool parameters, no bare strings for ids.
//!
//! Owns the rules on names and signatures that a reader stumbles over.

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;
use crate::tidy::rules::{NameRules, Rules};
use crate::tidy::source::{FilePlace, SourceFile};

/// Returns names and signatures that hide what they mean.
pub(super) fn check(house: &RepositoryView, rules: &Rules) -> Vec<TidyFinding> {
    let names = &rules.names;
    let mut findings = Vec::new();
    for file in &house.files {
        findings.extend(module_names(file, names));
        if matches!(file.place, FilePlace::Source | FilePlace::OwnTarget) {
            findings.extend(type_names(file, names));
            findings.extend(bools(file));
            findings.extend(strings(file));
        }
    }
    findings
}

fn module_names(file: &SourceFile, names: &NameRules) -> Vec<TidyFinding> {
    let written = file.path.split('/').skip(2).map(|part| part.trim_end_matches(".rs"));
    let inline = file.inline_modules.iter().filter_map(|m| m.last()).map(String::as_str);
    let bad = written.chain(inline).filter(|name| names.forbidden_modules.contains(*name));
    let findings = bad.map(|name| TidyFinding {
        path: file.path.clone(),
        line: 1,
        rule: "module-name",
        item: name.to_owned(),
        what: format!("`{name}` says nothing about what is inside"),
        mend: "name it after the noun it owns, and move what does not fit",
    });
    findings.collect()
}

fn type_names(file: &SourceFile, names: &NameRules) -> Vec<TidyFinding> {
    let ending = |name: &str| names.forbidden_type_endings.iter().any(|e| name.ends_with(e.as_str()));
    let bad = file.items.iter().filter(|i| i.name.starts_with(char::is_uppercase) && !i.name.contains("::"));
    let findings = bad.filter(|i| ending(&i.name)).map(|item| TidyFinding {
        path: file.path.clone(),
        line: item.line,
        rule: "type-name",
        item: item.name.clone(),
        what: format!("`{}` names a role that fits everything", item.name),
        mend: "name it after what it owns: an actor, a store, a table, a handle",
    });
    findings.collect()
}

fn bools(file: &SourceFile) -> Vec<TidyFinding> {
    let flagged = file.functions.iter().flat_map(|f| f.public_bools.iter().map(move |bool| (f, bool)));
    let findings = flagged.map(|(function, parameter)| TidyFinding {
        path: file.path.clone(),
        line: function.line,
        rule: "bool-parameter",
        item: function.name.clone(),
        what: format!("`{}` takes the bool `{parameter}`", function.name),
        mend: "use an enum of two words, or two functions",
    });
    findings.collect()
}

fn strings(file: &SourceFile) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for structure in &file.structs {
        for field in structure.fields.iter().filter(|f| f.type_idents.iter().any(|i| i == "String")) {
            let id = field.name == "id" || field.name.ends_with("_id");
            let (rule, mend) = if field.name.ends_with("_json") {
                ("json-string", "keep the parsed value, or a type that says what was checked")
            } else if id && field.public {
                ("string-id", "give the id a newtype")
            } else {
                continue;
            };
            findings.push(TidyFinding {
                path: file.path.clone(),
                line: field.line,
                rule,
                item: format!("{}::{}", structure.name, field.name),
                what: format!("`{}.{}` is a bare String", structure.name, field.name),
                mend,
            });
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;

    fn found(path: &str, text: &str) -> Vec<&'static str> {
        let names = NameRules {
            forbidden_modules: ["utils".to_owned()].into(),
            forbidden_type_endings: ["Manager".to_owned()].into(),
            ..NameRules::default()
        };
        let rules = Rules { names, ..Rules::default() };
        check(&house(&[(path, text)]), &rules).iter().map(|f| f.rule).collect()
    }

    #[test]
    fn a_module_that_says_nothing_is_found() {
        assert_eq!(found("crates/a/src/utils.rs", ""), ["module-name"]);
        assert_eq!(found("crates/a/src/utils/b.rs", ""), ["module-name"]);
        assert_eq!(found("crates/a/src/b.rs", "mod utils { }"), ["module-name"]);
        assert!(found("crates/a/src/b.rs", "mod tools;").is_empty());
    }

    #[test]
    fn a_type_that_fits_everything_is_found() {
        assert_eq!(found("crates/a/src/b.rs", "struct RunManager;"), ["type-name"]);
        assert!(found("crates/a/src/b.rs", "struct RunActor;").is_empty());
    }

    #[test]
    fn a_bool_parameter_is_found() {
        assert_eq!(found("crates/a/src/b.rs", "pub fn list(deep: bool) {}"), ["bool-parameter"]);
        assert!(found("crates/a/src/b.rs", "pub fn is_deep() -> bool { true }").is_empty());
    }

    #[test]
    fn bare_strings_for_ids_and_json_are_found() {
        assert_eq!(found("crates/a/src/b.rs", "pub struct A { pub run_id: String }"), ["string-id"]);
        assert_eq!(found("crates/a/src/b.rs", "pub struct A { pub id: Option<String> }"), ["string-id"]);
        assert_eq!(found("crates/a/src/b.rs", "struct A { arguments_json: String }"), ["json-string"]);
        assert!(
            found("crates/a/src/b.rs", "struct A { run_id: String }\npub struct B { pub id: RunId }")
                .is_empty()
        );
    }
}
