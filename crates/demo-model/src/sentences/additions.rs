//! Sentences that want a section, a header, a target, a script or a dependency added, or files changed together.

use serde_json::json;

use super::super::calls::patch_call;
use super::super::content::given;
use super::super::intent::{
    ClauseIntent, FileChange, FileSelection, IntendedCall, MissingAbility, ToolAbility, ToolGoal,
};
use super::super::objects::{has_extension, is_file_name};
use super::super::pattern::PatternMatch;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "append|add|put|write|create [new] section|heading|chapter|headline [called|named|titled] {text} to|in|into|at [end|bottom] [of] {path} saying|containing|with|that|which [says|contains|text|words|content|line|sentence] [text|words|content] {text}",
            "append|add|put|write|create [new] section|heading|chapter|headline [called|named|titled] {text} with|saying|containing [text|words|content|line|sentence] {text} to|in|into|at [end|bottom] [of] {path}",
            "append|add|put|write|create [new] {word} section with|saying|containing [text|words|content|line|sentence] {text} to|in|into|at [end|bottom] [of] {path}",
            "append|add|put|write|create [new] {word} section to|in|into|at [end|bottom] [of] {path} saying|containing|with|that|which [says|contains|text|words|content|line|sentence] [text|words|content] {text}",
        ],
        means: |found| section(found, true),
    },
    PatternRow {
        says: &[
            "append|add|put|write [new|empty] section|heading|chapter|headline [called|named|titled] {text} to|in|into|at [end|bottom] [of] {path}",
        ],
        means: |found| section(found, false),
    },
    PatternRow {
        says: &[
            "create|make|write|add|new [new] {path} with [just|only] heading|title|headline [called|named|saying] {text} and|with|plus|containing [text|line|paragraph|words|body|content|sentence] {text}",
        ],
        means: |found| {
            let body = plain(found, 1).filter(|_| found.is_quoted(1))?;
            let heading = plain(found, 0)?;
            Some(written(&found.path(0), &format!("{}\n\n{body}\n", titled("#", &heading))))
        },
    },
    PatternRow {
        says: &[
            "create|make|write|add|new [new] {path} with|containing [just|only] heading|title|headline [called|named|saying] {text}",
        ],
        means: |found| Some(written(&found.path(0), &format!("{}\n", titled("#", &plain(found, 0)?)))),
    },
    PatternRow {
        says: &[
            "new file {path} with|containing|saying [content|text|line|lines|words] {text}",
            "create|make|write|new [new] {path} with|containing lines|items|entries {text}",
        ],
        means: |found| match given(&found.path(0), found.text_words(0), &found.text(0)) {
            Ok(text) => Some(written(&found.path(0), &text)),
            Err(lack) => Some(ClauseIntent::Cannot(lack)),
        },
    },
    PatternRow {
        says: &[
            "add|put|insert|prepend|write|place [line|text|comment|header|words] {text} at|to|on|as [very] top|beginning|start|head|front [line] of|in every|each|all [of] {kind} file|files|source|sources|script|scripts in|under|below|inside {folder}",
            "prepend [line|text|comment|header] {text} to every|each|all {kind} file|files|source|sources in|under|below|inside {folder}",
        ],
        means: |found| {
            let text = plain(found, 0).filter(|_| found.is_quoted(0))?;
            Some(each(&found.folder(0), found.extension(0), FileChange::Header(text)))
        },
    },
    PatternRow {
        says: &[
            "add|put|insert|prepend|write|place [line|text|comment|header|words] {text} at|to|on|as [very] top|beginning|start|head|front [line] of|in every|each|all [of] {kind} file|files|source|sources|script|scripts",
            "prepend [line|text|comment|header] {text} to every|each|all {kind} file|files|source|sources",
        ],
        means: |found| {
            let text = plain(found, 0).filter(|_| found.is_quoted(0))?;
            Some(each(".", found.extension(0), FileChange::Header(text)))
        },
    },
    PatternRow {
        says: &[
            "append|add|put|write [line|text|comment|words] {text} to|at [end|bottom] [of] every|each|all [of] {kind} file|files|source|sources|script|scripts in|under|below|inside {folder}",
        ],
        means: |found| {
            let text = plain(found, 0).filter(|_| found.is_quoted(0))?;
            Some(each(&found.folder(0), found.extension(0), FileChange::Footer(text)))
        },
    },
    PatternRow {
        says: &[
            "add|put|insert|prepend|write [line|text|comment|header|words] {text} at|to|on|as [very] top|beginning|start|head [line] of [both|all] {paths}",
            "prepend [line|text|comment|header] {text} to [both|all] {paths}",
        ],
        means: |found| several(found, FileChange::Header),
    },
    PatternRow {
        says: &[
            "append|add|put|write [new] [line|text|words|entry|comment] [saying] {text} to|in|into|at [end|bottom] [of] [both|all] {paths}",
        ],
        means: |found| several(found, FileChange::Footer),
    },
    PatternRow {
        says: &[
            "add|append|create [new] make|makefile target [called|named] {word} that|which runs|calls|executes|does {text} to|in|into {path}",
            "add|append|create [new] target [called|named] {word} to|in|into {path} that|which runs|calls|executes|does {text}",
            "add|append|create [new] {word} target to|in|into {path} that|which runs|calls|executes|does {text}",
            "add|append|create [new] target [called|named] {word} to|in|into {path} running|with [command] {text}",
            "add|append|create [new] {word} target to|in|into {path} running|with [command] {text}",
        ],
        means: |found| target(found, &found.path(0)),
    },
    PatternRow {
        says: &[
            "add|append|create [new] make|makefile target [called|named] {word} that|which runs|calls|executes|does {text}",
            "add|append|create [new] make|makefile target [called|named] {word} running|with [command] {text}",
            "add|append|create [new] {word} make|makefile target that|which runs|calls|executes|does {text}",
            "add|append|create [new] target [called|named] {word} that|which runs|calls|executes {text}",
        ],
        means: |found| target(found, "Makefile"),
    },
    PatternRow {
        says: &[
            "add|create [new|npm] [npm] script [called|named] {word} that|which runs|calls|executes|does {text} [to|in|into] {path}",
            "add|create [new|npm] [npm] script [called|named] {word} to|in|into {path} that|which runs|calls|executes|does {text}",
            "add|create [new|npm] [npm] {word} script to|in|into {path} that|which runs|calls|executes|does {text}",
            "add|create [new|npm] [npm] script [called|named] {word} with|running [command] {text} to|in|into {path}",
            "add|create [new|npm] [npm] script [called|named] {word} to|in|into {path} with|running [command] {text}",
        ],
        means: |found| {
            let (name, command, path) = (found.word(0), plain(found, 0)?, found.path(0));
            (path.ends_with("package.json")).then(|| named(&path, FileChange::Script { name, command }))
        },
    },
    PatternRow {
        says: &[
            "add|create [new] npm script [called|named] {word} that|which|with|running [runs|calls|executes] {text}",
        ],
        means: |found| {
            let (name, command) = (found.word(0), plain(found, 0)?);
            Some(named("package.json", FileChange::Script { name, command }))
        },
    },
    PatternRow {
        says: &[
            "add [new] [dependency|package|crate|library] {word} [version|at|in] [version] {word} to|as|in [dependencies|dependency] [of|in|to] {path}",
            "add [new] [dependency|package|crate|library] {word} = {word} to|in [dependencies] [of|in] {path}",
            "add {word} [version] {word} as dependency to|in {path}",
        ],
        means: |found| dependency(found, &found.word(0), &found.word(1)),
    },
    PatternRow {
        says: &[
            "add [new] [dependency|package|crate|library] {word} to|in|into [dependencies] [of|in|section] [of] {path}",
            "add {word} as dependency to|in {path}",
        ],
        means: |found| {
            let word = found.word(0);
            let path = found.path(0);
            let is_manifest = path.ends_with("package.json") || path.ends_with("Cargo.toml");
            if !is_manifest {
                return None;
            }
            match word.rsplit_once('@').filter(|(name, _)| !name.is_empty()) {
                Some((name, version)) => dependency(found, name, version),
                None => Some(ClauseIntent::Cannot(MissingAbility::Compose)),
            }
        },
    },
    PatternRow {
        says: &[
            "pin [package|dependency] {word} to|at [version] {word} in {path}",
            "pin [package|dependency] {word} in {path} to|at [version] {word}",
        ],
        means: |found| {
            let (name, version) = (found.word(0), found.word(1));
            let path = found.path(0);
            let is_list = path.rsplit('/').next()?.starts_with("requirements");
            let line = format!("{name}=={}", version.trim_start_matches("=="));
            let change = super::super::intent::LineChange::Pin { name, line };
            is_list.then(|| ClauseIntent::Goal(ToolGoal::Rewrite { path, change }))
        },
    },
    PatternRow {
        says: &[
            "strip|remove|delete|trim|clean [all|any] trailing whitespace|spaces|blanks in|from|of|at {path}",
            "trim trailing whitespace|spaces {path}",
        ],
        means: |found| Some(named(&found.path(0), FileChange::Trimmed)),
    },
    PatternRow {
        says: &["remove|delete|strip|drop [all|the] empty|blank lines in|from|of {path}"],
        means: |found| Some(named(&found.path(0), FileChange::Dense)),
    },
    PatternRow {
        says: &["move|mv {paths} to|into|in {folder}", "move|mv {paths} into|in it|there"],
        means: |found| {
            let paths = found.paths(0);
            let folder = if found.has_folders(1) { found.folder(0) } else { found.it()?.to_owned() };
            let is_so = paths.len() > 1 && folder != "." && !is_file_name(&folder);
            let renames: String = paths.iter().map(|path| renaming(path, &folder)).collect();
            is_so.then(|| ClauseIntent::Goal(ToolGoal::one(patch_call(&renames))))
        },
    },
    PatternRow {
        says: &[
            "put|add|create|make|place|drop|touch [new] [empty|blank] [file] {word} in|into|inside it|there",
        ],
        means: |found| {
            let (name, folder) = (found.word(0), found.it().filter(|it| !is_file_name(it))?);
            let is_name = !name.contains('/') && (has_extension(&name) || name.starts_with('.'));
            is_name.then(|| empty(&format!("{folder}/{name}")))
        },
    },
];

