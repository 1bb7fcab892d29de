//! One line on standard output tells a starter that the daemon serves, or why it does not.

use std::io::Write;

use palyra_types::ErrorCode;
use palyra_types::daemon_lock::DaemonLockRecord;

/// Tells that the daemon serves.
pub(crate) fn tell_ready(record: &DaemonLockRecord) {
    tell(&serde_json::json!({
        "ready": true,
        "socket": record.socket,
        "pid": record.pid,
        "build_id": record.build_id,
        "model": record.model,
    }));
}

/// Tells that it will not serve.
pub(crate) fn tell_failed(code: ErrorCode, message: &str) {
    tell(&serde_json::json!({ "ready": false, "code": code.to_string(), "message": message }));
}

fn tell(line: &serde_json::Value) {
    let mut out = std::io::stdout().lock();
    // A starter that left does not want to know.
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}
