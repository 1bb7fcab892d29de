//! A command that leaves `.git` out of what it reads is asked about; one that reaches it is denied, however it is written.

use palyra_types::tool::{Capability, EffectContract, ToolCatalog, ToolDecision, ToolVerdict};
use serde_json::json;

use crate::decide::{CallEvidence, decide_tool_call};
use crate::fixture::{ROOT, call, tool};
use crate::rules::ToolPolicyRules;
use crate::snapshot::ToolCallPolicySnapshot;

/// The policies that ship, for a tool that starts programs in the workspace.
fn shipped() -> ToolCallPolicySnapshot {
    let capabilities = [Capability::ReadFiles, Capability::WriteFiles, Capability::Process];
    let argv = json!({"argv": {"type": "array", "items": {"type": "string"}, "minItems": 1}});
    let runs = tool("run_command", EffectContract::Opaque, &capabilities, &argv);
    let catalog = ToolCatalog::new(vec![runs]).into();
    ToolCallPolicySnapshot::compile(catalog, ToolPolicyRules::shipped(), |_| [0; 32]).expect("a snapshot")
}

fn judge(snapshot: &ToolCallPolicySnapshot, argv: &[&str]) -> ToolDecision {
    let evidence = CallEvidence { workspace: Some(ROOT), ..CallEvidence::default() };
    decide_tool_call(snapshot, &call("run_command", &json!({ "argv": argv })), &evidence)
}

#[test]
fn a_line_that_leaves_git_out_is_asked_about() {
    let shipped = shipped();
    for line in [
        "grep -rl warehouse . --exclude-dir=.git",
        "grep -rn 'def x' . --include=*.py --exclude-dir='.git' 2>/dev/null | head -20",
        "grep --exclude=.git -r x .",
        "grep -rn --exclude-dir .git x . | wc -l",
        "cd src && grep -rn x --exclude-dir=.git --exclude-dir=node_modules .",
        "find . -name '*.py' -not -path './.git/*' | head",
        "find . -type f ! -path '*/.git/*' -print0 | xargs -0 wc -l",
        "find . -type f -not -path \"./.git/*\" -not -path './target/*' | sort | head -50",
        "find . -maxdepth 3 -not -name .git",
        "find . -path ./.git -prune -o -print",
        "find . -maxdepth 2 -name .git -prune -o -type f -print",
        "find . -name '*.py' -not -path './.git/*' -exec wc -l {} +",
        r"find . -name '*.pyc' \! -path './.git/*' -exec grep -l x '{}' \;",
        "find . -not -path '*/.git/*' -name '*.pyc' -delete",
        "find . -type f | grep -v '/.git/'",
        r"find . -type f | grep -vE '\.git/' | head",
        "rg -n -g '!**/.git/*' warehouse",
        "rg --glob='!**/.git/**' --hidden warehouse",
        "fd -H -E .git main",
        "tree -a -I .git",
        "tree -L 2 -a -I '.git' src",
        "du -sh --exclude=.git .",
        "rsync -av --exclude=.git src/ copy/",
        "rsync -a --delete --exclude .git/ src/ copy/",
        "diff -r -x .git a b",
        "diff -rq --exclude=.git a b",
    ] {
        let decision = judge(&shipped, &["bash", "-lc", line]);
        assert_eq!(decision.verdict, ToolVerdict::Ask, "{line}: {:?}", decision.explanation);
    }
    for argv in [
        &["grep", "-rl", "warehouse", ".", "--exclude-dir=.git"][..],
        &["find", ".", "-not", "-path", "./.git/*"],
        &["tree", "-a", "-I", ".git"],
    ] {
        assert_eq!(judge(&shipped, argv).verdict, ToolVerdict::Ask, "{argv:?}");
    }
}

