//! What can be said of an address before a question.
//!
//! Knows no sockets and no resolver. Invariant: it refuses only what the dialer would refuse, by the dialer's own rules; a
//! name that has to be resolved is decided there.

use std::path::{Path, PathBuf};

use palyra_ports::{ReadUrl, UrlServer};

use crate::address::PolicyOverride;
use crate::dial::certain_refusal;
use crate::private_hosts::PrivateHosts;
use crate::target::{Endpoint, StrictReader, Target};

/// Reads addresses as the fetcher does, and knows which hosts the operator permits.
#[derive(Debug, Clone, Default)]
pub struct UrlRules {
    private_hosts: PrivateHosts,
    /// The file in which the operator permits more; `None` where there is none.
    config_file: Option<PathBuf>,
    /// How the file is found by the daemon that is started next.
    naming: FileNaming,
}

/// How a daemon finds its configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileNaming {
    /// It is at the usual place.
    #[default]
    Usual,
    /// A command line names it.
    ByOption,
}

impl UrlRules {
    /// Makes the rules of a dialer that has this list, which is in a file.
    #[must_use]
    pub fn new(private_hosts: PrivateHosts, config_file: Option<PathBuf>) -> Self {
        Self { private_hosts, config_file, naming: FileNaming::Usual }
    }

    /// As these, for a file that is found like this.
    #[must_use]
    pub fn finding_file(self, naming: FileNaming) -> Self {
        Self { naming, ..self }
    }

    /// Says what puts an edited file in force: a command without the option would start a daemon with the usual file.
    fn start(&self) -> String {
        match (self.naming, &self.config_file) {
            (FileNaming::ByOption, Some(file)) => {
                let file = shell_word(file);
                format!(
                    "then `palyra --config {file} admin stop`, and the next command with `--config {file}` starts the daemon \
                     with it"
                )
            }
            (FileNaming::Usual | FileNaming::ByOption, _) => {
                "then `palyra admin stop`, and the next command starts the daemon with it".to_owned()
            }
        }
    }

    /// Says what the operator has to write for an endpoint, where, and what puts it in force. The line to write is a
    /// paragraph of its own.
    fn mend(&self, endpoint: &Endpoint) -> String {
        let file = self.config_file.as_ref();
        let file = file.map_or_else(|| "the configuration".to_owned(), |file| file.display().to_string());
        format!(
            "to permit it, write the line below in {file}, below the line `[egress]` (add that one where there is \
             none), in place of an `allow_private` that is there; {}\n\nallow_private = {}",
            self.start(),
            self.private_hosts.list_with(endpoint)
        )
    }
}

/// Returns a path as a shell reads it.
fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@~+=,%".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

impl ReadUrl for UrlRules {
    fn read_url(&self, url: &str) -> Result<UrlServer, &'static str> {
        StrictReader.read_url(url)
    }

    fn certain_refusal(&self, url: &str) -> Option<String> {
        let target = Target::read(url).ok()?;
        let endpoint = target.endpoint();
        let (what, lift) = certain_refusal(&self.private_hosts, endpoint)?;
        let refused =
            format!("`{}` is {what}, and only servers of the open network are reached", endpoint.host);
        Some(match lift {
            PolicyOverride::ByOperator => format!("{refused}; {}", self.mend(endpoint)),
            PolicyOverride::Never => format!("{refused}; no setting permits it"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_names_the_file_the_lines_and_the_command_that_puts_them_in_force() {
        let told = refusal(&["build.internal:8080"], "http://127.0.0.1:8123/").unwrap();
        for part in [
            "in /etc/palyra.toml, below the line `[egress]`",
            "\n\nallow_private = [\"build.internal:8080\", \"127.0.0.1:8123\"]",
            "then `palyra admin stop`, and the next command starts",
            // Two lines of one name are a mistake.
            "in place of an `allow_private` that is there",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }

    #[test]
    fn a_file_that_an_option_names_is_named_by_the_commands_too() {
        for (file, word) in
            [("/tmp/o/palyra.toml", "/tmp/o/palyra.toml"), ("/tmp/my o.toml", "'/tmp/my o.toml'")]
        {
            let rules = UrlRules::new(PrivateHosts::default(), Some(file.into()));
            let rules = rules.finding_file(FileNaming::ByOption);
            let said = rules.certain_refusal("http://127.0.0.1:8123/").unwrap();
            assert!(said.contains(&format!("in {file}, below the line `[egress]`")), "{said}");
            assert!(
                said.contains(&format!(
                    "then `palyra --config {word} admin stop`, and the next command with"
                )),
                "{said}"
            );
            assert!(said.contains(&format!("`--config {word}` starts the daemon")), "{said}");
        }
    }

    fn refusal(allowed: &[&str], url: &str) -> Option<String> {
        let file = Some("/etc/palyra.toml".into());
        UrlRules::new(PrivateHosts::read(allowed.iter().copied()).unwrap(), file).certain_refusal(url)
    }

    #[test]
    fn what_no_setting_lets_through_is_refused_before_anybody_is_asked() {
        for (url, setting) in [
            ("http://127.0.0.1:18432/x", "\n\nallow_private = [\"127.0.0.1:18432\"]"),
            ("https://10.1.2.3/", "\n\nallow_private = [\"10.1.2.3:443\"]"),
            ("http://[::1]:8080/", "\n\nallow_private = [\"[::1]:8080\"]"),
            ("http://localhost:3000/", "\n\nallow_private = [\"localhost:3000\"]"),
            ("http://printer.local/", "\n\nallow_private = [\"printer.local:80\"]"),
            ("http://0.0.0.0/", "no setting permits it"),
            ("http://224.0.0.1/", "no setting permits it"),
        ] {
            let told = refusal(&[], url).unwrap_or_else(|| panic!("{url} is let through"));
            assert!(told.contains(setting), "{url}: {told}");
        }
    }

    #[test]
    fn what_the_dialer_may_reach_is_asked_about() {
        for url in
            ["https://example.com/", "https://93.184.216.34/", "https://build.example:8443/x", "no address"]
        {
            assert_eq!(refusal(&[], url), None, "{url}");
        }
        // The operator's list counts for the host and the port that it names.
        let allowed = ["127.0.0.1:18432", "localhost:3000"];
        assert_eq!(refusal(&allowed, "http://127.0.0.1:18432/"), None);
        assert_eq!(refusal(&allowed, "http://localhost:3000/"), None);
        assert!(refusal(&allowed, "http://127.0.0.1:18433/").is_some());
        assert!(refusal(&["0.0.0.0:80"], "http://0.0.0.0/").is_some_and(|told| told.contains("no setting")));
    }
}
