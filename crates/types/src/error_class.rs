//! The class of an error code: its gRPC code and its HTTP status, as one pair.
//!
//! Every stable code has exactly one class in the table of `error_code.rs`, so a new code cannot be
//! without a status on any transport.

/// How a client that knows only gRPC or only HTTP sees an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// The request is malformed.
    InvalidArgument,
    /// The request is in a form that is not read here.
    UnsupportedMedia,
    /// The request did not arrive in time.
    RequestTimeout,
    /// The place takes another method.
    MethodNotAllowed,
    /// The request is for another server.
    Misdirected,
    /// The request names a place past the end.
    OutOfRange,
    /// The call has no valid credential.
    Unauthenticated,
    /// The credential does not cover the call.
    PermissionDenied,
    /// The thing that the request names does not exist.
    NotFound,
    /// The same key was used for another request.
    AlreadyExists,
    /// The current state does not allow the request.
    Conflict,
    /// Another change came first; the request can be repeated.
    Aborted,
    /// The content of the request cannot be used.
    Unprocessable,
    /// The request is too large.
    TooLarge,
    /// A limit or a rate is used up.
    LimitReached,
    /// The daemon has too much work.
    Overloaded,
    /// The disk is full.
    StorageFull,
    /// The daemon or its host must be mended first.
    NotReady,
    /// The daemon cannot answer for a moment.
    Unavailable,
    /// Another server refused the daemon's request.
    UpstreamRefused,
    /// Another server answered with a failure.
    UpstreamFailed,
    /// Another server cannot be reached.
    UpstreamUnavailable,
    /// The time for the work is over.
    DeadlineExceeded,
    /// The work was stopped.
    Cancelled,
    /// The outcome is unknown, or the work itself failed.
    Unknown,
    /// Stored data is damaged.
    DataLoss,
    /// A bug.
    Internal,
}

impl ErrorClass {
    /// Every class, in order of declaration.
    pub const ALL: &[Self] = &[
        Self::InvalidArgument,
        Self::UnsupportedMedia,
        Self::RequestTimeout,
        Self::MethodNotAllowed,
        Self::Misdirected,
        Self::OutOfRange,
        Self::Unauthenticated,
        Self::PermissionDenied,
        Self::NotFound,
        Self::AlreadyExists,
        Self::Conflict,
        Self::Aborted,
        Self::Unprocessable,
        Self::TooLarge,
        Self::LimitReached,
        Self::Overloaded,
        Self::StorageFull,
        Self::NotReady,
        Self::Unavailable,
        Self::UpstreamRefused,
        Self::UpstreamFailed,
        Self::UpstreamUnavailable,
        Self::DeadlineExceeded,
        Self::Cancelled,
        Self::Unknown,
        Self::DataLoss,
        Self::Internal,
    ];

    /// Returns the number of the gRPC code.
    #[must_use]
    pub const fn grpc_code(self) -> i32 {
        self.pair().0
    }

    /// Returns the HTTP status.
    #[must_use]
    pub const fn http_status(self) -> u16 {
        self.pair().1
    }

    const fn pair(self) -> (i32, u16) {
        match self {
            Self::Cancelled => (1, 499),
            Self::Unknown => (2, 500),
            Self::UpstreamFailed => (2, 502),
            Self::InvalidArgument => (3, 400),
            Self::UnsupportedMedia => (3, 415),
            Self::RequestTimeout => (4, 408),
            Self::DeadlineExceeded => (4, 504),
            Self::NotFound => (5, 404),
            Self::AlreadyExists => (6, 409),
            Self::PermissionDenied => (7, 403),
            Self::TooLarge => (8, 413),
            Self::LimitReached => (8, 429),
            Self::Overloaded => (8, 503),
            Self::StorageFull => (8, 507),
            Self::Conflict => (9, 409),
            Self::Misdirected => (9, 421),
            Self::Unprocessable => (9, 422),
            Self::UpstreamRefused => (9, 502),
            Self::NotReady => (9, 503),
            Self::Aborted => (10, 409),
            Self::OutOfRange => (11, 400),
            Self::MethodNotAllowed => (12, 405),
            Self::Internal => (13, 500),
            Self::UpstreamUnavailable => (14, 502),
            Self::Unavailable => (14, 503),
            Self::DataLoss => (15, 500),
            Self::Unauthenticated => (16, 401),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ErrorCode;

    #[test]
    fn a_class_is_a_pair_of_its_own_and_some_code_has_it() {
        let pairs: BTreeSet<_> = ErrorClass::ALL.iter().map(|class| class.pair()).collect();
        assert_eq!(pairs.len(), ErrorClass::ALL.len());
        for class in ErrorClass::ALL {
            assert!((400..600).contains(&class.http_status()), "{class:?}");
            assert!(ErrorCode::ALL.iter().any(|code| code.class() == *class), "{class:?}");
        }
    }

    #[test]
    fn a_full_daemon_and_a_greedy_client_have_one_grpc_code_and_several_statuses() {
        let status = |code: ErrorCode| (code.class().grpc_code(), code.class().http_status());
        assert_eq!(status(ErrorCode::MessageTooLarge), (8, 413));
        assert_eq!(status(ErrorCode::ModelRateLimited), (8, 429));
        assert_eq!(status(ErrorCode::QueueFull), (8, 503));
        assert_eq!(status(ErrorCode::DiskFull), (8, 507));
    }
}
