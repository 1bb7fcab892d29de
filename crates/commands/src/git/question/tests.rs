//! Which words pass, and how git is asked.

use super::*;

fn read(
    subcommand: &str,
    options: &[&str],
    revisions: &[&str],
    paths: &[&str],
) -> Result<GitQuestion, CommandFailure> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let written = WrittenQuestion {
        subcommand: subcommand.to_owned(),
        options: owned(options),
        revisions: owned(revisions),
        paths: owned(paths),
    };
    GitQuestion::read(written, Path::new("/desk/space"))
}

#[track_caller]
fn check(subcommand: &str, options: &[&str], expect: &str) {
    let question =
        read(subcommand, options, &[], &[]).unwrap_or_else(|failure| panic!("{options:?}: {failure}"));
    assert_eq!(question.words(std::iter::once("HIDDEN".to_owned())).join(" "), expect);
}

#[test]
fn options_that_read_pass_in_their_usual_spellings() {
    check("status", &["-sb"], "status --ignore-submodules=dirty -s -b -- HIDDEN");
    check(
        "log",
        &["--oneline", "-n", "5"],
        "log --no-ext-diff --no-textconv --submodule=short --oneline -n5 --",
    );
    check(
        "log",
        &["-5", "--author", "a b"],
        "log --no-ext-diff --no-textconv --submodule=short -5 --author=a b --",
    );
    check(
        "diff",
        &["--stat", "-U3", "HEAD~1", "--", "src"],
        "diff --no-ext-diff --no-textconv --submodule=short --ignore-submodules=dirty --stat -U3 HEAD~1^{commit} -- \
         :(literal)src HIDDEN",
    );
    check(
        "grep",
        &["-nI", "a b", "HEAD"],
        "grep --no-textconv --no-recurse-submodules -n -I -e a b HEAD^{commit} -- HIDDEN",
    );
    check(
        "grep",
        &["-e", "--no-index", "-A2"],
        "grep --no-textconv --no-recurse-submodules -e --no-index -A2 -- HIDDEN",
    );
    check("rev-parse", &["--abbrev-ref", "HEAD"], "rev-parse --abbrev-ref HEAD");
    check("branch", &["-vv", "--contains=main"], "branch -vv --contains=main^{commit}");
    check("branch", &["--contains", "main", "-a"], "branch --contains=main^{commit} -a");
    check("branch", &["--list", "feature/*"], "branch --list feature/*");
    check("describe", &["--tags", "--always"], "describe --tags --always");
}

#[test]
fn whatever_is_not_in_the_table_is_refused_by_name() {
    for (subcommand, word) in [
        ("diff", "--no-index"),
        ("diff", "--no-i"),
        ("diff", "--output=x"),
        ("diff", "--outp=x"),
        ("diff", "-Oorder"),
        ("diff", "--ext-diff"),
        ("show", "--textconv"),
        ("log", "--show-signature"),
        ("log", "--sta"),
        ("log", "-L1,2:.env"),
        ("grep", "--no-index"),
        ("grep", "-f.env"),
        ("grep", "-nf.env"),
        ("grep", "-Osh"),
        ("grep", "-nOsh"),
        ("grep", "--open-files-in-pager=sh"),
        ("grep", "--untracked"),
        ("blame", "--contents"),
        ("blame", "-S.env"),
        ("blame", "--ignore-revs-file=.env"),
        ("ls-files", "-X.env"),
        ("ls-files", "--exclude-from=.env"),
        ("ls-files", "--exclude-per-directory=.env"),
        ("branch", "-D"),
        ("branch", "--edit-description"),
        ("rev-parse", "--parseopt"),
        ("rev-parse", "--git-path"),
        ("status", "-v"),
        ("status", "--no-optional-locks"),
    ] {
        let refused = read(subcommand, &[word, "x"], &[], &["a.txt"]).expect_err(word).to_string();
        let name = word.split('=').next().unwrap_or_default();
        assert!(refused.contains(&format!("`{name}")) && refused.contains("it takes -"), "{word}: {refused}");
    }
    for (subcommand, words) in
        [("branch", &["made"][..]), ("log", &["-n", "x"]), ("log", &["--oneline=1"]), ("grep", &["-n"])]
    {
        assert!(read(subcommand, words, &[], &[]).is_err(), "{subcommand} {words:?}");
    }
    assert!(read("commit", &[], &[], &[]).is_err());
    assert!(read("log", &["--follow", "-p"], &[], &["a.txt"]).is_err());
    assert!(read("blame", &[], &[], &[]).is_err());
}

#[test]
fn paths_stay_in_the_workspace_and_credentials_are_asked_for_alone() {
    for path in ["/etc/passwd", "../x", "a/../../x", "/desk/spaces/x", "/desk/space/../x"] {
        assert!(matches!(read("diff", &[], &[], &[path]), Err(CommandFailure::PathRefused(_))), "{path}");
        assert!(read("diff", &["--", path], &[], &[]).is_err(), "{path}");
    }
    let paths = |paths: &[&str]| {
        read("diff", &[], &[], paths).map(|question| (question.paths, question.names_credentials))
    };
    assert_eq!(paths(&["/desk/space/src", "./a//b"]), Ok((vec!["src".to_owned(), "a/b".to_owned()], false)));
    assert_eq!(paths(&[".env", "secrets/db"]), Ok((vec![".env".to_owned(), "secrets/db".to_owned()], true)));
    assert!(paths(&[".env", "src"]).is_err());
    assert!(read("diff", &["--", ".env"], &[], &[]).is_err());
    // What looks like magic is a name.
    let words = read("diff", &[], &[], &[":(top,icase).ENX"]).expect("a path").words(std::iter::empty());
    assert_eq!(words.last().map(String::as_str), Some(":(literal):(top,icase).ENX"));
}

#[test]
fn history_leaves_files_out_only_where_it_tells_what_they_hold() {
    for (options, shows) in [
        (&["--oneline"][..], false),
        (&["--stat"], false),
        (&["-p"], true),
        (&["-U1"], true),
        (&["-Spass"], true),
        (&["-G", "pass"], true),
        (&["--cc"], true),
    ] {
        assert_eq!(
            read("log", options, &[], &[]).map(|question| question.shows_content()),
            Ok(shows),
            "{options:?}"
        );
    }
}
