//! The verbs and what each one calls.
//!
//! Owns the command line's shape only; a verb's work is in the module of its name.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::{
    attack, compare, components, dist, failures, help_pages, known_faults, openapi, published, real_model,
    redaction, sim, soak, suite, tamper, tidy,
};

#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", about = "Chores of this repository")]
struct CliArguments {
    #[command(subcommand)]
    verb: XtaskVerb,
}

#[derive(Debug, Subcommand)]
enum XtaskVerb {
    /// Checks the house rules: arrows, cycles, sizes, names, tables, documents.
    Tidy {
        /// Writes the generated files first: clippy.toml, docs/reference/messages.txt, lower word counts.
        #[arg(long)]
        write: bool,
    },
    /// Writes docs/reference/help.txt, which holds every help page.
    HelpPages,
    /// Writes docs/reference/openapi.json, which describes the HTTP API.
    Openapi,
    /// Runs fmt, clippy, the tests, tidy and deny with the tools at hand.
    Check,
    /// Installs the system packages that the suite needs (as root, by apt-get).
    Setup {
        /// Prints what would be installed and changes nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Runs the whole suite from a fresh clone, installing what it needs below target/tools.
    Test {
        /// Leaves out a phase or the tests whose names contain NAME; said again at the end.
        #[arg(long, value_name = "NAME")]
        skip: Vec<String>,
        /// Leaves out fmt, clippy and deny.
        #[arg(long)]
        no_lints: bool,
    },
    /// Hunts with the tests that throw dice: other dice each time, until the time is up.
    Properties(suite::PropertiesOptions),
    /// Runs the bench crate as it ships, with the arguments that follow.
    Bench {
        /// Handed on as they are.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measures the programs of another commit and those of now in turn, and prints the paired ratios.
    Compare(compare::CompareOptions),
    /// Kills a daemon at every call that changes files, and looks at what is left.
    Crash(failures::CrashOptions),
    /// Lets a sync fail, in starts, commits and checkpoints.
    FailingSync(failures::FailingSyncOptions),
    /// Fills the disk at many places (as root, or with user namespaces).
    FullDisk(failures::FullDiskOptions),
    /// Cuts the power while producers append (as root).
    #[command(name = "powercut")]
    PowerCut(failures::PowerCutOptions),
    /// Lets ten thousand runs wait for a person, kills the daemon, and measures what the next one makes of it.
    Waiting(failures::WaitingOptions),
    /// Loads a daemon for long and tells what grows meanwhile.
    Soak(soak::SoakOptions),
    /// Measures what the redactor finds, spoils and costs, in the profile that ships.
    RedactionRecall(redaction::RedactionOptions),
    /// Runs published proof vectors through the ledger's verification.
    MerkleVectors {
        /// The folder `testdata` of transparency-dev/merkle, or a tar.gz that holds it.
        #[arg(value_name = "DIR")]
        vectors: PathBuf,
    },
    /// Runs Cedar's published integration corpus through the policies' index and evaluator.
    CedarCorpus {
        /// The folder that holds `corpus-tests`, or a tar.gz of it.
        #[arg(value_name = "DIR")]
        corpus: PathBuf,
    },
    /// Runs the real runtime in a world where everything goes wrong, many times over.
    Sim(sim::SimOptions),
    /// Tries what somebody would try who means harm, once against each mechanism and once without it.
    Attack(attack::AttackOptions),
    /// Builds the example components, and tries each; installs what that needs from PyPI below target/tools.
    Components,
    /// Takes back commits that mended a fault, drawn at random, and looks whether their tests fail without them.
    KnownFaults(known_faults::FaultOptions),
    /// Breaks journals by the thousand and compares what the verifier says.
    Tamper(tamper::TamperOptions),
    /// Makes what ships: a tarball and a Debian package, with manuals, completions, licences and a bill of materials.
    Dist(dist::DistOptions),
    /// Installs a real language model below target/tools and drives the product against it.
    RealModel(real_model::ModelOptions),
}

/// Carries out the verb named on the command line.
pub(crate) fn run() -> Result<ExitCode> {
    match CliArguments::parse().verb {
        XtaskVerb::Tidy { write } => {
            tidy::verb(if write { tidy::FileAction::Write } else { tidy::FileAction::Compare })
        }
        XtaskVerb::HelpPages => help_pages::verb(),
        XtaskVerb::Openapi => openapi::verb(),
        XtaskVerb::Check => suite::check(),
        XtaskVerb::Setup { dry_run } => {
            suite::setup(if dry_run { suite::SetupAction::Show } else { suite::SetupAction::Do })
        }
        XtaskVerb::Test { skip, no_lints } => {
            let mut skipped = skip;
            if no_lints {
                skipped.extend(["fmt", "clippy", "deny"].map(str::to_owned));
            }
            suite::test(&skipped, dist::check_built)
        }
        XtaskVerb::Properties(options) => suite::properties(&options),
        XtaskVerb::Bench { arguments } => suite::bench(&arguments),
        XtaskVerb::Compare(options) => compare::verb(&options),
        XtaskVerb::Crash(options) => failures::verb(&failures::Suite::Crash(options)),
        XtaskVerb::FailingSync(options) => failures::verb(&failures::Suite::FailingSync(options)),
        XtaskVerb::FullDisk(options) => failures::verb(&failures::Suite::FullDisk(options)),
        XtaskVerb::PowerCut(options) => failures::verb(&failures::Suite::PowerCut(options)),
        XtaskVerb::Waiting(options) => failures::verb(&failures::Suite::Waiting(options)),
        XtaskVerb::Soak(options) => soak::verb(&options),
        XtaskVerb::RedactionRecall(options) => redaction::verb(&options),
        XtaskVerb::MerkleVectors { vectors } => suite::published_cases(published::MERKLE, &vectors),
        XtaskVerb::CedarCorpus { corpus } => suite::published_cases(published::CEDAR, &corpus),
        XtaskVerb::Sim(options) => sim::verb(&options),
        XtaskVerb::Attack(options) => attack::verb(&options),
        XtaskVerb::Components => components::verb(),
        XtaskVerb::KnownFaults(options) => known_faults::verb(&options),
        XtaskVerb::Tamper(options) => tamper::verb(&options),
        XtaskVerb::Dist(options) => dist::verb(&options),
        XtaskVerb::RealModel(options) => real_model::verb(&options),
    }
}
