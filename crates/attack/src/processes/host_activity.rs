//! What others on the host do while an attack runs: programs that start, files that are read, a file that is locked.

use std::fs::File;
use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::written::ProgramAttack;

/// A program and a file that everybody has.
const PROGRAM: &str = "/usr/bin/whoami";
const FILE: &str = "/etc/protocols";
/// Between two starts.
const PAUSE: Duration = Duration::from_millis(20);

/// It goes on until it is dropped.
pub(crate) struct HostActivity {
    end: Arc<AtomicBool>,
    starts: Option<JoinHandle<()>>,
    _locked: Option<File>,
}

impl HostActivity {
    /// Begins what an attack wants: `busy` for starts and reads, `locked` for a lock.
    pub(crate) fn begin(attack: &ProgramAttack) -> io::Result<Self> {
        let locked = attack.has("locked").then(lock).transpose()?;
        let end = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&end);
        let starts = attack.has("busy").then(|| std::thread::spawn(move || start_until(&ended)));
        Ok(Self { end, starts, _locked: locked })
    }
}

impl Drop for HostActivity {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(starts) = self.starts.take() {
            let _ = starts.join();
        }
    }
}

fn lock() -> io::Result<File> {
    let file = File::open(FILE)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

fn start_until(ended: &AtomicBool) {
    while !ended.load(Ordering::Relaxed) {
        let _ = Command::new(PROGRAM).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let _ = std::fs::read(FILE);
        std::thread::sleep(PAUSE);
    }
}
