//! The guarded way out: one dialer for all that asks other machines on a run's behalf.
//!
//! Owns what is shared by the tools that fetch and by the proxy of commands: whom the operator lets be reached, and the
//! answers that are kept for each principal.

use std::path::Path;
use std::sync::Arc;

use palyra_egress::{
    AnswerCache, CacheLimits, Dialer, Fetcher, FileNaming, FilteringProxy, MaskedFetch, PrivateHosts,
    SystemResolver, Tls, UpstreamConnector, UrlRules,
};
use palyra_ports::{CredentialHandle, FetchHttp, FillCredential, GuardEgress, SecretName};
use palyra_types::PrincipalId;
use palyra_web::{WebParts, WebTools};

use crate::config::Config;
use crate::secrets;

/// Who asks other machines. Cheap to clone.
#[derive(Clone)]
pub(crate) struct GuardedEgress {
    fetcher: Fetcher,
    guard: Arc<dyn GuardEgress>,
    cache: Arc<AnswerCache>,
    rules: UrlRules,
    credentials: Arc<dyn FillCredential>,
}

impl GuardedEgress {
    /// Opens it, unless it is switched off; nothing is resolved or read yet. `usual` is the configuration file of a daemon
    /// that is started without an option.
    pub(crate) fn open(
        config: &Config,
        usual: Option<&Path>,
        credentials: &Arc<dyn FillCredential>,
    ) -> Option<Self> {
        let hosts = PrivateHosts::read(config.egress_allow_private().iter().map(String::as_str));
        // The configuration was checked by the same reader; one that got past it opens nothing.
        let hosts = hosts.unwrap_or_default();
        let file = config.file().map(|file| std::path::absolute(file).unwrap_or_else(|_| file.to_owned()));
        let naming = if file.as_deref() == usual { FileNaming::Usual } else { FileNaming::ByOption };
        let rules = UrlRules::new(hosts.clone(), file).finding_file(naming);
        let dialer = Dialer::new(Arc::new(SystemResolver::default()), hosts);
        let lines = UpstreamConnector::new(dialer, Tls::system());
        config.egress_enabled().then(|| Self {
            fetcher: Fetcher::new(lines.clone(), Arc::clone(credentials)),
            guard: Arc::new(FilteringProxy::new(lines, Arc::clone(credentials)).masking(secrets::scanner())),
            cache: Arc::new(AnswerCache::new(CacheLimits::default())),
            rules,
            credentials: Arc::clone(credentials),
        })
    }

    /// Returns the tools that ask servers.
    pub(crate) fn tools(&self) -> WebTools {
        let way = self.clone();
        let fetcher_of = move |principal: PrincipalId| {
            Arc::new(way.cache.serving(principal, Arc::new(way.fetcher.serving(principal)))) as _
        };
        WebTools::new(WebParts {
            fetcher_of: Arc::new(fetcher_of),
            reader: Arc::new(self.rules.clone()),
            sent_as: {
                let credentials = Arc::clone(&self.credentials);
                Arc::new(move |name: &SecretName| {
                    credentials.sent_as(&CredentialHandle(name.as_str().to_owned()))
                })
            },
            redactor: secrets::scanner(),
        })
    }

    /// Returns the fetcher of components: it keeps no answers, and what a host says back of a credential is masked.
    pub(crate) fn fetcher(&self) -> Arc<dyn FetchHttp> {
        let fetcher = self.cache.passed_by(Arc::new(self.fetcher.clone()));
        Arc::new(MaskedFetch::new(Arc::new(fetcher), secrets::scanner()))
    }

    /// Returns the one door out of a program's network.
    pub(crate) fn guard(&self) -> Arc<dyn GuardEgress> {
        Arc::clone(&self.guard)
    }
}

#[cfg(test)]
mod parts_tests;

#[cfg(test)]
mod tests {
    use palyra_egress::StrictReader;
    use palyra_policy::host_of;
    use palyra_ports::{HostRule, ReadUrl};
    use proptest::prelude::*;

    /// What rules and people were shown is what is asked, in every spelling that is read at all.
    fn same_host(url: &str) -> Result<(), TestCaseError> {
        if let Ok(server) = StrictReader.read_url(url) {
            prop_assert_eq!(host_of(url), server.host.trim_matches(['[', ']']), "{:?}", url);
        }
        Ok(())
    }

    #[test]
    fn the_spellings_of_an_attacker_are_one_host_or_none() {
        let hosts = [
            "good.example",
            "GOOD.example",
            "good.example.",
            "good.example:443",
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:7f00:1]",
            "127.0.0.1",
            "127.1",
            "good.example@evil.example",
            "good.example:80@evil.example",
            "good.example\\@evil.example",
            "good.example#@evil.example",
            "good.example?@evil.example",
            "good.example/@evil.example",
            "good.example%00.evil.example",
            "good.example\u{3002}evil.example",
            "good.example\t.evil.example",
            "x://evil.example",
        ];
        let mut read = 0;
        for scheme in ["http://", "https://", "HTTP://", "http:", "http:/", "//", "", "http:///"] {
            for host in hosts {
                for rest in ["", "/", "/a://evil.example", "?b=://evil.example", "#c"] {
                    let url = format!("{scheme}{host}{rest}");
                    same_host(&url).unwrap();
                    read += usize::from(StrictReader.read_url(&url).is_ok());
                }
            }
        }
        assert!(read > 50, "only {read} were read, which shows little");
    }

    proptest! {
        #[test]
        fn no_text_is_one_host_to_the_rules_and_another_to_the_dialer(
            url in r"(https?|HTTP)?:?/{0,3}[a-zA-Z0-9.:@\[\]%_\\/?# \u{3002}\u{ad}*-]{0,24}(://)?[a-z.:@/]{0,8}",
        ) {
            same_host(&url)?;
        }

        #[test]
        fn plain_addresses_are_read_by_both(host in "[a-z][a-z0-9-]{0,8}(\\.[a-z]{2,5}){1,2}", port in 1_u16.., path in "[a-z?#/]{0,6}") {
            let url = format!("http://{host}:{port}/{path}");
            if let Ok(server) = StrictReader.read_url(&url) {
                prop_assert_eq!(&server.host, &host);
            }
            same_host(&url)?;
        }

        #[test]
        fn a_rule_for_hosts_is_the_same_to_the_rules(rule in r"(\*\.)?[a-zA-Z0-9.\[\]:_-]{1,16}(:[0-9]{1,5})?") {
            if let Ok(read) = rule.parse::<HostRule>() {
                let star = if rule.starts_with("*.") { "*." } else { "" };
                prop_assert_eq!(host_of(&rule), format!("{star}{}", read.host.trim_matches(['[', ']'])));
            }
        }
    }
}
