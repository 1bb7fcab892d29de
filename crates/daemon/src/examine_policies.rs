//! Checks and tests files of policies as a daemon started here would read them, without a daemon.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_policy::{PolicyFile, ToolCallPolicySnapshot, ToolPolicyRules, check, test_fixtures};
use palyra_ports::ToolRuntime;
use palyra_tools::BuiltinTools;
use palyra_types::spelling::nearest_name;
use palyra_types::tool::{ToolCatalog, ToolSpec};

use crate::config;
use crate::policies::{POLICIES_FOLDER, read_folder};
use crate::tool_setup::COMPONENTS_FOLDER;

/// How the name of a file of fixtures ends.
const FIXTURES_ENDING: &str = ".test.json";
/// Bytes of a file of fixtures, at most.
const FIXTURES_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Folders that a misspelled one is compared with, at most.
const FOLDERS_COMPARED_MAX: usize = 1_000;

/// What to do with files of policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyExamination {
    /// Look for mistakes.
    Check,
    /// Run the fixtures beside them.
    Test,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExaminedPolicies {
    /// The folder that was read; `None` where there is none, so that only what ships holds.
    pub folder: Option<PathBuf>,
    /// The folder of the policies that the configuration puts in force, where that is another one.
    pub in_force: Option<PathBuf>,
    /// Files of policies in it.
    pub files: usize,
    /// Fixtures that came out as expected.
    pub passed: usize,
    /// What is wrong, each with its place and its mend.
    pub mistakes: Vec<String>,
    /// What is no mistake, and likely not meant.
    pub remarks: Vec<String>,
}

/// Returns the files of policies that ship, as names and texts.
#[must_use]
pub fn shipped_policies() -> Vec<(String, String)> {
    PolicyFile::shipped().into_iter().map(|file| (file.name, file.text)).collect()
}

/// Examines the policies of a folder, or of the one that the configuration names, for the tools that ship and the components
/// of a state directory.
#[must_use]
pub fn examine_policies(
    wanted: PolicyExamination,
    folder: Option<&Path>,
    config_file: Option<&Path>,
    environment: &BTreeMap<String, String>,
    state_dir: Option<&Path>,
) -> ExaminedPolicies {
    let folder = match folder {
        Some(folder) if !folder.is_dir() => {
            let mistakes = vec![not_a_folder(wanted, folder)];
            return ExaminedPolicies { mistakes, ..ExaminedPolicies::default() };
        }
        Some(folder) => Some(folder.to_owned()),
        None => usual_folder(config_file, environment),
    };
    let missing =
        folder.as_deref().filter(|folder| !folder.is_dir() && !is_usual(folder, config_file, environment));
    if let Some(missing) = missing {
        let mistakes = vec![format!("`policy.dir` names {}, which is not a folder", missing.display())];
        return ExaminedPolicies { mistakes, ..ExaminedPolicies::default() };
    }
    let own = match folder.as_deref().map(read_folder).transpose() {
        Ok(own) => own.unwrap_or_default(),
        Err(error) => {
            return ExaminedPolicies { folder, mistakes: error.lines(), ..ExaminedPolicies::default() };
        }
    };
    let in_force = usual_folder(config_file, environment)
        .filter(|usual| folder.as_deref().is_some_and(|folder| !is_same_folder(folder, usual)));
    let found = ExaminedPolicies { folder, in_force, files: own.len(), ..ExaminedPolicies::default() };
    let files: Vec<PolicyFile> = PolicyFile::shipped().into_iter().chain(own).collect();
    let tools = every_tool(state_dir);
    match wanted {
        PolicyExamination::Check => checked(&files, &tools, found),
        PolicyExamination::Test => tested(files, tools, found),
    }
}

