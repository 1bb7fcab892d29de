//! Policies of operators come into force whole, or not at all.

use std::path::Path;

use palyra_tools::BuiltinTools;

use super::*;
use crate::reload::ConfigSource;

fn source(folder: Option<&Path>) -> PolicySource {
    PolicySource {
        shipped: ToolPolicyRules::shipped(),
        tools: Arc::new(BuiltinTools::new()),
        folder: folder.map(Path::to_owned),
    }
}

fn config(text: &str) -> (tempfile::TempDir, Config) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("palyra.toml");
    std::fs::write(&file, text).expect("written");
    let source = ConfigSource { explicit: Some(file), environment: Default::default(), flags: Vec::new() };
    let config = source.load().expect("valid");
    (folder, config)
}

const FORBIDS_ALL: &str = "@id(\"mine\")\nforbid (principal, action, resource);\n";

#[test]
fn what_lies_in_the_folder_is_added_in_order_of_name() {
    let (folder, config) = config("");
    let policies = folder.path().join("policies");
    assert_eq!(
        source(Some(&policies)).load(&config).unwrap().snapshot.rules().files.len(),
        PolicyFile::shipped().len()
    );
    std::fs::create_dir(&policies).unwrap();
    std::fs::write(policies.join("b.cedar"), FORBIDS_ALL).unwrap();
    std::fs::write(policies.join("a.txt"), "not a policy").unwrap();
    let loaded = source(Some(&policies)).load(&config).unwrap().snapshot;
    assert_eq!(loaded.rules().files.last().map(|file| file.name.as_str()), Some("b.cedar"));
    assert_eq!(loaded.policies().len(), source(None).load(&config).unwrap().snapshot.policies().len() + 1);
}

#[test]
fn one_mistake_refuses_all_and_a_closed_set_has_no_policy() {
    let (folder, config) = config("");
    let policies = folder.path().join("policies");
    std::fs::create_dir(&policies).unwrap();
    std::fs::write(policies.join("a.cedar"), FORBIDS_ALL).unwrap();
    std::fs::write(policies.join("b.cedar"), "permit (principal").unwrap();
    let error = source(Some(&policies)).load(&config).map(drop).unwrap_err();
    assert_eq!(error.code(), ErrorCode::PolicyInvalid);
    assert!(error.to_string().contains("b.cedar:1:"), "{error}");
    assert!(source(Some(&policies)).closed().unwrap().snapshot.policies().is_empty());
    assert!(closed_check(&error).found.contains("every tool call is denied"));
}

#[test]
fn a_folder_that_is_none_is_unreadable() {
    let (folder, config) = config("");
    let file = folder.path().join("palyra.toml");
    let error = source(Some(&file)).load(&config).map(drop).unwrap_err();
    assert_eq!(error.code(), ErrorCode::PolicyUnreadable);
}

#[test]
fn postures_name_tools_that_there_are() {
    let (_folder, set) = config("policy.disabled = [\"write_file\"]\npolicy.ask = [\"read_file\"]\n");
    let loaded = source(None).load(&set).unwrap().snapshot;
    assert!(loaded.canonical_text().contains("posture write_file Disabled"));
    assert!(loaded.canonical_text().contains("posture read_file Ask"));
    let (_folder, wrong) = config("policy.disabled = [\"wirte_file\"]\n");
    let error = source(None).load(&wrong).map(drop).unwrap_err();
    assert!(error.to_string().contains("names `wirte_file`, which is not a tool"), "{error}");
}

#[test]
fn what_links_lead_to_belongs_to_the_daemon_as_well() {
    let (folder, _) = config("");
    let base = folder.path().canonicalize().unwrap();
    let (real, named, kept) = (base.join("kept/rules"), base.join("rules"), base.join("kept/mine.cedar"));
    std::fs::create_dir_all(&real).unwrap();
    std::fs::write(&kept, FORBIDS_ALL).unwrap();
    std::os::unix::fs::symlink(&kept, real.join("mine.cedar")).unwrap();
    std::os::unix::fs::symlink(&real, &named).unwrap();
    let (_other, config) = config(&format!("policy.dir = {:?}\n", named.display().to_string()));
    let loaded = source(None).load(&config).unwrap();
    let expect = [named, real, kept].map(|path| path.display().to_string());
    assert_eq!(loaded.snapshot.rules().own_paths, expect);
}

#[test]
fn what_is_tried_out_stands_beside_and_a_bad_one_only_warns() {
    let (folder, in_force) = config("");
    let tried = folder.path().join("tried");
    std::fs::create_dir(&tried).unwrap();
    let (_other, trying) = config(&format!("policy.shadow_dir = {:?}\n", tried.display().to_string()));
    let alone = source(None).load(&in_force).unwrap();
    assert!(alone.check.is_none() && alone.snapshot.candidate().is_none());
    let level = |loaded: &LoadedPolicies| loaded.check.as_ref().map(|check| check.level);

    let empty = source(None).load(&trying).unwrap();
    assert_eq!((level(&empty), empty.snapshot.candidate().is_none()), (Some(CheckLevel::Warning), true));
    std::fs::write(tried.join("mine.cedar"), FORBIDS_ALL).unwrap();
    let good = source(None).load(&trying).unwrap();
    let candidate = good.snapshot.candidate().expect("a candidate");
    assert_eq!(candidate.policies().len(), good.snapshot.policies().len() + 1);
    assert_eq!(level(&good), Some(CheckLevel::Ok));
    assert!(good.snapshot.rules().own_paths.contains(&tried.display().to_string()));
    std::fs::write(tried.join("mine.cedar"), "permit (principal").unwrap();
    let bad = source(None).load(&trying).unwrap();
    assert_eq!((level(&bad), bad.snapshot.candidate().is_none()), (Some(CheckLevel::Warning), true));
    assert_eq!(bad.snapshot.digest(), good.snapshot.digest(), "no verdict depends on it");
    let found = bad.check.expect("a check").found;
    assert!(found.contains("nothing is tried out") && found.contains("mine.cedar:1:"), "{found}");
}
