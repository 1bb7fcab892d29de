//! What a person can do about an error, in one line; the page of the code says more.

use palyra_types::ErrorCode;

/// Returns the line that follows an error with this code.
pub(crate) fn mend(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::DaemonUnreachable => {
            "`palyra doctor` looks for the cause; without --no-start it is started"
        }
        ErrorCode::DaemonStartFailed | ErrorCode::JournalBusy | ErrorCode::Fenced => {
            "`palyra serve` in a terminal shows why the daemon does not stay up"
        }
        ErrorCode::ShuttingDown => "try again in a moment; open runs go on at the next start",
        ErrorCode::StateDirLocked => "use the daemon that runs, or choose another directory with --state-dir",
        ErrorCode::StateDirUnusable => "choose a directory of your own with --state-dir or PALYRA_HOME",
        ErrorCode::NetworkFilesystem => "choose a directory on a local disk with --state-dir or PALYRA_HOME",
        ErrorCode::BuildMismatch => "`palyra admin stop`, then try again",
        ErrorCode::ConfigInvalid | ErrorCode::ConfigUnreadable => {
            "correct the file, or move it away and `palyra init`"
        }
        ErrorCode::SessionNotFound => "`palyra sessions list` shows the sessions there are",
        ErrorCode::RunNotFound => "`palyra runs list` shows the runs there are",
        ErrorCode::RunFinished | ErrorCode::RunNotWaiting => "`palyra runs show ID` says where it stands",
        ErrorCode::AgentNotFound => "`palyra admin agents` shows the agents there are",
        ErrorCode::Unauthenticated => "put a token from `palyra admin tokens create` into PALYRA_TOKEN",
        ErrorCode::PermissionDenied => "use the daemon's own socket, without --connect",
        ErrorCode::DiskFull => "free some space; open runs go on by themselves",
        ErrorCode::JournalQuarantined | ErrorCode::JournalCorrupt => {
            "`palyra journal verify` says how far it is sound"
        }
        ErrorCode::ModelAuth | ErrorCode::ModelPermission => {
            "check the provider's key, then `palyra model test`"
        }
        ErrorCode::ModelNotConfigured => {
            "`palyra model list` shows the models there are, `palyra model add` adds one"
        }
        ErrorCode::ModelRateLimited | ErrorCode::ModelTransient | ErrorCode::ModelTimeout => {
            "try again in a while"
        }
        ErrorCode::ModelNetwork => "check the provider's address and the network, then `palyra model test`",
        ErrorCode::ModelQuota => "raise the quota at the provider, or choose another with --model",
        ErrorCode::ModelContextExceeded | ErrorCode::ContextExhausted => {
            "shorten the input, or start a new session"
        }
        ErrorCode::TurnLimit | ErrorCode::ToolLimit | ErrorCode::TimeLimit => {
            "ask again in the same session to go on, or raise the limit in palyra.toml"
        }
        ErrorCode::Internal => "this is a bug; `palyra doctor --json` belongs into the report",
        _ => "docs/errors has a page for this code",
    }
}
