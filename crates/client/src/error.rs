//! Why a call to the daemon did not yield its answer.
//!
//! Owns turning a gRPC status into one of few cases a caller treats differently.

use std::error::Error as _;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use palyra_types::{ErrorCode, RunId};
use tonic::{Code, Status};

/// The metadata key that carries a stable code.
const CODE_METADATA: &str = "palyra-error-code";

/// When a daemon with another model is replaced by the next command, and what is to be done before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplacementTerms {
    /// Seconds after which it is; 0 where that depends on more than time.
    pub wait_seconds: u32,
    /// Runs that are open in it.
    pub open_runs: u32,
    /// The variable of a key that is not set in this environment, where the daemon's model is of its environment too.
    pub unset_key: Option<&'static str>,
}

/// Why a call to the daemon did not yield its answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The environment names no place for state.
    #[error("there is no state directory, neither PALYRA_HOME nor HOME is set")]
    NoStateDir,
    /// An address is not one this client would send a token to.
    #[error("cannot connect to `{address}`, {reason}")]
    InvalidAddress {
        /// What was given, without anything secret.
        address: String,
        /// Why not.
        reason: &'static str,
    },
    /// Nobody serves, and starting was not allowed.
    #[error("no daemon serves {}", state_dir.display())]
    NotRunning {
        /// Where it was looked for.
        state_dir: PathBuf,
    },
    /// The daemon was started, or should have been, and does not serve.
    #[error("the daemon did not start: {message}")]
    StartFailed {
        /// The daemon's own code, else `DaemonStartFailed`.
        code: ErrorCode,
        /// What it said.
        message: String,
        /// The last lines it wrote.
        log: LogTail,
    },
    /// A process holds the lock and says nothing.
    #[error("process {pid} holds the lock of {} and does not answer", state_dir.display())]
    NotAnswering {
        /// The process that the lock file names.
        pid: u32,
        /// Whose lock it is.
        state_dir: PathBuf,
    },
    /// The daemon uses another model than this environment selects, and stays.
    #[error(
        "the daemon uses {in_force}, this environment selects {own}, and the daemon stays: {kept_because}"
    )]
    OtherModel {
        /// The model in force.
        in_force: String,
        /// The model that this environment selects.
        own: String,
        /// Why it was not replaced.
        kept_because: String,
        /// When it is, and what is to be done before.
        terms: ReplacementTerms,
    },
    /// The connection does not come about or broke.
    #[error("the connection to the daemon at {endpoint} broke: {cause}")]
    Lost {
        /// Where the daemon was.
        endpoint: String,
        /// What lies at the bottom of it.
        cause: String,
    },
    /// The daemon was lost and did not come back in time.
    #[error("the daemon did not come back within {} s", waited.as_secs())]
    GaveUp {
        /// How long it was waited for.
        waited: Duration,
        /// The last attempt's failure.
        #[source]
        last: Box<ClientError>,
    },
    /// The daemon refused.
    #[error("{message}")]
    Refused {
        /// Its code.
        code: ErrorCode,
        /// Its words.
        message: String,
    },
    /// The tape did not come as it must.
    #[error("the tape of run {run} came with number {got} where {expected} was due")]
    TapeOrder {
        /// The run.
        run: RunId,
        /// The number that was due.
        expected: u32,
        /// The number that came.
        got: u32,
    },
    /// The daemon's answer does not follow the protocol.
    #[error("the daemon's answer breaks the protocol, {what}")]
    Protocol {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The daemon's log is shorter than a head of it that was seen before.
    #[error(
        "the journal is shorter than what this client has seen of it: {known} entries then, {} now",
        match entries { Some(entries) => entries.to_string(), None => "fewer".to_owned() }
    )]
    RolledBack {
        /// Entries of the head that was seen.
        known: u64,
        /// Entries that the daemon shows now, if it says so.
        entries: Option<u64>,
    },
    /// The head that a person gave up could not be replaced.
    #[error("the signed head that this client has seen could not be replaced: {cause}")]
    HeadNotReplaced {
        /// Why.
        cause: String,
    },
    /// The daemon's log is not a continuation of what was seen of it.
    #[error("the journal is not the one that this client has seen up to entry {known}: its past was changed")]
    Forked {
        /// Entries of the head that was seen.
        known: u64,
    },
    /// More inputs are waiting to be sent than a follower holds.
    #[error("too many inputs are still on their way")]
    TooManyInputs,
}

/// The last lines of the daemon's log or its error output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogTail {
    /// Where they are from; `None` for the error output of a daemon that did not come far.
    pub file: Option<PathBuf>,
    /// The lines, oldest first.
    pub lines: Vec<String>,
}

