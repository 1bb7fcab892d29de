//! What to do after a refusal of the daemon, where the mend of its code does not fit.

use palyra_types::ErrorCode;

/// What to do where the vault's key file is missing, which is read at the start.
const KEY_FILE: &str = "`palyra admin stop`, then put the key file back as `vault/root.key` of the state directory; if it is lost, move \
                        the folder `vault` away instead and store the secrets again";

/// Returns what to do about a vault that is locked for want of its key file, for which there is no passphrase.
#[must_use]
pub fn mend_of_locked_vault(message: &str) -> Option<&'static str> {
    let is_key_file = ["the vault is locked: the key file", "the vault is locked: it has no passphrase"];
    is_key_file.iter().any(|locked| message.contains(locked)).then_some(KEY_FILE)
}

/// Returns what helps after a refusal; `None` where the code says it.
#[must_use]
pub fn mend_of_refusal(code: ErrorCode, message: &str) -> Option<&'static str> {
    if code == ErrorCode::RouteNotFound && message.contains("serves no HTTP") {
        return Some(
            "set `http.listen` in palyra.toml, for example to \"127.0.0.1:7700\", then `palyra admin stop` and the same command again",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vault_without_its_key_file_is_not_opened_by_a_passphrase() {
        for why in ["the key file `root.key` is not there", "it has no passphrase"] {
            let mend = mend_of_locked_vault(&format!("the vault is locked: {why}")).unwrap();
            assert!(mend.contains("`vault/root.key`") && !mend.contains("unlock"), "{mend}");
        }
        assert_eq!(mend_of_locked_vault("the vault is locked: its passphrase was not given yet"), None);
    }

    #[test]
    fn a_console_without_http_leads_to_the_setting() {
        let message = "the daemon serves no HTTP, so there is no console: set `http.listen` and restart it";
        assert!(
            mend_of_refusal(ErrorCode::RouteNotFound, message).is_some_and(|m| m.contains("`http.listen`"))
        );
        assert_eq!(mend_of_refusal(ErrorCode::RouteNotFound, "there is nothing at `/x`"), None);
    }
}
