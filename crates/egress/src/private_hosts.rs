//! The hosts of this machine and its surroundings that the operator lets be reached.
//!
//! Owns the list `egress.allow_private`. Invariant: an entry means one host as it is written, at one port, and lifts
//! the refusal of private addresses for that only.

use crate::target::{Endpoint, TargetRefusal};

/// The operator's list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrivateHosts(Vec<Endpoint>);

impl PrivateHosts {
    /// Reads entries of the form `host:port`.
    ///
    /// # Errors
    /// The first entry that is none, and why.
    pub fn read<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, (&'a str, TargetRefusal)> {
        let read = |entry: &'a str| Endpoint::read(entry).map_err(|refusal| (entry, refusal));
        entries.into_iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the list with one endpoint more, as it is written in the configuration.
    pub(crate) fn list_with(&self, endpoint: &Endpoint) -> String {
        let entries: Vec<String> =
            self.0.iter().chain([endpoint]).map(|entry| format!("\"{entry}\"")).collect();
        format!("[{}]", entries.join(", "))
    }

    /// Returns whether an endpoint is on the list.
    #[must_use]
    pub fn lift(&self, endpoint: &Endpoint) -> bool {
        self.0.contains(endpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_means_one_host_at_one_port() {
        let hosts = PrivateHosts::read(["Build.Internal:8080", "10.0.0.1:80"]).unwrap();
        let lifts = |text: &str| hosts.lift(&Endpoint::read(text).unwrap());
        assert!(lifts("build.internal:8080") && lifts("10.0.0.1:80"));
        for other in ["build.internal:80", "a.build.internal:8080", "10.0.0.2:80", "[::ffff:10.0.0.1]:80"] {
            assert!(!lifts(other), "{other}");
        }
    }

    #[test]
    fn an_entry_without_a_port_or_with_a_pattern_is_none() {
        for entry in ["localhost", "*.internal:80", "10.0.0.0/8:80", "127.1:80", ""] {
            assert_eq!(PrivateHosts::read([entry]).unwrap_err().0, entry);
        }
    }
}
