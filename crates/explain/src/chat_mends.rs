//! Mends in the words of the place where they are read: a chat, or an address that `--connect` names.
//!
//! Owns what a chat has in the place of the commands of a shell.

use palyra_screen_text::shell_word;

/// Parts of mends, and what a chat has for the same.
const IN_CHAT: [(&str, &str); 7] = [
    (" in this shell, then the same command again", " after /quit, then `palyra chat` again"),
    ("then the same command again there", "then /quit and `palyra chat` there"),
    ("then the same command again", "then type it again"),
    ("those that `palyra model list` shows", "those that /model lists"),
    (" (`palyra model list --ask` lists them)", ""),
    ("with --model", "with /model"),
    ("start a new session", "begin a fresh context with /reset"),
];
/// The end of a command that goes on in the session of a run; in a chat the next line does.
const GOES_ON: &str = " --new TEXT` goes on in a new run of its session";

/// Returns a mend with the commands of a chat in the place of those of the command line.
#[must_use]
pub fn mend_in_chat(mend: &str) -> String {
    let mend = match mend.split_once(GOES_ON) {
        Some((_, rest)) => format!("what you say next goes on from there{rest}"),
        None => mend.to_owned(),
    };
    let mend = IN_CHAT.iter().fold(mend, |mend, (of_shell, of_chat)| mend.replace(of_shell, of_chat));
    in_another_terminal(&mend)
}

/// Says of the first command of a shell in a mend that a chat does not take it.
fn in_another_terminal(mend: &str) -> String {
    const COMMAND: &str = "`palyra ";
    let says_where = ["terminal", "in a shell", "/quit"].iter().any(|place| mend.contains(place));
    match mend.find(COMMAND).filter(|_| !says_where) {
        Some(at) => format!("{}in another terminal, {}", &mend[..at], &mend[at..]),
        None => mend.to_owned(),
    }
}

/// Says what an address needs that `--connect` names. Another server there, such as the daemon's own for browsers, breaks
/// the connection in another way than no server.
#[must_use]
pub fn mend_of_address(endpoint: &str, cause: &str) -> String {
    let what = match cause.contains("refused") {
        true => format!("nothing answers at {endpoint}"),
        false => format!(
            "what answers at {endpoint} is not the listener for --connect; the http:// address that `palyra status` shows is for \
             browsers and HTTP clients"
        ),
    };
    format!(
        "{what}: set `listen.tcp` in the daemon's configuration, then `palyra admin stop` there; its next start listens"
    )
}

/// Says in a chat where servers of models are added.
pub const MODEL_ADDED_ELSEWHERE: &str = "`palyra model add` in another terminal adds a server of models";

/// Returns what is to be typed where a chat was given `/model add`, with what followed: the chat only chooses among the models
/// that there are.
#[must_use]
pub fn model_to_add(typed: &str) -> Option<String> {
    let words: Vec<String> = typed.split_whitespace().map(shell_word).collect();
    words.first().filter(|word| *word == "add")?;
    Some(format!(
        "a chat adds no server of models; type `palyra model {}` in another terminal, then /model lists its models here",
        words.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_a_chat_is_to_add_leads_to_the_command_in_another_terminal() {
        for (typed, command) in [
            ("add", "`palyra model add`"),
            ("add http://127.0.0.1:8711/v1", "`palyra model add http://127.0.0.1:8711/v1`"),
            ("add 'x; y", "`palyra model add ''\\''x;' y`"),
        ] {
            let mend = model_to_add(typed).unwrap();
            assert!(mend.contains(&format!("type {command} in another terminal")), "{mend}");
        }
        for typed in ["", "adder", "demo/demo", "mine add"] {
            assert_eq!(model_to_add(typed), None, "{typed}");
        }
    }

    #[test]
    fn a_mend_names_what_a_chat_takes_or_the_place_to_type_it() {
        for (mend, wanted) in [
            ("`palyra runs list` shows the runs", "in another terminal, `palyra runs list` shows the runs"),
            ("type `palyra admin stop` in another terminal", "type `palyra admin stop` in another terminal"),
            (
                "`export K=…` in this shell, then the same command again",
                "`export K=…` after /quit, then `palyra chat` again",
            ),
            (
                "`palyra runs answer 3B7Q --new TEXT` goes on in a new run of its session; or wait",
                "what you say next goes on from there; or wait",
            ),
            ("choose another with --model", "choose another with /model"),
        ] {
            assert_eq!(mend_in_chat(mend), wanted);
        }
    }

    #[test]
    fn an_address_of_another_server_is_not_one_without_a_server() {
        let said = |cause| mend_of_address("http://127.0.0.1:7787", cause);
        assert!(said("Connection refused (os error 111)").starts_with("nothing answers at"));
        let other = said("stream closed because of a broken pipe");
        assert!(
            other.contains("not the listener for --connect") && other.contains("`listen.tcp`"),
            "{other}"
        );
    }
}
