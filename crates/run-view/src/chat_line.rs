//! What a typed line means: a command, or something to say and how that meets a run that is active.

use palyra_screen_text::{shell_word, short_id};
use palyra_terminal::WordSuggestions;
use palyra_types::reserved_names::RESERVED_TOOL_NAMES;
use palyra_types::spelling::one_slip_away;
use palyra_wire::v1::InputDelivery;

/// The commands: word, what follows it, what it does.
const COMMANDS: [(&str, &str, &str); 18] = [
    ("/help", "", "this list"),
    ("/status", "", "which session and model this is"),
    ("/model", "[NAME]", "which models there are; with a name, who answers now"),
    ("/approve", "", "ask again what was left for later with l"),
    ("/attach", "FILE...", "send files along with what is said next"),
    ("/detach", "", "send those files along no more"),
    ("/preview", "TEXT", "what @file:PATH and others in it cost; sends nothing"),
    ("/steer", "TEXT", "tell the active run something for its next step"),
    ("/interrupt", "TEXT", "cancel the active run and say this; so does !TEXT"),
    ("/cancel", "", "cancel the active run; Ctrl-C does too, and twice leaves"),
    ("/reset", "", "begin a fresh context, as /new does; nothing is deleted"),
    ("/compact", "", "sum up the older part, so that more of the window is left"),
    ("/recall", "on|off|inherit", "whether runs here begin with memory that fits"),
    ("/undo", "[RUN]", "take back the changes of files by the last run, or by RUN"),
    ("/branch", "[NUMBER]", "go on from an entry, here or RUN@NUMBER; alone, list them"),
    ("/sessions", "[NAME]", "the latest sessions; go on in one, or search for a word"),
    ("/quit", "", "leave; Ctrl-D does too, and an active run goes on"),
    ("", "", "other lines answer an open question, or go to the model after an active run"),
];

/// Command lines of `palyra` by their first words, and the command that is for the same in a chat.
const SHELL_FORMS: [(&str, &str); 13] = [
    ("runs undo", "/undo"),
    ("undo", "/undo"),
    ("approve", "/approve"),
    ("sessions branch", "/branch"),
    ("sessions reset", "/reset"),
    ("sessions compact", "/compact"),
    ("sessions recall", "/recall"),
    ("sessions list", "/sessions"),
    ("chat", "/sessions"),
    ("runs cancel", "/cancel"),
    ("runs steer", "/steer"),
    ("model", "/model"),
    ("status", "/status"),
];

/// Commands that a chat does not have, and the command line of `palyra` that is for it.
const IN_SHELL: [(&str, &str); 29] = [
    ("/memory", "palyra memory"),
    ("/budget", "palyra budget"),
    ("/erase", "palyra journal erase last"),
    ("/rename", "palyra sessions rename SESSION TITLE"),
    ("/title", "palyra sessions rename SESSION TITLE"),
    ("/name", "palyra sessions rename SESSION TITLE"),
    ("/archive", "palyra sessions archive SESSION"),
    ("/export", "palyra journal export last"),
    ("/tail", "palyra runs tail last"),
    ("/schedule", "palyra admin schedules"),
    ("/runs", "palyra runs list"),
    ("/tools", "palyra tools list"),
    ("/policy", "palyra policy show"),
    ("/doctor", "palyra doctor"),
    ("/config", "palyra config show"),
    ("/rules", "palyra policy show"),
    ("/log", "palyra runs tail last"),
    ("/usage", "palyra usage"),
    ("/cost", "palyra usage"),
    ("/remember", "palyra memory add TEXT"),
    ("/forget", "palyra memory list"),
    ("/logs", "palyra logs"),
    ("/effects", "palyra runs effects last"),
    ("/diff", "palyra runs undo last --dry-run"),
    ("/why", "palyra policy explain last"),
    ("/explain", "palyra policy explain last"),
    ("/vault", "palyra admin vault list"),
    ("/agents", "palyra admin agents"),
    ("/skills", "palyra tools skills list"),
];

