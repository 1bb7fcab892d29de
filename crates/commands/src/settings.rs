//! What every command gets, whoever asks for it.

use std::path::PathBuf;

use palyra_ports::{GrantedWrites, ProcessLimits};

/// What every command gets.
#[derive(Debug, Clone)]
pub struct CommandSettings {
    /// Folders in which programs are looked for, in order.
    pub search: Vec<PathBuf>,
    /// The whole environment of every command.
    pub environment: Vec<(String, String)>,
    /// Folders beyond those of the system that commands may read, such as a compiler's.
    pub readable: Vec<PathBuf>,
    /// What belongs to the daemon itself, absolute: no command changes it, also where it lies in a workspace.
    pub own_paths: Vec<PathBuf>,
    /// Where things go that a command may not leave in a workspace; made when it is not there.
    pub aside: PathBuf,
    /// What tools write under a grant, which no review takes for a command's.
    pub writes: GrantedWrites,
    /// What one command may use up.
    pub limits: ProcessLimits,
}

impl CommandSettings {
    /// Makes the settings of a system without a configuration. What commands may not leave goes to `aside`: the caller
    /// names the folder, and removes it.
    #[must_use]
    pub fn new(aside: PathBuf) -> Self {
        let search = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
        Self {
            search: search.iter().map(PathBuf::from).collect(),
            environment: vec![
                ("PATH".to_owned(), search.join(":")),
                ("HOME".to_owned(), "/tmp".to_owned()),
                ("TMPDIR".to_owned(), "/tmp".to_owned()),
                ("LANG".to_owned(), "C.UTF-8".to_owned()),
                ("TERM".to_owned(), "dumb".to_owned()),
                ("PAGER".to_owned(), "cat".to_owned()),
                ("GIT_PAGER".to_owned(), "cat".to_owned()),
                ("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()),
                // What git falls back to where nothing says who commits.
                ("EMAIL".to_owned(), "agent@localhost".to_owned()),
                ("NO_COLOR".to_owned(), "1".to_owned()),
            ],
            readable: Vec::new(),
            own_paths: Vec::new(),
            aside,
            writes: GrantedWrites::default(),
            limits: ProcessLimits::default(),
        }
    }
}
