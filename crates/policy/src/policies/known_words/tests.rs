//! Slips in the words of a rule are found, and what is right is let pass.

use super::*;
use crate::fixture::catalog;
use crate::policies::PolicySet;

fn mistakes(condition: &str) -> Vec<String> {
    let text = format!(
        "@id(\"mine\")\n@reason(\"why\")\nforbid (principal, action, resource)\nwhen {{ {condition} }};\n"
    );
    let files = [PolicyFile::new("mine.cedar", &text)];
    let set = PolicySet::compile(&files, &catalog()).expect("Cedar has nothing against it");
    set.wrong_words(&files).iter().map(ToString::to_string).collect()
}

#[test]
fn a_word_that_no_request_has_is_a_mistake_with_its_place_and_the_nearest_word() {
    for (condition, expect) in [
        (
            "context.risk == \"hgih\"",
            "mine.cedar:4:24: `context.risk` is never \"hgih\"; did you mean \"high\"?",
        ),
        ("\"critcal\" == context.risk", "did you mean \"critical\"?"),
        ("context.risk != \"heigh\"", "did you mean \"high\"?"),
        ("context.taints.contains(\"wbe\")", "did you mean \"web\"?"),
        ("context.taints.contains(\"files\")", "it is one of workspace, web, mail"),
        ("context.taints.containsAny([\"web\", \"mial\"])", "did you mean \"mail\"?"),
        ("[\"low\", \"medum\"].contains(context.risk)", "did you mean \"medium\"?"),
        ("context.touches.contains(\"credential\")", "did you mean \"credentials\"?"),
        ("context.capabilities.contains(\"write_file\")", "did you mean \"write_files\"?"),
        ("context.surface == \"socket\"", "local_socket"),
        ("context.approvers == \"nobdy\"", "did you mean \"nobody\"?"),
        ("context.posture == \"disable\"", "did you mean \"disabled\"?"),
        ("context.sandbox == \"isolate\"", "did you mean \"isolated\"?"),
        (
            "context.risk == \"high\" && context.risk == \"low\"",
            "`mine` never applies: `context.risk` cannot be",
        ),
        (
            "context.surface == \"tcp\" && (context.turns > 1 && context.surface == \"local_socket\")",
            "never applies",
        ),
    ] {
        let found = mistakes(condition);
        assert_eq!(found.len(), 1, "{condition} {found:?}");
        assert!(found[0].contains(expect), "{condition} {found:?}");
    }
}

#[test]
fn an_action_that_does_not_exist_leads_to_what_was_meant() {
    let said = |action: &str| {
        let text = format!("@id(\"mine\")\nforbid (principal, action == Action::\"{action}\", resource);\n");
        let refused = PolicySet::compile(&[PolicyFile::new("mine.cedar", &text)], &catalog());
        refused.expect_err("no such action").0.iter().map(ToString::to_string).collect::<String>()
    };
    // `execute` in the place of `write` would forbid every call that is asked about.
    let write = said("write");
    assert!(
        write.contains("`resource in Capability::\"write_files\"`") && !write.contains("did you mean"),
        "{write}"
    );
    let misspelt = said("exectue");
    assert!(misspelt.contains("did you mean `Action::\"execute\"`?"), "{misspelt}");
}

