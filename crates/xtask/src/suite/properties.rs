//! Hunting: the tests that throw dice, over and over, with other dice each time.
//!
//! Owns the programs that are run, for how long, and what is said of a test that failed. Begin at [`properties`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};

use super::by_chance;
use super::chance::SeededRandom;
use super::check;
use crate::repo;

/// Without `--seeds` and `--minutes`.
const MINUTES: u64 = 10;
/// Lines of a failure that are shown.
const LINES_SHOWN_MAX: usize = 60;
const SAID_EVERY: Duration = Duration::from_secs(60);

/// How long to hunt, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct HuntOptions {
    /// Stops after N minutes; ten unless a number of seeds is given.
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
    /// Stops after N seeds.
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// The first seed; those after it are its successors. Chosen by the clock unless given.
    #[arg(long, value_name = "SEED")]
    from: Option<u64>,
    /// Only this package, such as `palyra-run-core`; may be repeated.
    #[arg(long, short, value_name = "NAME")]
    package: Vec<String>,
}

/// A test program with the tests in it that throw dice.
struct Program {
    package: String,
    folder: PathBuf,
    file: PathBuf,
    tests: Mutex<BTreeSet<String>>,
}

/// Runs them until the time or the seeds are used up; fails when a test did.
pub(crate) fn properties(options: &HuntOptions) -> Result<ExitCode> {
    let programs = programs(&options.package)?;
    let tests: usize = programs.iter().map(|program| program.tests().len()).sum();
    ensure!(tests > 0, "no package of that name has a test that throws dice");
    let minutes = options.minutes.or(options.seeds.is_none().then_some(MINUTES));
    let began = Instant::now();
    let hunt = PropertyHunt {
        programs,
        first: options.from.unwrap_or_else(by_the_clock),
        jobs: AtomicU64::new(0),
        seeds: options.seeds,
        until: minutes.map(|minutes| began + Duration::from_secs(minutes * 60)),
        failed: Mutex::default(),
        said: Mutex::new(began),
    };
    println!("{tests} tests in {} programs, seeds from {} on", hunt.programs.len(), hunt.first);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        let hunters: Vec<_> = (0..threads).map(|_| scope.spawn(|| hunt.go())).collect();
        hunters.into_iter().try_for_each(|hunter| hunter.join().unwrap_or_else(|_| Ok(())))
    })?;
    let failed = hunt.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    let rounds = hunt.jobs.into_inner() / hunt.programs.len() as u64;
    println!("{rounds} seeds in {} s: {} tests failed", began.elapsed().as_secs(), failed.len());
    failed.iter().for_each(|how| println!("FAILED: {how}"));
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One hunt, shared by its threads.
struct PropertyHunt {
    programs: Vec<Program>,
    first: u64,
    /// Taken so far: each is one program with one seed.
    jobs: AtomicU64,
    seeds: Option<u64>,
    until: Option<Instant>,
    /// How each failure is repeated.
    failed: Mutex<Vec<String>>,
    said: Mutex<Instant>,
}

impl PropertyHunt {
    fn go(&self) -> Result<()> {
        let count = self.programs.len() as u64;
        while self.until.is_none_or(|until| Instant::now() < until) {
            let job = self.jobs.fetch_add(1, Ordering::Relaxed);
            let round = job / count;
            if self.seeds.is_some_and(|seeds| round >= seeds) {
                self.jobs.fetch_sub(1, Ordering::Relaxed);
                return Ok(());
            }
            let at = usize::try_from(job % count).unwrap_or(0);
            self.try_seed(&self.programs[at], self.first.wrapping_add(round))?;
            self.say(round);
        }
        Ok(())
    }

    /// Runs one program with one seed; a test that failed is not run again.
    fn try_seed(&self, program: &Program, seed: u64) -> Result<()> {
        let tests = program.tests();
        if tests.is_empty() {
            return Ok(());
        }
        let output = program.run(seed, tests.iter().map(String::as_str))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut failed: Vec<String> = tests.into_iter().filter(|test| has_failed(&said, test)).collect();
        if failed.is_empty() {
            failed.push(format!("{} ends with {}", program.file.display(), output.status));
            program.with_tests(BTreeSet::clear);
        }
        for test in failed {
            program.with_tests(|tests| tests.retain(|other| *other != test));
            let variables = SeededRandom::of(seed).variables().map(|(name, value)| format!("{name}={value}"));
            let how = format!("{} cargo test -p {} -- --exact {test}", variables.join(" "), program.package);
            let lines: Vec<&str> = said.lines().take(LINES_SHOWN_MAX).collect();
            println!("FAILED: {how}\n{}", lines.join("\n"));
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).push(how);
        }
        Ok(())
    }

    fn say(&self, round: u64) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.elapsed() >= SAID_EVERY {
            *said = Instant::now();
            println!("{round} seeds so far");
        }
    }
}

