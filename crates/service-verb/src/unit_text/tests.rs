//! The text of the unit, and what systemd says about it.

use std::process::Command;

use super::*;

fn parts(folder: &Path) -> UnitParts {
    UnitParts {
        program: folder.join("palyra"),
        state_dir: folder.join("state"),
        config: None,
        environment_file: folder.join("environment"),
    }
}

fn lines_of<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect()
}

#[test]
fn a_unit_is_the_shipped_one_but_for_paths_and_the_way_to_reload() {
    let text = parts(Path::new("/p")).text().unwrap();
    let replaced = ["Type=", "ExecStart=", "EnvironmentFile=", "Documentation="];
    let (_, shipped) = SHIPPED.split_once("[Unit]").unwrap();
    let kept: Vec<&str> = shipped
        .lines()
        .filter(|line| line.contains('=') && !line.starts_with('#'))
        .filter(|line| !replaced.iter().any(|key| line.starts_with(key)))
        .collect();
    assert!(kept.len() > 20, "{kept:?}");
    for line in kept {
        assert!(text.lines().any(|own| own == line), "{line} is missing");
    }
    for key in replaced {
        assert_eq!(
            shipped.lines().filter(|line| line.starts_with(key)).count(),
            1,
            "{key} of the shipped unit"
        );
    }
    assert_eq!(lines_of(&text, "Type"), ["notify"]);
    assert_eq!(lines_of(&text, "Restart"), ["on-failure"]);
    assert_eq!(lines_of(&text, "ExecStart"), ["\"/p/palyra\" serve --state-dir \"/p/state\""]);
    let reload = "\"/p/palyra\" --no-start --state-dir \"/p/state\" config reload";
    assert_eq!(lines_of(&text, "ExecReload"), [reload]);
    assert_eq!(lines_of(&text, "EnvironmentFile"), ["-/p/environment"]);
    for breaks_sandbox in
        ["RestrictNamespaces=", "ProtectProc=", "ProtectKernelTunables=", "MemoryDenyWriteExecute=yes"]
    {
        assert!(!text.lines().any(|line| line.starts_with(breaks_sandbox)), "{breaks_sandbox}");
    }
}

#[test]
fn signs_that_systemd_reads_are_escaped() {
    let config = Some(PathBuf::from("/c $HOME/%h/\u{fc}\u{4e2d}.toml"));
    let folder = Path::new("/a b/100%/\"q\"/\\x/$y/[z]*?");
    let parts = UnitParts { config, program: "/a b/100%/$y/palyra".into(), ..parts(folder) };
    let text = parts.text().unwrap();
    let program = "\"/a b/100%%/$y/palyra\"";
    let state_dir = "\"/a b/100%%/\\\"q\\\"/\\\\x/$$y/[z]*?/state\"";
    let config = "\"/c $$HOME/%%h/\u{fc}\u{4e2d}.toml\"";
    assert_eq!(
        lines_of(&text, "ExecStart"),
        [format!("{program} serve --state-dir {state_dir} --config {config}")]
    );
    let environment = "-/a b/100%%/\"q\"/\\\\x/$y/\\[z]\\*\\?/environment";
    assert_eq!(lines_of(&text, "EnvironmentFile"), [environment]);
    assert_eq!(read_unit(&text).unwrap().state_dir, parts.state_dir, "it is read as it was written");
}

#[test]
fn a_path_that_no_line_can_have_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let not_text = PathBuf::from(std::ffi::OsStr::from_bytes(b"/\xff"));
    let refused = [PathBuf::from("/a\nExecStartPre=/bin/evil"), not_text, "relative".into(), "/ends ".into()];
    for path in refused {
        let parts = UnitParts { state_dir: path.clone(), ..parts(Path::new("/p")) };
        let error = parts.text().unwrap_err();
        assert!(matches!(error, ServiceVerbError::PathUnsuitable { .. }), "{}", path.display());
    }
    for program in ["/a\"b/palyra", "/a'b/palyra", "/a\\b/palyra"] {
        let parts = UnitParts { program: program.into(), ..parts(Path::new("/p")) };
        let error = parts.text().unwrap_err();
        assert!(matches!(error, ServiceVerbError::PathUnsuitable { .. }), "{program}");
    }
}

#[test]
fn a_unit_has_no_value_of_the_environment() {
    let text = parts(Path::new("/p")).text().unwrap();
    assert!(
        lines_of(&text, "Environment").is_empty() && lines_of(&text, "PassEnvironment").is_empty(),
        "{text}"
    );
}

/// Lets systemd check a unit whose program is in a folder; returns whether it passed, and the complaints.
fn verified(folder: &Path, change: impl Fn(String) -> String) -> (bool, Vec<String>) {
    let runtime = folder.join("run");
    std::fs::create_dir_all(&runtime).unwrap();
    std::fs::copy("/bin/true", folder.join("palyra")).unwrap();
    let unit = folder.join("palyrad.service");
    let parts = UnitParts { state_dir: folder.join("\"quoted\" 'state' \\n [*?"), ..parts(folder) };
    std::fs::write(&unit, change(parts.text().unwrap())).unwrap();
    let mut command = Command::new("systemd-analyze");
    command.args(["verify", "--user", "--man=no"]).arg(&unit).env("XDG_RUNTIME_DIR", &runtime);
    let output = command.output().expect("systemd-analyze is there: `cargo xtask setup` installs systemd");
    let complaints = String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect();
    (output.status.success(), complaints)
}

#[test]
fn systemd_finds_no_mistake_in_the_unit() {
    let home = tempfile::tempdir().unwrap();
    for name in ["plain", "with a blank", "100%d", "\u{fc}ml\u{4e2d}", "$HOME"] {
        let folder = home.path().join(name);
        let (passed, complaints) = verified(&folder, |text| text);
        // A key that this systemd is too old for; the comment above it in the unit says so.
        let complaints: Vec<_> =
            complaints.iter().filter(|line| !line.contains("'DelegateSubgroup'")).collect();
        assert!(passed && complaints.is_empty(), "{name}: {complaints:?}");
    }
    let folder = home.path().join("100%d");
    let unescaped = |text: String| text.replace("%%", "%");
    assert!(!verified(&folder, unescaped).0, "an unescaped percent sign is noticed");
    let wrong = |text: String| text.replace("UMask=0077", "UMask=wrong");
    let complaints = verified(&home.path().join("plain"), wrong).1.join("\n");
    assert!(complaints.contains("wrong"), "a wrong value is noticed: {complaints}");
}
