//! What a command leaves in a workspace, looked at with the programs that run it: each attack makes a canary where
//! nothing looks at what a command left.

use std::path::Path;
use std::process::Command;

use super::tests::Bench;

/// What an attack has run: it makes a file beside the workspace's own.
const CANARY: &str = "canary";

/// Runs a script in a folder without anything that holds it.
fn plainly(folder: &Path, script: &str) {
    let done = Command::new("sh").args(["-c", script]).current_dir(folder).envs(IDENTITY).output();
    let done = done.expect("it runs");
    assert!(done.status.success(), "{script} {}", String::from_utf8_lossy(&done.stderr));
}

/// What a person does who looks at the folder: with the answers of no settings but the repository's.
fn look_as_a_person(root: &Path) {
    let everywhere = r#"
        git status; git log -1; git add -A -n .
        for inner in sub tree docs/build; do
            [ -d "$inner" ] && (cd "$inner" && git status && git log -1)
        done
        if [ -f .envrc ]; then . ./.envrc; fi
        if [ -f .vscode/tasks.json ]; then sh .vscode/tasks.json; fi
        true"#;
    let done = Command::new("sh")
        .args(["-c", everywhere])
        .current_dir(root)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output();
    done.expect("it runs");
}

const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "a"),
    ("GIT_AUTHOR_EMAIL", "a@b.example"),
    ("GIT_COMMITTER_NAME", "a"),
    ("GIT_COMMITTER_EMAIL", "a@b.example"),
];

/// A repository with one commit and one file.
const REPOSITORY: &str = "git init -q . && echo a > a.txt && git add . && git commit -q -m one";

fn arguments(script: &str) -> String {
    serde_json::json!({ "argv": ["sh", "-c", script] }).to_string()
}

/// Attacks a repository with a script in which `$RUN` is a program that makes the canary.
async fn check(before: &str, attack: &str) -> String {
    let evil = |root: &Path| {
        let program = root.join("evil.sh");
        let canary = root.join(CANARY);
        std::fs::write(&program, format!("#!/bin/sh\ntouch {}\n", canary.display())).expect("a program");
        plainly(root, "chmod 755 evil.sh");
        format!("RUN={}; {attack}", program.display())
    };
    let control = tempfile::tempdir().expect("a folder");
    let root = control.path().canonicalize().expect("the folder");
    plainly(&root, before);
    plainly(&root, &evil(&root));
    look_as_a_person(&root);
    assert!(root.join(CANARY).exists(), "without a review it runs nothing: {attack}");

    let bench = Bench::new();
    plainly(&bench.root(), before);
    let script = evil(&bench.root());
    let made = bench.run("run_command", &arguments(&script)).await.expect("it ran");
    assert!(made.text.starts_with("exit code 0"), "{}", made.text);
    look_as_a_person(&bench.root());
    assert!(!bench.root().join(CANARY).exists(), "{attack}: {}", made.text);
    assert!(made.text.contains("kept aside"), "{attack}: {}", made.text);
    assert!(!bench.kept_aside().is_empty(), "{attack}");
    made.text
}

#[tokio::test]
async fn a_common_folder_of_another_repository_is_kept_aside() {
    let attack = r#"cp -r .git x && mv x .git/x; printf '[core]\n\tfsmonitor = %s\n' "$RUN" >> .git/x/config
        echo x > .git/commondir"#;
    let told = check(REPOSITORY, attack).await;
    assert!(told.contains(".git/commondir (new)"), "{told}");
}

#[tokio::test]
async fn a_nested_repository_with_a_program_in_its_settings_is_kept_aside() {
    let attack = r#"git init -q sub; cd sub; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x
        git config core.fsmonitor "$RUN"; cd ..
        git update-index --add --cacheinfo 160000,$(git -C sub -c core.fsmonitor=false rev-parse HEAD),sub; rm -f canary"#;
    let told = check(REPOSITORY, attack).await;
    assert!(told.contains("sub/.git/config (new)"), "{told}");
}

