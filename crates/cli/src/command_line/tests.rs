//! What holds for every verb, found by walking the definition.

use clap::error::ErrorKind;

use super::*;

/// Verbs that have no `--json`, each with its reason.
const WITHOUT_JSON: [(&str, &str); 7] = [
    ("palyra serve", "its output is the daemon's log"),
    ("palyra help", "its output is for reading"),
    ("palyra explain", "its output is for reading"),
    ("palyra config set", "it only says where a setting is written"),
    ("palyra admin completions", "its output is a program for a shell"),
    ("palyra admin complete", "its output is for a shell"),
    ("palyra admin man", "its output is a page for man"),
];

/// Visits every verb that does something, with the words that lead to it.
fn each_verb(visit: &mut impl FnMut(&str, &mut clap::Command)) {
    fn walk(words: &str, command: &mut clap::Command, visit: &mut impl FnMut(&str, &mut clap::Command)) {
        visit(words, command);
        for deeper in
            command.get_subcommands_mut().filter(|deeper| deeper.get_name() != "help" || words == "palyra")
        {
            let words = format!("{words} {}", deeper.get_name());
            walk(&words, deeper, visit);
        }
    }
    let mut command = command();
    walk("palyra", &mut command, visit);
}

#[test]
fn the_command_line_is_sound_and_has_few_verbs() {
    let command = command();
    command.clone().debug_assert();
    assert!(command.get_subcommands().filter(|verb| !verb.is_hide_set()).count() <= 17);
}

#[test]
fn the_overview_names_every_verb_once_and_fits_a_screen() {
    let mut command = command();
    let mut listed: Vec<&str> = overview::TASKS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
    let help = command.render_help().to_string();
    for name in &listed {
        let about = command.find_subcommand(name).unwrap().get_about().unwrap().to_string();
        assert!(help.contains(&format!("{name:<10}{about}\n")), "{name}: {help}");
    }
    assert!(!help.contains('\u{1b}') && command.render_help().ansi().to_string().contains('\u{1b}'));
    let mut shown: Vec<&str> =
        command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(clap::Command::get_name).collect();
    listed.sort_unstable();
    shown.sort_unstable();
    assert_eq!(listed, shown);
    let (_, also) = help.split_once("(also ").unwrap();
    let (also, _) = also.split_once(')').unwrap();
    let named: Vec<&str> = also.split([',', ' ', '\n']).filter(|word| !word.is_empty()).collect();
    let hidden = command.get_subcommands().filter(|verb| verb.is_hide_set()).map(clap::Command::get_name);
    let mut hidden: Vec<&str> = hidden.filter(|name| *name != "help").collect();
    hidden.sort_unstable();
    assert_eq!(named, hidden);
}

#[test]
fn a_quoted_question_is_run_and_an_unknown_word_is_no_verb() {
    let read = |words: &[&str]| parse(["palyra"].iter().chain(words).map(OsString::from).collect());
    for words in [
        &["what is in this folder?"][..],
        &["what is\nthis?", "--json"],
        &["--no-start", "what is this?", "--model", "demo/demo", "--attach", "a.png"],
        &["--state-dir", "/a folder", "what is this?"],
        &["--state-dir=/a folder", "what is this?"],
        &["run the tests"],
    ] {
        assert!(matches!(read(words).unwrap().0.verb, Some(Verb::Run(_))), "{words:?}");
    }
    assert!(read(&["what is this?", "--json"]).unwrap().1);
    for words in [&[][..], &["--no-start"], &["--state-dir", "/a folder"]] {
        assert!(read(words).unwrap().0.verb.is_none(), "{words:?}");
    }
    for (word, nearest) in
        [("rum", "nearest verb is 'run'"), ("statsu", "'status'"), (" run ", "'run'"), ("xyzzy", "")]
    {
        let error = read(&[word]).unwrap_err();
        let message = error.to_string();
        assert_eq!((error.kind(), error.exit_code()), (ErrorKind::InvalidSubcommand, 2), "{message}");
        assert!(message.contains(nearest) && message.contains("`palyra help`"), "{message}");
    }
    assert!(!read(&["runs", "lost"]).unwrap_err().to_string().contains("asks a model"));
}

#[test]
fn an_empty_word_and_a_word_like_an_option_are_not_offered_as_a_question() {
    let message = |word: &str| {
        let words = ["palyra", word].map(OsString::from);
        parse(words.into()).unwrap_err().to_string()
    };
    for word in ["", "-v", "--verson"] {
        assert!(!message(word).contains("palyra run"), "{word}: {}", message(word));
    }
    assert!(message("-v").contains("`palyra version` prints the version"), "{}", message("-v"));
}

