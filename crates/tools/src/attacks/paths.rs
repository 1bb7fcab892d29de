//! Cases 24, 30 and 31: paths that spell their way out.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process;

use serde_json::json;

use super::grounds::{CANARY, Grounds, assert_reaches, assert_untouched_in};

#[test]
fn dot_dot_does_not_lead_out() {
    let grounds = Grounds::new();
    for path in [
        "../outside/secret.txt",
        "./../outside/secret.txt",
        "a/../../outside/secret.txt",
        "a/b/../../../outside/secret.txt",
        "a//b/.././../../outside/./secret.txt",
        "../root/../outside/secret.txt",
        "../outside",
        "a/../../outside/",
    ] {
        grounds.assert_untouched(path);
        grounds.assert_kernel_refuses(path);
        grounds.assert_control_touches(path);
    }
}

#[test]
fn an_absolute_path_does_not_lead_out() {
    let grounds = Grounds::new();
    let through_root = grounds.root().join("../outside/secret.txt");
    for path in [grounds.secret(), grounds.fixture.outside(), through_root] {
        grounds.assert_untouched(path.to_str().unwrap());
        grounds.assert_kernel_refuses(&path);
        grounds.assert_control_touches(&path);
    }
}

#[test]
fn an_encoded_path_is_only_a_strange_name() {
    let grounds = Grounds::new();
    for (written, as_a_careless_reader_decodes_it) in [
        ("%2e%2e/outside/secret.txt", "../outside/secret.txt"),
        ("..%2foutside%2fsecret.txt", "../outside/secret.txt"),
        ("%252e%252e/outside/secret.txt", "../outside/secret.txt"),
        ("%c0%ae%c0%ae/outside/secret.txt", "../outside/secret.txt"),
        ("..\\outside\\secret.txt", "../outside/secret.txt"),
        ("\\u002e\\u002e/outside/secret.txt", "../outside/secret.txt"),
        ("\u{ff0e}\u{ff0e}/outside/secret.txt", "../outside/secret.txt"),
        ("..\u{2215}outside\u{2215}secret.txt", "../outside/secret.txt"),
        ("&#46;&#46;/outside/secret.txt", "../outside/secret.txt"),
    ] {
        grounds.assert_untouched(written);
        grounds.assert_kernel_refuses(written);
        grounds.assert_control_touches(as_a_careless_reader_decodes_it);
    }
}

#[test]
fn a_nul_does_not_end_a_path_early() {
    let grounds = Grounds::new();
    for (written, as_a_c_string) in [
        ("../outside/secret.txt\0.png", "../outside/secret.txt"),
        ("inside.txt\0/../../outside/secret.txt", "inside.txt\0/../../outside/secret.txt"),
    ] {
        grounds.assert_untouched(written);
        grounds.assert_kernel_refuses(written);
        if !as_a_c_string.contains('\0') {
            grounds.assert_control_touches(as_a_c_string);
        }
    }
}

#[test]
fn a_very_long_path_does_not_lead_out() {
    let grounds = Grounds::new();
    let long = format!("{}../outside/secret.txt", "./".repeat(1900));
    grounds.assert_untouched(&long);
    grounds.assert_kernel_refuses(&long);
    grounds.assert_control_touches(&long);

    for endless in ["a/".repeat(500_000), "x".repeat(1_000_000), "../".repeat(300_000)] {
        grounds.assert_untouched(&endless);
        grounds.assert_kernel_refuses(&endless);
    }
}

#[test]
fn descriptor_and_process_paths_are_not_opened() {
    let grounds = Grounds::new();
    let secret = File::open(grounds.secret()).unwrap();
    let (pid, fd) = (process::id(), secret.as_raw_fd());
    let absolute = grounds.secret();
    let paths = [
        format!("/dev/fd/{fd}"),
        format!("/proc/self/fd/{fd}"),
        format!("/proc/thread-self/fd/{fd}"),
        format!("/proc/{pid}/fd/{fd}"),
        format!("/proc/self/root{}", absolute.display()),
        format!("/proc/{pid}/root{}", absolute.display()),
    ];
    for path in paths {
        grounds.assert_untouched(&path);
        grounds.assert_kernel_refuses(&path);
        // Even where the root is so wide that the path lies beneath it, a magic link is not followed.
        assert_untouched_in(Path::new("/"), &path);
        assert_untouched_in(Path::new("/"), path.trim_start_matches('/'));
        assert_reaches(Path::new(&path));
    }
}

#[test]
fn names_that_only_look_alike_are_different_files() {
    let grounds = Grounds::new();
    let canary_in = |name: &str| grounds.fixture.write(name, format!("{CANARY}\n").as_bytes());
    for (kept, asked) in [
        ("Secret.txt", "secret.txt"),
        ("NOTES", "Notes"),
        ("caf\u{e9}.txt", "cafe\u{301}.txt"),
        ("token.txt", "t\u{43e}ken.txt"),
        ("keys.txt", "keys.txt "),
        ("list.txt", "\u{200b}list.txt"),
        ("\u{212a}elvin", "Kelvin"),
    ] {
        canary_in(kept);
        let output = grounds.fixture.call("read_file", &json!({"path": asked}));
        assert!(output.starts_with("file_not_found") && !output.contains(CANARY), "{asked}: {output}");

        // The control: a reader that folds names before it compares them opens the other file.
        let names = fs::read_dir(grounds.root()).unwrap().map(|name| name.unwrap().path());
        let folded = |path: &Path| careless_fold(path.file_name().unwrap().to_str().unwrap());
        let found = names.into_iter().find(|path| folded(path) == careless_fold(asked)).unwrap();
        assert_reaches(&found);
        fs::remove_file(grounds.root().join(kept)).unwrap();
    }
}

/// Makes one name of all that look alike.
fn careless_fold(name: &str) -> String {
    let fold = |c: char| match c {
        '\u{e9}' => Some('e'),
        '\u{43e}' => Some('o'),
        '\u{212a}' => Some('k'),
        '\u{301}' | '\u{200b}' | ' ' => None,
        other => Some(other.to_ascii_lowercase()),
    };
    name.chars().filter_map(fold).collect()
}