#[test]
fn what_reaches_git_is_denied_beside_an_exclusion_of_it() {
    let shipped = shipped();
    for line in [
        // Another word of the line.
        "grep -r x --exclude-dir=.git . > .git/hooks/pre-commit",
        "grep -r x --exclude-dir=.git . >>.git/hooks/pre-commit",
        "grep -r x --exclude-dir=.git . 2>.git/hooks/pre-commit",
        "grep -r x --exclude-dir=.git .>.git/hooks/pre-commit",
        "echo x>.git/hooks/pre-commit",
        "cd src;.git/hooks/pre-commit",
        "grep -r x --exclude-dir=.git . && cp x .git/hooks/",
        "grep -r x --exclude-dir=.git .git",
        "grep -r x . -- --exclude-dir=.git",
        "cd .git && grep -r x --exclude-dir=.git .",
        "GIT_DIR=.git grep -r x --exclude-dir=.git .",
        "find .git -not -path './.git/*'",
        "find . -not -path './.git/*' | xargs cp -t .git/hooks",
        "find . -not -path './.git/*' -exec cp {} .git/hooks ;",
        // No exclusion by its meaning.
        "find .git -delete",
        "find . -path './.git/*' -delete",
        "find . -path './.git/*'",
        "find . -not -not -path './.git/*' -delete",
        "find . ! ! -path './.git/*' -delete",
        "find . -name -not -path './.git/*' -delete",
        "find . -not -path x -o -path './.git/*' -exec rm {} +",
        "find . -not -path './.git/*' -o -delete",
        "find . -not -path './.git/*' , -delete",
        r"find . -not \( -path './.git/*' \) -delete",
        r"find . \( -not -path './.git/*' \)",
        "find . -delete -not -path './.git/*'",
        r"find . -exec rm {} \; -not -path './.git/*'",
        "find . -not -name .git -delete",
        "find . -not -path ./.git -exec rm -r {} +",
        "find . -path ./.git -prune -o -name x -delete",
        "find . -depth -path ./.git -prune -o -print",
        "find . -name x -o -path ./.git -prune -o -print",
        "find . -not -path './.git/*' -fprint .git/hooks/x",
        "find . -fprint x -not -path './.git/*'",
        "find . -not -path './.git/*' -execdir touch {} ;",
        "rg -g '.git/*' x",
        "rg --pre ./run -g '!**/.git/*' x",
        "fd -x rm {} -E .git",
        "fd -HxE .git rm",
        "tree -o .git/x -I .git",
        "tree -Po -I .git/hooks/x",
        "rsync -a --exclude=.git src/ .git/hooks/",
        "rsync -a --delete --delete-excluded --exclude=.git src/ .",
        "rsync src -e --exclude .git/hooks",
        "rsync -a --exclude-from=.git/x src/ copy/",
        // Programs and options that are not known here.
        "tar --exclude=.git -C .git x",
        "tar --exclude=.git -cf x.tar .",
        "cp --exclude=.git a b",
        "./grep --exclude-dir=.git x",
        "grep --exclude-from=.git/x -r y .",
        "git --git-dir .git status",
        "git --git-dir=.git config core.hooksPath x",
        "rm -rf .git",
        // Words that are not certain, and lines that are not read to their end.
        "grep -r $x --exclude-dir=.git .",
        "find $x -not -path './.git/*'",
        "find * -not -path './.git/*'",
        "find . -not -path ./.git/*",
        "grep -r x --exclude-dir=.git . $(touch y)",
        "for x in a; do grep -r x --exclude-dir=.git .; done",
        "eval grep -r x --exclude-dir=.git .",
        "grep -r x '--exclude-dir=.git > .git/x' .",
        "grep -r x '--exclude-dir=a .git/hooks' .",
        "sh -c 'grep -r x --exclude-dir=.git .'",
        "xargs grep --exclude-dir=.git",
    ] {
        let decision = judge(&shipped, &["bash", "-lc", line]);
        assert_eq!(decision.verdict, ToolVerdict::Deny, "{line}");
        let told = decision.explanation.expose();
        assert!(
            told.contains("`never-into-git`")
                && told.contains("no program may name `.git`: leave it out of the line"),
            "{line}: {told}"
        );
    }
    for argv in [
        &["find", ".", "-path", "./.git/*", "-delete"][..],
        &["find", ".", "-not", "-path", "./.git/*", "-exec", "sh", "-c", "x", ";"],
        &["bash", "-lc", "grep --exclude-dir=.git x", "grep --exclude-dir=.git x"],
        &["env", "grep", "--exclude-dir=.git", "x"],
        &["bash", "-lO", "grep --exclude-dir=.git x", "-c", "ls"],
        &["fish", "-c", "grep --exclude-dir=.git x"],
        &["cp", "hook", ".git/hooks/pre-commit"],
    ] {
        assert_eq!(judge(&shipped, argv).verdict, ToolVerdict::Deny, "{argv:?}");
    }
}
