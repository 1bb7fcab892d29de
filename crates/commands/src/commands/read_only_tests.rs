//! Folders that are read-only for a program: bound with its plan, mounted for it, and not made by it.

use std::os::unix::fs::symlink;

use palyra_ports::WorkspaceAccess;
use palyra_tool_kit::ToolInvocation;

use super::tests::Bench;
use crate::failure::CommandFailure;
use crate::run_command;

fn arguments(script: &str) -> String {
    serde_json::json!({ "argv": ["sh", "-c", script] }).to_string()
}

fn granted(bench: &Bench, script: &str, folders: &[&str]) -> Result<ToolInvocation, CommandFailure> {
    let folders: Vec<String> = folders.iter().map(|folder| (*folder).to_owned()).collect();
    let arguments = arguments(script);
    let prepared = run_command::prepare(&bench.tools.parts, &arguments, &bench.root(), &folders)?;
    assert_eq!(prepared.read_only, folders);
    for folder in &folders {
        let line = if folder == "." { "may change  nothing\n" } else { &format!("read-only   {folder}\n") };
        assert!(prepared.preview.expose().contains(line), "{}", prepared.preview.expose());
    }
    Ok(bench.granted("run_command", &arguments, prepared.body.expose()))
}

/// Runs a script and returns which paths were mounted read-only, from the workspace root.
async fn mounted(bench: &Bench, script: &str, folders: &[&str]) -> Result<(String, String), CommandFailure> {
    let made = bench.execute(&granted(bench, script, folders)?).await?;
    let asked = bench.asked.lock().unwrap();
    let command = asked.last().expect("it was started");
    let kept =
        command.kept.iter().map(|path| path.strip_prefix(bench.root()).expect("below").display().to_string());
    let kept = kept.collect::<Vec<_>>().join(" ");
    Ok((if command.access == WorkspaceAccess::Read { "ALL".to_owned() } else { kept }, made.text))
}

#[tokio::test]
async fn folders_are_mounted_read_only_by_the_names_that_file_tools_are_judged_by() {
    let bench = Bench::new();
    for folder in ["src/inner", "SRC", "lib/src", "Docs"] {
        std::fs::create_dir_all(bench.root().join(folder)).expect("a folder");
    }
    bench.write("docs", "a file");
    for (folders, expect) in [
        (&[][..], ""),
        (&["src"], "SRC src"),
        (&["lib/SRC", "src/inner/"], "lib/src src/inner"),
        (&["docs"], "Docs docs"),
        (&["missing", "lib/missing"], ""),
        (&["."], "ALL"),
    ] {
        let (mounted, _) = mounted(&bench, "true", folders).await.expect("it ran");
        let mut mounted: Vec<&str> = mounted.split(' ').collect();
        mounted.sort_unstable();
        assert_eq!(mounted.join(" "), expect, "{folders:?}");
    }
}

#[tokio::test]
async fn a_closed_folder_that_a_program_makes_is_kept_aside() {
    for (script, path) in [
        ("mkdir src; echo x > src/a", "src"),
        ("mkdir -p lib/src", "lib/src"),
        ("mkdir -p x/src; mv x lib", "lib/src"),
        ("mkdir Src", "Src"),
        ("echo x > src", "src"),
        ("mkdir other; ln -s other src", "src"),
        ("mkdir -p other/src; ln -s other lib", "lib"),
    ] {
        let bench = Bench::new();
        let (_, told) = mounted(&bench, script, &["src", "lib/src"]).await.expect("it ran");
        assert!(
            told.contains("a rule forbids it") && told.contains(&format!("{path} (new)")),
            "{script}: {told}"
        );
        assert!(std::fs::symlink_metadata(bench.root().join(path)).is_err(), "{script}: {told}");
        assert_eq!(bench.kept_aside().len(), 1, "{script}");
        // The control: no rule, nothing taken.
        let bench = Bench::new();
        let (_, told) = mounted(&bench, script, &[]).await.expect("it ran");
        assert!(!told.contains("kept aside") && bench.root().join(path).exists(), "{script}: {told}");
    }
}

