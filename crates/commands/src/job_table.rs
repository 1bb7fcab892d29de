//! The table of jobs.
//!
//! A job belongs to a session and dies with the daemon. Invariant: at most [`JOBS_MAX`] run, and at most [`KEPT_MAX`]
//! are remembered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palyra_ports::{Ended, ProcessTier};
use palyra_types::SessionId;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};

use crate::failure::CommandFailure;
use crate::reach::Door;
use crate::running::{Gathered, Running};
use crate::unread::Unread;

/// Jobs that run at once, of all sessions.
pub(crate) const JOBS_MAX: usize = 16;
/// Jobs that are remembered, ended ones among them.
pub(crate) const KEPT_MAX: usize = 64;

/// Jobs by session and number.
pub(crate) struct Jobs {
    room: Arc<Semaphore>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    started: u64,
    jobs: BTreeMap<u64, (SessionId, Job)>,
}

/// One job, running or ended.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) tier: ProcessTier,
    pub(crate) output: Gathered<Unread>,
    pub(crate) door: Option<Arc<Door>>,
    stop: Arc<Notify>,
    ended: watch::Receiver<Option<Ended>>,
}

impl Job {
    /// Returns how it ended, when it has.
    pub(crate) fn ended(&self) -> Option<Ended> {
        *self.ended.borrow()
    }

    /// Ends it, and returns once nothing is left of it.
    pub(crate) async fn stop(&mut self) -> Option<Ended> {
        self.stop.notify_one();
        self.ended.wait_for(Option::is_some).await.ok().and_then(|ended| *ended)
    }
}

/// Room for one job; given back when it has ended.
pub(crate) struct Room(
    #[expect(dead_code, reason = "held for as long as the job runs")] OwnedSemaphorePermit,
);

impl Jobs {
    pub(crate) fn new() -> Self {
        Self { room: Arc::new(Semaphore::new(JOBS_MAX)), table: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes room for one more.
    pub(crate) fn room(&self) -> Result<Room, CommandFailure> {
        let full = |_| CommandFailure::TooMany(format!("{JOBS_MAX} jobs run already; end one of them first"));
        Arc::clone(&self.room).try_acquire_owned().map(Room).map_err(full)
    }

    /// Follows a program to its end, and returns its number.
    pub(crate) fn keep(
        &self,
        session: SessionId,
        tier: ProcessTier,
        running: Running<Unread>,
        room: Room,
    ) -> u64 {
        let (stop, output, door) = (Arc::new(Notify::new()), running.output.clone(), running.door.clone());
        let (end, ended) = watch::channel(None);
        tokio::spawn(follow(running, Arc::clone(&stop), end, room));
        let mut table = self.table();
        table.started += 1;
        let number = table.started;
        table.jobs.insert(number, (session, Job { tier, output, door, stop, ended }));
        while table.jobs.len() > KEPT_MAX {
            let oldest = table.jobs.iter().find(|(_, (_, job))| job.ended().is_some());
            let Some(oldest) = oldest.map(|(number, _)| *number) else { break };
            table.jobs.remove(&oldest);
        }
        number
    }

    /// Returns a session's job.
    pub(crate) fn find(&self, session: SessionId, name: &str) -> Result<Job, CommandFailure> {
        let number = name.strip_prefix("job-").and_then(|number| number.parse().ok());
        let table = self.table();
        let known = number.and_then(|number: u64| table.jobs.get(&number));
        let job = known.filter(|(owner, _)| *owner == session).map(|(_, job)| job.clone());
        job.ok_or_else(|| {
            CommandFailure::JobUnknown(format!(
                "this session has no `{name}`; if it was started before the daemon was, it ended with it, and how far \
                 it came is not known"
            ))
        })
    }
}

async fn follow(
    mut running: Running<Unread>,
    stop: Arc<Notify>,
    end: watch::Sender<Option<Ended>>,
    room: Room,
) {
    let ended = {
        let mut ended = std::pin::pin!(running.process.wait());
        tokio::select! {
            biased;
            ended = &mut ended => Some(ended),
            () = stop.notified() => None,
        }
    };
    running.process.stop();
    let last = running.wait().await;
    drop(room);
    end.send_replace(Some(ended.unwrap_or(last)));
}
