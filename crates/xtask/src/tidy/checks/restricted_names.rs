//! Names that only a few files may write: they give a power, or are the one way to something.
//!
//! Rust's privacy ends at a crate's border: a name that one crate needs of another is open to every crate. Owns comparing
//! each type that is named with the lists in `tidy.toml`, outside of tests unless a list says otherwise. Invariant: an
//! entry of a list that no file needs is a finding itself, so that the lists only shrink.

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;
use crate::tidy::rules::{RestrictedType, Rules};
use crate::tidy::source::{FilePlace, SourceFile};

const RULE: &str = "restricted-name";

/// Returns every file that writes a name without being on its list, and every entry that no file needs.
pub(super) fn check(house: &RepositoryView, rules: &Rules) -> Vec<TidyFinding> {
    rules.restricted.iter().flat_map(|restricted| of_name(house, restricted)).collect()
}

fn of_name(house: &RepositoryView, restricted: &RestrictedType) -> Vec<TidyFinding> {
    let RestrictedType { name, may_name, instead, tests_too } = restricted;
    let users: Vec<(&SourceFile, usize)> = house
        .files
        .iter()
        .filter(|file| *tests_too || matches!(file.place, FilePlace::Source | FilePlace::OwnTarget))
        .filter_map(|file| Some((file, first_line(file, name)?)))
        .collect();
    let mut findings = Vec::new();
    for (file, line) in users.iter().filter(|(file, _)| !may_name.iter().any(|place| covers(place, file))) {
        let what = format!("`{name}` is named here; {instead}");
        findings.push(finding(&file.path, *line, what));
    }
    for place in may_name.iter().filter(|place| !users.iter().any(|(file, _)| covers(place, file))) {
        findings.push(finding(
            place,
            1,
            format!("`{name}` is not named here; take this entry out of tidy.toml"),
        ));
    }
    findings
}

fn first_line(file: &SourceFile, wanted: &str) -> Option<usize> {
    let Some((owner, function)) = wanted.split_once("::") else {
        return file.capital_idents.iter().find(|(_, name)| name == wanted).map(|(line, _)| *line);
    };
    let named =
        |(_, found, name): &&(usize, String, String)| name == function && real_name(file, found) == owner;
    file.type_functions.iter().find(named).map(|(line, _, _)| *line)
}

/// Returns the name of a type where it is defined, as far as this file shows it.
fn real_name<'f>(file: &'f SourceFile, name: &'f str) -> &'f str {
    let alias = file.type_aliases.iter().find(|(alias, _)| alias == name);
    let name = alias.map_or(name, |(_, real)| real.as_str());
    let import = file.imports.iter().find(|import| import.name == name);
    import.and_then(|import| import.segments.last()).map_or(name, String::as_str)
}

fn covers(place: &str, file: &SourceFile) -> bool {
    if place.ends_with('/') { file.path.starts_with(place) } else { file.path == place }
}

fn finding(path: &str, line: usize, what: String) -> TidyFinding {
    let mend = "see the list of restricted names in crates/xtask/tidy.toml";
    TidyFinding { path: path.to_owned(), line, rule: RULE, item: path.to_owned(), what, mend }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;

    const HOME: &str = "crates/ports/src/recorder.rs";

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        found_with(RestrictedType { may_name: vec![HOME.to_owned()], ..restricted() }, files)
    }

    fn restricted() -> RestrictedType {
        let instead = "use the recorder".to_owned();
        RestrictedType { name: "Append".to_owned(), may_name: Vec::new(), instead, tests_too: false }
    }

    fn found_with(restricted: RestrictedType, files: &[(&str, &str)]) -> Vec<String> {
        let rules = Rules { restricted: vec![restricted], ..Rules::default() };
        check(&house(files), &rules).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_type_is_found_wherever_it_is_written() {
        let home = (HOME, "fn f(a: &dyn Append) {}");
        let outside = ["`Append` is named here; use the recorder"];
        for text in [
            "use ports::Append;",
            "use ports::{Other, Append as A};",
            "fn f() { ports::Append::new(); }",
            "fn f(a: Arc<dyn Append>) {}",
            "impl Append for Mine {}",
            "fn f() { Append { a: 1 } }",
        ] {
            assert_eq!(found(&[home, ("crates/runtime/src/run.rs", text)]), outside, "{text}");
        }
        for text in
            ["fn f(a: &Recorder) {}", "fn f(a: &Appends) {}", "#[cfg(test)] mod tests { use ports::Append; }"]
        {
            assert_eq!(found(&[home, ("crates/runtime/src/run.rs", text)]), [""; 0], "{text}");
        }
        assert_eq!(found(&[home, ("crates/runtime/tests/run.rs", "use ports::Append;")]), [""; 0]);
    }

    #[test]
    fn a_power_is_found_in_tests_of_other_crates_too() {
        let power =
            || RestrictedType { may_name: vec!["crates/ports/".to_owned()], tests_too: true, ..restricted() };
        let home = ("crates/ports/src/recorder.rs", "use ports::Append;");
        let module = ("crates/web/src/run.rs", "#[cfg(test)] mod tests;");
        let tests = ("crates/web/src/run/tests.rs", "use ports::Append;");
        let planted = [home, module, tests];
        assert_eq!(found_with(power(), &planted), ["`Append` is named here; use the recorder"]);
        // The control: a list that is about product code alone.
        assert_eq!(found_with(RestrictedType { tests_too: false, ..power() }, &planted), [""; 0]);
        assert_eq!(found_with(power(), &[home, module]), [""; 0]);
    }

    #[test]
    fn a_function_of_a_type_is_found_however_it_is_named() {
        let instead = "ask the redactor".to_owned();
        let name = "Redacted::cleaned".to_owned();
        let restricted = RestrictedType { name, may_name: vec![HOME.to_owned()], instead, tests_too: false };
        let rules = Rules { restricted: vec![restricted], ..Rules::default() };
        let home = (HOME, "fn f() { Redacted::cleaned(1); }");
        let count = |text| check(&house(&[home, ("crates/runtime/src/run.rs", text)]), &rules).len();
        for text in [
            "fn f() { Redacted::cleaned(1); }",
            "fn f() { palyra_types::Redacted::cleaned(1); }",
            "fn f() { Redacted::<u8>::cleaned(1); }",
            "fn f() { <Redacted<u8>>::cleaned(1); }",
            "fn f() { a.map(Redacted::cleaned); }",
            "use palyra_types::Redacted as R; fn f() { R::cleaned(1); }",
            "type R = Redacted<u8>; fn f() { let g = R::cleaned; }",
            "use palyra_types::Redacted as R; type S = R<u8>; fn f() { S::cleaned(1); }",
            "impl Redacted<u8> { fn f() { Self::cleaned(1); } }",
            "fn f() { vec![Redacted::cleaned(1)]; }",
            "fn f() { vec![Redacted::<u8>::cleaned(1)]; }",
        ] {
            assert_eq!(count(text), 1, "{text}");
        }
        for text in [
            "fn f() { Redacted::from(1); }",
            "fn f() { Other::cleaned(1); }",
            "fn f() { cleaned(1); }",
            "fn f(a: &A) { a.cleaned(1); }",
            "impl Other { fn f() { Self::cleaned(1); } }",
            "#[cfg(test)] mod tests { fn f() { Redacted::cleaned(1); } }",
        ] {
            assert_eq!(count(text), 0, "{text}");
        }
    }

    #[test]
    fn an_entry_that_no_file_needs_is_found() {
        let unused = ["`Append` is not named here; take this entry out of tidy.toml"];
        assert_eq!(found(&[(HOME, "fn f() {}")]), unused);
    }
}
