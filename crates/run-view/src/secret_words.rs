//! Secrets of the vault in words: what was saved, a row of the list, and the vault itself.

use palyra_screen_text::count;
use palyra_wire::v1;

use crate::times::date;

/// The setting that names the default model.
const DEFAULT_MODEL: &str = "model.default";

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

/// Says which settings in force still name a secret that was removed, and what to do about it; `None` where none does.
#[must_use]
pub fn still_named_secret(name: &str, settings: &[v1::ConfigValue]) -> Option<String> {
    let default =
        settings.iter().find(|setting| setting.key == DEFAULT_MODEL).and_then(text_of).unwrap_or_default();
    let reference = format!("vault:{name}");
    let naming = settings.iter().filter(|setting| text_of(setting).is_some_and(|text| text == reference));
    let uses = naming.map(|setting| {
        let server = setting.key.strip_prefix("providers.").and_then(|rest| rest.strip_suffix(".key"));
        match server {
            Some(server) if default.split('/').next() == Some(server) => {
                format!("the key of the server `{server}` of the default model {default}")
            }
            Some(server) => format!("the key of the server `{server}`"),
            None => format!("the value of `{}`", setting.key),
        }
    });
    let uses: Vec<String> = uses.collect();
    (!uses.is_empty()).then(|| {
        format!(
            "it was {}, which has none now: `palyra admin vault put {name} --host HOST` saves one again, or another reference goes into \
             the configuration file",
            uses.join(", and ")
        )
    })
}

/// Returns the text of a setting: that of a short value is the same in TOML and in JSON.
fn text_of(setting: &v1::ConfigValue) -> Option<String> {
    serde_json::from_str(&setting.value).ok()
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

    #[test]
    fn what_still_names_a_removed_secret_is_named_with_the_way_out() {
        let setting = |(key, value): (&str, &str)| v1::ConfigValue {
            key: key.to_owned(),
            value: value.to_owned(),
            ..Default::default()
        };
        let settings = [
            ("model.default", "\"box/large\""),
            ("providers.box.key", "\"vault:box\""),
            ("providers.spare.key", "\"vault:spare\""),
            ("notify.webhook_secret", "\"vault:hook\""),
            ("limits.turns_max", "7"),
        ]
        .map(setting);
        for (name, wanted) in [
            ("box", "it was the key of the server `box` of the default model box/large, which has none now"),
            (
                "spare",
                "it was the key of the server `spare`, which has none now: `palyra admin vault put spare --host HOST`",
            ),
            ("hook", "it was the value of `notify.webhook_secret`"),
        ] {
            let note = still_named_secret(name, &settings).unwrap();
            assert!(note.starts_with(wanted), "{note}");
        }
        assert_eq!(still_named_secret("other", &settings), None);
    }
}
