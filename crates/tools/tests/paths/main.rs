//! The place that policy judges is the place that a tool opens, or policy reaches more.
//!
//! Real files in a temporary folder, the built-in tools with real grants, and the policies that ship. The number of cases
//! is proptest's; `PROPTEST_CASES=100000` sets another one.

mod spellings;
mod yard;

use std::sync::{Mutex, OnceLock, PoisonError};

use proptest::prelude::*;
use serde_json::json;

use spellings::spelling;
use yard::{JudgedCall, Yard};

/// The ways in which a written path becomes a call that makes a file.
fn calls_at(path: &str) -> [(&'static str, serde_json::Value); 2] {
    let patch = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{}\n", yard::PAYLOAD);
    [
        ("write_file", json!({ "path": path, "content": yard::PAYLOAD })),
        ("apply_patch", json!({ "patch": patch })),
    ]
}

/// Returns what the rules have to know of a place where a file was made, by its real names.
fn expected_touches(place: &str) -> Vec<&'static str> {
    let names: Vec<String> =
        place.split('/').map(|name| name.trim_end_matches(['.', ' ']).to_ascii_lowercase()).collect();
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let pairs: Vec<(&str, &str)> =
        names.iter().zip(names.iter().skip(1)).map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let mut touches = Vec::new();
    touches.extend(has(".git").then_some("git"));
    touches.extend((names.first().is_some_and(|name| name == "own")).then_some("daemon"));
    touches.extend(has(".ssh").then_some("credentials"));
    touches.extend((has(".envrc") || pairs.contains(&(".github", "workflows"))).then_some("runs_later"));
    touches
}

fn check(written: &str, judged: &JudgedCall, made: &[String]) -> Result<(), TestCaseError> {
    for place in made {
        prop_assert!(
            judged.paths.contains(place),
            "{written:?} made {place:?}, policy read {:?}",
            judged.paths
        );
        for touch in expected_touches(place) {
            prop_assert!(judged.touches.contains(touch), "{written:?} made {place:?}, which touches {touch}");
        }
        if judged.touches.iter().any(|touch| touch == "git" || touch == "daemon") {
            prop_assert!(judged.is_denied, "{written:?} made {place:?} and is not denied");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_place_that_policy_judges_is_the_place_that_a_tool_opens(written in spelling(), way in 0_usize..2) {
        static YARD: OnceLock<Mutex<Yard>> = OnceLock::new();
        let yard = YARD.get_or_init(|| Mutex::new(Yard::new())).lock().unwrap_or_else(PoisonError::into_inner);
        yard.reset();
        let written = written.replace("{ROOT}", yard.root_text());
        let (tool, arguments) = calls_at(&written)[way].clone();
        let judged = yard.judge(tool, &arguments);
        yard.carry_out(tool, &arguments);
        prop_assert!(yard.is_outside_untouched(), "{written:?} reached the outside");
        match judged {
            Some(judged) => check(&written, &judged, &yard.made())?,
            None => prop_assert!(yard.made().is_empty(), "{written:?} was refused unread, and made a file"),
        }
    }
}

#[test]
fn the_paths_of_the_property_make_files_in_every_kind_of_place() {
    // The control: a property over calls that all fail would hold as well.
    let yard = Yard::new();
    for (written, place) in [
        ("a/made.txt", "a/made.txt"),
        ("{ROOT}/a//./made.txt", "a/made.txt"),
        (r".git/hooks/a\..\..\..\made.txt", r".git/hooks/a\..\..\..\made.txt"),
        (r"own/a\..\..\made.txt", r"own/a\..\..\made.txt"),
        (".GIT/made.txt", ".GIT/made.txt"),
        (r".github/workflows/x\..\..\..\made.txt", r".github/workflows/x\..\..\..\made.txt"),
    ] {
        for way in 0..2 {
            yard.reset();
            let written = written.replace("{ROOT}", yard.root_text());
            let (tool, arguments) = calls_at(&written)[way].clone();
            yard.carry_out(tool, &arguments);
            assert_eq!(yard.made(), [place], "{tool} {written}");
        }
    }
}

#[test]
fn a_link_is_not_followed_into_a_place_that_was_not_judged() {
    let yard = Yard::new();
    for written in ["link/made.txt", "inner/made.txt", "out/made.txt", r"link\..\made.txt"] {
        yard.reset();
        let (tool, arguments) = calls_at(written)[0].clone();
        yard.carry_out(tool, &arguments);
        assert!(yard.is_outside_untouched());
        assert!(yard.made().iter().all(|place| place == written), "{written}: {:?}", yard.made());
    }
}