impl Program {
    fn tests(&self) -> BTreeSet<String> {
        self.tests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn with_tests(&self, change: impl FnOnce(&mut BTreeSet<String>)) {
        change(&mut self.tests.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn run<'a>(&self, seed: u64, tests: impl Iterator<Item = &'a str>) -> Result<Output> {
        let mut command = Command::new(&self.file);
        command.arg("--exact").arg("--test-threads=1").args(tests).current_dir(&self.folder);
        command.envs(SeededRandom::of(seed).variables()).env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1");
        command.output().with_context(|| format!("could not start {}", self.file.display()))
    }
}

/// Returns whether a test program says of a test that it failed.
fn has_failed(said: &str, test: &str) -> bool {
    said.lines().any(|line| line == format!("test {test} ... FAILED"))
}

/// Builds the tests, and keeps the programs that have one which throws dice.
fn programs(only: &[String]) -> Result<Vec<Program>> {
    let by_package = by_chance::tests_below(&repo::root())?;
    let mut cargo = check::cargo(&["test", "--workspace", "--no-run", "--locked", "--message-format=json"]);
    let built = cargo.stderr(std::process::Stdio::inherit()).output().context("could not start cargo")?;
    ensure!(built.status.success(), "the tests do not build");
    let mut programs = Vec::new();
    for line in String::from_utf8_lossy(&built.stdout).lines() {
        let Some((folder, file)) = test_program(line) else { continue };
        let Some(names) = by_package.get(&folder) else { continue };
        let package = package_in(&folder)?;
        if !only.is_empty() && !only.contains(&package) {
            continue;
        }
        let tests = tests_of(&file, &folder, names)?;
        if !tests.is_empty() {
            programs.push(Program { package, folder, file, tests: Mutex::new(tests) });
        }
    }
    Ok(programs)
}

/// Reads a line of what cargo says: the folder of a package and a program that tests it.
fn test_program(line: &str) -> Option<(PathBuf, PathBuf)> {
    let said: BTreeMap<String, serde_json::Value> = serde_json::from_str(line).ok()?;
    let tests = said.get("profile")?.get("test")?.as_bool()?;
    let file = said.get("executable")?.as_str()?;
    let folder = Path::new(said.get("manifest_path")?.as_str()?).parent()?;
    tests.then(|| (folder.to_owned(), PathBuf::from(file)))
}

fn package_in(folder: &Path) -> Result<String> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).context("a package has no manifest")?;
    let manifest: toml::Table = manifest.parse().context("a manifest is no TOML")?;
    let name = manifest.get("package").and_then(|package| package.get("name")?.as_str());
    name.map(str::to_owned).with_context(|| format!("{} names no package", folder.display()))
}

/// Returns the full names of the tests of a program whose last word is one of `names`.
fn tests_of(file: &Path, folder: &Path, names: &[String]) -> Result<BTreeSet<String>> {
    let mut list = Command::new(file);
    list.args(["--list", "--format", "terse"]).current_dir(folder);
    let list = super::command::read(list)?;
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let wanted = tests.filter(|test| {
        let name = test.rsplit("::").next().unwrap_or(test);
        names.iter().any(|wanted| wanted == name)
    });
    Ok(wanted.map(str::to_owned).collect())
}

/// Returns a seed that no hunt before this one began with.
fn by_the_clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_of_tests_are_taken() {
        let line = |test: bool, file: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/a/Cargo.toml","profile":{{"test":{test}}},"executable":{file}}}"#
            )
        };
        let taken = test_program(&line(true, r#""/t/a-1""#));
        assert_eq!(taken, Some(("/w/crates/a".into(), "/t/a-1".into())));
        assert_eq!(test_program(&line(false, r#""/t/a-1""#)), None);
        assert_eq!(test_program(&line(true, "null")), None);
        assert_eq!(test_program("{\"reason\":\"build-finished\"}"), None);
    }

    #[test]
    fn a_failed_test_is_known_by_its_whole_name() {
        let said = "test a::b ... FAILED\ntest a::b_c ... ok\n";
        assert!(has_failed(said, "a::b"));
        assert!(!has_failed(said, "a::b_c") && !has_failed(said, "b"));
    }
}
