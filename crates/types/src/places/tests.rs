//! What the table says of paths, and that each row says who reads it.

use super::*;

fn check(path: &str, expect: &str) {
    let kinds = kinds_of(&folded_names(path));
    let name = |kind: &PlaceKind| format!("{kind:?}");
    assert_eq!(kinds.iter().map(name).collect::<Vec<_>>().join(" "), expect, "{path:?}");
}

#[test]
fn every_row_has_a_source_and_lower_case_paths() {
    let mut seen = std::collections::BTreeSet::new();
    let lines = include_str!("../../data/places.tsv").lines();
    let written = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).count();
    assert_eq!(place_rows().len(), written, "each line of the table is read");
    for row in place_rows() {
        assert!(row.source.starts_with("https://"), "{row:?}");
        assert!(!row.paths.is_empty(), "{row:?}");
        for path in &row.paths {
            assert!(path.matches('*').count() <= 1 && !path.starts_with('/'), "{path}");
            assert_eq!(folded_names(path).join("/"), path.trim_end_matches('/'), "{path} is not folded");
            assert!(seen.insert((row.kind, *path)), "{path} is there twice as {:?}", row.kind);
        }
    }
}

#[test]
fn what_runs_without_the_person_is_known() {
    for path in [
        ".gitlab-ci.yml",
        "Jenkinsfile",
        ".circleci/config.yml",
        ".devcontainer.json",
        ".gdbinit",
        ".lldbinit",
        "mise.toml",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".zed/tasks.json",
        ".vscode/tasks.json",
        "sub/.idea/x.xml",
        ".pre-commit-config.yaml",
        "lefthook.yml",
        ".husky/pre-commit",
        ".yarnrc.yml",
        ".tool-versions",
        ".drone.yml",
        ".gitea/workflows/x.yml",
        ".woodpecker/x.yml",
        "azure-pipelines.release.yml",
        "bitbucket-pipelines.yml",
        ".travis.yml",
        ".buildkite/pipeline.yml",
        "mise.local.toml",
        ".github/workflows/ci.yml",
        ".cargo/config.toml",
        "team.code-workspace",
    ] {
        check(path, "RunsLater");
    }
    check(".envrc", "Credentials RunsLater");
    check(".github/README.md", "");
}

#[test]
fn what_a_build_runs_and_what_instructs_an_agent_are_known_at_the_end_of_a_path() {
    for path in [
        "Makefile",
        "package.json",
        "conftest.py",
        "build.rs",
        ".bazelrc",
        "crates/x/Cargo.toml",
        "justfile",
        "Taskfile.yml",
        "tox.ini",
        "noxfile.py",
        "setup.py",
        "pyproject.toml",
        ".pnpmfile.cjs",
        "app/build.gradle.kts",
        "flake.nix",
        "docker-compose.override.yml",
        "gradle/wrapper/gradle-wrapper.properties",
    ] {
        check(path, "BuildFiles");
    }
    for path in [
        "CLAUDE.md",
        "AGENTS.md",
        "sub/agents.md",
        ".cursorrules",
        ".github/copilot-instructions.md",
        "GEMINI.md",
    ] {
        check(path, "AgentInstructions");
    }
    for path in
        ["Makefile/x", "src/main.rs", "build/out.txt", "gradle/libs.txt", "README.md", "agents.md.txt"]
    {
        check(path, "");
    }
}

#[test]
fn credentials_are_known_and_what_is_made_to_be_read_is_none() {
    for path in [
        ".env",
        ".env.production",
        "deploy/prod.env",
        "prod.tfvars",
        "x.auto.tfvars.json",
        "auth.json",
        ".credentials.json",
        ".my.cnf",
        ".git/config",
        "keys/server.PEM",
        "secrets/db",
        "id_rsa_old",
        ".config/gh/hosts.yml",
        ".cache/huggingface/token",
        "kubeconfig",
        "service-account.json",
        ".bash_history",
    ] {
        assert!(is_credential(&folded_names(path)), "{path}");
    }
    for path in [".env.example", "id_rsa.pub", "src/key.rs", "environment.ts", ".git/HEAD", "token"] {
        assert!(!is_credential(&folded_names(path)), "{path}");
    }
}

#[test]
fn names_are_known_however_they_are_spelled() {
    for spelled in [".ENVRC", ".env\u{200c}rc", "\u{ff0e}envrc", ".envrc. "] {
        check(spelled, "Credentials RunsLater");
    }
    assert!(is_git(&folded(".Git")) && !is_git(".gitignore"));
}

#[test]
fn it_may_take_further_names_to_know_a_place() {
    let names = |path: &str| folded_names(path);
    assert!(is_steering(&names("x/.github/workflows")) && is_steering(&names("Makefile")));
    assert!(leads_to_steering(&names(".github")) && leads_to_steering(&names("x/.config")));
    assert!(!leads_to_steering(&names("src")) && !is_steering(&names(".github/README.md")));
}
