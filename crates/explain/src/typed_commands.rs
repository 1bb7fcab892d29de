//! Command lines that do not exist, and the ones that do what was looked for.
//!
//! Owns the tables and compares with them what was typed. Knows no parser: words come in, lines to type go out.

use palyra_screen_text::shell_word;
use palyra_types::id_name::IdName;

/// Command lines that people type, each by its first words and the options among the others; `*` is the next word,
/// `@` one that looks like an id; `.` is the end, where other lines have more words. Then what to type instead, with that word, and what it does. A line of one row can begin
/// with a line of a later row, and not the other way round.
pub const TYPED_COMMANDS: &[(&[&str], &str, &str)] = &[
    (
        &["sessions search *", "sessions find *", "search *"],
        "palyra sessions list --search *",
        "searches the sessions",
    ),
    (
        &["sessions resume *", "sessions open *", "resume *"],
        "palyra chat --session *",
        "goes on with a session",
    ),
    (
        &["sessions delete *", "sessions remove *"],
        "palyra journal erase --session *",
        "erases the content of a session",
    ),
    (&["sessions new"], "palyra sessions reset last", "begins a fresh context in the newest session"),
    (
        &["chat --continue", "chat --resume", "resume", "continue", "--continue", "--resume"],
        "palyra chat",
        "goes on with the conversation of this folder",
    ),
    (
        &["runs branch *", "runs fork *", "branch *", "fork *"],
        "palyra sessions branch *",
        "branches the conversation of a run, RUN or RUN@ENTRY",
    ),
    (&["chat --last"], "palyra chat --session last", "goes on with the newest session"),
    (
        &["chat --branch"],
        "palyra chat",
        "goes on with the conversation of this folder; /branch there lists where it can branch off",
    ),
    (&["chat *"], "palyra chat --session *", "goes on with a session; `palyra run TEXT` asks once"),
    (&["sessions @"], "palyra sessions show @", "shows that session"),
    (&["undo @"], "palyra runs undo @", "takes back what that run changed in files"),
    (&["undo"], "palyra runs undo last", "takes back what the last run changed in files"),
    (
        &["runs diff @", "diff @"],
        "palyra runs undo @ --dry-run",
        "shows what taking that run back would change in files",
    ),
    (
        &["runs diff", "diff"],
        "palyra runs undo last --dry-run",
        "shows what taking the last run back would change in files",
    ),
    (&["history", "ls", "list", "runs ls"], "palyra runs list", "lists the runs"),
    (&["ps", "jobs"], "palyra runs list --open", "lists the runs that are not over"),
    (&["tail @", "runs log @", "runs logs @"], "palyra runs tail @", "shows that run"),
    (&["tail ."], "palyra runs tail last", "shows the last run"),
    (&["wait @"], "palyra runs wait @", "waits until that run ends"),
    (&["wait ."], "palyra runs wait last", "waits until the last run ends"),
    (&["answer @"], "palyra runs answer @ TEXT", "answers that run"),
    (&["steer @"], "palyra runs steer @ TEXT", "gives that run words for its next step"),
    (
        &["runs retry @", "runs rerun @", "retry @", "rerun @"],
        "palyra runs answer @ --new TEXT",
        "asks again, in the session of that run",
    ),
    (
        &["runs retry", "runs rerun", "retry .", "rerun ."],
        "palyra runs answer last --new TEXT",
        "asks again, in the session of the last run",
    ),
    (&["effects @"], "palyra runs effects @", "lists what that run did"),
    (&["effects ."], "palyra runs effects", "lists what runs did"),
    (&["bookmarks"], "palyra runs bookmarks", "lists the bookmarks"),
    (&["show @", "runs @"], "palyra runs show @", "shows the state of that run"),
    (&["grants"], "palyra approve grants", "lists the stored grants"),
    (&["attach *"], "palyra run --attach * QUESTION", "attaches a file to a question"),
    (
        &["model remove *", "model rm *", "model delete *", "model remove", "model rm", "model delete"],
        "palyra explain docs/providers.md",
        "says how to remove a model: its section in the configuration file is deleted",
    ),
    (
        &["policy add", "policy edit", "policy new", "policy create", "policy set"],
        "palyra explain docs/policy.md",
        "says how to write a rule; rules are files",
    ),
    (
        &["cancel @", "kill @", "stop @", "runs stop @", "runs kill @"],
        "palyra runs cancel @",
        "stops that run",
    ),
    (&["cancel ."], "palyra runs cancel last", "stops the last run"),
    (&["runs search *", "runs find *"], "palyra runs list --search *", "searches the runs"),
    (
        &["runs delete @", "runs erase @", "runs remove @", "erase @", "delete @"],
        "palyra journal erase @",
        "erases the content of that run",
    ),
    (
        &["erase .", "delete ."],
        "palyra journal erase last",
        "erases the content of the last run, after a question",
    ),
    (&["admin log", "admin logs"], "palyra logs", "shows the log of the daemon"),
    (&["sessions ls", "session ."], "palyra sessions list", "lists the sessions"),
    (&["yes", "allow"], "palyra approve yes last", "lets the only call that waits run"),
    (&["no", "deny"], "palyra approve no last", "denies the only call that waits"),
    (&["approve deny *", "approve reject *"], "palyra approve no *", "denies that call"),
    (&["approve allow *", "approve @"], "palyra approve yes *", "lets that call run"),
    (
        &["approve yes --all", "approve --all"],
        "palyra approve",
        "asks about each call; no command approves several at once",
    ),
    (
        &["--approve later *"],
        "palyra run --approve later *",
        "asks a model; what asks waits for `palyra approve`",
    ),
    (&["--approve never *"], "palyra run --approve never *", "asks a model, and denies what would ask"),
    (
        &["--approve inbox *"],
        "palyra run --approve inbox *",
        "asks a model; what asks waits for `palyra approve`",
    ),
    (&["config get", "config list", "settings"], "palyra config show", "shows the settings"),
    (&["config init"], "palyra init", "writes a configuration file to begin with"),
    (&["models"], "palyra model list", "lists the models"),
    (&["set model *", "model set *"], "palyra model use *", "makes it the default model"),
    (&["login", "auth"], "palyra model add", "adds a model with its key"),
    (&["recall *"], "palyra memory search *", "searches what is remembered for you"),
    (&["remember *"], "palyra memory add *", "remembers it for you"),
    (
        &["forget *"],
        "palyra memory forget *",
        "forgets the item with that id; `palyra memory list` shows ids",
    ),
    (&["recall", "remember", "forget", "memories"], "palyra memory list", "lists what is remembered for you"),
    (
        &["budget top-up * --limit", "budget topup *", "budgets top-up *"],
        "palyra budget top-up * tokens=N",
        "raises a limit of that budget until its window ends",
    ),
    (&["budgets"], "palyra budget", "shows budgets with what is spent"),
    (&["ask *", "exec *", "prompt *"], "palyra run *", "asks a model"),
    (
        &["start", "admin start"],
        "palyra serve",
        "runs the daemon in the foreground; other verbs start it by themselves",
    ),
    (&["daemon"], "palyra status", "shows the daemon"),
    (&["stop .", "shutdown ."], "palyra admin stop", "stops the daemon"),
    (&["restart .", "admin restart"], "palyra admin stop", "stops the daemon; the next command starts it"),
    (&["skills"], "palyra tools skills list", "lists the skills"),
    (&["agents"], "palyra admin agents", "lists the agents"),
    (&["tokens"], "palyra admin tokens list", "lists the tokens"),
    (&["people", "users"], "palyra admin people list", "lists people and their roles"),
    (&["confirm"], "palyra admin confirm", "prints a code that confirms one change over the network"),
    (&["tasks"], "palyra admin tasks", "lists what the daemon does by itself"),
    (&["schedules", "schedule"], "palyra admin schedules", "lists the schedules"),
    (&["notify", "notifications"], "palyra admin notify", "lists the targets of notifications"),
    (&["incidents"], "palyra admin incidents", "lists what self-healing found"),
    (&["service"], "palyra admin service status", "shows the systemd user service of the daemon"),
    (&["man"], "palyra admin man", "prints the manual page"),
    (
        &["support", "bundle", "support-bundle"],
        "palyra doctor --bundle support.tar.gz",
        "checks this installation, and writes a bundle for support",
    ),
    (
        &["backups", "backup list", "backup ls"],
        "palyra explain docs/backup.md",
        "says how to make, check and restore a backup with `palyra backup`; no list of them is kept",
    ),
    (&["vault", "secrets"], "palyra admin vault list", "lists the secrets by name"),
    (&["completions"], "palyra admin completions bash", "writes completions for a shell"),
    (&["verify"], "palyra journal verify", "verifies the journal"),
    (
        &["export @", "runs export @"],
        "palyra journal export @ proof",
        "writes that run with its proof into the folder `proof`",
    ),
    (
        &["export ."],
        "palyra journal export last proof",
        "writes the last run with its proof into the folder `proof`",
    ),
    (&["log"], "palyra logs", "shows the daemon's log"),
    (&["check ."], "palyra doctor", "checks this installation"),
    (
        &["policy reload", "policy apply", "reload"],
        "palyra config reload",
        "has the daemon read its configuration and the rules again",
    ),
    (&["why @"], "palyra policy explain @", "shows why the last call of that run was decided as it was"),
    (&["why"], "palyra policy explain last", "shows why the last call was decided as it was"),
    (&["today"], "palyra runs list", "lists the runs, newest first; `palyra status` shows what waits"),
    (
        &["rules", "policy rules", "policy list", "policy ls"],
        "palyra policy show",
        "shows the rules in force",
    ),
];

