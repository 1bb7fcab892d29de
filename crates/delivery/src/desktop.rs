//! The desktop of the user who runs the daemon, by `notify-send`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use palyra_notify::desktop_text;
use palyra_ports::DeliverError;

use crate::program::ProgramRun;

/// Where `notify-send` is looked for: not in folders that a user may write.
const PROGRAMS: [&str; 2] = ["/usr/bin/notify-send", "/usr/local/bin/notify-send"];

/// Variables that say where the desktop is.
const VARIABLES: [&str; 5] =
    ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XAUTHORITY"];

/// Returns the program that shows a message.
pub(crate) fn program(
    body: &str,
    environment: &BTreeMap<String, String>,
    time_max: Duration,
) -> Result<ProgramRun, DeliverError> {
    let refused = |why: &str| DeliverError::Refused { why: why.to_owned() };
    let program = PROGRAMS.into_iter().find(|program| Path::new(program).exists());
    let program = program.ok_or_else(|| {
        refused("`notify-send` is not installed; install libnotify's tools, or set `notify.desktop = false`")
    })?;
    let arguments =
        arguments(program, body).ok_or_else(|| refused("the desktop cannot show a message of this form"))?;
    let variables = VARIABLES
        .iter()
        .filter_map(|name| environment.get(*name).map(|value| ((*name).to_owned(), value.clone())));
    Ok(ProgramRun::new(arguments, variables.collect(), time_max))
}

fn arguments(program: &str, body: &str) -> Option<Vec<String>> {
    let shown = desktop_text(body)?;
    // After `--` no text is read as an option.
    let words = [program, "--app-name=Palyra", "--", &shown.title, &shown.text];
    Some(words.map(str::to_owned).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_message_is_an_option() {
        let body = r#"{"type":"attention.item","timestamp":"2026-01-09T20:00:00Z","data":{"kind":"question","agent":"--hint=int:x:1","id":"A1"}}"#;
        let arguments = arguments("notify-send", body).unwrap();
        assert_eq!(
            arguments,
            [
                "notify-send",
                "--app-name=Palyra",
                "--",
                "A run asked a question",
                "Agent: --hint=int:x:1\nId: A1"
            ]
        );
        assert_eq!(super::arguments("notify-send", "no JSON"), None);
    }
}