/// Says that policies are read by the folder, and names the folder of a file.
fn not_a_folder(wanted: PolicyExamination, named: &Path) -> String {
    let verb = match wanted {
        PolicyExamination::Check => "check",
        PolicyExamination::Test => "test",
    };
    let shown = named.display();
    let Some(folder) = named.parent().filter(|_| named.is_file()) else {
        return format!("{shown} is not a folder");
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    format!(
        "{shown} is a file; the rules of a folder are read together: name its folder, `palyra policy {verb} {}`",
        folder.display()
    )
}

/// Returns every tool that ships, and the components that a daemon with this state directory offered last.
fn every_tool(state_dir: Option<&Path>) -> ToolCatalog {
    let files = BuiltinTools::new().catalog();
    let of_records = palyra_tools::memory_tool_specs().into_iter().chain(palyra_tools::schedule_tool_specs());
    let shipped = files.iter().cloned().chain(of_records);
    let shipped = shipped.chain(palyra_commands::tool_specs()).chain(palyra_web::tool_specs());
    let mut specs: Vec<ToolSpec> = shipped.collect();
    let components = state_dir.map(|dir| palyra_wasm::offered_tools(&dir.join(COMPONENTS_FOLDER)));
    for component in components.iter().flat_map(|catalog| catalog.iter()) {
        if specs.iter().all(|tool| tool.name != component.name) {
            specs.push(component.clone());
        }
    }
    ToolCatalog::new(specs)
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    let real = |folder: &Path| std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    real(one) == real(other)
}

/// Whether a folder is the one beside the configuration, which need not exist.
fn is_usual(folder: &Path, config_file: Option<&Path>, environment: &BTreeMap<String, String>) -> bool {
    let file = config_file.map(Path::to_owned).or_else(|| config::default_path(environment));
    file.and_then(|file| file.parent().map(|parent| parent.join(POLICIES_FOLDER)))
        .is_some_and(|usual| usual == folder)
}

fn usual_folder(config_file: Option<&Path>, environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let file = config_file.map(Path::to_owned).or_else(|| config::default_path(environment))?;
    let explicit = Some(file.as_path()).filter(|file| file.exists());
    let named = config::load(explicit, environment, &[]).ok().map(|config| config.policy_dir().to_owned());
    match named.filter(|named| !named.is_empty()) {
        Some(named) => Some(PathBuf::from(named)),
        None => file.parent().map(|parent| parent.join(POLICIES_FOLDER)),
    }
}

fn checked(files: &[PolicyFile], tools: &ToolCatalog, found: ExaminedPolicies) -> ExaminedPolicies {
    match check(files, tools) {
        Ok(checked) => {
            let mut remarks: Vec<String> = checked.warnings.iter().map(ToString::to_string).collect();
            if let Ok(here) = std::env::current_dir() {
                let near = |folder: &str| near_folder(&here, folder);
                let misspelled = checked.policies.misspelled_folders(files, &near);
                remarks.extend(misspelled.iter().map(ToString::to_string));
            }
            ExaminedPolicies { remarks, ..found }
        }
        Err(mistakes) => {
            ExaminedPolicies { mistakes: mistakes.0.iter().map(ToString::to_string).collect(), ..found }
        }
    }
}

/// Returns the folder below `root` whose name is almost that of one that does not exist there.
fn near_folder(root: &Path, wanted: &str) -> Option<String> {
    let mut near = Vec::new();
    let mut place = root.to_owned();
    for name in wanted.split('/').filter(|name| !["", "."].contains(name)) {
        let exact = Some(name.to_owned()).filter(|name| place.join(name).is_dir());
        let found = exact.or_else(|| nearest_name(name, folders_in(&place)))?;
        place.push(&found);
        near.push(found);
    }
    let near = near.join("/");
    (!root.join(wanted).is_dir()).then_some(near).filter(|near| !near.is_empty())
}

fn folders_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> =
        folders.filter_map(|entry| entry.file_name().into_string().ok()).take(FOLDERS_COMPARED_MAX).collect();
    names.sort();
    names
}