/// Whole command lines that lack something, as in [`TYPED_COMMANDS`].
const INCOMPLETE_COMMANDS: [(&str, &str, &str); 7] = [
    (
        "admin completions",
        "palyra admin completions bash",
        "prints those of bash; the other shells are elvish, fish, powershell and zsh",
    ),
    (
        "runs undo",
        "palyra runs undo last --dry-run",
        "shows what taking the last run back would change in files",
    ),
    (
        "policy explain",
        "palyra policy explain last",
        "shows why the last call of the last run was decided as it was",
    ),
    ("runs show", "palyra runs show last", "shows the state of the last run"),
    ("runs tail", "palyra runs tail last", "shows the last run"),
    ("runs wait", "palyra runs wait last", "waits until the last run ends"),
    ("runs cancel", "palyra runs cancel last", "stops the last run"),
];

/// Returns what the table has for a command line: what to type, and what that does.
#[must_use]
pub fn known_command(typed: &[String]) -> Option<(String, &'static str)> {
    TYPED_COMMANDS.iter().find_map(|(patterns, command, effect)| {
        let word = patterns.iter().find_map(|pattern| matched(pattern, typed))?;
        let rest = typed.iter().position(|typed| typed == word).map(|at| plain_words(&typed[at..]).join(" "));
        let question = rest.filter(|_| takes_text(command) && command.ends_with(" *"));
        Some((filled(command, question.as_deref().unwrap_or(word)), *effect))
    })
}

