//! What a typed line means: a command, or something to say and how that meets a run that is active.

use palyra_wire::v1::InputDelivery;

use palyra_terminal::Suggestions;

/// The commands: word, what follows it, what it does.
const COMMANDS: [(&str, &str, &str); 12] = [
    ("/help", "", "this list"),
    ("/status", "", "which session and model this is"),
    ("/model", "[NAME]", "which models there are; with a name, who answers now"),
    ("/attach", "FILE...", "send files along with what is said next"),
    ("/steer", "TEXT", "tell the active run something for its next step"),
    ("/interrupt", "TEXT", "cancel the active run and say this; so does !TEXT"),
    ("/cancel", "", "cancel the active run; Ctrl-C does too, and twice leaves"),
    ("/reset", "", "begin a fresh context; nothing is deleted"),
    ("/branch", "[SEQ|here]", "go on in a new session from an entry; alone, list entries"),
    ("/sessions", "[NAME]", "the latest sessions; go on in one, or search for a word"),
    ("/quit", "", "leave; Ctrl-D does too, and an active run goes on"),
    ("", "", "anything else is said; while a run is active it waits"),
];

/// What a typed line means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Nothing,
    Help,
    Quit,
    Reset,
    Status,
    Cancel,
    /// With the place, or nothing for a list.
    Branch(&'a str),
    /// With the model, or nothing for a list.
    Model(&'a str),
    /// With the files, separated by blanks.
    Attach(&'a str),
    /// With the session or what to search for, or nothing for a list.
    Sessions(&'a str),
    Say(InputDelivery, &'a str),
    /// A command that does not exist.
    Unknown(&'a str),
    /// A command that lacks what has to follow it.
    Incomplete(&'a str),
}

/// Reads a line. A blank before a command has it said as it is.
pub(super) fn read(line: &str) -> Line<'_> {
    let said = line.trim_end();
    if said.trim_start().is_empty() {
        return Line::Nothing;
    }
    if let Some(text) = said.strip_prefix('!').map(str::trim_start)
        && !text.is_empty()
    {
        return Line::Say(InputDelivery::Interrupt, text);
    }
    let (word, rest) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
    // A path is not a command.
    let is_command = word.strip_prefix('/').is_some_and(|name| !name.contains(['/', '.', '_', '-']));
    if !is_command {
        return Line::Say(InputDelivery::Queue, line);
    }
    match (word, rest.trim()) {
        ("/help" | "/?", _) => Line::Help,
        ("/quit" | "/exit" | "/q", _) => Line::Quit,
        ("/reset" | "/new", _) => Line::Reset,
        ("/status", _) => Line::Status,
        ("/cancel", _) => Line::Cancel,
        ("/branch", place) => Line::Branch(place),
        ("/model", name) => Line::Model(name),
        ("/sessions", name) => Line::Sessions(name),
        ("/attach" | "/steer" | "/interrupt", "") => Line::Incomplete(word),
        ("/attach", files) => Line::Attach(files),
        ("/steer", text) => Line::Say(InputDelivery::Steer, text),
        ("/interrupt", text) => Line::Say(InputDelivery::Interrupt, text),
        _ => Line::Unknown(word),
    }
}

/// Returns what has to follow a command.
pub(super) fn what_follows(command: &str) -> &'static str {
    COMMANDS.iter().find(|(word, _, _)| *word == command).map_or("", |(_, rest, _)| rest)
}

/// Returns the lines of the list of commands.
pub(super) fn help() -> impl Iterator<Item = String> {
    COMMANDS
        .iter()
        .map(|(word, rest, what)| format!("{:<18} {what}", format!("{word} {rest}")).trim().to_owned())
}

/// Returns what the last word of a line may be, given the models there are.
pub(super) fn suggest(line: &str, models: &[String]) -> Suggestions {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match word {
        "/attach" if line.len() > word.len() => Suggestions::Files,
        "/model" if line.len() > word.len() && !rest.contains(' ') => Suggestions::Words(models.to_vec()),
        word if word == line && word.starts_with('/') => {
            let words = COMMANDS.iter().map(|(word, _, _)| (*word).to_owned());
            Suggestions::Words(words.filter(|word| !word.is_empty()).collect())
        }
        _ => Suggestions::Words(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_what_is_said() {
        use InputDelivery::{Interrupt, Queue, Steer};
        for (line, expect) in [
            ("  ", Line::Nothing),
            ("/help", Line::Help),
            ("/quit ", Line::Quit),
            ("/reset", Line::Reset),
            ("/status", Line::Status),
            ("/cancel", Line::Cancel),
            ("/branch", Line::Branch("")),
            ("/branch 12", Line::Branch("12")),
            ("/model  a/b ", Line::Model("a/b")),
            ("/attach a.png b.md", Line::Attach("a.png b.md")),
            ("/attach", Line::Incomplete("/attach")),
            ("/steer be\nbrief", Line::Say(Steer, "be\nbrief")),
            ("/interrupt stop", Line::Say(Interrupt, "stop")),
            ("! stop", Line::Say(Interrupt, "stop")),
            ("!", Line::Say(Queue, "!")),
            ("/stats", Line::Unknown("/stats")),
            ("/etc/passwd is what?", Line::Say(Queue, "/etc/passwd is what?")),
            ("/README.md", Line::Say(Queue, "/README.md")),
            (" /quit", Line::Say(Queue, " /quit")),
            ("hello /quit", Line::Say(Queue, "hello /quit")),
        ] {
            assert_eq!(read(line), expect, "{line}");
        }
    }

    #[test]
    fn every_listed_command_exists_and_is_suggested() {
        let Suggestions::Words(words) = suggest("/", &[]) else { panic!("no words") };
        assert_eq!(words.len() + 1, COMMANDS.len());
        for word in words {
            assert!(!matches!(read(&word), Line::Unknown(_) | Line::Say(..)), "{word}");
        }
        assert_eq!(suggest("/attach no", &[]), Suggestions::Files);
        assert_eq!(suggest("/model d", &["demo/demo".into()]), Suggestions::Words(vec!["demo/demo".into()]));
        assert_eq!(suggest("say /he", &[]), Suggestions::Words(Vec::new()));
        assert!(help().all(|line| line.chars().count() < 78));
    }
}
