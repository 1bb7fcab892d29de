//! Mends in the words of the place where they are read: a chat, or an address that `--connect` names.
//!
//! Owns what a chat has in the place of the commands of a shell.

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

#[cfg(test)]
mod tests {
    use super::*;

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