/// Returns whether the words behind a command are one text.
fn takes_text(command: &str) -> bool {
    const TEXTS: [&str; 5] = [
        "palyra run ",
        "palyra memory add ",
        "palyra memory search ",
        "palyra runs list --search ",
        "palyra sessions list --search ",
    ];
    TEXTS.iter().any(|verb| command.starts_with(verb))
}

/// Returns what to type for a command line that lacks something, and what that does.
#[must_use]
pub fn completed_command(typed: &[String]) -> Option<(String, &'static str)> {
    let words = typed.iter().filter(|word| !word.starts_with('-')).count();
    let mut as_long = INCOMPLETE_COMMANDS.iter().filter(|(pattern, ..)| pattern.split(' ').count() == words);
    as_long.find_map(|(pattern, command, effect)| Some((filled(command, matched(pattern, typed)?), *effect)))
}

/// Returns the place of a branch whose entry was typed as a word of its own.
#[must_use]
pub fn branch_at_entry(typed: &[String]) -> Option<(String, &'static str)> {
    let words = plain_words(typed);
    let words = words.strip_prefix(&["sessions"]).or(words.strip_prefix(&["runs"])).unwrap_or(&words);
    let ["branch" | "fork", run, entry] = words else { return None };
    let is_place = !run.contains(['@', ':']) && entry.parse().is_ok_and(|entry: u32| entry > 0);
    is_place.then(|| {
        let place = shell_word(&format!("{run}@{entry}"));
        (format!("palyra sessions branch {place}"), "branches the conversation behind that entry of the run")
    })
}

