//! Which mappings are released, and that they are.

use super::*;

/// KiB of the program's file that are resident in this process.
fn resident_program_kib(program: &OsStr) -> usize {
    let mappings = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let mut is_ours = false;
    let mut resident = 0;
    for line in mappings.lines() {
        if mapping(line.as_bytes()).is_some() {
            is_ours = line.as_bytes().ends_with(program.as_bytes());
        } else if let Some(kib) = line.strip_prefix("Rss:").filter(|_| is_ours) {
            resident += kib.trim().trim_end_matches(" kB").parse::<usize>().unwrap();
        }
    }
    resident
}

#[test]
fn only_unchanged_mappings_of_the_program_are_chosen() {
    let mapping =
        |head: &str, anonymous: &str| format!("{head}\nRss: 64 kB\nAnonymous: {anonymous}\nVmFlags: rd\n");
    let text = [
        mapping("1000-3000 r--p 00000000 fe:00 17   /usr/bin/palyra", "0 kB"),
        mapping("3000-5000 r-xp 00002000 fe:00 17   /usr/bin/palyra", "0 kB"),
        mapping("5000-6000 r--p 00004000 fe:00 17   /usr/bin/palyra", "4 kB"),
        mapping("6000-7000 rw-p 00005000 fe:00 17   /usr/bin/palyra", "0 kB"),
        mapping("7000-8000 r-xp 00000000 fe:00 18   /usr/lib/libc.so.6", "0 kB"),
        mapping("8000-9000 rw-p 00000000 00:00 0", "4 kB"),
    ]
    .concat();
    let found = unchanged_mappings(text.as_bytes(), OsStr::new("/usr/bin/palyra"));
    assert_eq!(found, [0x1000..0x3000, 0x3000..0x5000]);
    assert!(unchanged_mappings(b"no mapping", OsStr::new("/usr/bin/palyra")).is_empty());
}

#[test]
fn released_pages_are_no_longer_resident_and_the_program_goes_on() {
    let program = std::fs::read_link("/proc/self/exe").unwrap();
    let mappings = std::fs::read("/proc/self/smaps").unwrap();
    // Every page of the program is touched first, which is what a busy daemon comes near to.
    for range in unchanged_mappings(&mappings, program.as_os_str()) {
        for address in range.step_by(4096) {
            // SAFETY: the range is a readable mapping of this program, which lasts as long as it.
            unsafe { std::ptr::with_exposed_provenance::<u8>(address).read_volatile() };
        }
    }
    let before = resident_program_kib(program.as_os_str());
    let released = release_program_pages().unwrap();
    let after = resident_program_kib(program.as_os_str());
    assert!(released > 1 << 20, "{released} bytes");
    assert!(after < before / 2 && before > released / 2048, "{after} of {before} KiB are resident");
}
