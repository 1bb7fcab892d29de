//! The machine and moment of a measurement, as far as they change what it says.

use std::path::Path;

use serde::Serialize;

/// Where and when was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineFacts {
    /// The processor's name.
    pub processor: String,
    /// How many of them this process may use.
    pub processors: usize,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// The kernel.
    pub kernel: String,
    /// The file system below the measured databases.
    pub file_system: String,
    /// How busy the machine was when the command began: tasks that wanted a processor, over a minute.
    pub load_before: f64,
    /// The same at the end.
    pub load_after: f64,
    /// Seconds since 1970.
    pub unix_seconds: u64,
    /// The command line.
    pub command: String,
    /// Whether debug assertions are compiled in, which makes every time meaningless.
    pub debug_build: bool,
}

impl MachineFacts {
    /// Looks at this machine; `folder` is where databases will lie.
    #[must_use]
    pub fn look(folder: &Path) -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        Self {
            processor: line_of("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned()),
            processors: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory_mib: line_of("/proc/meminfo", "MemTotal").and_then(|text| number(&text)).unwrap_or(0)
                / 1_024,
            kernel: read("/proc/sys/kernel/osrelease"),
            file_system: file_system(folder),
            load_before: load(),
            load_after: 0.0,
            unix_seconds: since.map_or(0, |span| span.as_secs()),
            command: format!("cargo xtask bench {}", arguments.join(" ")).trim().to_owned(),
            debug_build: cfg!(debug_assertions),
        }
    }

    /// Notes how busy the machine is at the end.
    pub fn finish(&mut self) {
        self.load_after = load();
    }

    /// Says in one line what a reader must know.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { processor, processors, memory_mib, kernel, file_system, .. } = self;
        format!("{processors} x {processor}, {memory_mib} MiB, Linux {kernel}, databases on {file_system}")
    }

    /// Says what makes the figures worth less than they look.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.debug_build {
            warnings.push("this is a debug build: only counts mean anything".to_owned());
        }
        if matches!(self.file_system.split(' ').next(), Some("tmpfs" | "ramfs" | "overlay")) {
            let what =
                format!("databases lie on {}, where a commit is not what it is on a disk", self.file_system);
            warnings.push(what);
        }
        // What the command itself keeps busy is seen in the load after it.
        if self.load_before > 0.5 {
            let load = self.load_before;
            warnings
                .push(format!("the machine was busy before it began (load {load:.2}): look at ratios only"));
        }
        warnings
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

fn line_of(path: &str, name: &str) -> Option<String> {
    let text = read(path);
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn number(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

fn load() -> f64 {
    read("/proc/loadavg").split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

/// Returns type and device of the file system that a folder lies on.
fn file_system(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mounts = read("/proc/self/mounts");
    let mounted = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (device, at, kind) = (words.next()?, words.next()?, words.next()?);
        folder.starts_with(at).then(|| (at.len(), format!("{kind} ({device})")))
    });
    // A later mount at the same place covers the earlier one.
    mounted
        .max_by_key(|(depth, _)| *depth)
        .map_or_else(|| "an unknown file system".to_owned(), |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_processor_and_a_file_system() {
        let machine = MachineFacts::look(Path::new("/proc"));
        assert!(machine.processors >= 1 && machine.memory_mib > 0, "{machine:?}");
        assert!(machine.file_system.starts_with("proc"), "{machine:?}");
    }
}