fn tested(files: Vec<PolicyFile>, tools: ToolCatalog, mut found: ExaminedPolicies) -> ExaminedPolicies {
    let rules = ToolPolicyRules { files, ..ToolPolicyRules::default() };
    let digest = |text: &str| palyra_ledger::sha256(text.as_bytes());
    let snapshot = match ToolCallPolicySnapshot::compile(Arc::new(tools), rules, digest) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            found.mistakes.push(error.to_string());
            return found;
        }
    };
    let folder = found.folder.clone();
    for path in folder.iter().flat_map(|folder| fixtures_in(folder)) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match read_fixtures(&path).and_then(|text| test_fixtures(&snapshot, &text).map_err(|e| e.to_string()))
        {
            Err(what) => found.mistakes.push(format!("{name}: {what}")),
            Ok(tested) => {
                found.passed += tested.iter().filter(|fixture| fixture.failure.is_none()).count();
                let failed = tested.into_iter().filter_map(|fixture| {
                    fixture.failure.map(|failure| format!("{name}, {}: {failure}", fixture.name))
                });
                found.mistakes.extend(failed);
            }
        }
    }
    if found.passed == 0 && found.mistakes.is_empty() {
        found.remarks.push(format!(
            "there is no file *{FIXTURES_ENDING}: write one beside the rules; `palyra explain \
             docs/policy.md#trying-policies-out` shows how"
        ));
    }
    found
}

fn fixtures_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.to_str().is_some_and(|path| path.ends_with(FIXTURES_ENDING)));
    paths.sort();
    paths
}