/// Returns how to ask what was typed as a text behind `chat`, which takes none; `unknown` is its first word.
#[must_use]
pub fn text_of_chat(typed: &[String], unknown: &str) -> Option<(String, &'static str)> {
    let at = typed.iter().position(|word| word == unknown)?;
    let is_text = typed[0] == "chat" && !unknown.starts_with('-') && !is_like_id(unknown);
    is_text.then(|| {
        let question = shell_word(&plain_words(&typed[at..]).join(" "));
        let effect = "asks that once; in `palyra chat` it is typed at the prompt, and --session NAME names its session";
        (format!("palyra run {question}"), effect)
    })
}

/// Returns how to ask about a call of a tool; `typed` are the words behind its name, such as a path.
#[must_use]
pub fn explained_call(tool: &str, typed: &[&str]) -> (String, &'static str) {
    let command = format!("palyra policy explain --tool {}", shell_word(tool));
    match arguments_of(tool, typed) {
        Some(arguments) => (
            format!("{command} --arguments {}", shell_word(&arguments)),
            "says how that call would be decided; the arguments are a JSON object",
        ),
        None => (
            command,
            "says how a call of that tool would be decided; --arguments takes its arguments, a JSON object",
        ),
    }
}

/// Returns the arguments of a call, with what was typed in the place of the first one; `None` where nothing was typed, or
/// it has a character that JSON writes in another way.
fn arguments_of(tool: &str, typed: &[&str]) -> Option<String> {
    let is_plain = |word: &&str| !word.contains(|c: char| c.is_control() || ['"', '\\'].contains(&c));
    let first = typed.first().filter(|_| typed.iter().all(is_plain))?;
    Some(match tool {
        "write_file" => format!("{{\"path\":\"{first}\",\"content\":\"text\"}}"),
        "edit_file" => format!("{{\"path\":\"{first}\",\"old\":\"a\",\"new\":\"b\"}}"),
        "run_command" | "start_job" => format!("{{\"argv\":[\"{}\"]}}", typed.join("\",\"")),
        "http_fetch" => format!("{{\"url\":\"{first}\"}}"),
        "http_send" => format!("{{\"url\":\"{first}\",\"method\":\"POST\"}}"),
        "search" | "glob" => format!("{{\"pattern\":\"{first}\"}}"),
        "git" => format!("{{\"subcommand\":\"{first}\"}}"),
        "read_file" | "list_dir" => format!("{{\"path\":\"{first}\"}}"),
        _ => return None,
    })
}

/// Returns the words that are not options.
#[must_use]
pub fn plain_words(typed: &[String]) -> Vec<&str> {
    typed.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect()
}

/// Returns whether a word is written as tables show ids.
#[must_use]
pub fn is_like_id(word: &str) -> bool {
    word.parse::<IdName>().is_ok()
        && (word.starts_with("last") || !word.contains(|c: char| c.is_ascii_lowercase()))
}