#[tokio::test]
async fn what_the_person_changes_in_a_closed_folder_meanwhile_stays() {
    let bench = Bench::new();
    std::fs::create_dir(bench.root().join("src")).expect("a folder");
    // Nothing is mounted here, so that the program is in the place of the person.
    let script = "echo x > src/a; mkdir new; mv src old; mv new src; echo y > src/b";
    let (mounted, told) = mounted(&bench, script, &["src"]).await.expect("it ran");
    assert_eq!(mounted, "src");
    assert!(!told.contains("kept aside") && bench.root().join("src/b").exists(), "{told}");
}

#[tokio::test]
async fn a_link_on_the_way_to_a_closed_folder_is_refused() {
    for (link, folder) in [("src", "src"), ("lib", "lib/src"), ("LIB", "lib/src")] {
        let bench = Bench::new();
        std::fs::create_dir_all(bench.root().join("other/src")).expect("a folder");
        symlink("other", bench.root().join(link)).expect("a link");
        let call = granted(&bench, "true", &[folder]).expect("it is looked at");
        let refused = bench.execute(&call).await.expect_err("it is refused").to_string();
        assert!(
            refused.contains(link) && refused.contains("the real folder in the rule, without links"),
            "{refused}"
        );
        assert!(bench.asked.lock().unwrap().is_empty(), "nothing was started");
        let (_, told) = mounted(&bench, "true", &["other/src"]).await.expect("the control runs");
        assert!(told.starts_with("exit code 0"), "{told}");
    }
}

#[tokio::test]
async fn a_file_of_a_closed_folder_with_a_name_elsewhere_is_refused() {
    let bench = Bench::new();
    for folder in ["src/inner", "lib"] {
        std::fs::create_dir_all(bench.root().join(folder)).expect("a folder");
    }
    bench.write("src/a", "text");
    let link =
        |name: &str| std::fs::hard_link(bench.root().join("src/a"), bench.root().join(name)).expect("a name");
    // The controls: a second name in the same folder, in another closed one, and outside of the workspace.
    link("src/inner/b");
    link("lib/c");
    let outside = bench.root().with_extension("outside");
    std::fs::hard_link(bench.root().join("src/a"), &outside).expect("a name");
    let (kept, _) = mounted(&bench, "true", &["src", "lib"]).await.expect("the control runs");
    std::fs::remove_file(&outside).expect("it goes");
    assert!(["lib src", "src lib"].contains(&kept.as_str()), "{kept}");
    for folders in [&["src"][..], &["src/a"], &["lib"]] {
        let call = granted(&bench, "true", folders).expect("it is looked at");
        let refused = bench.execute(&call).await.expect_err("it is refused").to_string();
        assert!(refused.contains("is another name of") && refused.contains("put a copy"), "{refused}");
    }
    assert_eq!(bench.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn there_is_room_for_every_closed_folder_or_nothing_starts() {
    let bench = Bench::new();
    let folders: Vec<String> = (0..600).map(|number| format!("folder-{number}")).collect();
    for folder in &folders {
        std::fs::create_dir(bench.root().join(folder)).expect("a folder");
    }
    let names: Vec<&str> = folders.iter().map(String::as_str).collect();
    let refused = bench.execute(&granted(&bench, "true", &names).expect("it is looked at")).await;
    let refused = refused.expect_err("it is refused").to_string();
    assert!(refused.contains("cannot be made read-only (no space left)"), "{refused}");
    let (kept, _) = mounted(&bench, "true", &names[..100]).await.expect("the control runs");
    assert_eq!(kept.split(' ').count(), 100);
}

#[tokio::test]
async fn the_folders_of_the_recorded_plan_count() {
    let bench = Bench::new();
    std::fs::create_dir(bench.root().join("src")).expect("a folder");
    let call = granted(&bench, "true", &["src"]).expect("it is looked at");
    assert!(call.plan.contains(r#""read_only":["src"]"#), "{}", call.plan);
    let without = granted(&bench, "true", &[]).expect("it is looked at");
    assert!(!without.plan.contains("read_only"), "an old plan has the form that it had: {}", without.plan);
    bench.execute(&call).await.expect("it ran");
    bench.execute(&without).await.expect("it ran");
    let kept: Vec<usize> = bench.asked.lock().unwrap().iter().map(|command| command.kept.len()).collect();
    assert_eq!(kept, [1, 0]);
}
