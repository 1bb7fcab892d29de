//! The settings of notifications, and what they lack together.

use palyra_delivery::TargetAddresses;
use palyra_egress::PrivateHosts;
use palyra_notify::QuietHours;
use palyra_ports::{DeliverySettings, DeliveryTarget, QuietTimes};
use palyra_types::delivery::DeliveryTargetKind;

use super::check::ConfigLayer;
use super::diagnostic::{ConfigError, ErrorCollector};
use super::http;
use super::value::{ConfigValue, ValueOrigin};

/// Returns the targets, when they are used, and where the console is.
pub(super) fn settings(values: &ConfigLayer, machine_zone: &str) -> DeliverySettings {
    let TargetAddresses { command, webhook_url, desktop } = addresses(values);
    let kinds = [
        (DeliveryTargetKind::Command, !command.is_empty()),
        (DeliveryTargetKind::Webhook, !webhook_url.is_empty()),
        (DeliveryTargetKind::Desktop, desktop),
    ];
    let target = |kind: DeliveryTargetKind| DeliveryTarget { kind, name: kind.as_str().to_owned() };
    DeliverySettings {
        targets: kinds.into_iter().filter(|(_, is_set)| *is_set).map(|(kind, _)| target(kind)).collect(),
        quiet: quiet_times(values, machine_zone),
        console_origin: http::settings(values)
            .map(|settings| settings.origin().to_string())
            .unwrap_or_default(),
    }
}

/// Returns where notifications go.
pub(super) fn addresses(values: &ConfigLayer) -> TargetAddresses {
    let command = match values.get("notify.command") {
        Some((ConfigValue::List(items), _)) => items.clone(),
        _ => Vec::new(),
    };
    TargetAddresses {
        command,
        webhook_url: text(values, "notify.webhook_url").to_owned(),
        desktop: matches!(values.get("notify.desktop"), Some((ConfigValue::Bool(true), _))),
    }
}

fn quiet_times(values: &ConfigLayer, machine_zone: &str) -> Option<QuietTimes> {
    let from = text(values, "notify.quiet_from");
    let until = text(values, "notify.quiet_until");
    let zone = Some(text(values, "notify.time_zone")).filter(|zone| !zone.is_empty()).unwrap_or(machine_zone);
    let times = || QuietTimes { from: from.to_owned(), until: until.to_owned(), zone: zone.to_owned() };
    (!from.is_empty() && !until.is_empty()).then(times)
}

/// Notes what the settings lack together.
pub(super) fn check_all(values: &ConfigLayer, mistakes: &mut ErrorCollector) {
    let is_set = |key: &str| !text(values, key).is_empty();
    for (given, other) in [
        ("notify.quiet_from", "notify.quiet_until"),
        ("notify.quiet_until", "notify.quiet_from"),
        ("notify.webhook_url", "notify.webhook_secret"),
    ] {
        if is_set(given) && !is_set(other) {
            note(values, given, format!("needs {other} beside it"), mistakes);
        }
    }
    if let Some(QuietTimes { from, until, zone }) = quiet_times(values, "")
        && let Err(invalid) = QuietHours::parse(&from, &until, &zone)
    {
        note(values, "notify.quiet_from", format!("cannot be used: {invalid}"), mistakes);
    }
    let url = text(values, "notify.webhook_url");
    if !url.is_empty() && !url.starts_with("https://") && !is_private_server(values, url) {
        let what = "takes a URL with https://, or with http:// of a host in egress.allow_private";
        note(values, "notify.webhook_url", what.to_owned(), mistakes);
    }
    let program = addresses(values).command.into_iter().next();
    if program.is_some_and(|program| !program.starts_with('/')) {
        let what = "takes the absolute path of a program as its first item";
        note(values, "notify.command", what.to_owned(), mistakes);
    }
}

/// Returns whether a URL is of a host that the operator lets be reached without TLS.
fn is_private_server(values: &ConfigLayer, url: &str) -> bool {
    let Some((ConfigValue::List(allowed), _)) = values.get("egress.allow_private") else { return false };
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    allowed
        .iter()
        .any(|place| PrivateHosts::read([place.as_str()]).is_ok() && place.eq_ignore_ascii_case(host))
}

fn note(values: &ConfigLayer, key: &str, what: String, mistakes: &mut ErrorCollector) {
    let origin = values.get(key).map_or(ValueOrigin::Default, |(_, origin)| origin.clone());
    mistakes.note::<()>(Err(ConfigError::Unusable { origin, key: key.to_owned(), what }));
}

fn text<'a>(values: &'a ConfigLayer, key: &str) -> &'a str {
    match values.get(key) {
        Some((ConfigValue::Text(text), _)) => text,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::config::{self, Config};

    fn loaded(file: &str) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("palyra.toml");
        std::fs::write(&path, file).unwrap();
        config::load(Some(&path), &BTreeMap::new(), &[]).map_err(|errors| errors.to_string())
    }

    #[test]
    fn each_target_that_is_set_is_one() {
        let none = loaded("").unwrap().notify("Europe/Prague");
        assert_eq!((none.targets.len(), none.quiet), (0, None));
        let file = r#"
            [notify]
            command = ["/bin/sh", "-c", "-c"]
            desktop = true
            webhook_url = "https://hooks.example/palyra"
            webhook_secret = "vault:hook"
            quiet_from = "22:00"
            quiet_until = "07:00"
        "#;
        let config = loaded(file).unwrap();
        let settings = config.notify("Europe/Prague");
        let kinds: Vec<&str> = settings.targets.iter().map(|target| target.kind.as_str()).collect();
        assert_eq!(kinds, ["command", "webhook", "desktop"]);
        assert_eq!(settings.quiet.unwrap().zone, "Europe/Prague");
        assert_eq!(settings.console_origin, "http://localhost:7787");
        assert_eq!(config.notify_addresses().command, ["/bin/sh", "-c", "-c"]);
        let own = loaded(&format!("{file}\ntime_zone = \"Asia/Tokyo\"")).unwrap().notify("Europe/Prague");
        assert_eq!(own.quiet.unwrap().zone, "Asia/Tokyo");
    }

    #[test]
    fn settings_that_do_not_fit_together_are_refused() {
        let cases = [
            ("quiet_from = \"22:00\"", "needs notify.quiet_until beside it"),
            ("quiet_from = \"22\"\nquiet_until = \"07:00\"", "is not a time of a day"),
            ("quiet_from = \"22:00\"\nquiet_until = \"22:00\"", "choose two different times"),
            ("quiet_from = \"22:00\"\nquiet_until = \"07:00\"\ntime_zone = \"Mars\"", "is not a time zone"),
            ("webhook_url = \"https://a.example\"", "needs notify.webhook_secret beside it"),
            ("webhook_url = \"http://a.example\"\nwebhook_secret = \"env:A\"", "takes a URL with https://"),
            ("webhook_url = \"https://a.example\"\nwebhook_secret = \"hunter2\"", "takes a reference"),
            ("command = [\"notify\"]", "takes the absolute path of a program"),
        ];
        for (file, expected) in cases {
            let errors = loaded(&format!("[notify]\n{file}")).unwrap_err();
            assert!(errors.contains(expected), "{file}: {errors}");
        }
        let private = "[egress]\nallow_private = [\"nas.lan:8080\"]\n[notify]\nwebhook_url = \"http://nas.lan:8080/x\"\n\
                       webhook_secret = \"env:A\"";
        assert!(loaded(private).is_ok());
        assert!(loaded(&private.replace("http://nas.lan:8080", "http://nas.lan:8081")).is_err());
    }
}