fn renaming(from: &str, folder: &str) -> String {
    let to = format!("{}/{}", folder.trim_end_matches('/'), from.rsplit('/').next().unwrap_or(from));
    format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n")
}

fn plain(found: &PatternMatch<'_>, at: usize) -> Option<String> {
    let words = found.text_words(at);
    let mixed = words.len() > 1 && words.iter().any(super::super::words::WordToken::is_quoted);
    (!mixed && !words.is_empty()).then(|| found.text(at))
}

/// Writes a heading, unless it is one already.
fn titled(level: &str, text: &str) -> String {
    if text.starts_with('#') { text.to_owned() } else { format!("{level} {text}") }
}

fn written(path: &str, text: &str) -> ClauseIntent {
    let call = IntendedCall::new(ToolAbility::Write, &[("path", path), ("content", text)]);
    ClauseIntent::Goal(ToolGoal::one(call.with("mode", json!("create"))))
}

fn empty(path: &str) -> ClauseIntent {
    written(path, "")
}

/// Adds a section; its text is in quotation marks.
fn section(found: &PatternMatch<'_>, has_text: bool) -> Option<ClauseIntent> {
    let named = found.text_words(if has_text { 1 } else { 0 }).is_empty();
    let (heading, body) = match (named && has_text, has_text) {
        (true, _) => (found.word(0), Some(0)),
        (false, true) => (plain(found, 0)?, Some(1)),
        (false, false) => (plain(found, 0)?, None),
    };
    let joins = ["with", "saying", "and", "containing", "that", "for", "about"];
    let is_long = body != Some(0)
        && !found.is_quoted(0)
        && found.text_words(0).iter().any(|word| joins.contains(&word.lower().as_str()));
    let path = found.path(0);
    let prose = path.ends_with(".md") || path.ends_with(".markdown");
    if is_long || !prose || heading.is_empty() {
        return None;
    }
    let heading = titled("##", &heading);
    let text = match body {
        None => format!("\n{heading}"),
        Some(at) if found.is_quoted(at) => format!("\n{heading}\n\n{}", found.text(at)),
        Some(_) => return Some(ClauseIntent::Cannot(MissingAbility::Quotes)),
    };
    Some(ClauseIntent::Goal(ToolGoal::Append { path, text }))
}

