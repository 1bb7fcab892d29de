//! Command lines that do not exist, and the ones that do what was looked for.
//!
//! Owns the tables and compares with them what was typed. Knows no parser: words come in, lines to type go out.

use palyra_screen_text::shell_word;
use palyra_types::id_name::IdName;

/// Command lines that people type, each by its first words and the options among the others; `*` is the next word,
/// `@` one that looks like an id; `.` is the end, where other lines have more words. Then what to type instead, with the
/// first such word, and what it does. A line of one row can begin with a line of a later row, and not the other way round.
pub const TYPED_COMMANDS: &[(&[&str], &str, &str)] = &[
    (
        &["sessions search *", "sessions find *", "search *"],
        "palyra sessions list --search *",
        "searches the sessions",
    ),
    (
        &["sessions resume *", "sessions open *", "sessions switch *", "resume *"],
        "palyra chat --session *",
        "goes on with a session",
    ),
    (
        &["sessions delete *", "sessions remove *", "sessions erase *", "sessions rm *"],
        "palyra journal erase --session *",
        "erases the content of a session",
    ),
    (&["sessions new"], "palyra sessions reset last", "begins a fresh context in the newest session"),
    (
        &["chat --continue", "chat --resume", "chat --last", "resume", "continue", "--continue", "--resume"],
        "palyra chat --session last",
        "goes on with the newest conversation of this folder",
    ),
    (
        &["run --continue *", "run --resume *"],
        "palyra run --session last *",
        "asks in the newest conversation of this folder",
    ),
    (
        &["sessions undo *"],
        "palyra runs list --session *",
        "lists the runs of that session; `palyra runs undo RUN` takes one of them back",
    ),
    (
        &["rename @", "title @", "sessions name @"],
        "palyra sessions rename @ TITLE",
        "gives that conversation a title",
    ),
    (
        &["rename", "title", "sessions title", "sessions name"],
        "palyra sessions rename last TITLE",
        "gives the newest conversation of this folder a title",
    ),
    (
        &["branch .", "fork .", "runs branch .", "runs fork ."],
        "palyra sessions branch last",
        "branches the conversation of the last run",
    ),
    (
        &["runs branch *", "runs fork *", "branch *", "fork *"],
        "palyra sessions branch *",
        "branches the conversation of a run, RUN or RUN@ENTRY",
    ),
    (
        &["chat --branch"],
        "palyra chat",
        "goes on with the conversation of this folder; /branch there lists where it can branch off",
    ),
    (&["chat *"], "palyra chat --session *", "goes on with a session; `palyra run TEXT` asks once"),
    (&["sessions @"], "palyra sessions show @", "shows that session"),
    (&["undo @"], "palyra runs undo @", "takes back what that run changed in files"),
    (
        &["undo", "revert", "rollback", "restore"],
        "palyra runs undo last",
        "takes back what the last run changed in files",
    ),
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
    (
        &["runs bookmarks remove *", "runs bookmarks delete *", "bookmarks remove *"],
        "palyra runs bookmarks --remove *",
        "removes that bookmark",
    ),
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
        &["policy deny *", "policy forbid *", "policy protect *"],
        "palyra explain docs/policy.md#folders",
        "shows the rule that keeps a folder from being changed; rules are files",
    ),
    (
        &[
            "policy remove *",
            "policy delete *",
            "policy rm *",
            "policy add",
            "policy edit",
            "policy new",
            "policy create",
            "policy set",
            "policy deny",
            "policy allow",
        ],
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
        &["runs delete @", "runs erase @", "runs remove @", "runs rm @", "erase @", "delete @"],
        "palyra journal erase @",
        "erases the content of that run",
    ),
    (
        &["erase .", "delete ."],
        "palyra journal erase last",
        "erases the content of the last run, after a question",
    ),
    (
        &["sessions export *"],
        "palyra runs list --session *",
        "lists the runs of that session; `palyra journal export RUN FOLDER` writes one of them with its proof",
    ),
    (&["admin log", "admin logs"], "palyra logs", "shows the log of the daemon"),
    (&["sessions ls", "session ."], "palyra sessions list", "lists the sessions"),
    (
        &["runs approve @", "runs deny @"],
        "palyra approve list --run @",
        "lists what that run asks; `palyra approve yes ID` or `palyra approve no ID` answers it",
    ),
    (
        &["approve yes @ @"],
        "palyra approve yes @",
        "lets that call run; each of the others takes a command of its own, and `palyra approve` asks about each",
    ),
    (
        &["approve no * -m"],
        "palyra approve no * --note TEXT",
        "denies that call, and the model reads the text",
    ),
    (&["approve yes * --code"], "palyra approve yes *", CODE_IS_ASKED),
    (
        &["approve yes * -m"],
        "palyra approve yes * --note TEXT",
        "lets that call run, with the text on record",
    ),
    (&["approve --list", "approve ls"], "palyra approve list", "lists what waits for an answer"),
    (
        &["yes", "allow", "approve allow .", "runs approve ."],
        "palyra approve yes last",
        "lets the only call that waits run",
    ),
    (
        &["no", "deny", "approve deny .", "approve reject .", "runs deny ."],
        "palyra approve no last",
        "denies the only call that waits",
    ),
    (&["approve deny *", "approve reject *"], "palyra approve no *", "denies that call"),
    (&["approve @ no", "approve @ deny", "approve @ n"], "palyra approve no @", "denies that call"),
    (&["approve allow *", "approve @", "approve @ yes"], "palyra approve yes *", "lets that call run"),
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
    (
        &["models", "model show", "model ls"],
        "palyra model list",
        "lists the models, and which one is the default",
    ),
    (&["set model *", "model set *"], "palyra model use *", "makes it the default model"),
    (&["login", "auth"], "palyra model add", "adds a model with its key"),
    (&["recall *"], "palyra memory search *", "searches what is remembered for you"),
    (
        &["remember *", "memory set *", "memory write *", "memory save *"],
        "palyra memory add *",
        "remembers it for you",
    ),
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
    (
        &["admin vault put * *", "admin vault add * *", "vault put * *", "secret put * *", "secrets put * *"],
        "palyra admin vault put *",
        "asks for the value: it is not typed on the command line, where the history of the shell would keep it",
    ),
    (
        &[
            "vault put *",
            "vault add *",
            "vault set *",
            "secret put *",
            "secret add *",
            "secret set *",
            "secrets put *",
            "secrets add *",
            "secrets set *",
            "admin vault add *",
            "admin vault set *",
        ],
        "palyra admin vault put *",
        "saves a secret of that name, and asks for its value",
    ),
    (
        &[
            "vault put",
            "vault add",
            "vault set",
            "secret put",
            "secret add",
            "secret set",
            "secrets put",
            "secrets add",
        ],
        "palyra admin vault put NAME",
        "saves a secret, and asks for its value",
    ),
    (
        &["vault rotate *", "secret rotate *", "secrets rotate *"],
        "palyra admin vault rotate *",
        "replaces the value of that secret, and asks for it",
    ),
    (
        &[
            "vault remove *",
            "vault rm *",
            "vault delete *",
            "secret remove *",
            "secret rm *",
            "secret delete *",
            "secrets remove *",
            "secrets rm *",
            "secrets delete *",
            "admin vault rm *",
            "admin vault delete *",
        ],
        "palyra admin vault remove *",
        "deletes that secret",
    ),
    (
        &["vault bind *", "secret bind *", "secrets bind *"],
        "palyra admin vault bind * HOST",
        "lets that secret be sent to one more host",
    ),
    (
        &["vault unbind *", "secret unbind *", "secrets unbind *"],
        "palyra admin vault unbind * HOST",
        "stops that secret from being sent to a host",
    ),
    (
        &["admin vault get", "admin vault show", "vault get", "vault show", "secret get", "secrets get"],
        "palyra admin vault list",
        "lists the secrets by name; no command shows a value",
    ),
    (&["vault unlock"], "palyra admin vault unlock", "opens the vault with its passphrase"),
    (&["vault", "secrets", "secret"], "palyra admin vault list", "lists the secrets by name"),
    (
        &["usage @"],
        "palyra runs show @",
        "shows that run with what it used; `palyra usage` sums up what models used",
    ),
    (&["budget delete *", "budget rm *"], "palyra budget remove *", "removes that budget"),
    (&["memory remove *", "memory delete *", "memory rm *"], "palyra memory forget *", "forgets that item"),
    (
        &["admin schedules delete *", "admin schedules rm *"],
        "palyra admin schedules remove *",
        "removes that schedule",
    ),
    (&["admin schedules run *"], "palyra admin schedules run-now *", "starts it now"),
    (&["admin agents add *"], "palyra admin agents create *", "makes an agent"),
    (
        &[
            "completions",
            "completion",
            "completion bash",
            "completions bash",
            "admin completion",
            "admin completion bash",
        ],
        "palyra admin completions bash",
        "writes completions for a shell",
    ),
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
        &["policy posture * disabled", "tools disable *"],
        "palyra policy posture set * disabled",
        "denies each call of that tool",
    ),
    (&["policy posture * ask"], "palyra policy posture set * ask", "asks about each call of that tool"),
    (
        &["policy posture * always_allow"],
        "palyra policy posture set * always_allow",
        "runs calls of that tool without asking",
    ),
    (
        &["policy posture *", "tools enable *"],
        "palyra policy posture list",
        "lists the settings of tools; `palyra policy posture clear TOOL` takes one back",
    ),
    (
        &["policy reload", "policy apply", "reload"],
        "palyra config reload",
        "has the daemon read its configuration and the rules again",
    ),
    (
        &["why @", "runs explain @", "runs why @"],
        "palyra policy explain @",
        "shows why the last call of that run was decided as it was",
    ),
    (&["why"], "palyra policy explain last", "shows why the last call was decided as it was"),
    (&["today"], "palyra runs list", "lists the runs, newest first; `palyra status` shows what waits"),
    (
        &["rules", "policy rules", "policy list", "policy ls"],
        "palyra policy show",
        "shows the rules in force",
    ),
];

