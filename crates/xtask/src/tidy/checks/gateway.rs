//! The bunches of keys that transports are given stay bunches of keys.
//!
//! Owns counting these structs: their fields, the types of these, their impl blocks, and who may name them.
//! Silent about a type that does not exist.

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;
use crate::tidy::rules::{Gateway, Rules};
use crate::tidy::source::{FilePlace, SourceFile, Struct};

const RULE: &str = "gateway-state";

/// Returns every way in which the struct has become more than a bunch of keys.
pub(super) fn check(house: &RepositoryView, rules: &Rules) -> Vec<TidyFinding> {
    rules.gateway.iter().flat_map(|gateway| check_one(house, gateway)).collect()
}

fn check_one(house: &RepositoryView, gateway: &Gateway) -> Vec<TidyFinding> {
    let files: Vec<&SourceFile> = house.files.iter().filter(|f| f.place != FilePlace::SourceTests).collect();
    let mut findings = Vec::new();
    for file in files {
        let name = &gateway.type_name;
        for structure in file.structs.iter().filter(|s| s.name == *name) {
            findings.extend(fields(file, structure, gateway));
        }
        for (line, _) in file.impls.iter().filter(|(_, owner)| owner == name) {
            let mend = "let handlers call the handle they need; build the struct with a literal";
            findings.push(finding(file, *line, format!("`{name}` has an impl block"), mend));
        }
        if !may_name(file, gateway)
            && let Some((line, _)) = file.capital_idents.iter().find(|(_, ident)| ident == name)
        {
            let mend = "take the one handle that is needed instead";
            findings.push(finding(file, *line, format!("`{name}` is named outside the transports"), mend));
        }
    }
    findings
}

fn fields(file: &SourceFile, structure: &Struct, gateway: &Gateway) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    let (count, most) = (structure.fields.len(), gateway.fields_max);
    if count > most {
        let what = format!("`{}` has {count} fields, cap {most}", structure.name);
        findings.push(finding(file, structure.line, what, "join what belongs together behind one handle"));
    }
    for field in &structure.fields {
        if let Some(bad) = field.type_idents.iter().find(|i| gateway.forbidden_field_types.contains(*i)) {
            let what = format!("`{}.{}` holds a {bad}", structure.name, field.name);
            findings.push(finding(
                file,
                field.line,
                what,
                "give the state an actor and keep its handle here",
            ));
        }
    }
    findings
}

fn may_name(file: &SourceFile, gateway: &Gateway) -> bool {
    gateway.may_name.iter().any(|place| {
        if place.ends_with('/') { file.path.starts_with(place.as_str()) } else { file.path == *place }
    })
}

fn finding(file: &SourceFile, line: usize, what: String, mend: &'static str) -> TidyFinding {
    TidyFinding { path: file.path.clone(), line, rule: RULE, item: file.path.clone(), what, mend }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;

    const HOME: &str = "crates/runtime/src/gateway.rs";

    fn found(path: &str, text: &str) -> Vec<String> {
        let gateway = Gateway {
            type_name: "Keys".to_owned(),
            fields_max: 2,
            forbidden_field_types: ["Mutex".to_owned()].into(),
            may_name: vec![HOME.to_owned(), "crates/grpc/".to_owned()],
        };
        let rules = Rules { gateway: vec![gateway], ..Rules::default() };
        check(&house(&[(path, text)]), &rules).into_iter().map(|f| f.what).collect()
    }

    #[test]
    fn a_bunch_of_keys_is_fine() {
        assert!(found(HOME, "#[derive(Clone)]\npub struct Keys { pub a: A, pub b: B }").is_empty());
        assert!(found("crates/grpc/src/x.rs", "fn f(keys: &Keys) {}").is_empty());
    }

    #[test]
    fn too_many_keys_are_found() {
        assert_eq!(found(HOME, "struct Keys { a: A, b: B, c: C }"), ["`Keys` has 3 fields, cap 2"]);
    }

    #[test]
    fn a_lock_inside_is_found_however_deep() {
        assert_eq!(found(HOME, "struct Keys { a: Arc<Mutex<A>> }"), ["`Keys.a` holds a Mutex"]);
    }

    #[test]
    fn an_impl_block_is_found() {
        assert_eq!(found(HOME, "impl Keys { }"), ["`Keys` has an impl block"]);
        assert_eq!(found(HOME, "impl Default for Keys { }"), ["`Keys` has an impl block"]);
    }

    #[test]
    fn naming_it_elsewhere_is_found() {
        let outside = ["`Keys` is named outside the transports"];
        assert_eq!(found("crates/runtime/src/run.rs", "use crate::gateway::Keys;"), outside);
        assert_eq!(found("crates/runtime/src/run.rs", "fn f(keys: &Keys) {}"), outside);
    }
}
