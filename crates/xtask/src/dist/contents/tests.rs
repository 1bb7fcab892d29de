//! Faults in a listing of an archive, each of which is found.

use super::*;

const RELEASE_DATE: u64 = 1_790_000_000;
const SHOWN_DATE: &str = "2026-09-21 14:13:20";

fn release() -> Release {
    Release { version: "1.2.3".to_owned(), date: RELEASE_DATE }
}

/// A listing with everything that a package needs.
fn complete() -> String {
    let mut listing = format!("drwxr-xr-x 0/0               0 {SHOWN_DATE} ./\n");
    let mut line = |mode: &str, path: &str| {
        listing.push_str(&format!("{mode} 0/0             123 {SHOWN_DATE} ./usr/{path}\n"));
    };
    line("drwxr-xr-x", "bin/");
    for name in programs::NAMES {
        line("-rwxr-xr-x", &format!("bin/{name}"));
    }
    line("lrwxrwxrwx", "bin/palyrad -> palyra");
    for path in EXPECTED.iter().filter(|path| **path != "bin/palyrad") {
        line("-rw-r--r--", path);
    }
    for verb in 1..MANUALS_MIN {
        line("-rw-r--r--", &format!("share/man/man1/palyra-{verb}.1.gz"));
    }
    listing
}

fn judged(listing: &str) -> Result<()> {
    check_entries(&listed(listing, "usr")?, &release())
}

#[test]
fn a_complete_listing_is_accepted_and_each_fault_is_found() {
    let complete = complete();
    judged(&complete).unwrap();
    let faults = [
        ("-rwxr-xr-x 0/0             123", "-rwxrwxr-x 0/0             123", "mode"),
        ("-rw-r--r-- 0/0", "-rwsr-xr-x 0/0", "mode"),
        ("-rw-r--r-- 0/0", "-rw-r--r-- 1000/1000", "belongs to"),
        ("2026-09-21 14:13:20 ./usr/", "2026-09-21 14:13:21 ./usr/", "the commit of"),
        ("bin/palyrad -> palyra", "bin/palyrad -> /usr/bin/palyra", "palyrad leads to"),
        ("bin/palyra-verify", "bin/palyra-other", "no package has bin/palyra-verify"),
        ("share/doc/palyra/palyra.cdx.json", "share/doc/palyra/other", "no package has"),
        ("palyra-7.1.gz", "palyra-7.1", "manual pages"),
        ("./usr/lib/", "./etc/", "is outside of usr"),
    ];
    for (from, to, expected) in faults {
        let spoilt = complete.replacen(from, to, 1);
        assert_ne!(spoilt, complete, "{from}");
        let error = format!("{:#}", judged(&spoilt).expect_err(to));
        assert!(error.contains(expected), "{to}: {error}");
    }
}

#[test]
fn a_line_of_another_form_is_refused() {
    assert!(listed("usr/bin/palyra\n", "usr").is_err());
}
