//! A folder with a workspace to search and a state directory whose daemons are killed.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use palyra_client::{Client, ConnectOptions, DaemonTarget, read_lock_record};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Folders of the tree that `search` walks.
const FOLDERS: usize = 60;
/// Files in each of them.
const FILES_PER_FOLDER: usize = 60;

/// Where everything happens.
pub(crate) struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let scene = Self { folder: tempfile::tempdir().expect("a folder") };
        let work = scene.workspace();
        std::fs::create_dir(&work).expect("a workspace");
        std::fs::write(work.join("README.md"), "# Kill me\n\nA text that survives.\n").expect("a readme");
        let line = "the quick brown fox jumps over the lazy dog and goes home\n".repeat(40);
        for folder in 0..FOLDERS {
            let dir = work.join(format!("tree/{folder}"));
            std::fs::create_dir_all(&dir).expect("a folder");
            for file in 0..FILES_PER_FOLDER {
                let text = if file == 7 { format!("{line}needle {folder}\n") } else { line.clone() };
                std::fs::write(dir.join(format!("{file}.txt")), text).expect("a file");
            }
        }
        scene
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn state_dir(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Connects, starting a daemon if none serves.
    pub(crate) async fn client(&self) -> Client {
        let mut options = ConnectOptions::new(DaemonTarget::StateDir(self.state_dir()));
        options.program = PathBuf::from(env!("CARGO_BIN_EXE_palyra"));
        Client::connect(options).await.expect("a daemon")
    }

    /// Kills the daemon that serves now; returns its process id.
    pub(crate) fn kill(&self) -> Option<Pid> {
        let record = read_lock_record(&self.state_dir())?;
        let pid = Pid::from_raw(i32::try_from(record.pid).ok()?)?;
        kill_process(pid, Signal::KILL).ok()?;
        Some(pid)
    }

    /// Waits until another daemon than `killed` answers; returns how long that took.
    pub(crate) async fn back(&self, killed: Pid) -> Duration {
        let since = Instant::now();
        loop {
            let client = self.client().await;
            match client.status().await {
                Ok(status) if status.pid != killed.as_raw_nonzero().get().unsigned_abs() => {
                    return since.elapsed();
                }
                // The one that dies may still take a connection.
                Ok(_) => {}
                Err(error) if error.is_unreachable() => {}
                Err(error) => panic!("a daemon that answers: {error}"),
            }
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let state = self.state_dir();
        if let Some(record) = read_lock_record(&state) {
            stop(record.pid);
        }
    }
}

fn stop(pid: u32) {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    if test_kill_process(pid).is_ok() {
        let _ = kill_process(pid, Signal::KILL);
    }
}