/// How a call of a high risk is approved, for which a code was typed on the command line.
const CODE_IS_ASKED: &str = "lets that call run: where its risk is high, it asks for the code at a terminal, and takes none without one";

/// Letters of the code of a call.
const CODE_LETTERS: usize = 4;

/// Whole command lines that lack something, as in [`TYPED_COMMANDS`].
const INCOMPLETE_COMMANDS: [(&str, &str, &str); 15] = [
    (
        "journal export",
        "palyra journal export last proof",
        "writes the last run with its proof into the folder `proof`",
    ),
    ("backup create", "palyra backup create backup", "makes a backup, the folder `backup`"),
    ("approve show", "palyra approve show last", "shows the only call that waits"),
    ("approve yes", "palyra approve yes last", "lets the only call that waits run"),
    ("approve no", "palyra approve no last", "denies the only call that waits"),
    ("journal erase", "palyra journal erase last", "erases the content of the last run, after a question"),
    (
        "policy posture set",
        "palyra policy posture set write_file ask",
        "asks about each call of that tool; the others are `always_allow` and `disabled`",
    ),
    ("sessions branch", "palyra sessions branch last", "branches the conversation of the last run"),
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

/// Returns what is known of a command line: what to type, and what that does.
#[must_use]
pub fn known_command(typed: &[String]) -> Option<(String, &'static str)> {
    with_code(typed).or_else(|| denied_without_id(typed)).or_else(|| command_of_table(typed))
}

/// Returns how a call is approved behind whose id its code was typed: the end of the id.
fn with_code(typed: &[String]) -> Option<(String, &'static str)> {
    let ["approve", verb @ ("yes" | "always"), call, code] = plain_words(typed)[..] else { return None };
    let is_end = call.len() > code.len() && call.to_ascii_uppercase().ends_with(&code.to_ascii_uppercase());
    let is_code_of_last = call == "last" && code != "last" && code.len() == CODE_LETTERS;
    let is_code = is_like_id(code) && code.len() >= CODE_LETTERS && (is_end || is_code_of_last);
    is_code.then(|| (format!("palyra approve {verb} {}", shell_word(call)), CODE_IS_ASKED))
}

/// Returns how a call is denied with a reason, where the reason was typed in the place of its id.
fn denied_without_id(typed: &[String]) -> Option<(String, &'static str)> {
    let [approve, no, reason @ ..] = typed else { return None };
    let is_text = reason.len() > 1
        && reason[0].parse::<IdName>().is_err()
        && reason.iter().all(|word| !word.starts_with('-'));
    (approve == "approve" && no == "no" && is_text).then(|| {
        let command = format!("palyra approve no last --note {}", shell_word(&reason.join(" ")));
        (command, "denies the only call that waits, and the model reads the text")
    })
}

/// Returns what the table has for a command line.
fn command_of_table(typed: &[String]) -> Option<(String, &'static str)> {
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
    let (options, words): (Vec<&str>, Vec<&str>) = pattern.split(' ').partition(|word| word.starts_with('-'));
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
    let mut places = words.iter().enumerate().filter(|(_, word)| ["*", "@"].contains(word)).map(|(at, _)| at);
    let at = places.next();
    // Where one word too many is looked for, the value of an option is none.
    let is_together =
        places.next().is_none() || typed.iter().zip(words).all(|(typed, _)| !typed.starts_with('-'));
    (is_match && is_whole && is_together).then(|| at.map_or("", |at| plain[at]))
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
    fn a_code_behind_an_approval_is_not_taken_for_another_approval() {
        for (typed, wanted, is_code) in [
            (&["approve", "yes", "0NRK9V", "RK9V"][..], "palyra approve yes 0NRK9V", true),
            (&["approve", "yes", "last", "RK9V"], "palyra approve yes last", true),
            (&["approve", "always", "0NRK9V", "RK9V"], "palyra approve always 0NRK9V", true),
            (&["approve", "yes", "0NRK9V", "--code", "RK9V"], "palyra approve yes 0NRK9V", true),
            (&["approve", "yes", "0NRK9V", "624Y9P"], "palyra approve yes 0NRK9V", false),
        ] {
            let typed: Vec<String> = typed.iter().map(|word| (*word).to_owned()).collect();
            let (command, effect) = known_command(&typed).expect(wanted);
            assert_eq!((command.as_str(), effect == CODE_IS_ASKED), (wanted, is_code), "{typed:?}");
        }
    }

    #[test]
    fn a_reason_in_the_place_of_an_id_denies_the_only_call_that_waits() {
        for (typed, wanted) in [
            (
                &["approve", "no", "because", "it is not", "wanted"][..],
                Some("palyra approve no last --note 'because it is not wanted'"),
            ),
            (&["approve", "no", "because", "--jsn"], None),
            (&["approve", "no", "5FAU"], None),
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
