//! A server of a configuration file that the running daemon does not know.

use std::path::Path;

use palyra_screen_text::clean_line;
use palyra_wire::v1;

const NAME_CHARS_MAX: usize = 80;
const FOUND_CHARS_MAX: usize = 200;
/// The daemon's check of the configuration file that it reads.
const FILE_CHECK: &str = "configuration_file";
const RELOAD: &str = "`palyra config reload`";

/// Why a daemon does not know a server, and what helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedServer {
    /// Names the file, the server and the cause.
    pub message: String,
    /// What to do.
    pub mend: String,
}

/// Says why a daemon does not know a server of a file, by its own check of the file that it reads.
pub fn unused_server(server: &str, file: &Path, checks: &[v1::Check]) -> UnusedServer {
    let server = clean_line(server, NAME_CHARS_MAX);
    let check = checks.iter().find(|check| check.name == FILE_CHECK);
    let begin = format!("{} has the server `{server}`, and the running daemon", file.display());
    match check.filter(|check| check.level() != v1::CheckLevel::Ok) {
        Some(check) if check.mend.contains(RELOAD) => UnusedServer {
            message: format!("{begin} read it before that"),
            mend: format!("{RELOAD}, then the same command again"),
        },
        Some(check) => UnusedServer {
            message: format!("{begin} cannot use it: {}", clean_line(&check.found, FOUND_CHARS_MAX)),
            mend: format!("{}; then {RELOAD} and the same command again", check.mend),
        },
        None => UnusedServer {
            message: format!("{begin} reads another file"),
            mend:
                "`palyra admin stop`, then the same command again, which starts a daemon that reads this file"
                    .to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_of_the_file_that_the_daemon_does_not_know_says_why_and_what_helps() {
        let check = |level: v1::CheckLevel, mend: &str| v1::Check {
            name: FILE_CHECK.to_owned(),
            level: level.into(),
            found: "line 3: nonsense".to_owned(),
            mend: mend.to_owned(),
        };
        for (checks, why, mend) in [
            (
                vec![check(v1::CheckLevel::Warning, RELOAD)],
                "read it before that",
                "`palyra config reload`, then",
            ),
            (
                vec![check(v1::CheckLevel::Warning, "correct it; `palyra config check` lists each mistake")],
                "cannot use it: line 3: nonsense",
                "correct it; `palyra config check`",
            ),
            (vec![check(v1::CheckLevel::Ok, "")], "reads another file", "`palyra admin stop`, then"),
            (Vec::new(), "reads another file", "`palyra admin stop`, then"),
        ] {
            let unused = unused_server("box", Path::new("/a/palyra.toml"), &checks);
            assert!(
                unused.message.starts_with("/a/palyra.toml has the server `box`, and the running daemon "),
                "{unused:?}"
            );
            assert!(unused.message.contains(why) && unused.mend.starts_with(mend), "{unused:?}");
        }
    }
}
