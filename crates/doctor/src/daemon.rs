//! What a daemon says of itself, and whether it is the one that is expected.

use std::path::Path;

use palyra_client::{Client, ClientError, build_id_of, read_lock_record};
use palyra_wire::v1;

use crate::key_files::key_files;
use crate::{ERROR, OK, WARNING, check};

/// Asks a daemon for its checks. Of one on this machine, also whether it is the one of its state directory and of this
/// build.
///
/// # Errors
/// The daemon's refusal, or a connection that broke.
pub async fn check_daemon(client: &Client, state_dir: Option<&Path>) -> Result<Vec<v1::Check>, ClientError> {
    let status = client.status().await?;
    let found = format!("version {}, process {}, model {}", status.version, status.pid, status.default_model);
    let mut checks = vec![check("daemon", OK, found, "")];
    checks.extend(state_dir.map(|dir| check_build(dir, &client.options().program, &status)));
    checks.push(check("listening", OK, status.listening.join(", "), ""));
    checks.push(check("open_runs", OK, status.open_runs.to_string(), ""));
    checks.extend(status.checks);
    if state_dir.is_some() {
        // The files of a daemon on another machine are not to be seen from here.
        checks.extend(key_files(&client.config().await?.values));
    }
    Ok(checks)
}

fn check_build(state_dir: &Path, program: &Path, status: &v1::GetStatusResponse) -> v1::Check {
    let recorded = read_lock_record(state_dir).map(|record| record.build_id);
    if recorded.as_deref() != Some(status.build_id.as_str()) {
        let mend = "`palyra admin stop`, then look for processes called palyrad";
        return check(
            "lock_file",
            ERROR,
            "the lock file speaks of another daemon than the one that answers",
            mend,
        );
    }
    match build_id_of(program) {
        Ok(own) if own == status.build_id => check("build", OK, own, ""),
        _ => {
            let found = format!("the daemon is {}, another build than this program", status.build_id);
            check("build", WARNING, found, "it is replaced when idle; `palyra admin stop` does it now")
        }
    }
}