/// Words of other programs for commands that a chat has under another name.
const OTHER_WORDS: [(&str, &str); 18] = [
    ("/revert", "/undo"),
    ("/rollback", "/undo"),
    ("/restore", "/undo"),
    ("/clear", "/reset"),
    ("/stop", "/cancel"),
    ("/abort", "/cancel"),
    ("/resume", "/sessions"),
    ("/continue", "/sessions"),
    ("/list", "/sessions"),
    ("/history", "/sessions"),
    ("/switch", "/sessions"),
    ("/fork", "/branch"),
    ("/file", "/attach"),
    ("/image", "/attach"),
    ("/add", "/attach"),
    ("/models", "/model"),
    ("/summarize", "/compact"),
    ("/commands", "/help"),
];

/// What a typed line means.
#[derive(Debug, PartialEq, Eq)]
pub enum ChatLine<'a> {
    /// It is blank.
    Nothing,
    /// Lists the commands.
    Help,
    /// Leaves.
    Quit,
    /// Begins a fresh context.
    Reset,
    /// Sums up the older runs.
    Compact,
    /// Shows what the references of a text become and cost.
    Preview(&'a str),
    /// Says whether runs of the session are given items of memory unasked.
    Recall(&'a str),
    /// Shows the session and the model.
    Status,
    /// Cancels the active run.
    Cancel,
    /// Asks again what waits for an answer.
    Approve,
    /// Takes back what a run changed, or the last one.
    Undo(&'a str),
    /// With the place, or nothing for a list.
    Branch(&'a str),
    /// With the model, or nothing for a list.
    Model(&'a str),
    /// With the files, separated by blanks.
    Attach(&'a str),
    /// No file goes along that was to.
    Detach,
    /// With the session or what to search for, or nothing for a list.
    Sessions(&'a str),
    /// Something to say, and how it meets a run that is active.
    Say(InputDelivery, &'a str),
    /// A command line of `palyra` itself, without its first word.
    OfShell(&'a str),
    /// A command that does not exist.
    Unknown(&'a str),
    /// A command that lacks what has to follow it.
    Incomplete(&'a str),
}

impl ChatLine<'_> {
    /// Returns whether the daemon is asked for it.
    pub fn asks_daemon(&self) -> bool {
        match self {
            Self::Nothing
            | Self::Help
            | Self::Quit
            | Self::Cancel
            | Self::Attach(_)
            | Self::Detach
            | Self::OfShell(_)
            | Self::Unknown(_)
            | Self::Incomplete(_) => false,
            Self::Reset
            | Self::Status
            | Self::Approve
            | Self::Compact
            | Self::Recall(_)
            | Self::Preview(_)
            | Self::Undo(_)
            | Self::Branch(_)
            | Self::Model(_)
            | Self::Sessions(_)
            | Self::Say(..) => true,
        }
    }
}

/// Reads a line. A blank before a command has it said as it is.
pub fn read_chat_line(line: &str) -> ChatLine<'_> {
    let said = line.trim_end();
    if said.trim_start().is_empty() {
        return ChatLine::Nothing;
    }
    if let Some(text) = said.strip_prefix('!').map(str::trim_start)
        && !text.is_empty()
    {
        return ChatLine::Say(InputDelivery::Interrupt, text);
    }
    let (word, rest) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
    // These words alone are how other prompts are left.
    if ["exit", "quit"].contains(&said) {
        return ChatLine::Quit;
    }
    if word == "palyra" && RESERVED_TOOL_NAMES.contains(&rest.split_whitespace().next().unwrap_or_default()) {
        return ChatLine::OfShell(rest.trim());
    }
    // A path is not a command.
    let is_command = word.strip_prefix('/').is_some_and(|name| !name.contains(['/', '.', '_', '-']));
    if !is_command {
        return ChatLine::Say(InputDelivery::Queue, line);
    }
    match (word, rest.trim()) {
        ("/help" | "/?", _) => ChatLine::Help,
        ("/quit" | "/exit" | "/q", _) => ChatLine::Quit,
        ("/reset" | "/new", _) => ChatLine::Reset,
        ("/compact", _) => ChatLine::Compact,
        ("/status", _) => ChatLine::Status,
        ("/cancel", _) => ChatLine::Cancel,
        ("/approve" | "/answer", _) => ChatLine::Approve,
        ("/undo", run) => ChatLine::Undo(run),
        ("/branch", place) => ChatLine::Branch(place),
        ("/model", name) => ChatLine::Model(name),
        ("/sessions", name) => ChatLine::Sessions(name),
        ("/attach" | "/steer" | "/interrupt" | "/recall" | "/preview", "") => ChatLine::Incomplete(word),
        ("/attach", files) => ChatLine::Attach(files),
        ("/detach", _) => ChatLine::Detach,
        ("/preview", text) => ChatLine::Preview(text),
        ("/recall", switch) => ChatLine::Recall(switch),
        ("/steer", text) => ChatLine::Say(InputDelivery::Steer, text),
        ("/interrupt", text) => ChatLine::Say(InputDelivery::Interrupt, text),
        _ => ChatLine::Unknown(word),
    }
}

/// Returns the command of a chat that is for what a command line of `palyra` does, and what it does.
pub fn chat_command_of(verb: &str) -> Option<(&'static str, &'static str)> {
    let begins =
        |form: &str| verb.strip_prefix(form).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let (_, wanted) = SHELL_FORMS.iter().find(|(form, _)| begins(form))?;
    COMMANDS.iter().find(|(command, ..)| command == wanted).map(|(command, _, what)| (*command, *what))
}

/// Returns the command line of `palyra` that does what a command would do which a chat does not have; `SESSION` in it is
/// for the session of the chat.
pub fn shell_command_of(typed: &str) -> Option<&'static str> {
    IN_SHELL.iter().find(|(command, _)| *command == typed).map(|(_, line)| *line)
}

/// Says of a command that it is not carried out while a run is active, and which command line of `palyra` does it now.
#[must_use]
pub fn once_over(typed: &ChatLine<'_>, active_run: &str) -> String {
    let waits = "a run is active; that goes once it is over, or after /cancel";
    let ChatLine::Branch(place) = typed else { return waits.to_owned() };
    let run = short_id(active_run);
    let place = match *place {
        "" => format!("{run}@NUMBER"),
        number if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("{run}@{number}"),
        place => shell_word(place),
    };
    format!("{waits}; in another terminal `palyra sessions branch {place}` makes the branch now")
}

/// Returns the command for one that does not exist: another word for it, or one letter away from it. A guess
/// that is farther away would do more harm than none: some commands cannot be taken back.
pub fn nearest_chat_command(typed: &str) -> Option<&'static str> {
    let other = OTHER_WORDS.iter().find(|(word, _)| *word == typed).map(|(_, command)| *command);
    let names = COMMANDS.iter().map(|(word, ..)| *word).filter(|word| !word.is_empty());
    other.or_else(|| one_slip_away(typed, names))
}

/// Returns whether a line is rather the answer to a question than an input: a letter, yes or no.
pub fn is_bare_answer(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    line.chars().count() == 1 || ["yes", "no", "ok"].contains(&line.as_str())
}

/// Says what becomes of a line that was typed while a run of the session from another terminal was not seen yet.
pub fn line_behind_others(line: &str) -> &'static str {
    match is_bare_answer(line) {
        true => "that line was not sent: it reads as an answer, and no question was on this screen",
        false => "your line is the next input, once that run is over",
    }
}

/// Returns what has to follow a command.
pub fn chat_command_rest(command: &str) -> &'static str {
    COMMANDS.iter().find(|(word, _, _)| *word == command).map_or("", |(_, rest, _)| rest)
}

/// Returns the lines of the list of commands.
pub fn chat_help() -> impl Iterator<Item = String> {
    COMMANDS
        .iter()
        .map(|(word, rest, what)| format!("{:<18} {what}", format!("{word} {rest}")).trim().to_owned())
}

/// Returns what the last word of a line may be, given the models there are.
pub fn suggest_in_chat(line: &str, models: &[String]) -> WordSuggestions {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match word {
        "/attach" if line.len() > word.len() => WordSuggestions::Files,
        "/model" if line.len() > word.len() && !rest.contains(' ') => WordSuggestions::Words(models.to_vec()),
        word if word == line && word.starts_with('/') => {
            let words = COMMANDS.iter().map(|(word, _, _)| (*word).to_owned());
            WordSuggestions::Words(words.filter(|word| !word.is_empty()).collect())
        }
        _ => WordSuggestions::Words(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_what_is_said() {
        use InputDelivery::{Interrupt, Queue, Steer};
        for (line, expect) in [
            ("  ", ChatLine::Nothing),
            ("/help", ChatLine::Help),
            ("/compact", ChatLine::Compact),
            ("/preview see @file:a", ChatLine::Preview("see @file:a")),
            ("/recall off", ChatLine::Recall("off")),
            ("/recall", ChatLine::Incomplete("/recall")),
            ("/quit ", ChatLine::Quit),
            ("exit", ChatLine::Quit),
            ("quit ", ChatLine::Quit),
            (" exit", ChatLine::Say(Queue, " exit")),
            ("exit codes?", ChatLine::Say(Queue, "exit codes?")),
            ("/reset", ChatLine::Reset),
            ("/status", ChatLine::Status),
            ("/cancel", ChatLine::Cancel),
            ("/approve", ChatLine::Approve),
            ("/undo", ChatLine::Undo("")),
            ("/undo B6RQJ9", ChatLine::Undo("B6RQJ9")),
            ("/branch", ChatLine::Branch("")),
            ("/branch 12", ChatLine::Branch("12")),
            ("/model  a/b ", ChatLine::Model("a/b")),
            ("/attach a.png b.md", ChatLine::Attach("a.png b.md")),
            ("/attach", ChatLine::Incomplete("/attach")),
            ("/detach", ChatLine::Detach),
            ("/steer be\nbrief", ChatLine::Say(Steer, "be\nbrief")),
            ("/interrupt stop", ChatLine::Say(Interrupt, "stop")),
            ("! stop", ChatLine::Say(Interrupt, "stop")),
            ("!", ChatLine::Say(Queue, "!")),
            ("/stats", ChatLine::Unknown("/stats")),
            ("/etc/passwd is what?", ChatLine::Say(Queue, "/etc/passwd is what?")),
            ("/README.md", ChatLine::Say(Queue, "/README.md")),
            ("palyra admin stop", ChatLine::OfShell("admin stop")),
            (" palyra admin stop", ChatLine::Say(Queue, " palyra admin stop")),
            ("palyra is what?", ChatLine::Say(Queue, "palyra is what?")),
            (" /quit", ChatLine::Say(Queue, " /quit")),
            ("hello /quit", ChatLine::Say(Queue, "hello /quit")),
        ] {
            assert_eq!(read_chat_line(line), expect, "{line}");
        }
    }

    #[test]
    fn an_answer_before_its_question_is_not_sent_to_a_model() {
        for line in ["y", " n ", "Yes", "ok", "f"] {
            assert!(is_bare_answer(line) && line_behind_others(line).contains("not sent"), "{line}");
        }
        for line in ["hello", "yes, and read it", "n why?"] {
            assert!(!is_bare_answer(line) && line_behind_others(line).contains("next input"), "{line}");
        }
    }

    #[test]
    fn lines_that_ask_nothing_of_a_daemon_are_known() {
        for (line, asks) in
            [("hello", true), ("/sessions", true), ("/undo", true), ("/quit", false), ("/help", false)]
        {
            assert_eq!(read_chat_line(line).asks_daemon(), asks, "{line}");
        }
    }

    #[test]
    fn a_branch_that_waits_for_an_active_run_names_the_command_line_that_does_not() {
        for (line, wanted) in [
            ("/branch", "`palyra sessions branch 69G5FA@NUMBER` makes"),
            ("/branch 6", "`palyra sessions branch 69G5FA@6` makes"),
            ("/branch 3B7Q2K@5", "`palyra sessions branch 3B7Q2K@5` makes"),
        ] {
            let said = once_over(&read_chat_line(line), "01ARZ3NDEKTSV4RRFFQ69G5FA");
            assert!(said.contains("a run is active") && said.contains(wanted), "{line}: {said}");
        }
        assert!(!once_over(&ChatLine::Undo(""), "01ARZ3NDEKTSV4RRFFQ69G5FA").contains('`'));
    }

    #[test]
    fn a_command_line_of_a_shell_has_its_command_of_the_chat() {
        let command = |verb| chat_command_of(verb).map(|(command, _)| command);
        for (verb, expect) in [
            ("runs undo B6RQJ9", Some("/undo")),
            ("runs undone", None),
            ("approve yes last", Some("/approve")),
            ("chat --session notes", Some("/sessions")),
            ("admin stop", None),
        ] {
            assert_eq!(command(verb), expect, "{verb}");
        }
        assert!(SHELL_FORMS.iter().all(|(form, _)| chat_command_of(form).is_some()));
    }

    #[test]
    fn every_listed_command_exists_and_is_suggested() {
        let WordSuggestions::Words(words) = suggest_in_chat("/", &[]) else { panic!("no words") };
        assert_eq!(words.len() + 1, COMMANDS.len());
        for word in words {
            assert!(!matches!(read_chat_line(&word), ChatLine::Unknown(_) | ChatLine::Say(..)), "{word}");
        }
        assert_eq!(suggest_in_chat("/attach no", &[]), WordSuggestions::Files);
        assert_eq!(
            suggest_in_chat("/model d", &["demo/demo".into()]),
            WordSuggestions::Words(vec!["demo/demo".into()])
        );
        assert_eq!(suggest_in_chat("say /he", &[]), WordSuggestions::Words(Vec::new()));
        assert!(chat_help().all(|line| line.chars().count() < 78));
    }

    #[test]
    fn a_command_that_does_not_exist_has_its_nearest_one() {
        assert_eq!(nearest_chat_command("/session"), Some("/sessions"));
        assert_eq!(nearest_chat_command("/xyzzy"), None);
        // A guess by spelling alone would begin a fresh context, or attach instead of the opposite.
        assert_eq!(nearest_chat_command("/test"), None);
        assert_eq!(nearest_chat_command("/rset"), Some("/reset"));
        assert_eq!(nearest_chat_command("/sess"), Some("/sessions"));
        for (other, command) in [("/revert", "/undo"), ("/stop", "/cancel"), ("/resume", "/sessions")] {
            assert_eq!(nearest_chat_command(other), Some(command));
        }
        let is_command = |wanted: &str| COMMANDS.iter().any(|(word, ..)| *word == wanted);
        assert!(OTHER_WORDS.iter().all(|(other, command)| is_command(command) && !is_command(other)));
        assert_eq!(shell_command_of("/erase"), Some("palyra journal erase last"));
        assert_eq!(shell_command_of("/rename"), Some("palyra sessions rename SESSION TITLE"));
        assert_eq!(shell_command_of("/name"), Some("palyra sessions rename SESSION TITLE"));
        assert_eq!(shell_command_of("/xyzzy"), None);
        for (command, _) in IN_SHELL {
            assert_eq!(read_chat_line(command), ChatLine::Unknown(command));
        }
    }
}
