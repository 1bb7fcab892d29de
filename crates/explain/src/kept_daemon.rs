//! What to do about a daemon that uses another model and stays.

/// The beginning of the name of a model of the server that the environment names.
pub const ENVIRONMENT_PROVIDER: &str = "openai/";

/// Returns whether a name of the daemon's model means that model here too. A name of the server that a variable names may
/// mean another one in each environment, where this environment names a server as well.
#[must_use]
pub fn is_same_model(in_force: &str, own: &str) -> bool {
    !(in_force.starts_with(ENVIRONMENT_PROVIDER) && own.starts_with(ENVIRONMENT_PROVIDER))
}

/// Says what becomes of the runs that were open when their daemon was stopped; `None` where none was.
#[must_use]
pub fn runs_of_stopped(open_runs: u64) -> Option<String> {
    let open = match open_runs {
        0 => return None,
        1 => "1 run was open: unless it has ended, it goes on".to_owned(),
        _ => format!("{open_runs} runs were open: each that has not ended goes on"),
    };
    Some(format!(
        "{open} once a daemon starts that has its model. Where variables of a shell select the model, start the next one with the same \
         variables: under another model the run fails"
    ))
}

/// A daemon with another model than this environment selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptModel<'a> {
    /// Its model.
    pub in_force: &'a str,
    /// The model that this environment selects.
    pub own: &'a str,
    /// Seconds after which it makes room; 0 where that depends on more than time.
    pub wait_seconds: u32,
    /// Runs that are open and keep it: each has its model from this daemon, perhaps from no other one, so it is not stopped.
    pub open_runs: u32,
    /// The variable of a key that is not set in this environment and may be needed.
    pub unset_key: Option<&'static str>,
}

impl KeptModel<'_> {
    /// Returns what has to be done first: without its key no other daemon starts.
    fn first(&self) -> String {
        self.unset_key
            .map(|key| format!("{key} is not set here: where the server takes a key, export it first. Then "))
            .unwrap_or_default()
    }

    /// Returns what to do.
    #[must_use]
    pub fn mend(&self) -> String {
        let Self { in_force, own, wait_seconds, open_runs, .. } = self;
        let first = self.first();
        let begin = match wait_seconds {
            _ if *open_runs > 0 => {
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
                "{first}{begin}; or name the daemon's model: `palyra run --model {in_force} TEXT`, in a chat `palyra chat --model {in_force}`, to test it `palyra model test {in_force}`"
            ),
            false => format!("{first}{begin}"),
        }
    }

    /// Returns what to do in a chat.
    #[must_use]
    pub fn mend_in_chat(&self) -> String {
        let Self { in_force, own, wait_seconds, open_runs, .. } = self;
        let stop = "`palyra admin stop` in another terminal, then try again";
        let first = self.unset_key.map(|key| {
            format!("{key} is not set here: where the server takes a key, /exit, export it, and open the chat again. Else ")
        });
        let first = first.unwrap_or_default();
        let begin = match wait_seconds {
            _ if *open_runs > 0 => {
                "type `palyra approve` or `palyra runs cancel ID` in another terminal, which answers or cancels what is open, then \
                 try again"
                    .to_owned()
            }
            0 => format!("type {stop}"),
            seconds => format!("try again in {seconds} s; or, not to wait, type {stop}"),
        };
        match is_same_model(in_force, own) {
            true => format!("`/model {in_force}` asks the daemon's model; or {first}{begin}"),
            false => format!("{first}{begin}"),
        }
    }

    /// Returns what to do after a look at the daemon: it is not stopped where a key of this environment, or an answer to what
    /// is open, comes first.
    #[must_use]
    pub fn mend_in_doctor(&self) -> String {
        let first = self.unset_key.map(|key| {
            format!(
                "{key} is not set here: where the server takes a key, export it, then `palyra doctor` again; else "
            )
        });
        let rest = match self.open_runs {
            0 => "`palyra admin stop`: the next start takes this environment",
            _ => {
                "`palyra runs list --open` lists what is open: answer it (`palyra approve`) or cancel it (`palyra runs cancel ID`), \
                 then `palyra doctor` again"
            }
        };
        format!("{}{rest}", first.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(in_force: &str, open_runs: u32, wait_seconds: u32) -> KeptModel<'_> {
        KeptModel { in_force, own: "openai/b", wait_seconds, open_runs, unset_key: None }
    }

    #[test]
    fn an_open_run_is_answered_or_cancelled_before_its_daemon_is_stopped() {
        for open_runs in [1, 3] {
            let kept = kept("openai/a", open_runs, 0);
            for mend in [kept.mend(), kept.mend_in_chat()] {
                assert!(
                    mend.contains("`palyra approve`") && mend.contains("`palyra runs cancel ID`"),
                    "{mend}"
                );
                assert!(!mend.contains("admin stop") && !mend.contains("openai/a"), "{mend}");
            }
        }
        let named = kept("demo/demo", 1, 0).mend();
        assert!(named.contains("or name the daemon's model: `palyra run --model demo/demo TEXT`"), "{named}");
        assert_eq!(kept("openai/a", 0, 0).mend(), "`palyra admin stop`, then the same command");
        let recent = kept("openai/a", 0, 42);
        assert_eq!(
            recent.mend(),
            "the same command replaces it in 42 s; after `palyra admin stop` it does not wait"
        );
        assert!(recent.mend_in_chat().starts_with("try again in 42 s; or"), "{}", recent.mend_in_chat());
        let keyless = KeptModel { unset_key: Some("OPENAI_API_KEY"), ..kept("openai/a", 0, 0) };
        assert_eq!(
            keyless.mend(),
            "OPENAI_API_KEY is not set here: where the server takes a key, export it first. Then `palyra admin stop`, then the \
             same command"
        );
        assert!(keyless.mend_in_chat().contains("/exit, export it"), "{}", keyless.mend_in_chat());
    }

    #[test]
    fn the_runs_of_a_stopped_daemon_need_one_with_their_model() {
        assert_eq!(runs_of_stopped(0), None);
        for (open_runs, begin) in [
            (1, "1 run was open: unless it has ended, it goes on"),
            (3, "3 runs were open: each that has not ended goes on"),
        ] {
            let note = runs_of_stopped(open_runs).unwrap();
            assert!(note.starts_with(begin) && note.contains("has its model"), "{note}");
        }
    }

    #[test]
    fn a_look_at_a_daemon_stops_it_only_where_nothing_comes_first() {
        let of_doctor = |open_runs, unset_key| KeptModel { unset_key, ..kept("openai/b", open_runs, 0) };
        let stop = "`palyra admin stop`: the next start takes this environment";
        let key = "OPENAI_API_KEY";
        assert_eq!(of_doctor(0, None).mend_in_doctor(), stop);
        let keyless = of_doctor(0, Some(key)).mend_in_doctor();
        assert!(
            keyless.starts_with("OPENAI_API_KEY is not set here") && keyless.ends_with(stop),
            "{keyless}"
        );
        for unset_key in [None, Some(key)] {
            let open = of_doctor(2, unset_key).mend_in_doctor();
            assert!(open.contains("`palyra runs cancel ID`") && !open.contains("admin stop"), "{open}");
            assert_eq!(open.contains(key), unset_key.is_some(), "{open}");
        }
    }
}
