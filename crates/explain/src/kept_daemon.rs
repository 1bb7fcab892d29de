//! What to do about a daemon that uses another model and stays.

/// The beginning of the name of a model of the server that the environment names.
pub const ENVIRONMENT_PROVIDER: &str = "openai/";
/// What a daemon says that stays for its runs.
const OPEN_RUN: &str = " open run";

/// Returns whether a name of the daemon's model means that model here too. A name of the server that a variable names may
/// mean another one in each environment, where this environment names a server as well.
#[must_use]
pub fn is_same_model(in_force: &str, own: &str) -> bool {
    !(in_force.starts_with(ENVIRONMENT_PROVIDER) && own.starts_with(ENVIRONMENT_PROVIDER))
}

/// A daemon with another model than this environment selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptModel<'a> {
    /// Its model.
    pub in_force: &'a str,
    /// The model that this environment selects.
    pub own: &'a str,
    /// Why it stays.
    pub why: &'a str,
    /// Seconds after which it makes room; 0 where that depends on more than time.
    pub wait_seconds: u32,
}

impl KeptModel<'_> {
    /// Returns whether it stays for runs: each has its model from this daemon, perhaps from no other one, so it is not stopped.
    fn has_open_runs(&self) -> bool {
        self.wait_seconds == 0 && self.why.contains(OPEN_RUN)
    }

    /// Returns what to do.
    #[must_use]
    pub fn mend(&self) -> String {
        let Self { in_force, own, wait_seconds, .. } = self;
        let begin = match wait_seconds {
            _ if self.has_open_runs() => {
                "`palyra runs list --open` lists what is open: answer it (`palyra approve`) or cancel it (`palyra runs cancel ID`), \
                 then the same command"
                    .to_owned()
            }
            0 => "`palyra admin stop`, then the same command".to_owned(),
            seconds => format!(
                "the same command replaces it in {seconds} s; after `palyra admin stop` it does not wait"
            ),
        };
        match is_same_model(in_force, own) {
            true => format!(
                "{begin}; or name the daemon's model: `--model {in_force}`, to test it `palyra model test {in_force}`"
            ),
            false => begin,
        }
    }

    /// Returns what to do in a chat.
    #[must_use]
    pub fn mend_in_chat(&self) -> String {
        let Self { in_force, own, wait_seconds, .. } = self;
        let stop = "`palyra admin stop` in another terminal, then try again";
        let begin = match wait_seconds {
            _ if self.has_open_runs() => {
                "type `palyra approve` or `palyra runs cancel ID` in another terminal, which answers or cancels what is open, then \
                 try again"
                    .to_owned()
            }
            0 => format!("type {stop}"),
            seconds => format!("try again in {seconds} s; or, not to wait, type {stop}"),
        };
        match is_same_model(in_force, own) {
            true => format!("`/model {in_force}` asks the daemon's model; or {begin}"),
            false => begin,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept<'a>(in_force: &'a str, why: &'a str, wait_seconds: u32) -> KeptModel<'a> {
        KeptModel { in_force, own: "openai/b", why, wait_seconds }
    }

    #[test]
    fn an_open_run_is_answered_or_cancelled_before_its_daemon_is_stopped() {
        for why in ["it has 1 open run", "it has 3 open runs"] {
            for mend in [kept("openai/a", why, 0).mend(), kept("openai/a", why, 0).mend_in_chat()] {
                assert!(
                    mend.contains("`palyra approve`") && mend.contains("`palyra runs cancel ID`"),
                    "{mend}"
                );
                assert!(!mend.contains("admin stop") && !mend.contains("openai/a"), "{mend}");
            }
            let named = kept("demo/demo", why, 0).mend();
            assert!(named.contains("or name the daemon's model: `--model demo/demo`"), "{named}");
        }
        let job = kept("openai/a", "it has 1 job running", 0).mend();
        assert_eq!(job, "`palyra admin stop`, then the same command");
        let recent = kept("openai/a", "another one was replaced less than a minute ago", 42);
        assert_eq!(
            recent.mend(),
            "the same command replaces it in 42 s; after `palyra admin stop` it does not wait"
        );
        assert!(recent.mend_in_chat().starts_with("try again in 42 s; or"), "{}", recent.mend_in_chat());
    }
}
