//! What to do about the key of a model server that the server refuses, by where the key was found.

use palyra_screen_text::shell_word;

/// Begins what a daemon says of the key that a server refused.
const REFUSED_KEY: &str = "; the key is `";
/// Begins what a daemon says of a server without a key.
const NO_KEY: &str = "no key is configured for `";
/// The server that the environment selects: its key is a variable, too.
const ENVIRONMENT_SERVER: &str = "openai";

/// Returns what to do about a key that a server refused, or that is not configured, where a daemon says which.
///
/// A daemon keeps the environment that it was started in, so a variable with another value needs another daemon; a secret of
/// the vault does not.
#[must_use]
pub fn mend_of_refused_key(message: &str) -> Option<String> {
    if let Some((_, behind)) = message.split_once(NO_KEY) {
        let server = behind.split('`').next().filter(|server| *server != ENVIRONMENT_SERVER)?;
        return Some(format!(
            "write `key = \"env:NAME\"` below `[providers.{server}]` in the configuration file; in a shell where NAME is \
             exported: `palyra admin stop`, then the same command again there"
        ));
    }
    let (_, behind) = message.rsplit_once(REFUSED_KEY)?;
    let (kind, place) = behind.split('`').next()?.split_once(':')?;
    match kind {
        "env" => Some(format!(
            "the daemon keeps the {place} that it was started with: in a shell where {place} has a key that the server \
             takes, `palyra admin stop`, then the same command again there"
        )),
        "vault" => Some(format!(
            "`palyra admin vault rotate {}` gives it a key that the server takes; then the same command again",
            shell_word(place)
        )),
        "file" => Some(format!(
            "write a key that the server takes into {place}; `palyra admin stop`, then the same command again"
        )),
        _ => None,
    }
}

/// Returns what to do about a refused key of the server that the environment selects: the same command in a shell with another
/// key has an idle daemon replaced. `model` is the one that was asked.
#[must_use]
pub(crate) fn mend_of_environment_key(message: &str, model: &str) -> Option<String> {
    let (_, behind) = message.rsplit_once(REFUSED_KEY)?;
    let variable = behind.strip_prefix("env:")?.split('`').next()?;
    model.split_once('/').filter(|(server, _)| *server == ENVIRONMENT_SERVER)?;
    Some(format!(
        "`export {variable}=…` with a key that the server takes in this shell, then the same command again: an idle daemon is \
         replaced by one that has it; where the error stays the same, `palyra admin stop` first"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mend(key: &str) -> Option<String> {
        mend_of_refused_key(&format!("a/b does not answer: HTTP 401: no `good`; the key is `{key}`"))
    }

    #[test]
    fn a_refused_key_is_mended_where_it_was_found() {
        let of_env = mend("env:MY_KEY").unwrap();
        assert!(
            of_env.contains("where MY_KEY has a key") && of_env.contains("`palyra admin stop`"),
            "{of_env}"
        );
        assert!(mend("vault:my").unwrap().starts_with("`palyra admin vault rotate my`"));
        assert!(mend("file:/run/key").unwrap().contains("into /run/key"));
        assert_eq!((mend("other:a"), mend_of_refused_key("HTTP 401: wrong")), (None, None));
    }

    #[test]
    fn a_server_without_a_key_gets_one_in_its_section_and_that_of_the_environment_another_mend() {
        let none =
            |server: &str| mend_of_refused_key(&format!("401; no key is configured for `{server}`: ..."));
        assert!(none("box").unwrap().contains("below `[providers.box]`"));
        assert_eq!(none("openai"), None);
    }

    #[test]
    fn a_refused_key_of_the_environment_needs_the_same_command_in_a_shell_with_another_one() {
        let refused = "HTTP 401: no; the key is `env:OPENAI_API_KEY`";
        let of_model = |model| mend_of_environment_key(refused, model);
        let mend = of_model("openai/large").unwrap();
        let begin = "`export OPENAI_API_KEY=…` with a key that the server takes in this shell, then the same command again: ";
        assert!(mend.starts_with(begin), "{mend}");
        assert!(mend.find("idle daemon").unwrap() < mend.find("`palyra admin stop`").unwrap(), "{mend}");
        assert_eq!((of_model("box/large"), of_model("")), (None, None));
        assert_eq!(mend_of_environment_key("HTTP 401: no; the key is `vault:a`", "openai/large"), None);
    }
}
