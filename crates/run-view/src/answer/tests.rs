//! What is a yes, by risk.

use super::*;

const ID: &str = "01JDAYS7VGV3J8JZ6K6X3B7Q2K";

/// A form for a call that may be repeated.
fn form(risk: &str) -> AnswerForm {
    let prompt = v1::ApprovalPrompt { tool: "run_command".to_owned(), ..Default::default() };
    AnswerForm::of(ID, risk, &prompt, &OfferScope::default())
}

fn is_yes(answer: &TypedAnswer) -> bool {
    matches!(answer, TypedAnswer::Decide { decision: v1::ApprovalDecision::Approve, .. })
}

#[test]
fn only_a_clear_yes_is_one() {
    for risk in ["low", "medium"] {
        let form = form(risk);
        for line in ["y", " Yes ", "YES", "s"] {
            assert!(is_yes(&form.read(line)), "{line}");
        }
        for line in ["", "yeah", "y please", "ja", "ok", "yes but", "\u{ff59}", "7q2k", "y 7q2k", "?"] {
            assert_eq!(form.read(line), TypedAnswer::Unclear, "{line}");
        }
    }
}

#[test]
fn above_medium_risk_a_yes_repeats_the_word_of_its_prompt() {
    for risk in ["high", "critical", "", "of a later version"] {
        let form = form(risk);
        assert!(form.prompt().contains(" 7Q2K ") && form.prompt().starts_with("? "), "{}", form.prompt());
        for line in ["7Q2K", "7q2k", "y 7Q2K", "yes 7q2k", " s  7Q2K"] {
            assert!(is_yes(&form.read(line)), "{line}");
        }
        for line in ["y", "yes", "s", "session"] {
            assert_eq!(form.read(line), TypedAnswer::WordMissing, "{line}");
        }
        for line in ["y 7Q2", "s y", "Q2K", "7Q2K please", "y 7Q2J", ""] {
            assert_eq!(form.read(line), TypedAnswer::Unclear, "{line}");
        }
    }
}

#[test]
fn a_command_that_approves_takes_each_key_but_those_of_the_session() {
    let form = form("high").without_offer();
    assert_eq!(form.prompt(), "? high risk: type 7Q2K to run it  [n]o, or \"n REASON\"  [m]ore  [l]ater");
    assert!(is_yes(&form.read("7q2k")) && !form.help().contains("session"), "{}", form.help());
    assert_eq!((form.read("y"), form.read("s 7Q2K")), (TypedAnswer::WordMissing, TypedAnswer::Unclear));
    assert_eq!((form.read("l"), form.read("m")), (TypedAnswer::Skip, TypedAnswer::More));
}

#[test]
fn a_session_grant_is_asked_for_and_a_plain_yes_is_none() {
    for (risk, yes, session) in [("low", "y", "s"), ("critical", "7Q2K", "s 7Q2K")] {
        let form = form(risk);
        let scope = |line: &str| match form.read(line) {
            TypedAnswer::Decide { remember, .. } => remember.map(|requested| requested.scope()),
            other => panic!("{other:?}"),
        };
        assert_eq!((scope(yes), scope(session)), (None, Some(v1::GrantScope::Session)));
    }
}

#[test]
fn a_no_may_say_why_at_any_risk() {
    for risk in ["low", "critical"] {
        let form = form(risk);
        let no = |note: &str| TypedAnswer::Decide {
            decision: v1::ApprovalDecision::Deny,
            note: note.to_owned(),
            remember: None,
        };
        assert_eq!(form.read("n"), no(""));
        assert_eq!(form.read("no  not this file "), no("not this file"));
        for line in [
            "no, not this file",
            "No, not this file",
            "n, not this file",
            "no. not this file",
            "NO: not this file",
        ] {
            assert_eq!(form.read(line), no("not this file"), "{line}");
        }
        assert_eq!((form.read("no."), form.read("N!")), (no(""), no("")));
        // The controls: another word, and a sign elsewhere.
        for line in ["not this file", "none", ",no", "now, please", "nope", "y,", "yes, do"] {
            assert_eq!(form.read(line), TypedAnswer::Unclear, "{line}");
        }
        assert_eq!((form.read("m"), form.read("l")), (TypedAnswer::More, TypedAnswer::Skip));
        assert_eq!(form.read("q"), TypedAnswer::Skip);
    }
}

