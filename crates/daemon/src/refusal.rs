//! Why the daemon does not serve, as it is told to people.

use palyra_types::ErrorCode;

/// Why the daemon does not serve.
pub(crate) struct StartRefusal {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

impl StartRefusal {
    pub(crate) fn new(code: ErrorCode, message: &dyn std::fmt::Display) -> Self {
        Self { code, message: message.to_string() }
    }
}

/// Joins an error with what caused it.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Names the environment that was looked at here: a daemon that is started from it inherits it.
pub(crate) fn in_this_environment(message: &str) -> String {
    message.replace("in the daemon's environment", "in this environment")
}