#[tokio::test]
async fn a_bare_repository_below_another_name_is_kept_aside() {
    let attack = r#"mkdir -p docs/build; cd docs/build; git init -q --bare .; echo a > ../a
        printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = %s\n' "$RUN" > config"#;
    let told = check(REPOSITORY, attack).await;
    assert!(told.contains("docs/build/config (new)"), "{told}");
}

#[tokio::test]
async fn a_git_file_that_leads_elsewhere_is_as_before_again() {
    let worktree = format!("{REPOSITORY} && git worktree add -q tree");
    let attack = r#"cp -r .git ev; printf '[core]\n\tfsmonitor = %s\n' "$RUN" >> ev/config
        echo "gitdir: ../ev" > tree/x; mv tree/x tree/.git"#;
    let told = check(&worktree, attack).await;
    assert!(told.contains("tree/.git (changed, and as before again)"), "{told}");
}

#[tokio::test]
async fn names_that_were_absent_are_kept_aside() {
    for attack in ["echo \"$RUN\" > .envrc", "mkdir .vscode; echo \"$RUN\" > .vscode/tasks.json"] {
        check(REPOSITORY, attack).await;
    }
}

#[tokio::test]
async fn a_hook_and_a_setting_of_the_repository_are_kept_aside() {
    check(REPOSITORY, r#"git config core.fsmonitor "$RUN""#).await;
    let hook = r#"cp "$RUN" .git/hooks/post-index-change; touch a.txt"#;
    let told = check(REPOSITORY, hook).await;
    assert!(told.contains(".git/hooks/post-index-change (new)"), "{told}");
}

#[tokio::test]
async fn what_replaced_another_is_put_back_as_it_was() {
    let bench = Bench::new();
    plainly(
        &bench.root(),
        &format!("{REPOSITORY}; echo PATH_add bin > .envrc; mkdir .vscode; echo {{}} > .vscode/a"),
    );
    let before = std::fs::read(bench.root().join(".git/config")).expect("settings");
    let attack = "mv .envrc x; echo evil > .envrc; rm -r .vscode; mkdir .vscode; echo evil > .vscode/a; \
                  cp .git/config c; git config core.editor evil";
    let made = bench.run("run_command", &arguments(attack)).await.expect("it ran");
    let text = |name: &str| std::fs::read_to_string(bench.root().join(name)).expect("a file");
    assert_eq!(
        (text(".envrc").as_str(), text(".vscode/a").as_str()),
        ("PATH_add bin\n", "{}\n"),
        "{}",
        made.text
    );
    assert_eq!(text(".git/config").into_bytes(), before);
    assert_eq!(bench.kept_aside().len(), 3, "{}", made.text);
}

#[tokio::test]
async fn an_agents_ordinary_day_keeps_nothing_aside() {
    let bench = Bench::new();
    plainly(&bench.root(), REPOSITORY);
    let day = r#"set -e
        git init -q lib; (cd lib; echo l > l; git add l; git commit -q -m lib)
        echo b > b.txt; git add b.txt; git commit -q -m two; git checkout -q -b topic
        git worktree add -q tree -b other; (cd tree; echo t > t; git add t; git commit -q -m three)
        git -c protocol.file.allow=always submodule --quiet add ./lib sub; git commit -q -m four
        (cd sub; echo s > s; git add s; git commit -q -m five); git add sub; git commit -q -m six
        git clone -q . copy; git init -q --bare store.git; git gc -q"#;
    let made = bench.run("run_command", &arguments(day)).await.expect("it ran");
    assert!(made.text.starts_with("exit code 0"), "{}", made.text);
    assert!(!made.text.contains("kept aside"), "{}", made.text);
    assert_eq!(bench.kept_aside(), Vec::<std::path::PathBuf>::new());
    plainly(
        &bench.root(),
        "git fsck --no-progress && test -f sub/s && test -f tree/t && test -z \"$(git -C sub status --short)\"",
    );
}

#[tokio::test]
async fn names_deep_below_and_names_that_are_no_text_are_found() {
    let bench = Bench::new();
    let made = bench
        .run("run_command", &arguments(r#"d=$(printf 'a\377b'); mkdir -p "$d/x/y/.idea" e/f/.github/workflows; touch e/f/.github/workflows/z"#))
        .await
        .expect("it ran");
    assert_eq!(bench.kept_aside().len(), 2, "{}", made.text);
    let again = bench.run("run_command", &arguments("true")).await.expect("it ran");
    assert!(!again.text.contains("kept aside"), "{}", again.text);
}

/// Looks at a job until what is said of it has some words.
async fn tail_until(bench: &Bench, words: &str) -> String {
    let looked = async {
        loop {
            let seen = bench.run("tail_job", r#"{"job":"job-1"}"#).await.expect("a look").text;
            if seen.contains(words) {
                return seen;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), looked).await.expect("it is said in time")
}

#[tokio::test]
async fn what_a_job_leaves_is_kept_aside_while_it_runs() {
    let bench = Bench::new();
    bench.run("start_job", &arguments("echo evil > .envrc; exec sleep 1000")).await.expect("it started");
    let seen = tail_until(&bench, ".envrc (new)").await;
    assert!(seen.starts_with("still running"), "{seen}");
    assert!(!bench.root().join(".envrc").exists());
    bench.run("stop_job", r#"{"job":"job-1"}"#).await.expect("it ends");
}

#[tokio::test]
async fn what_a_tool_writes_under_a_grant_beside_a_job_stays() {
    use palyra_ports::GrantedState;
    use sha2::{Digest, Sha256};

    let bench = Bench::new();
    plainly(&bench.root(), "mkdir .idea; echo before > .idea/a; echo gone > .idea/b");
    bench.run("start_job", &arguments("exec sleep 1000")).await.expect("it started");
    let writes = bench.tools.parts.settings.writes.clone();
    let granted = |name: &str, text: &str, mode| {
        let state = GrantedState { sha256: Sha256::digest(text).into(), mode };
        writes.record(bench.root().join(name), Some(state));
    };
    granted(".vscode/tasks.json", "{}\n", 0o666);
    granted(".idea/a", "granted\n", 0o644);
    writes.record(bench.root().join(".idea/b"), None);
    granted(".envrc", "export A=1\n", 0o666);
    plainly(
        &bench.root(),
        "mkdir .vscode; echo {} > .vscode/tasks.json; echo granted > .idea/a; rm .idea/b; echo 'export A=1' > .envrc",
    );
    // The control: a name that nobody granted.
    plainly(
        &bench.root(),
        "echo evil > .envrc.x; mkdir .github .github/workflows; echo evil > .github/workflows/a.yml",
    );
    let seen = tail_until(&bench, ".github/workflows (new)").await;
    let text = |name: &str| std::fs::read_to_string(bench.root().join(name)).expect("a file");
    assert!(![".vscode", ".idea", ".envrc "].iter().any(|name| seen.contains(name)), "{seen}");
    assert_eq!((text(".vscode/tasks.json").as_str(), text(".idea/a").as_str()), ("{}\n", "granted\n"));
    // What it makes of them is not granted, and neither is the right to run one.
    plainly(&bench.root(), "echo evil > .vscode/tasks.json; chmod 755 .envrc");
    let seen = tail_until(&bench, ".vscode (changed, and as before again)").await;
    assert_eq!(text(".vscode/tasks.json"), "{}\n", "{seen}");
    bench.run("stop_job", r#"{"job":"job-1"}"#).await.expect("it ends");
}

#[tokio::test]
async fn a_job_that_makes_it_again_is_ended() {
    let bench = Bench::new();
    let again = "while :; do [ -e .envrc ] || echo evil > .envrc; sleep 0.02; done";
    bench.run("start_job", &arguments(again)).await.expect("it started");
    let seen = tail_until(&bench, "ended from outside").await;
    assert!(seen.contains("kept aside"), "{seen}");
    assert!(!bench.root().join(".envrc").exists());
}

#[tokio::test]
async fn what_was_left_when_the_daemon_ended_is_found_by_the_next() {
    let bench = Bench::new();
    plainly(&bench.root(), &format!("{REPOSITORY}; echo before > .envrc"));
    assert_eq!(bench.tools.recover(), Vec::<String>::new());
    bench.run("start_job", &arguments("exec sleep 1000")).await.expect("it started");
    plainly(&bench.root(), "mkdir .vscode; touch .vscode/a; echo '[core]' > .git/config.worktree");
    let moved = bench.tools.recover();
    assert!(moved.len() == 1 && moved[0].contains(".vscode"), "{moved:?}");
    assert!(!bench.root().join(".vscode").exists() && bench.root().join(".envrc").exists());
}

#[tokio::test]
async fn what_was_replaced_when_the_daemon_ended_is_put_back_by_the_next() {
    let bench = Bench::new();
    plainly(
        &bench.root(),
        &format!(
            "{REPOSITORY}; echo before > .envrc; ln .envrc x; echo before > .gitmodules; ln .gitmodules y"
        ),
    );
    bench.run("start_job", &arguments("exec sleep 1000")).await.expect("it started");
    // Through their other names, as a program does that finds the first ones read-only.
    plainly(
        &bench.root(),
        "echo evil > x; printf '[submodule \"a\"]\\n\\tupdate = !evil\\n' > y; chmod 755 x",
    );
    let moved = bench.tools.recover();
    assert!(moved.len() == 2 && moved.iter().all(|line| line.ends_with("is as before again")), "{moved:?}");
    let text = |name: &str| std::fs::read_to_string(bench.root().join(name)).expect("a file");
    assert_eq!((text(".envrc").as_str(), text(".gitmodules").as_str()), ("before\n", "before\n"));
    assert_eq!(bench.kept_aside().len(), 2);
    assert_eq!(bench.tools.recover(), Vec::<String>::new());
}

#[tokio::test]
async fn what_belongs_to_the_daemon_is_mounted_and_nothing_is_added_to_it() {
    let mut bench = Bench::new();
    let root = bench.root();
    bench.write("palyra.toml", "a = 1\n");
    let own = ["palyra.toml", "policies"].map(|name| root.join(name));
    bench.set(|settings| settings.own_paths = own.to_vec());
    let made = bench.run("run_command", &arguments("mkdir policies; echo permit > policies/z.cedar")).await;
    let made = made.expect("it ran");
    assert!(made.text.contains("kept aside") && !root.join("policies").exists(), "{}", made.text);
    let asked = bench.asked.lock().unwrap().last().expect("a command").clone();
    assert_eq!(asked.kept, [root.join("palyra.toml")]);
    // A workspace in such a folder is only read.
    let above = root.parent().expect("a folder").to_owned();
    bench.set(|settings| settings.own_paths = vec![above]);
    bench.run("run_command", &arguments("true")).await.expect("it ran");
    let asked = bench.asked.lock().unwrap().last().expect("a command").clone();
    assert_eq!(asked.access, palyra_ports::WorkspaceAccess::Read);
}

#[tokio::test]
async fn all_that_is_protected_is_mounted_at_any_depth() {
    let bench = Bench::new();
    let before = format!(
        "{REPOSITORY}; git init -q a/b; touch a/b/.envrc; mkdir -p c/.github/workflows; git worktree add -q tree"
    );
    plainly(&bench.root(), &before);
    bench.run("run_command", &arguments("true")).await.expect("it ran");
    let asked = bench.asked.lock().unwrap().last().expect("a command").clone();
    let kept: Vec<_> =
        asked.kept.iter().map(|path| path.strip_prefix(bench.root()).unwrap().to_owned()).collect();
    for name in [
        ".git/config",
        ".git/hooks",
        ".git/worktrees/tree/commondir",
        "a/b/.git/config",
        "a/b/.git/hooks",
        "a/b/.envrc",
        "c/.github/workflows",
        "tree/.git",
    ] {
        assert!(kept.iter().any(|kept| kept == Path::new(name)), "{name} {kept:?}");
    }
}
