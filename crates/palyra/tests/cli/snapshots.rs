//! What the main verbs print, with what changes from run to run masked.
//!
//! After a wanted change: `INSTA_UPDATE=always cargo nextest run -p palyra --test cli`, then read the diff.

use crate::home::Home;

/// A journal that is the same each time.
fn home() -> Home {
    let home = Home::new();
    home.write("README.md", "# Lantern\n\nA box that keeps the wind in.\n\n## Use\n\nHold it up.\n");
    home.write("notes.txt", "one\ntwo\n");
    home
}

/// Masks ids, digests, times, sizes of time, paths and process numbers.
fn masked(home: &Home, text: &str) -> String {
    let folder = home.work().parent().unwrap().canonicalize().unwrap();
    let text = text.replace(folder.to_str().unwrap(), "[FOLDER]");
    let text = mask_grants(&text);
    mask_short_ids(&text).lines().map(|line| unaligned(&mask_line(line)) + "\n").collect()
}

const BEFORE_IDS: [&str; 6] = [
    "(grant ",
    "`palyra approve revoke ",
    "`palyra approve yes ",
    "` or `no ",
    "Then `palyra runs undo ",
    "its id is ",
];

/// Masks the ends of the ids of grants, approvals and runs where a note names them.
fn mask_grants(text: &str) -> String {
    let is_id =
        |word: &str| word.len() == 6 && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    let line = |line: &str| match line.split_once("  ") {
        Some((id, calls)) if is_id(id) && calls.ends_with(')') => format!("[ID]  {calls}\n"),
        _ => format!("{line}\n"),
    };
    let text: String = text.lines().map(line).collect();
    BEFORE_IDS.iter().fold(text, |text, begin| {
        let mut parts = text.split(begin);
        let head = parts.next().unwrap_or_default().to_owned();
        parts.fold(head, |masked, part| match part.split_at_checked(6) {
            Some((id, rest)) if is_id(id) && !rest.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
                format!("{masked}{begin}[ID]{rest}")
            }
            _ => format!("{masked}{begin}{part}"),
        })
    })
}

/// Masks the cells of tables that hold the end of an id.
fn mask_short_ids(text: &str) -> String {
    const HEADS: [&str; 5] = ["RUN", "SESSION", "APPROVAL", "GRANT", "AGENT"];
    let cells = |line: &str| -> Vec<String> {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
    };
    let at =
        text.lines().next().and_then(|head| cells(head).iter().position(|cell| HEADS.contains(&&**cell)));
    let Some(at) = at else { return text.to_owned() };
    let row = |(number, line): (usize, &str)| match cells(line).get(at) {
        Some(id) if number > 0 => line.replacen(id.as_str(), "[ID]", 1) + "\n",
        _ => format!("{line}\n"),
    };
    text.lines().enumerate().map(row).collect()
}

/// How far columns stand apart depends on what was masked.
fn unaligned(line: &str) -> String {
    if !line.contains("[ID]") && !line.contains("RUNS") && !line.contains("TURNS") && !line.contains("AGENT")
    {
        return line.to_owned();
    }
    line.split("  ").filter(|cell| !cell.is_empty()).map(str::trim).collect::<Vec<_>>().join("  ")
}

fn mask_line(line: &str) -> String {
    // How many tokens there were, and how long it took.
    if let Some((before, _)) = line.split_once(" tokens in") {
        return mask_line(before.trim_end_matches(|c: char| c.is_ascii_digit())) + "N tokens in [...]";
    }
    // An estimate counts the date, whose words have more tokens on some days.
    if let Some((before, _)) = line.split_once(" tokens by estimate") {
        let before = mask_line(before.trim_end_matches(|c: char| c.is_ascii_digit()));
        return before + "N tokens by estimate ([...])";
    }
    let line = &mask_clock(line);
    let mut masked = String::new();
    let mut word = String::new();
    for c in line.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        masked += mask_word(&word).as_deref().unwrap_or(&word);
        word.clear();
        masked.push(c);
    }
    masked.pop();
    mask_days(&masked)
}

/// Masks month and day behind a masked year.
fn mask_days(line: &str) -> String {
    const YEAR: &str = "[YEAR]-";
    let mut parts = line.split(YEAR);
    let head = parts.next().unwrap_or_default().to_owned();
    parts.fold(head, |masked, part| {
        let is_day = part.len() > 4
            && part
                .bytes()
                .zip("00-00".bytes())
                .all(|(c, like)| c == like || c.is_ascii_digit() && like == b'0');
        if is_day { format!("{masked}{YEAR}[DAY]{}", &part[5..]) } else { format!("{masked}{YEAR}{part}") }
    })
}

/// Masks the first time of day.
fn mask_clock(line: &str) -> String {
    let is_clock = |part: &str| {
        part.bytes()
            .zip("00:00:00".bytes())
            .all(|(c, like)| if like == b':' { c == like } else { c.is_ascii_digit() })
    };
    let at = (0..line.len()).find(|at| line.get(*at..*at + 8).is_some_and(is_clock));
    at.map_or_else(|| line.to_owned(), |at| format!("{}[CLOCK]{}", &line[..at], &line[at + 8..]))
}

