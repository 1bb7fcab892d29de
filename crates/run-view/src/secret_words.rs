//! Secrets of the vault in words: what was saved, a row of the list, and the vault itself.

use palyra_screen_text::count;
use palyra_wire::v1;

use crate::times::date;

/// Says what was saved of a secret, to which hosts it is sent, and who may use it.
#[must_use]
pub fn saved_secret_note(secret: &v1::Secret) -> String {
    let hosts = match secret.hosts.as_slice() {
        [] => format!("no host yet (`palyra admin vault bind {} HOST`)", secret.name),
        hosts => hosts.join(", "),
    };
    let users = match secret.principals.as_slice() {
        [] => String::new(),
        principals => format!("; usable by {} as well", principals.join(", ")),
    };
    let v1::Secret { name, version, sent_as, .. } = secret;
    format!("saved secret {name} (version {version}), sent as {sent_as} to {hosts}{users}")
}

/// Returns a secret's name, version, form, day of its last change, principals and hosts.
#[must_use]
pub fn secret_row(secret: v1::Secret) -> [String; 6] {
    let hosts = secret.hosts.join(" ");
    let users: Vec<String> = std::iter::once("owner".to_owned()).chain(secret.principals).collect();
    [secret.name, secret.version.to_string(), secret.sent_as, date(secret.changed), users.join(" "), hosts]
}

/// Returns how many secrets a vault has and what encrypts it.
#[must_use]
pub fn vault_line(vault: &v1::Vault) -> String {
    let key = match vault.key() {
        v1::VaultKeySource::KeyFile => "a key file in the state directory (vault/root.key, no passphrase)",
        v1::VaultKeySource::Passphrase | v1::VaultKeySource::Unspecified => "a passphrase",
    };
    let secrets = if vault.secrets == 0 { "empty".to_owned() } else { count(vault.secrets.into(), "secret") };
    format!("vault: {secrets}, encrypted with {key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_without_a_host_names_the_command_that_binds_it() {
        let secret = v1::Secret {
            name: "forge".to_owned(),
            version: 2,
            sent_as: "bearer".to_owned(),
            ..Default::default()
        };
        let note = "saved secret forge (version 2), sent as bearer to no host yet (`palyra admin vault bind forge HOST`)";
        assert_eq!(saved_secret_note(&secret), note);
        let bound = v1::Secret {
            hosts: vec!["a.example".to_owned()],
            principals: vec!["user:alice".to_owned()],
            ..secret
        };
        let note =
            "saved secret forge (version 2), sent as bearer to a.example; usable by user:alice as well";
        assert_eq!(saved_secret_note(&bound), note);
        assert_eq!(secret_row(bound)[4], "owner user:alice");
    }
}
