//! What to do about a daemon that does not start, where the mend of the code does not fit the cause.

use crate::ErrorCode;

/// Begins the message about a mistake in a variable, and the one about an option of the command line.
const OF_VARIABLE: &str = "environment variable";
const OF_FLAG: &str = "flag: ";

/// Returns what to do about a daemon that does not start; `None` where the code says it.
#[must_use]
pub fn mend_of_start(code: ErrorCode, message: &str) -> Option<String> {
    if message.contains("which cannot be bound") {
        let place = match (message.starts_with(OF_FLAG), message.contains("`http.listen`")) {
            (true, _) => "port with --listen",
            (false, true) => "port in `http.listen`",
            (false, false) => "port in `listen.tcp`",
        };
        return Some(format!(
            "another program listens there (`ss -ltnp` names it): stop it, or choose another {place}"
        ));
    }
    let is_about_key = message.contains("no key for provider");
    let mend = if code == ErrorCode::ConfigUnreadable && message.ends_with("it does not exist") {
        "check the path: --config names the file that a daemon reads"
    } else if is_about_key && message.contains("the key file") {
        "put the key into that file, or correct `key` in the section of the server"
    } else if is_about_key {
        "set it in this environment, which the daemon inherits; or `palyra model use demo`, which needs none, and then \
         `palyra explain vault` says how to keep it there"
    } else if code != ErrorCode::ConfigInvalid {
        return None;
    } else if message.starts_with(OF_VARIABLE) {
        "correct or unset the variable; `palyra config check` lists every mistake"
    } else if message.starts_with(OF_FLAG) {
        "correct the option --listen"
    } else {
        "correct what the message names; `palyra config check` lists every mistake"
    };
    Some(mend.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mend_is_about_the_place_of_the_mistake() {
        let of = |message: &str| mend_of_start(ErrorCode::ConfigInvalid, message).expect("a mend");
        let busy = "`listen.tcp` is 127.0.0.1:1, which cannot be bound: Address already in use";
        assert!(of(busy).ends_with("in `listen.tcp`") && of(busy).contains("ss -ltnp"));
        assert!(of(&format!("flag: {busy}")).ends_with("with --listen"));
        assert!(of(&busy.replace("listen.tcp", "http.listen")).ends_with("in `http.listen`"));
        assert!(of("flag: `listen.tcp` takes an address and a port").contains("--listen"));
        assert!(of("environment variable PALYRA__A__B: no").contains("unset the variable"));
        assert!(
            of("/a/palyra.toml:1:1: no key for provider `a`: `K` is not set")
                .contains("`palyra model use demo`")
        );
        let no_file = of("/a/palyra.toml:1:1: no key for provider `a`: the key file `/k` cannot be read");
        assert!(no_file.starts_with("put the key into that file"), "{no_file}");
        assert!(of("/a/palyra.toml:1:1: no").starts_with("correct what the message names"));
        let gone = mend_of_start(ErrorCode::ConfigUnreadable, "/a: it does not exist").expect("a mend");
        assert!(gone.contains("--config"), "{gone}");
        assert_eq!(mend_of_start(ErrorCode::ConfigUnreadable, "/a: Permission denied"), None);
        assert_eq!(mend_of_start(ErrorCode::StateDirLocked, "another daemon"), None);
    }
}