pub(crate) fn mask_word(word: &str) -> Option<String> {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let is_id = word.len() == 26 && word.starts_with("01") && !word.chars().any(|c| c.is_ascii_lowercase());
    let is_digest = word.len() >= 16 && word.chars().all(|c| c.is_ascii_hexdigit()) && digits > 0;
    let is_year = word.len() == 4 && word.starts_with("20") && digits == 4;
    let is_age = digits > 0 && digits + 1 == word.len() && word.ends_with(['s', 'm', 'h']);
    match () {
        () if is_id => Some("[ID]".to_owned()),
        () if is_digest => Some("[HEX]".to_owned()),
        () if is_year => Some("[YEAR]".to_owned()),
        () if is_age => Some("[AGE]".to_owned()),
        () => None,
    }
}

#[track_caller]
fn check(name: &str, home: &Home, arguments: &[&str], hide: &[&str]) {
    let ended = home.palyra(arguments);
    let text = format!(
        "$ palyra {}\n{}[stderr]\n{}[exit {}]\n",
        arguments.join(" "),
        masked(home, &ended.out),
        masked(home, &ended.err),
        ended.code
    );
    let text: String = text
        .lines()
        .map(|line| match hide.iter().find(|hide| line.trim_start().starts_with(**hide)) {
            Some(hide) => format!("{hide} [...]\n"),
            None => format!("{line}\n"),
        })
        .collect();
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn help_reads_well() {
    let home = home();
    for (name, arguments) in [
        ("help", &["help"][..]),
        ("help-run", &["help", "run"]),
        ("help-chat", &["help", "chat"]),
        ("help-runs", &["help", "runs"]),
        ("help-approve", &["help", "approve"]),
        ("help-approve-always", &["help", "approve", "always"]),
        ("help-policy", &["help", "policy"]),
        ("help-sessions", &["help", "sessions"]),
        ("help-journal-erase", &["help", "journal", "erase"]),
        ("help-journal-scrub", &["help", "journal", "scrub"]),
        ("help-exit-codes", &["help", "exit-codes"]),
        ("help-environment", &["help", "environment"]),
        ("help-topics", &["help", "topics"]),
        ("help-options", &["help", "options"]),
        ("explain-code", &["explain", "ply-1103"]),
        ("explain-no-code", &["explain", "PLY-1130"]),
        ("help-nothing", &["help", "nothing"]),
    ] {
        check(name, &home, arguments, &[]);
    }
}

#[test]
fn a_first_hour_reads_well() {
    let home = home();
    check("run", &home, &["run", "Read README.md and tell me what it says"], &["· the daemon is ready"]);
    check("run-list", &home, &["run", "--session", "notes", "list the files here"], &[]);
    check("runs-list", &home, &["runs", "list"], &[]);
    check("runs-show", &home, &["runs", "show", "last"], &["created", "updated", "used", "entries"]);
    check("runs-tail", &home, &["runs", "tail", "last"], &[]);
    check("runs-cancel", &home, &["runs", "cancel", "last"], &[]);
    check("sessions-list", &home, &["sessions", "list"], &[]);
    let hide = ["created", "updated", "latest", "· `palyra runs list"];
    check("sessions-show", &home, &["sessions", "show", "notes"], &hide);
    check("sessions-reset", &home, &["sessions", "reset", "notes"], &[]);
    check("model-list", &home, &["model", "list"], &[]);
    check("journal-verify", &home, &["journal", "verify"], &["ok:", "signatures"]);
    check("journal-rebuild", &home, &["journal", "rebuild"], &["rebuilt from"]);
    check("journal-erase-unasked", &home, &["journal", "erase", "--run", "last"], &[]);
    check(
        "journal-erase",
        &home,
        &["journal", "erase", "--run", "last", "--yes"],
        &["erased the content of"],
    );
    check("journal-erase-again", &home, &["journal", "erase", "--run", "last", "--yes"], &[]);
    check("journal-scrub", &home, &["journal", "scrub"], &[]);
    check("admin-agents", &home, &["admin", "agents"], &[]);
    check("run-not-found", &home, &["runs", "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV"], &[]);
    check("admin-stop", &home, &["admin", "stop"], &[]);
    check("admin-stop-again", &home, &["admin", "stop"], &[]);
    check("no-start", &home, &["--no-start", "run", "hello"], &[]);
}

#[test]
fn a_change_that_is_asked_for_reads_well() {
    let home = home();
    check("approve-none", &home, &["approve"], &["· the daemon is ready"]);
    check("run-asks", &home, &["run", "create todo.txt with buy milk"], &[]);
    check("approve-list", &home, &["approve", "list"], &[]);
    check("approve-show", &home, &["approve", "show", "last"], &["asked"]);
    check("approve-always", &home, &["approve", "always", "last", "--uses", "3"], &[]);
    home.palyra(&["runs", "tail", "last"]).expect(0);
    check("approve-grants", &home, &["approve", "grants"], &[]);
    check("runs-effects", &home, &["runs", "effects"], &[]);
    check("policy-explain", &home, &["policy", "explain", "last", "1"], &[]);
    check("policy-diff", &home, &["policy", "diff"], &[]);
    home.write("todo.txt", "buy bread\n");
    check("runs-undo", &home, &["runs", "undo", "last"], &[]);
    check("run-asks-not", &home, &["run", "--approve", "never", "create more.txt with nothing"], &[]);
}
