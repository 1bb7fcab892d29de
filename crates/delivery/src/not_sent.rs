//! A message that surely did not leave.

use palyra_ports::DeliverError;

/// Returns the error of a message that surely did not leave.
pub(crate) fn not_sent(why: &str) -> DeliverError {
    DeliverError::NotSent { why: why.to_owned() }
}
