//! Whose parent a process is.

use std::io;

use rustix::process::Pid;

/// Returns the children of a process; of one that has just ended there are none.
pub(crate) fn children_of(parent: Pid) -> io::Result<Vec<Pid>> {
    let pid = |text: &str| text.parse().ok().and_then(Pid::from_raw);
    let mut children = Vec::new();
    let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", parent.as_raw_nonzero())) else {
        return Ok(children);
    };
    for thread in threads.flatten() {
        match std::fs::read_to_string(thread.path().join("children")) {
            Ok(told) => children.extend(told.split_ascii_whitespace().filter_map(pid)),
            // Not every kernel keeps the list; with one, it is there for as long as its thread.
            Err(error) if error.kind() == io::ErrorKind::NotFound && thread.path().exists() => {
                return children_by_parent(parent);
            }
            Err(_) => {}
        }
    }
    Ok(children)
}

/// Finds them by what each process says of its parent.
fn children_by_parent(parent: Pid) -> io::Result<Vec<Pid>> {
    let mut children = Vec::new();
    for process in std::fs::read_dir("/proc")?.flatten() {
        let name = process.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw) else {
            continue;
        };
        // One that has just ended has no file. Its name, in brackets, may hold anything; what follows is state and parent.
        let Ok(told) = std::fs::read_to_string(process.path().join("stat")) else { continue };
        let mut behind = told.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().skip(1);
        if behind.next().and_then(|told| told.parse().ok()) == Some(parent.as_raw_nonzero().get()) {
            children.push(pid);
        }
    }
    Ok(children)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_found_without_the_kernels_list_too() {
        let cat = || {
            std::process::Command::new("/bin/cat")
                .stdin(std::process::Stdio::piped())
                .spawn()
                .expect("it runs")
        };
        let started = [cat(), cat()];
        let mut found = children_by_parent(rustix::process::getpid()).expect("processes");
        let mut own: Vec<Pid> = started.iter().map(Pid::from_child).collect();
        found.retain(|pid| own.contains(pid));
        found.sort_unstable_by_key(|pid| pid.as_raw_nonzero());
        own.sort_unstable_by_key(|pid| pid.as_raw_nonzero());
        assert_eq!(found, own);
        for mut one in started {
            drop(one.stdin.take());
            one.wait().expect("it ends");
            assert!(
                !children_by_parent(rustix::process::getpid())
                    .expect("processes")
                    .contains(&Pid::from_child(&one))
            );
        }
    }
}
