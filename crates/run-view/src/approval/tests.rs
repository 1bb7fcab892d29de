//! What a person reads before an answer, and after it.

use super::*;
use crate::GrantSession;

const ID: &str = "01JDAYS7VGV3J8JZ6K6X3B7Q2K";

#[test]
fn what_becomes_of_an_answer_is_told_as_it_is() {
    let with = |state: v1::ApprovalState, counted| v1::ResolveApprovalResponse {
        approval: Some(v1::Approval {
            run_id: "RUN".to_owned(),
            state: state.into(),
            needed: 2,
            voters: vec!["A".to_owned()],
            decided_by: "B".to_owned(),
            ..Default::default()
        }),
        counted,
        ..Default::default()
    };
    let told = |answer| outcome(&answer, "", str::to_owned).1;
    assert_eq!(told(with(v1::ApprovalState::Denied, false)), "it was decided before: denied by B");
    let mut by_name = with(v1::ApprovalState::Denied, false);
    by_name.approval.as_mut().unwrap().decided_by_name = "you".to_owned();
    assert_eq!(told(by_name), "it was decided before: denied by you");
    let mut forbidden = with(v1::ApprovalState::Denied, false);
    forbidden.approval.as_mut().unwrap().decided_by.clear();
    assert_eq!(told(forbidden.clone()), "it was decided before: denied");
    forbidden.approval.as_mut().unwrap().note = "forbidden by now".to_owned();
    assert_eq!(told(forbidden), "nothing ran; denied: forbidden by now");
    assert_eq!(
        told(with(v1::ApprovalState::Approved, true)),
        "approved; `palyra runs tail RUN` shows how it goes on"
    );
    let mut named = with(v1::ApprovalState::Approved, true);
    named.approval.as_mut().unwrap().prompt = Some(prompt());
    assert_eq!(
        outcome(&named, "/home/a/proj", str::to_owned).1,
        "approved: write_file create notes.txt (5 bytes) in /home/a/proj; `palyra runs tail RUN` shows how it goes on"
    );
    let edited = with_edited(named.clone(), r#"{"content":"hello","path":"drafts.txt"}"#);
    assert_eq!(
        told(edited),
        r#"approved: write_file {"content":"hello","path":"drafts.txt"}; `palyra runs tail RUN` shows how it goes on"#
    );
    assert_eq!(with_edited(named.clone(), ""), named);
    assert_eq!(told(with(v1::ApprovalState::Pending, true)), "your yes counts; 1 of 2 people said yes");
}

#[test]
fn an_answer_to_an_expired_question_says_how_it_is_asked_again() {
    let approval = v1::Approval {
        run_id: "RUN".to_owned(),
        state: v1::ApprovalState::Expired.into(),
        ..Default::default()
    };
    let late = v1::ResolveApprovalResponse { approval: Some(approval), ..Default::default() };
    let (mark, told) = outcome(&late, "", str::to_owned);
    assert_eq!(mark, NoteKind::Doubt);
    assert!(told.starts_with("nothing ran; the question expired before it was answered"), "{told}");
    assert!(told.contains("may try again: `palyra runs answer RUN --new TEXT`"), "{told}");
}

fn prompt() -> v1::ApprovalPrompt {
    v1::ApprovalPrompt {
        tool: "write_file".to_owned(),
        arguments: r#"{"content":"hello","path":"notes.txt"}"#.to_owned(),
        summary: "create notes.txt (5 bytes)".to_owned(),
        preview: "--- /dev/null\n+++ notes.txt\n+hello".to_owned(),
        reason: "rule writes-in-the-workspace asks".to_owned(),
        unbound: String::new(),
        asked_again: String::new(),
        asks_each_time: false,
    }
}

fn texts(prompt: &v1::ApprovalPrompt, risk: &str, detail: PreviewDetail) -> Vec<String> {
    question(ID, prompt, risk, detail, &OfferScope::default()).into_iter().map(|line| line.text).collect()
}

fn edit() -> v1::ApprovalPrompt {
    v1::ApprovalPrompt {
        tool: "edit_file".to_owned(),
        arguments: r#"{"new":"chai","old":"tea","path":"src/app.py"}"#.to_owned(),
        summary: "changes `src/app.py` (+1 -1 lines, 9 bytes)".to_owned(),
        preview: "--- src/app.py\n+++ src/app.py\n@@ -1 +1 @@\n-tea\n+chai\n".to_owned(),
        reason: "`edit_file` needs an approval by `changes-of-files` (it changes files)".to_owned(),
        ..Default::default()
    }
}

fn command() -> v1::ApprovalPrompt {
    v1::ApprovalPrompt {
        tool: "run_command".to_owned(),
        arguments: r#"{"argv":["make","test"]}"#.to_owned(),
        summary: "runs `make test` in /srv/proj".to_owned(),
        preview:
            "$ make test\n\nin          /srv/proj\nprogram     /usr/bin/make (SHA-256 00)\nenvironment HOME\n"
                .to_owned(),
        reason: "`run_command` needs an approval by `commands` (it starts a program)".to_owned(),
        unbound: "what `make` reads and runs".to_owned(),
        ..Default::default()
    }
}

fn fetch() -> v1::ApprovalPrompt {
    v1::ApprovalPrompt {
        tool: "http_fetch".to_owned(),
        arguments: r#"{"credential":"forge","url":"https://api.forge.example/v1/items"}"#.to_owned(),
        summary: "GET https://api.forge.example/v1/items, carries your secret `forge`".to_owned(),
        preview: "GET https://api.forge.example/v1/items".to_owned(),
        reason: "`http_fetch` needs an approval by `network` (it reaches the network)".to_owned(),
        ..Default::default()
    }
}

#[test]
fn the_usual_questions_have_at_most_five_lines_with_their_keys() {
    for (prompt, risk, expect) in [
        (
            edit(),
            "medium",
            &[
                "edit_file changes `src/app.py` (+1 -1 lines, 9 bytes)",
                "@@ -1 +1 @@",
                "-tea",
                "+chai",
                "Why: it changes files (rule `changes-of-files`)",
                "[f]older: yes, and each further edit_file below src/, in this session",
            ][..],
        ),
        (
            command(),
            "medium",
            &[
                "run_command runs `make test` in /srv/proj",
                "(3 more lines: m)",
                "Why: it starts a program (rule `commands`)",
                "Not checked: what `make` reads and runs",
            ],
        ),
        (
            fetch(),
            "high",
            &[
                "http_fetch GET https://api.forge.example/v1/items, carries your secret `forge` (high risk)",
                "Why: it reaches the network (rule `network`)",
            ],
        ),
    ] {
        let shown = texts(&prompt, risk, PreviewDetail::Prompt);
        assert_eq!(shown, expect);
        // Of a diff each line counts, of all else at most four stand above the keys.
        let beside = shown.iter().filter(|line| !line.starts_with(['@', '-', '+'])).count();
        assert!(beside < 5, "{shown:?}");
    }
}

#[test]
fn a_new_file_is_shown_by_its_content() {
    let made = v1::ApprovalPrompt {
        summary: "creates `notes.txt` (5 bytes)".to_owned(),
        preview: "--- /dev/null\n+++ notes.txt\n@@ -0,0 +1 @@\n+hello".to_owned(),
        ..prompt()
    };
    assert_eq!(
        texts(&made, "medium", PreviewDetail::Prompt),
        [
            "write_file creates `notes.txt` (5 bytes)",
            "+hello",
            "Why: rule writes-in-the-workspace asks",
            "[f]older: yes, and each further write_file below this folder, in this session",
        ]
    );
    // What makes it a program is not in the heading, and stays.
    let run = v1::ApprovalPrompt { preview: format!("can be run\n{}", made.preview), ..made.clone() };
    assert_eq!(texts(&run, "medium", PreviewDetail::Prompt)[1], "can be run");
    // A file that the heading does not name keeps its header.
    let unnamed = v1::ApprovalPrompt { summary: "changes 9 files".to_owned(), ..made };
    assert_eq!(texts(&unnamed, "medium", PreviewDetail::Prompt)[1], "--- /dev/null");
}

#[test]
fn everything_is_behind_one_key() {
    for prompt in [edit(), command(), fetch()] {
        let all = texts(&prompt, "medium", PreviewDetail::Full);
        assert!(all.contains(&format!("Arguments: {}", prompt.arguments)), "{all:?}");
        assert!(prompt.preview.lines().all(|line| all.iter().any(|shown| shown == line)), "{all:?}");
    }
    // At a prompt the key for the folder stays explained; elsewhere there is no such key.
    let offers = |detail| texts(&edit(), "medium", detail).iter().any(|line| line.starts_with("[f]older: "));
    assert_eq!((offers(PreviewDetail::More), offers(PreviewDetail::Full)), (true, false));
    let changed = question(ID, &edit(), "medium", PreviewDetail::Prompt, &OfferScope::default());
    let looks: Vec<LineLook> = changed.iter().map(|line| line.look).collect();
    assert_eq!(looks[1..5], [LineLook::Header, LineLook::Removed, LineLook::Added, LineLook::Plain]);
}

#[test]
fn where_nobody_can_be_asked_no_key_is_named() {
    for prompt in [edit(), command(), fetch()] {
        let shown = texts(&prompt, "medium", PreviewDetail::Unattended);
        assert!(!shown.iter().any(|line| line.contains("[f]") || line.contains(": m)")), "{shown:?}");
        assert!(prompt.preview.lines().all(|line| shown.iter().any(|shown| shown == line)), "{shown:?}");
    }
}

#[test]
fn a_line_for_a_shell_is_shown_with_its_commands() {
    let line = v1::ApprovalPrompt {
        summary: "runs `sh -c 'ls | wc'` in /srv".to_owned(),
        preview: "$ sh -c 'ls | wc'\n\nshell line  ls | wc\ncommands    ls\n            wc\n\nin  /srv\n"
            .to_owned(),
        ..command()
    };
    assert_eq!(
        texts(&line, "high", PreviewDetail::Prompt)[..5],
        [
            "run_command runs `sh -c 'ls | wc'` in /srv (high risk)",
            "shell line  ls | wc",
            "commands    ls",
            "            wc",
            "(1 more line: m)"
        ]
    );
    // A command that the heading does not hold whole is shown itself.
    let cut = v1::ApprovalPrompt { summary: "runs `sh`".to_owned(), ..line };
    assert_eq!(texts(&cut, "high", PreviewDetail::Prompt)[1], "$ sh -c 'ls | wc'");
}

#[test]
fn what_a_command_may_change_and_reach_is_not_behind_a_key() {
    let limits = "may change  the workspace\nread-only   src\nnetwork     none\n";
    for lines in [1, 30] {
        let block = "commands    ls\n".repeat(lines);
        let line = v1::ApprovalPrompt {
            preview: format!(
                "$ make test\n\n{block}\nin          /srv\nprogram     make\n{limits}environment \n"
            ),
            ..command()
        };
        let shown = texts(&line, "high", PreviewDetail::Prompt);
        assert!(
            shown.contains(&"may change the workspace; read-only src; network none".to_owned()),
            "{shown:?}"
        );
        let left_out = lines.saturating_sub(10) + 3;
        assert!(shown.contains(&format!("({left_out} more lines: m)")), "{shown:?}");
    }
}

#[test]
fn arguments_stay_the_same_json_and_steer_nothing() {
    let evil = v1::ApprovalPrompt { arguments: "{\"a\":\"\u{9b}\u{202e}\"}".to_owned(), ..prompt() };
    let lines = texts(&evil, "medium", PreviewDetail::Full);
    assert_eq!(lines[1], r#"Arguments: {"a":"\u009b\u202e"}"#);
    let bare = v1::ApprovalPrompt { summary: String::new(), ..evil };
    assert!(texts(&bare, "medium", PreviewDetail::Prompt)[0].ends_with(r#"{"a":"\u009b\u202e"}"#));
}

#[test]
fn what_is_left_out_is_counted() {
    let long = v1::ApprovalPrompt { preview: "+line\n".repeat(100), ..prompt() };
    let lines = texts(&long, "medium", PreviewDetail::Prompt);
    assert!(lines.contains(&"(90 more lines: m)".to_owned()) && lines.len() <= 16, "{lines:?}");
    let lines = texts(&long, "medium", PreviewDetail::Unattended);
    assert!(lines.contains(&"(60 more lines: `palyra approve show 3B7Q2K`)".to_owned()), "{lines:?}");
    let wide = v1::ApprovalPrompt { preview: format!("+{}", "x".repeat(500)), ..prompt() };
    assert!(texts(&wide, "medium", PreviewDetail::Prompt)[1].ends_with("… (101 more characters: m)"));
    let bare = v1::ApprovalPrompt {
        preview: String::new(),
        arguments: "x".repeat(500),
        unbound: "what make runs".to_owned(),
        asked_again: "the file changed".to_owned(),
        ..prompt()
    };
    let lines = texts(&bare, "high", PreviewDetail::Prompt);
    assert_eq!(lines[0], "write_file create notes.txt (5 bytes) (high risk)");
    assert_eq!(lines[1], "Asked again because the file changed");
    assert!(lines[2].ends_with("… (100 more characters)"), "{lines:?}");
    assert_eq!(lines[4], "Not checked: what make runs");
}

#[test]
fn a_reason_is_told_without_what_the_heading_says() {
    for (reason, expect) in [
        ("`t` needs an approval by `r` (it changes files)", "it changes files (rule `r`)"),
        (
            "`t` needs an approval by `r` (it (often) changes files); the stored grant G was given in another folder",
            "it (often) changes files (rule `r`); the stored grant G was given in another folder",
        ),
        (
            "`t` needs an approval by `r` (it changes files) and `mine` (docs (all) are checked)",
            "it changes files (rule `r`), and docs (all) are checked (rule `mine`)",
        ),
        (
            "`t` needs an approval by `a` (one) and `b` (two) and `c` (three) and 2 more",
            "one (rule `a`), and two (rule `b`), and three (rule `c`), and 2 more",
        ),
        (
            "`t` needs an approval by `a` (one) and `b` (two); `path` differs from what the stored grant G covers",
            "one (rule `a`), and two (rule `b`); `path` differs from what the stored grant G covers",
        ),
        ("`t` needs an approval by `a` and `b` (two)", "`t` needs an approval by `a` and `b` (two)"),
        ("`t` needs an approval by `a` (one), `b` (two)", "`t` needs an approval by `a` (one), `b` (two)"),
        ("`t` needs an approval by `a`, `b` (two)", "`t` needs an approval by `a`, `b` (two)"),
        ("another text", "another text"),
    ] {
        assert_eq!(why(reason), expect);
    }
}

#[test]
fn the_home_directory_is_short_where_a_folder_is_named() {
    for (line, expect) in [
        ("runs `make` in /home/me/proj", "runs `make` in ~/proj"),
        ("runs `make` in /home/me", "runs `make` in ~"),
        ("runs `make` in /home/mel", "runs `make` in /home/mel"),
        ("runs `ls /home/me` in /srv", "runs `ls /home/me` in /srv"),
        ("runs `make`", "runs `make`"),
    ] {
        assert_eq!(in_short_folder(line, "/home/me"), expect);
        assert_eq!(in_short_folder(line, ""), line);
    }
}

#[test]
fn a_grant_says_what_it_lets_run_and_how_it_ends() {
    let rule = |argument: &str, shape| v1::ArgumentRule { argument: argument.to_owned(), shape: Some(shape) };
    let grant = |rules: Vec<v1::ArgumentRule>, session: &str| v1::StoredGrant {
        grant_id: "01JDAYS7VGV3J8JZ6K6X3B7Q2K".to_owned(),
        session_id: session.to_owned(),
        tool: "edit_file".to_owned(),
        rules,
        ..Default::default()
    };
    let below = vec![rule("path", Shape::Beneath("src".to_owned())), rule("new", Shape::Any(true))];
    let end = "(grant 3B7Q2K; `palyra approve revoke 3B7Q2K` revokes that grant)";
    for (grant, expect) in [
        (grant(below, "S"), "every edit_file below src/ runs without asking in this session"),
        (
            grant(vec![rule("path", Shape::Equal("\"a\"".to_owned()))], ""),
            "this same edit_file call runs without asking",
        ),
        (
            grant(vec![rule("path", Shape::Any(true))], "S"),
            "each matching edit_file call runs without asking in this session",
        ),
    ] {
        assert_eq!(granted(&grant, &OfferScope::default()), format!("from now on {expect} {end}"));
    }
}

#[test]
fn a_grant_of_a_run_names_its_folder_and_says_where_it_does_not_hold() {
    let scope = OfferScope { elsewhere: "~/shop".to_owned(), session: GrantSession::OfRun };
    let below = Some(Shape::Beneath(".".to_owned()));
    let grant = v1::StoredGrant {
        session_id: "S".to_owned(),
        tool: "write_file".to_owned(),
        rules: vec![v1::ArgumentRule { argument: "path".to_owned(), shape: below }],
        ..Default::default()
    };
    let told = granted(&grant, &scope);
    let expect = "from now on every write_file below ~/shop runs without asking in this run's session, not in another \
                  `palyra run` (grant ";
    assert!(told.starts_with(expect), "{told}");
}

#[test]
fn a_question_of_before_has_nothing_that_only_an_answer_can_use() {
    let shown = texts(&edit(), "medium", PreviewDetail::Replayed);
    assert_eq!(shown.last().unwrap(), "Why: it changes files (rule `changes-of-files`)");
    let shown = texts(&command(), "medium", PreviewDetail::Replayed);
    assert_eq!(shown[1], "(3 more lines: `palyra approve show 3B7Q2K`)");
    // The control: a live one.
    assert!(texts(&edit(), "medium", PreviewDetail::Prompt).iter().any(|line| line.starts_with("[f]older")));
}

#[test]
fn time_runs_out_in_coarse_steps() {
    for (seconds, expect) in [
        (-1, "over"),
        (0, "over"),
        (59, "59s left"),
        (61, "1m left"),
        (86_399, "23h left"),
        (259_200, "3d left"),
    ] {
        assert_eq!(left(seconds), expect);
    }
    assert_eq!(time_left(None), "");
}
