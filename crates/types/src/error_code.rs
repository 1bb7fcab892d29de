//! The stable codes that every error shows to people and programs.
//!
//! A code never changes its meaning and is never reused. Each has a page `docs/errors/PLY-nnnn.md`
//! (checked by `cargo xtask tidy`).

use std::fmt;

macro_rules! error_codes {
    ($($name:ident = $number:literal, $slug:literal, $summary:literal;)*) => {
        /// A stable error code; prints as `PLY-nnnn`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum ErrorCode {
            $(#[doc = $summary] $name = $number,)*
        }

        impl ErrorCode {
            /// Every code, in order of number.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the number without its prefix.
            #[must_use]
            pub fn number(self) -> u16 {
                self as u16
            }

            /// Returns the short machine-readable name, such as `run_not_found`.
            #[must_use]
            pub fn slug(self) -> &'static str {
                match self { $(Self::$name => $slug,)* }
            }

            /// Returns one sentence that says what happened.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $(Self::$name => $summary,)* }
            }
        }
    };
}

error_codes! {
    InvalidFrame = 1001, "invalid_frame", "A client message was malformed or came out of order.";
    InvalidId = 1002, "invalid_id", "An id is not a canonical ULID.";
    MessageTooLarge = 1003, "message_too_large", "A message is larger than its limit.";
    InvalidArgument = 1004, "invalid_argument", "A field of a request has a value that is not allowed.";
    SessionNotFound = 1101, "session_not_found", "No such session is visible to this principal.";
    SessionMismatch = 1102, "session_mismatch", "The session id and the session key name different sessions.";
    RunNotFound = 1103, "run_not_found", "No such run is visible to this principal.";
    RunFinished = 1104, "run_finished", "The run is over and takes no more input.";
    RunNotWaiting = 1105, "run_not_waiting", "The run does not wait for an answer.";
    QueueFull = 1106, "queue_full", "A bounded queue is full; nothing was taken.";
    WorkspaceRefused = 1107, "workspace_refused", "A workspace root was sent over a transport that may not choose one.";
    AgentNotFound = 1108, "agent_not_found", "No such agent exists.";
    AttachOutOfRange = 1109, "attach_out_of_range", "The tape has not reached the number to attach after.";
    IdempotencyConflict = 1110, "idempotency_conflict", "The idempotency key was used before for another input.";
    Unauthenticated = 1201, "unauthenticated", "No valid credential came with the call.";
    PermissionDenied = 1202, "permission_denied", "The credential does not cover this call.";
    ConfigInvalid = 1301, "config_invalid", "A configuration value or key is not valid.";
    ConfigUnreadable = 1302, "config_unreadable", "The configuration file cannot be read.";
    DaemonUnreachable = 1401, "daemon_unreachable", "The daemon cannot be reached.";
    StateDirLocked = 1402, "state_dir_locked", "Another daemon serves this state directory.";
    StateDirUnusable = 1403, "state_dir_unusable", "The state directory cannot be used.";
    NetworkFilesystem = 1404, "network_filesystem", "The state directory lies on a network file system.";
    DaemonStartFailed = 1405, "daemon_start_failed", "The daemon was started and did not become ready.";
    BuildMismatch = 1406, "build_mismatch", "The running daemon is of another build.";
    ShuttingDown = 1407, "shutting_down", "The daemon is shutting down and takes no new work.";
    JournalQuarantined = 2001, "journal_quarantined", "The journal is read-only after an I/O error.";
    DiskFull = 2002, "disk_full", "The disk is too full for new work.";
    JournalCorrupt = 2003, "journal_corrupt", "The journal does not verify.";
    JournalNewer = 2004, "journal_newer", "The journal was written by a newer version.";
    WriteUnknown = 2005, "write_unknown", "It is not known whether the write took place.";
    JournalBusy = 2006, "journal_busy", "The journal's queue is full.";
    Fenced = 2007, "fenced", "A newer daemon has taken over this journal.";
    GuardFailed = 2008, "guard_failed", "A condition of the append did not hold.";
    ModelAuth = 3001, "model_auth", "The model provider refused the credential.";
    ModelPermission = 3002, "model_permission", "The credential may not use this model.";
    ModelRateLimited = 3003, "model_rate_limited", "The model provider limits the rate of requests.";
    ModelQuota = 3004, "model_quota", "The quota at the model provider is used up.";
    ModelTransient = 3005, "model_transient", "The model provider failed for the moment.";
    ModelPermanent = 3006, "model_permanent", "The model provider refused the request for good.";
    ModelContextExceeded = 3007, "model_context_exceeded", "The request is larger than the model's window.";
    ModelContentPolicy = 3008, "model_content_policy", "The model provider's content policy refused the request.";
    ModelMalformed = 3009, "model_malformed", "The model provider's answer does not follow its own format.";
    ModelNetwork = 3010, "model_network", "The model provider cannot be reached, or the connection broke.";
    ModelTimeout = 3011, "model_timeout", "The model provider did not answer in time.";
    ModelNotConfigured = 3012, "model_not_configured", "No such model is configured.";
    ToolUnknown = 4001, "tool_unknown", "The tool is not in the run's catalogue.";
    ToolArgumentsInvalid = 4002, "tool_arguments_invalid", "The arguments do not fit the tool's schema.";
    ToolDenied = 4003, "tool_denied", "Policy denies the tool call.";
    PathRefused = 4004, "path_refused", "A path leads out of the workspace or through a link.";
    FileUnsuitable = 4005, "file_unsuitable", "The file is not of a kind the tool can use.";
    ToolTimedOut = 4006, "tool_timed_out", "The tool did not finish before its deadline.";
    ToolOutcomeUnknown = 4007, "tool_outcome_unknown", "It is not known whether the tool took effect.";
    ToolFailed = 4008, "tool_failed", "The tool failed.";
    FileNotFound = 4009, "file_not_found", "The file or folder does not exist in the workspace.";
    PatternInvalid = 4010, "pattern_invalid", "A glob or regular expression is not valid.";
    ToolCancelled = 4011, "tool_cancelled", "The tool was stopped because its run was cancelled.";
    TurnLimit = 5001, "turn_limit", "The run used all its model turns.";
    ToolLimit = 5002, "tool_limit", "The run used all its tool calls.";
    TimeLimit = 5003, "time_limit", "The run used all its active time.";
    LoopStopped = 5004, "loop_stopped", "The run repeated itself and was stopped.";
    ContextExhausted = 5005, "context_exhausted", "The input does not fit the model's window.";
    UnknownKind = 5006, "unknown_kind", "The tape holds an entry that this version does not know.";
    Internal = 9001, "internal", "An invariant did not hold; this is a bug.";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PLY-{:04}", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_rise_and_slugs_are_unique() {
        assert!(ErrorCode::ALL.is_sorted_by(|a, b| a.number() < b.number()));
        let slugs: std::collections::BTreeSet<_> = ErrorCode::ALL.iter().map(|code| code.slug()).collect();
        assert_eq!(slugs.len(), ErrorCode::ALL.len());
        assert_eq!(ErrorCode::RunNotFound.to_string(), "PLY-1103");
    }
}