/// Returns a command of the table with the word that was typed.
fn filled(command: &str, word: &str) -> String {
    command.replace(['*', '@'], &shell_word(word))
}

/// Returns the word that `*` or `@` is, or an empty one, where a pattern fits.
fn matched<'t>(pattern: &str, typed: &'t [String]) -> Option<&'t str> {
    let (options, words): (Vec<&str>, Vec<&str>) =
        pattern.split(' ').partition(|word| word.starts_with("--"));
    let plain = plain_words(typed);
    let ends = words.last() == Some(&".");
    let words = if ends { &words[..words.len() - 1] } else { &words[..] };
    let fits = |(at, word): (usize, &&str)| {
        plain.get(at).is_some_and(|typed| match *word {
            "*" => true,
            "@" => is_like_id(typed),
            word => *typed == word,
        })
    };
    let has_options = options.iter().all(|option| typed.iter().any(|typed| typed == option));
    let is_match = words.iter().enumerate().all(fits) && has_options;
    // A pattern of options alone is for a command line without a verb.
    let is_whole = (!words.is_empty() && !ends) || plain.len() == words.len();
    let at = words.iter().position(|word| ["*", "@"].contains(word));
    (is_match && is_whole).then(|| at.map_or("", |at| plain[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_of_memory_and_budgets_are_named() {
        for (typed, wanted) in [
            (&["recall", "my", "tests"][..], "palyra memory search 'my tests'"),
            (&["remember", "I like tea"], "palyra memory add 'I like tea'"),
            (&["forget", "7XQ2"], "palyra memory forget 7XQ2"),
            (&["budgets"], "palyra budget"),
            (&["budget", "top-up", "day", "--limit", "tokens=5"], "palyra budget top-up day tokens=N"),
        ] {
            let typed: Vec<String> = typed.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(known_command(&typed).expect("known").0, wanted);
        }
    }

    #[test]
    fn more_words_are_kept_and_never_lead_to_something_wider() {
        for (typed, wanted) in [
            (&["stop", "3B7Q2K"][..], Some("palyra runs cancel 3B7Q2K")),
            (&["stop"], Some("palyra admin stop")),
            (&["stop", "the", "tests"], None),
            (&["delete", "notes.txt"], None),
            (&["delete"], Some("palyra journal erase last")),
            (&["tail", "3B7Q2K"], Some("palyra runs tail 3B7Q2K")),
            (&["approve", "3B7Q2K"], Some("palyra approve yes 3B7Q2K")),
            (&["steer", "last", "be brief"], Some("palyra runs steer last TEXT")),
            (&["search", "two", "words"], Some("palyra sessions list --search 'two words'")),
            (&["runs", "find", "two", "words"], Some("palyra runs list --search 'two words'")),
        ] {
            let typed: Vec<String> = typed.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(known_command(&typed).map(|(command, _)| command).as_deref(), wanted, "{typed:?}");
        }
    }

    #[test]
    fn words_behind_a_tool_become_its_first_argument() {
        for (tool, typed, wanted) in [
            ("write_file", &["src/a"][..], r#"--arguments '{"path":"src/a","content":"text"}'"#),
            ("read_file", &["src/a"], r#"--arguments '{"path":"src/a"}'"#),
            ("run_command", &["make", "test"], r#"--arguments '{"argv":["make","test"]}'"#),
            ("http_fetch", &["https://h/a"], r#"--arguments '{"url":"https://h/a"}'"#),
        ] {
            let (command, _) = explained_call(tool, typed);
            assert_eq!(command, format!("palyra policy explain --tool {tool} {wanted}"));
        }
        for (tool, typed) in [("write_file", &[][..]), ("write_file", &["a\"b"]), ("word_count", &["a"])] {
            assert_eq!(explained_call(tool, typed).0, format!("palyra policy explain --tool {tool}"));
        }
    }
}
