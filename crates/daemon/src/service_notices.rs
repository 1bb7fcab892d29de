//! What a service manager is told: ready, reloading, stopping, alive. Silent where none listens.
//!
//! The protocol is that of `sd_notify(3)`: datagrams to the socket named by `NOTIFY_SOCKET`, a path or, behind `@`,
//! an abstract name. Invariant: whoever does not read cannot hold the daemon up; what finds no room is not told.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use palyra_admin::health::HealthHandle;
use sd_notify::NotifyState;

/// Beats per span in which the service manager expects one.
const BEATS_PER_SPAN: u32 = 3;
/// Added to the drain when the service manager is asked for patience.
const STOP_MARGIN: Duration = Duration::from_secs(10);

/// Speaks to the service manager, where there is one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServiceNotices {
    listener: Listener,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listener {
    Maybe,
    /// A daemon that a command started may have the command's environment; its service manager is not ours.
    NotOurs,
}

impl ServiceNotices {
    /// Speaks to whoever the environment names.
    pub(crate) fn of_process() -> Self {
        Self { listener: Listener::Maybe }
    }

    /// Says nothing to anybody.
    pub(crate) fn none() -> Self {
        Self { listener: Listener::NotOurs }
    }

    pub(crate) fn ready(self, listening: &str) {
        self.tell(&[NotifyState::Ready, NotifyState::Status(&format!("serving {listening}"))]);
    }

    pub(crate) fn reloading(self) {
        if let Ok(now) = NotifyState::monotonic_usec_now() {
            self.tell(&[NotifyState::Reloading, now]);
        }
    }

    /// Ends a reload, also one that was refused: the daemon serves on either way.
    pub(crate) fn ready_again(self, outcome: &str) {
        self.tell(&[NotifyState::Ready, NotifyState::Status(outcome)]);
    }

    pub(crate) fn stopping(self, drain: Duration) {
        let patience = u32::try_from((drain + STOP_MARGIN).as_micros()).unwrap_or(u32::MAX);
        let status = format!("finishing what runs, for {} s at most", drain.as_secs());
        self.tell(&[
            NotifyState::Stopping,
            NotifyState::ExtendTimeoutUsec(patience),
            NotifyState::Status(&status),
        ]);
    }

    /// Gives signs of life as often as the service manager wishes, while the runtime turns and the journal answers.
    pub(crate) async fn beat(self, health: HealthHandle) {
        let Some(span) = self.span_of_watchdog() else { return };
        let mut beats = tokio::time::interval(span / BEATS_PER_SPAN);
        beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            beats.tick().await;
            // An answer that is an error is an answer: what hangs is what a restart helps.
            if tokio::time::timeout(span / BEATS_PER_SPAN, health.open_runs()).await.is_ok() {
                self.tell(&[NotifyState::Watchdog]);
            } else {
                tracing::error!("the journal does not answer; the service manager gets no sign of life");
            }
        }
    }

    fn span_of_watchdog(self) -> Option<Duration> {
        if self.listener == Listener::NotOurs { None } else { sd_notify::watchdog_enabled() }
    }

    fn tell(self, states: &[NotifyState<'_>]) {
        if self.listener == Listener::NotOurs {
            return;
        }
        let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else { return };
        if let Err(error) = send(&socket, states) {
            tracing::warn!(%error, "the service manager cannot be notified");
        }
    }
}

/// Sends without waiting: the library's own way to send waits for a listener whose queue is full.
fn send(socket: &OsStr, states: &[NotifyState<'_>]) -> std::io::Result<()> {
    let mut message = String::new();
    for state in states {
        writeln!(message, "{state}").map_err(std::io::Error::other)?;
    }
    let address = match socket.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(socket)?,
    };
    let sender = UnixDatagram::unbound()?;
    sender.set_nonblocking(true)?;
    sender.send_to_addr(message.as_bytes(), &address).map(drop)
}