fn file_form(risk: &str) -> AnswerForm {
    let prompt = v1::ApprovalPrompt {
        // The question says that it changes a file; the name of its tool does not matter.
        tool: "some_tool".to_owned(),
        arguments: r#"{"path":"src/app.py","old":"a","new":"b"}"#.to_owned(),
        preview: "--- src/app.py\n+++ src/app.py\n-a\n+b\n".to_owned(),
        ..Default::default()
    };
    AnswerForm::of(ID, risk, &prompt, &OfferScope::default())
}

#[test]
fn a_change_of_a_file_offers_its_folder_and_not_the_same_change_again() {
    let form = file_form("medium");
    let folder = |line: &str| match form.read(line) {
        TypedAnswer::Decide {
            decision: v1::ApprovalDecision::Approve, remember: Some(requested), ..
        } => Some(requested.rules.len()),
        _ => None,
    };
    assert_eq!((folder("f"), folder(" Folder ")), (Some(3), Some(3)));
    for line in ["s", "session", "f src", "ff", "y f"] {
        assert_eq!(form.read(line), TypedAnswer::Unclear, "{line}");
    }
    // Above medium risk nothing wide is offered.
    assert!(!file_form("critical").prompt().contains("[f]"));
    assert_eq!(file_form("critical").read("f 7Q2K"), TypedAnswer::Unclear);
}

#[test]
fn a_line_that_is_no_answer_is_named() {
    let mut form = form("medium");
    let told = "\"palyra run 'cat x'\" is none of the answers, so nothing was decided".to_owned();
    assert_eq!(form.unclear("palyra run 'cat x'"), [told.clone(), form.help()]);
    // The keys are explained once, and where it is asked for.
    assert_eq!(form.unclear("palyra run 'cat x'"), [format!("{told}; ? explains the keys")]);
    assert_eq!(form.unclear("  "), ["? explains the keys"]);
    assert_eq!(form.unclear("?"), [form.help()]);
    let mut risky = AnswerForm { is_explained: false, ..self::form("high") };
    assert_eq!((risky.word_missing("y").len(), risky.word_missing("y").len()), (2, 1));
}

#[test]
fn the_keys_fit_a_row_and_the_help_says_each_of_them() {
    for (form, keys) in [
        (form("medium"), &["[y]es", "[n]o, or \"n REASON\"", "[s] ", "[m]ore", "[l]ater"][..]),
        (file_form("low"), &["[y]es", "[f]older", "[m]ore", "[l]ater"]),
        (form("high"), &["high risk: type 7Q2K to run it", "[s 7Q2K]", "[n]o", "[m]ore", "[l]ater"]),
    ] {
        let prompt = form.prompt();
        assert!(prompt.starts_with("? ") && prompt.ends_with("[l]ater"), "{prompt}");
        assert!(keys.iter().all(|key| prompt.contains(key)), "{prompt}");
        let columns_max = if prompt.contains("7Q2K") { 2 * 76 } else { 78 };
        assert!(prompt.chars().count() <= columns_max, "{prompt}");
    }
    assert_eq!(
        form("medium").help(),
        "y runs this call once; s runs it, and this same call again without asking in this session; n denies it, and \
         \"n REASON\" tells the model why; m shows everything; l leaves it for later"
    );
    assert!(
        file_form("low").help().contains("f runs it, and each further some_tool below src/ in this session")
    );
}

#[test]
fn the_offers_name_the_folder_and_the_session_of_the_run() {
    let scope = OfferScope { elsewhere: "~/shop".to_owned(), session: GrantSession::OfRun };
    let of_run = |form: AnswerForm| AnswerForm { scope: scope.clone(), ..form };
    let help = of_run(file_form("low")).help();
    let folder = "; f runs it, and each further some_tool below ~/shop/src/ in this run's session, not in another \
                  `palyra run`; n denies it";
    assert!(help.contains(folder), "{help}");
    let mut of_file = of_run(file_form("low"));
    assert!(of_file.unclear("what?")[1].contains(folder));
    let call = of_run(form("medium"));
    assert!(call.prompt().contains("  [s] this call, in this session  "), "{}", call.prompt());
    let same = "; s runs it, and this same call again without asking in this run's session, not in another \
                `palyra run`; ";
    assert!(call.help().contains(same), "{}", call.help());
    assert!(of_run(form("high")).prompt().contains("  [s 7Q2K] this call, in this session  "));
}