fn read_fixtures(path: &Path) -> Result<String, String> {
    let size = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > FIXTURES_BYTES_MAX {
        return Err("it is larger than 4 MiB".to_owned());
    }
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examined(wanted: PolicyExamination, files: &[(&str, &str)]) -> ExaminedPolicies {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        examine_policies(wanted, Some(folder.path()), None, &BTreeMap::new(), None)
    }

    const LOCKED: &str = "@id(\"no-writes\")\n@reason(\"nothing is written here\")\nforbid (principal, action, resource in Capability::\"write_files\");\n";

    #[test]
    fn a_file_is_checked_beside_those_that_ship() {
        let found = examined(PolicyExamination::Check, &[("mine.cedar", LOCKED), ("notes.txt", "no rules")]);
        assert_eq!((found.files, found.mistakes), (1, Vec::new()));
        let found = examined(PolicyExamination::Check, &[("mine.cedar", "permit (principal")]);
        assert_eq!(found.mistakes.len(), 1);
        assert!(found.mistakes[0].starts_with("mine.cedar:1:"), "{:?}", found.mistakes);
    }

    #[test]
    fn fixtures_say_what_is_expected() {
        let fixture = |expect: &str| {
            format!(
                r#"{{"fixtures":[{{"name":"a write","tool":"write_file","arguments":{{"path":"a.txt","content":"x"}},"expect":"{expect}"}}]}}"#
            )
        };
        let run = |expect: &str| {
            examined(PolicyExamination::Test, &[("mine.cedar", LOCKED), ("mine.test.json", &fixture(expect))])
        };
        let right = run("deny");
        assert_eq!((right.passed, right.mistakes), (1, Vec::new()));
        let wrong = run("ask");
        assert_eq!((wrong.passed, wrong.mistakes.len()), (0, 1), "{:?}", wrong.mistakes);
    }

    #[test]
    fn the_fixtures_beside_what_ships_pass_with_the_built_in_tools() {
        let fixtures = include_str!("../../policy/policies/shipped.fixtures.json");
        let found = examined(PolicyExamination::Test, &[("shipped.test.json", fixtures)]);
        assert_eq!((found.passed, found.mistakes), (fixtures.matches("\"expect\"").count(), Vec::new()));
        for tool in BuiltinTools::new().catalog().iter() {
            assert!(fixtures.contains(&format!("{:?}", tool.name.as_str())), "{} has no fixture", tool.name);
        }
    }

    #[test]
    fn every_tool_that_ships_is_known_and_fixtures_of_others_fail() {
        let fixture = |tool: &str, arguments: &str, expect: &str| {
            format!(
                r#"{{"fixtures":[{{"name":"a call","tool":"{tool}","arguments":{arguments},"expect":"{expect}"}}]}}"#
            )
        };
        let run = |tool: &str, arguments: &str, expect: &str| {
            examined(PolicyExamination::Test, &[("mine.test.json", &fixture(tool, arguments, expect))])
        };
        for (tool, arguments, expect) in [
            ("run_command", r#"{"argv":["make"]}"#, "ask"),
            ("start_job", r#"{"argv":["make"]}"#, "ask"),
            ("http_fetch", r#"{"url":"https://example.org/"}"#, "ask"),
            ("git", r#"{"subcommand":"status"}"#, "allow"),
        ] {
            let tested = run(tool, arguments, expect);
            assert_eq!((tested.passed, tested.mistakes), (1, Vec::new()), "{tool}");
        }
        // What no tool of this name can show is shown by nothing.
        let unknown = run("run_comand", r#"{"argv":["make"]}"#, "deny");
        assert_eq!((unknown.passed, unknown.mistakes.len()), (0, 1));
        assert!(unknown.mistakes[0].contains("there is no tool `run_comand`"), "{:?}", unknown.mistakes);
        let about = "@id(\"no-fetches\")\n@reason(\"because\")\nforbid (principal, action, resource == Tool::\"http_fetch\");\n";
        let checked = examined(PolicyExamination::Check, &[("mine.cedar", about)]);
        assert_eq!((checked.mistakes, checked.remarks), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_word_that_never_comes_is_a_mistake() {
        let text = |word: &str| LOCKED.replace(");", &format!(") when {{ context.risk == \"{word}\" }};"));
        let found = examined(PolicyExamination::Check, &[("mine.cedar", &text("hgih"))]);
        assert_eq!(found.mistakes.len(), 1, "{found:?}");
        assert!(found.mistakes[0].ends_with("did you mean \"high\"?"), "{found:?}");
        let right = examined(PolicyExamination::Check, &[("mine.cedar", &text("high"))]);
        assert_eq!(right.mistakes, Vec::<String>::new());
    }

    #[test]
    fn a_configured_folder_that_does_not_exist_is_a_mistake() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("palyra.toml");
        let look = || examine_policies(PolicyExamination::Check, None, Some(&file), &BTreeMap::new(), None);
        std::fs::write(&file, "policy.dir = \"/no/such\"\n").unwrap();
        assert_eq!(look().mistakes, ["`policy.dir` names /no/such, which is not a folder"]);
        std::fs::write(&file, "").unwrap();
        assert_eq!(look().mistakes, Vec::<String>::new(), "the usual folder need not exist");
    }

    #[test]
    fn a_folder_that_is_almost_another_is_named_by_that() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("docs/guides")).unwrap();
        std::fs::write(root.path().join("dosc"), "a file").unwrap();
        for (wanted, near) in [
            ("dosc", Some("docs")),
            ("./docs/guide/", Some("docs/guides")),
            ("dosc/guides", Some("docs/guides")),
            ("docs", None),
            ("docs/guides/", None),
            ("src", None),
            ("docs/new", None),
            (".", None),
        ] {
            assert_eq!(near_folder(root.path(), wanted).as_deref(), near, "{wanted}");
        }
    }

    #[test]
    fn a_folder_that_is_none_is_said_to_be_none() {
        let found = examine_policies(
            PolicyExamination::Check,
            Some(Path::new("/no/such")),
            None,
            &BTreeMap::new(),
            None,
        );
        assert_eq!(found.mistakes, ["/no/such is not a folder"]);
    }

    #[test]
    fn a_file_of_rules_is_led_to_its_folder() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("src.cedar");
        std::fs::write(&file, "").unwrap();
        for (wanted, verb) in [(PolicyExamination::Check, "check"), (PolicyExamination::Test, "test")] {
            let found = examine_policies(wanted, Some(&file), None, &BTreeMap::new(), None);
            let mistakes = found.mistakes.concat();
            let command = format!("`palyra policy {verb} {}`", root.path().display());
            assert!(mistakes.contains("is a file") && mistakes.contains(&command), "{mistakes}");
        }
    }
}