#[test]
fn several_words_are_one_text_where_a_text_is_last() {
    for line in ["memory add I like tea", "memory search my key", "sessions rename work my new title"] {
        let words = ["palyra"].into_iter().chain(line.split(' ')).map(OsString::from).collect();
        assert!(parse(words).is_ok(), "{line}");
    }
}

#[test]
fn every_verb_and_option_says_what_it_is_for() {
    each_verb(&mut |words, command| {
        assert!(command.get_about().is_some(), "{words}");
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{words} {}", argument.get_id());
        }
    });
}

#[test]
fn the_help_of_every_verb_fits_a_screen_and_shows_an_example_that_can_be_copied() {
    let mut too_big = String::new();
    each_verb(&mut |words, command| {
        for flag in ["-h", "--help"] {
            let typed = words.split(' ').chain([flag]).map(OsString::from);
            let help = super::command()
                .term_width(HELP_COLUMNS_MAX)
                .try_get_matches_from(typed)
                .unwrap_err()
                .to_string();
            let (lines, columns) =
                (help.lines().count(), help.lines().map(|line| line.chars().count()).max());
            if lines > 24 || columns > Some(HELP_COLUMNS_MAX) {
                too_big += &format!("`{words}`: {lines} lines, {columns:?} columns\n{help}\n");
            }
            let shown = help.contains("Example:\n") || help.contains("Examples:\n");
            assert!(shown || command.has_subcommands(), "`{words}` shows no example");
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let mut examples = after.lines().filter(|line| line.starts_with("  "));
            assert!(examples.all(|line| help.lines().any(|shown| shown == line)), "folded: {help}");
            assert!(!after.replace("\\\n    ", "").contains("\n   "), "no backslash: {help}");
        }
    });
    assert!(too_big.is_empty(), "{too_big}");
}

#[test]
fn every_example_is_a_command_that_exists() {
    each_verb(&mut |words, command| {
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let examples = after.lines().filter(|line| line.starts_with("  "));
        for example in examples.filter_map(|line| line.split_once("palyra ").map(|(_, example)| example)) {
            let typed = typed(example);
            let parsed = parse(typed.iter().map(OsString::from).collect());
            assert!(parsed.is_ok(), "`{words}`: {example}: {:?}", parsed.err().map(|error| error.kind()));
        }
    });
}

/// Splits an example as a shell would, as far as examples go.
fn typed(example: &str) -> Vec<String> {
    let mut words = vec!["palyra".to_owned()];
    // An example quotes in one way or the other.
    let quote = if example.contains('\'') { '\'' } else { '"' };
    for (at, part) in example.split(quote).enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            let plain = part.split_whitespace().take_while(|word| !["|", ">", "<", "#"].contains(word));
            words.extend(plain.map(str::to_owned));
        }
    }
    words
}

#[test]
fn every_verb_takes_json_or_has_a_reason_not_to() {
    let mut excused: Vec<&str> = WITHOUT_JSON.iter().map(|(words, _)| *words).collect();
    each_verb(&mut |words, command| {
        if command.has_subcommands() {
            return;
        }
        let json = command.get_arguments().any(|argument| argument.get_long() == Some("json"));
        let listed = excused.iter().position(|excused| *excused == words);
        assert_eq!(json, listed.is_none(), "`{words}`");
        listed.map(|at| excused.remove(at));
    });
    assert!(excused.is_empty(), "{excused:?}");
}

#[test]
fn a_wish_for_json_is_heard_at_any_depth() {
    let wants = |words: &[&str]| parse(words.iter().map(OsString::from).collect()).unwrap().1;
    assert!(wants(&["palyra", "run", "--json", "hello"]));
    assert!(wants(&["palyra", "runs", "list", "--json"]));
    assert!(!wants(&["palyra", "runs", "list"]));
    assert!(!wants(&["palyra", "serve"]));
}

#[test]
fn no_verb_and_no_answer_is_a_name_that_a_component_may_have() {
    each_verb(&mut |words, _| {
        let mut words = words.split(' ').skip(1);
        let (verb, answer) = (words.next(), words.next());
        for word in verb.into_iter().chain(answer.filter(|_| verb == Some("approve"))) {
            let reserved = palyra_types::reserved_names::RESERVED_TOOL_NAMES;
            assert!(reserved.contains(&word), "`{word}` is not reserved");
        }
    });
}