fn each(folder: &str, extension: &str, change: FileChange) -> ClauseIntent {
    let below = if folder == "." { String::new() } else { format!("{folder}/") };
    let files = FileSelection::Matching(format!("{below}**/*.{extension}"));
    ClauseIntent::Goal(ToolGoal::Reshape { files, change })
}

fn named(path: &str, change: FileChange) -> ClauseIntent {
    ClauseIntent::Goal(ToolGoal::Reshape { files: FileSelection::Named(vec![path.to_owned()]), change })
}

fn several(found: &PatternMatch<'_>, change: fn(String) -> FileChange) -> Option<ClauseIntent> {
    let paths = found.paths(0);
    if paths.len() < 2 {
        return None;
    }
    match given(&paths[0], found.text_words(0), &found.text(0)) {
        Ok(text) => {
            let change = change(text.trim_end_matches('\n').to_owned());
            Some(ClauseIntent::Goal(ToolGoal::Reshape { files: FileSelection::Named(paths), change }))
        }
        Err(lack) => Some(ClauseIntent::Cannot(lack)),
    }
}

fn target(found: &PatternMatch<'_>, path: &str) -> Option<ClauseIntent> {
    let (name, command) = (found.word(0), plain(found, 0)?);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
    let is_vague = found
        .text_words(0)
        .iter()
        .any(|word| ["all", "every", "the", "everything", "tests", "and"].contains(&word.lower().as_str()));
    if is_vague {
        return Some(ClauseIntent::Cannot(MissingAbility::Quotes));
    }
    let is_makefile = path.ends_with("akefile") || path.ends_with(".mk");
    (is_name && is_makefile).then(|| named(path, FileChange::Target { name, command }))
}

fn dependency(found: &PatternMatch<'_>, name: &str, version: &str) -> Option<ClauseIntent> {
    let path = found.path(0);
    let is_manifest = path.ends_with("package.json") || path.ends_with("Cargo.toml");
    let is_version = version.contains(|c: char| c.is_ascii_digit()) || version == "*";
    let is_name = name.chars().all(|c| c.is_alphanumeric() || "-_./@".contains(c)) && !name.is_empty();
    let change = FileChange::Dependency { name: name.to_owned(), version: version.to_owned() };
    (is_manifest && is_version && is_name).then(|| named(&path, change))
}