impl fmt::Display for LogTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl ClientError {
    /// Returns the stable code shown to people and programs.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoStateDir => ErrorCode::StateDirUnusable,
            Self::InvalidAddress { .. } => ErrorCode::InvalidArgument,
            Self::OtherModel { .. } => ErrorCode::ModelMismatch,
            Self::NotRunning { .. } | Self::NotAnswering { .. } | Self::Lost { .. } | Self::GaveUp { .. } => {
                ErrorCode::DaemonUnreachable
            }
            Self::StartFailed { code, .. } | Self::Refused { code, .. } => *code,
            Self::TapeOrder { .. } | Self::Protocol { .. } => ErrorCode::Internal,
            Self::HeadNotReplaced { .. } => ErrorCode::StateDirUnusable,
            Self::RolledBack { .. } => ErrorCode::JournalRolledBack,
            Self::Forked { .. } => ErrorCode::JournalForked,
            Self::TooManyInputs => ErrorCode::QueueFull,
        }
    }

    /// Returns whether the daemon could not be talked to, as opposed to having answered.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::NoStateDir
            | Self::NotRunning { .. }
            | Self::NotAnswering { .. }
            | Self::StartFailed { .. }
            | Self::Lost { .. }
            | Self::GaveUp { .. } => true,
            Self::Refused { code, .. } => *code == ErrorCode::ShuttingDown,
            Self::InvalidAddress { .. }
            | Self::OtherModel { .. }
            | Self::TapeOrder { .. }
            | Self::Protocol { .. }
            | Self::HeadNotReplaced { .. }
            | Self::RolledBack { .. }
            | Self::Forked { .. }
            | Self::TooManyInputs => false,
        }
    }

    /// Returns whether the same call may succeed once the daemon is back.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(
            self,
            Self::Lost { .. }
                | Self::NotRunning { .. }
                | Self::NotAnswering { .. }
                // One that was fenced off is about to end, and another serves.
                | Self::Refused { code: ErrorCode::ShuttingDown | ErrorCode::Fenced, .. }
        )
    }

    /// Makes a loss of what a library says, which wraps the cause many times over.
    pub(crate) fn lost(endpoint: &str, error: &dyn std::error::Error) -> Self {
        let mut cause = error;
        while let Some(below) = cause.source() {
            cause = below;
        }
        Self::Lost { endpoint: endpoint.to_owned(), cause: cause.to_string() }
    }

    /// Reads a status; one without our code did not come from a handler of the daemon.
    pub(crate) fn from_status(status: &Status, endpoint: &str) -> Self {
        let coded =
            status.metadata().get(CODE_METADATA).and_then(|value| value.to_str().ok()).and_then(parse_code);
        if let Some(code) = coded {
            // The daemon repeats the code's name for clients that do not know it.
            let repeated = format!("{}: ", code.slug());
            let message = status.message();
            return Self::Refused {
                code,
                message: message.strip_prefix(&repeated).unwrap_or(message).to_owned(),
            };
        }
        let refused = |code| Self::Refused { code, message: status.message().to_owned() };
        match status.code() {
            // Message limits of the transport, on either side.
            Code::OutOfRange | Code::ResourceExhausted => refused(ErrorCode::MessageTooLarge),
            Code::Unauthenticated => refused(ErrorCode::Unauthenticated),
            Code::PermissionDenied => refused(ErrorCode::PermissionDenied),
            Code::InvalidArgument => refused(ErrorCode::InvalidArgument),
            Code::Unimplemented => Self::Refused {
                code: ErrorCode::BuildMismatch,
                message: "the daemon does not know this call".to_owned(),
            },
            Code::Internal if status.source().is_none() => refused(ErrorCode::Internal),
            _ => match status.source() {
                Some(cause) => Self::lost(endpoint, cause),
                None => Self::Lost { endpoint: endpoint.to_owned(), cause: status.message().to_owned() },
            },
        }
    }
}

/// Reads `PLY-nnnn`; `None` when this version does not know the number.
pub(crate) fn parse_code(text: &str) -> Option<ErrorCode> {
    let number: u16 = text.strip_prefix("PLY-")?.parse().ok()?;
    ErrorCode::ALL.iter().copied().find(|code| code.number() == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coded_status_is_a_refusal_and_an_uncoded_one_a_loss() {
        let mut status = Status::not_found("run_not_found: no such run");
        status.metadata_mut().insert(CODE_METADATA, "PLY-1103".parse().unwrap());
        let error = ClientError::from_status(&status, "here");
        assert!(matches!(error, ClientError::Refused { code: ErrorCode::RunNotFound, .. }), "{error:?}");
        assert_eq!((error.is_lost(), error.to_string().as_str()), (false, "no such run"));

        let error = ClientError::from_status(&Status::unavailable("broken pipe"), "here");
        assert_eq!((error.is_lost(), error.code()), (true, ErrorCode::DaemonUnreachable));
        let unknown = ClientError::from_status(&Status::unimplemented(""), "here");
        assert_eq!(unknown.code(), ErrorCode::BuildMismatch);
    }

    #[test]
    fn codes_are_read_back_as_they_print() {
        for code in ErrorCode::ALL {
            assert_eq!(parse_code(&code.to_string()), Some(*code));
        }
        assert_eq!((parse_code("PLY-0000"), parse_code("1103")), (None, None));
    }
}
