//! What others on this host do, seen from tier C by the files that everybody opens.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palyra_ports::ProcessTier;

use crate::host::{BOTH, Host};

/// Watches a program of the system for some time, and says whether somebody opened it.
const WATCHES: &str = "import ctypes, os, select\nlibc = ctypes.CDLL(None)\nwatch = libc.inotify_init1(0)\n\
                       assert libc.inotify_add_watch(watch, b'/usr/bin/whoami', 0x20) > 0\n\
                       print('seen' if select.select([watch], [], [], 1.5)[0] else 'unseen')";

/// Locks a file that everybody has, unless somebody else has locked it.
const LOCKS: &str = "import fcntl\nfile = open('/etc/protocols' if __import__('os').path.exists('/etc/protocols') else \
                     '/etc/passwd')\n\
                     try: print('own', fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB))\nexcept OSError: print('seen')";

fn unheld(script: &str) -> String {
    let output = Command::new("/usr/bin/python3").args(["-c", script]).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_start_of_a_program_is_not_seen() {
    let host = Host::new();
    let end = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&end);
    let others = std::thread::spawn(move || {
        while !ended.load(Ordering::Relaxed) {
            Command::new("/usr/bin/whoami").stdout(Stdio::null()).status().expect("it runs");
        }
    });
    let control = unheld(WATCHES);
    let done = host.run(host.command(ProcessTier::Isolated, "/usr/bin/python3", &["-c", WATCHES])).await;
    end.store(true, Ordering::Relaxed);
    others.join().expect("it ends");
    assert_eq!((control.as_str(), done.printed()), ("seen", "unseen"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_on_a_file_of_the_system_is_nobody_elses() {
    let host = Host::new();
    let path = ["/etc/protocols", "/etc/passwd"].into_iter().find(|path| std::path::Path::new(path).exists());
    let file = std::fs::File::open(path.expect("one of them")).expect("a file");
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).expect("a lock");
    let control = unheld(LOCKS);
    let done = host.run(host.command(ProcessTier::Isolated, "/usr/bin/python3", &["-c", LOCKS])).await;
    assert_eq!((control.as_str(), done.printed()), ("seen", "own None"));
}

/// Reads what the kernel tells of everybody.
const READS: &str = "found = []\nfor name in 'keys key-users timer_list vmallocinfo slabinfo interrupts softirqs diskstats \
                     locks modules schedstat pagetypeinfo kallsyms'.split():\n    try:\n        if \
                     open('/proc/' + name).read(1): found.append(name)\n    except OSError: pass\nprint(len(found), \
                     *found)\nassert open('/proc/cpuinfo').read(1) and open('/proc/meminfo').read(1)";

#[tokio::test(flavor = "multi_thread")]
async fn what_the_kernel_tells_of_everybody_is_covered() {
    let host = Host::new();
    // An ordinary user sees some of it, root all.
    let control = unheld(READS);
    assert!(!control.starts_with("0"), "{control}");
    for tier in BOTH {
        let done = host.run(host.command(tier, "/usr/bin/python3", &["-c", READS])).await;
        assert_eq!(done.printed(), "0", "{tier:?}");
    }
}
