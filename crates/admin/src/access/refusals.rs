//! The record of changes that were refused to known credentials.
//!
//! Bounded: a program that repeats a refused call does not fill the journal. Entries that are left out are counted and said by the
//! next record of the same credential. Begin at [`AccessHandle::record_refusal`].

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use palyra_types::access::ActorIdentity;
use palyra_types::event::{AccessEvent, ActRefused};
use palyra_types::{BootTime, ErrorCode, TokenId};

use super::AccessHandle;

/// Refusals of one credential that are recorded within [`REFUSALS_SPAN`].
pub const REFUSALS_RECORDED_MAX: u32 = 30;
/// The span of that limit.
pub const REFUSALS_SPAN: Duration = Duration::from_secs(60);
/// Credentials that are counted at once; beyond it those whose span is over are forgotten.
const CREDENTIALS_MAX: usize = 1_024;

/// Counts refusals of each credential.
#[derive(Debug, Default)]
pub(super) struct RefusalLog {
    windows: Mutex<HashMap<Option<TokenId>, Window>>,
}

#[derive(Debug)]
struct Window {
    begun: BootTime,
    recorded: u32,
    unrecorded: u32,
}

impl RefusalLog {
    /// Returns how many were left out before this one; `None` where this one is left out, too.
    fn admit(&self, credential: Option<TokenId>, now: BootTime) -> Option<u32> {
        let mut windows = self.windows.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if windows.len() >= CREDENTIALS_MAX && !windows.contains_key(&credential) {
            windows.retain(|_, window| window.unrecorded > 0 || now.since(window.begun) < REFUSALS_SPAN);
        }
        if windows.len() >= CREDENTIALS_MAX && !windows.contains_key(&credential) {
            return None;
        }
        let window = windows.entry(credential).or_insert(Window { begun: now, recorded: 0, unrecorded: 0 });
        if now.since(window.begun) >= REFUSALS_SPAN {
            window.begun = now;
            window.recorded = 0;
        }
        if window.recorded >= REFUSALS_RECORDED_MAX {
            window.unrecorded = window.unrecorded.saturating_add(1);
            return None;
        }
        window.recorded += 1;
        Some(std::mem::take(&mut window.unrecorded))
    }
}

impl AccessHandle {
    /// Records that a change was refused to a known credential.
    ///
    /// The refusal is answered even if its record fails: a journal that is read-only or full is said in the log.
    pub async fn record_refusal(&self, actor: ActorIdentity, operation: &'static str, code: ErrorCode) {
        let Some(unrecorded) = self.refusals.admit(actor.credential, self.ports.clock.boot()) else {
            tracing::warn!(operation, %code, "a credential asks for what it may not do, again and again");
            return;
        };
        let refused = AccessEvent::ActRefused(ActRefused { operation: operation.into(), code, unrecorded });
        if let Err(error) = self.ports.recorder.record_act_now(actor, actor.principal, refused).await {
            tracing::warn!(operation, %code, %error, "a refused act could not be recorded");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> BootTime {
        BootTime::default().after(Duration::from_secs(1_000 + seconds))
    }

    #[test]
    fn what_comes_too_fast_is_counted_and_said_by_the_next_record() {
        let log = RefusalLog::default();
        let [one, other] = [1, 2].map(|n| Some(TokenId::from_parts(1, n)));
        for _ in 0..REFUSALS_RECORDED_MAX {
            assert_eq!(log.admit(one, at(0)), Some(0));
        }
        assert_eq!([log.admit(one, at(1)), log.admit(one, at(59))], [None, None]);
        assert_eq!(log.admit(other, at(59)), Some(0), "each credential has a span of its own");
        assert_eq!(log.admit(one, at(60)), Some(2));
        assert_eq!(log.admit(one, at(60)), Some(0));
    }

    #[test]
    fn credentials_are_bounded_and_old_ones_make_room() {
        let log = RefusalLog::default();
        for n in 0..CREDENTIALS_MAX {
            assert_eq!(log.admit(Some(TokenId::from_parts(1, n as u128 + 1)), at(0)), Some(0));
        }
        let late = Some(TokenId::from_parts(2, 1));
        assert_eq!(log.admit(late, at(1)), None);
        assert_eq!(log.admit(late, at(60)), Some(0));
    }
}
