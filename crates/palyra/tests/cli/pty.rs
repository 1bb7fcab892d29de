//! The terminal of the test kit.

pub(crate) use palyra_testkit::pty::Pty;