#[test]
fn a_folder_that_no_call_reaches_is_a_mistake_with_its_place_and_what_to_write() {
    for (condition, expect) in [
        (
            r#"context.folders.contains("src/**")"#,
            r#"mine.cedar:4:33: `context.folders` never has "src/**"; did you mean "src"? a folder is written from the workspace root, without patterns, and all below it counts"#,
        ),
        (r#"context.folders.contains("src/*")"#, r#"did you mean "src"?"#),
        (r#"context.folders.contains("src/*/deep")"#, r#"did you mean "src"?"#),
        (r#"context.folders.contains("**/src")"#, "a folder is written from the workspace root"),
        (r#"context.folders.contains("/src")"#, r#"did you mean "src"?"#),
        (r#"context.folders.contains("/home/me/project/src")"#, r#"did you mean "src"?"#),
        (r#"context.folders.contains("../src")"#, r#"did you mean "src"?"#),
        (r#"context.folders.contains("docs/../src")"#, r#"did you mean "src"?"#),
        (r#"context.folders.contains("~/src")"#, r#"did you mean "src"?"#),
        (r#"context.folders.contains("$HOME/src")"#, r#"did you mean "src"?"#),
        (r#"context.folders.contains("src\\deep")"#, r#"did you mean "src/deep"?"#),
        (r#"context.folders.containsAny(["docs", "src/**"])"#, r#"never has "src/**""#),
        (
            r#"context.folders.contains("docs") && !context.within.contains("docs/*")"#,
            r#"did you mean "docs"?"#,
        ),
        (
            r#"context.paths.contains("src/*")"#,
            r#"for a folder write `context.folders.contains("src")` to forbid"#,
        ),
        (r#"context.paths.contains("./src/a.py")"#, r#"did you mean "src/a.py"?"#),
        (r#"context.paths.contains("src/")"#, r#"did you mean "src"?"#),
    ] {
        let found = mistakes(condition);
        assert_eq!(found.len(), 1, "{condition} {found:?}");
        assert!(found[0].contains(expect), "{condition} {found:?}");
    }
    for condition in [
        r#"context.folders.contains("src")"#,
        r#"context.folders.contains("src/")"#,
        r#"context.folders.contains("./src")"#,
        r#"context.folders.containsAny(["src/deep", "."])"#,
        r#"context.paths.contains("/etc/passwd") || context.paths.contains("src/[id].ts")"#,
    ] {
        assert_eq!(mistakes(condition), Vec::<String>::new(), "{condition}");
    }
}

#[test]
fn a_folder_that_does_not_exist_and_is_almost_another_is_a_warning() {
    let text = "@id(\"mine\")\n@reason(\"why\")\nforbid (principal, action, resource)\n\
                when { context.folders.containsAny([\"dosc\", \"src\"]) && context.paths.contains(\"dosc\") };\n";
    let files = [PolicyFile::new("mine.cedar", text)];
    let set = PolicySet::compile(&files, &catalog()).expect("Cedar has nothing against it");
    let near = |folder: &str| (folder == "dosc").then(|| "docs".to_owned());
    let found: Vec<String> = set.misspelled_folders(&files, &near).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            r#"mine.cedar:4:37: `context.folders` looks for the folder "dosc", which does not exist here; did you mean "docs"?"#
        ]
    );
}

#[test]
fn right_words_and_what_is_free_text_are_no_mistakes() {
    for condition in [
        "context.risk == \"high\" || context.risk == \"low\"",
        "context.taints.containsAny([\"web\", \"mail\", \"secret\"])",
        "context.touches.contains(\"outside_root\") || context.touches.contains(\"vault\")",
        "context.hosts.contains(\"files.example.org\") && context.paths.contains(\"a\")",
        "context has program && context.program == \"anything\"",
        "!(context.risk == \"high\") && context.risk == \"low\"",
    ] {
        assert_eq!(mistakes(condition), Vec::<String>::new(), "{condition}");
    }
}

#[test]
fn every_word_that_requests_are_made_of_is_known() {
    let known = |member: &str, word: &str| WORDS[member].iter().any(|known| known == word);
    for isolation in palyra_types::tool::Isolation::ALL {
        assert!(known("sandbox", isolation.as_str()), "{}", isolation.as_str());
    }
    for (_, taint) in palyra_types::tool::Taints::NAMED {
        assert!(known("taints", taint), "{taint}");
    }
    for surface in palyra_types::surface::Surface::ALL {
        assert!(known("surface", surface.name()), "{}", surface.name());
    }
    assert!(known("risk", "critical") && known("capabilities", "component"));
    let files = PolicyFile::shipped();
    let set = PolicySet::compile(&files, &catalog()).expect("what ships is right");
    assert_eq!(set.wrong_words(&files), []);
}
