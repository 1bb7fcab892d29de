//! What is no file (29), names that look alike (31), and files without end (32).

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};

use serde_json::json;

use super::field::{Field, PAYLOAD, seen};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};
use crate::trial_folder::SECRET;

const READING: &str = "the reading tools";
const WRITING: &str = "the writing tools";

/// A name that exists, one that only looks like it, and how careless code folds the two.
const TWINS: &[(&str, &str, &str)] = &[
    ("capital letters", "Secret.txt", "secret.txt"),
    ("an accent in two parts", "re\u{301}sume.txt", "r\u{e9}sume.txt"),
    ("wide letters", "secret.txt", "\u{ff53}ecret.txt"),
    ("another alphabet", "secret.txt", "s\u{435}cret.txt"),
    ("a letter that nobody sees", "secret.txt", "sec\u{200b}ret.txt"),
    ("a sharp s", "strasse.txt", "stra\u{df}e.txt"),
    ("a dot at the end", "secret.txt", "secret.txt."),
    ("a blank at the end", "secret.txt", "secret.txt "),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let twins = TWINS.iter().map(|&(variant, kept, asked)| {
        let pairs = [READING, WRITING].map(|mechanism| CasePair::new(31, variant, mechanism));
        AttackTrial::new(pairs.to_vec(), move |place, pairs| taken_for(kept, asked, place, pairs))
    });
    let pair = |case, variant, mechanism| vec![CasePair::new(case, variant, mechanism)];
    twins
        .chain([
            AttackTrial::new(pair(29, "a pipe that holds something", READING), pipe_read),
            AttackTrial::new(pair(29, "a pipe that somebody reads", WRITING), pipe_written),
            AttackTrial::new(
                [READING, WRITING].map(|mechanism| CasePair::new(29, "a socket", mechanism)).to_vec(),
                socket,
            ),
            AttackTrial::new(pair(32, "a sparse terabyte, read", READING), terabyte),
            AttackTrial::new(pair(32, "a file of a gigabyte, searched", READING), searched),
        ])
        .collect()
}

async fn taken_for(
    kept: &'static str,
    asked: &'static str,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |mechanism| async move {
        let (held, control) = (Field::new()?, Field::new()?);
        for field in [&held, &control] {
            fs::write(field.root().join(kept), SECRET)?;
        }
        let touched = |field: &Field| match fs::read_to_string(field.root().join(kept)) {
            Ok(text) if text == SECRET => Vec::new(),
            Ok(_) | Err(_) => vec!["the other file changed".to_owned()],
        };
        // Careless code folds names, and finds the one that is there.
        let folded = control.root().join(kept);
        if mechanism == READING {
            let said = held.call("read_file", &json!({ "path": asked })).await;
            return Ok(Some((seen(&said), seen(&fs::read_to_string(folded)?))));
        }
        held.write(asked).await;
        fs::write(folded, PAYLOAD)?;
        Ok(Some((touched(&held), touched(&control))))
    })
    .await
}

fn pipe_in(field: &Field) -> io::Result<File> {
    let path = field.root().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)?;
    // Opened for both, a pipe waits for nobody.
    let pipe = File::options().read(true).write(true).open(&path)?;
    rustix::io::ioctl_fionbio(&pipe, true)?;
    Ok(pipe)
}

fn read_pipe(mut pipe: &File) -> String {
    let mut room = [0; 64];
    let length = pipe.read(&mut room).unwrap_or(0);
    String::from_utf8_lossy(&room[..length]).into_owned()
}

async fn pipe_read(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let (held, control) = (Field::new()?, Field::new()?);
        let (mut for_held, mut for_control) = (pipe_in(&held)?, pipe_in(&control)?);
        for_held.write_all(SECRET.as_bytes())?;
        for_control.write_all(SECRET.as_bytes())?;
        let emptied = |pipe: &File| {
            if read_pipe(pipe) == SECRET { Vec::new() } else { vec!["the pipe was emptied".to_owned()] }
        };
        held.read("pipe").await;
        held.read(".").await;
        File::open(control.root().join("pipe"))?.read_exact(&mut [0; SECRET.len()])?;
        Ok(Some((emptied(&for_held), emptied(&for_control))))
    })
    .await
}

async fn pipe_written(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let (held, control) = (Field::new()?, Field::new()?);
        let (for_held, for_control) = (pipe_in(&held)?, pipe_in(&control)?);
        let path = held.root().join("pipe");
        let written = |pipe: &File| {
            if read_pipe(pipe).is_empty() { Vec::new() } else { vec!["the pipe was written".to_owned()] }
        };
        held.write("pipe").await;
        let mut touched = written(&for_held);
        if !std::os::unix::fs::FileTypeExt::is_fifo(&fs::symlink_metadata(&path)?.file_type()) {
            touched.push("the pipe was replaced".to_owned());
        }
        fs::write(control.root().join("pipe"), PAYLOAD)?;
        Ok(Some((touched, written(&for_control))))
    })
    .await
}

async fn socket(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |mechanism| async move {
        let (held, control) = (Field::new()?, Field::new()?);
        let listen = |field: &Field| -> io::Result<UnixListener> {
            let listener = UnixListener::bind(field.root().join("socket"))?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let (for_held, for_control) = (listen(&held)?, listen(&control)?);
        let came = |listener: &UnixListener| {
            if listener.accept().is_ok() { vec!["somebody connected".to_owned()] } else { Vec::new() }
        };
        if mechanism == READING {
            held.read("socket").await
        } else {
            held.write("socket").await
        };
        let mut touched = came(&for_held);
        if UnixStream::connect(held.root().join("socket")).is_err() {
            touched.push("the socket was replaced".to_owned());
        }
        drop(UnixStream::connect(control.root().join("socket"))?);
        Ok(Some((touched, came(&for_control))))
    })
    .await
}

async fn terabyte(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    const PLACE: u64 = 1 << 40;
    run_attempts(pairs, place.half, |_| async {
        let held = Field::new()?;
        let file = File::options().read(true).write(true).create_new(true).open(held.root().join("large"))?;
        file.write_all_at(SECRET.as_bytes(), PLACE)?;
        let begun = std::time::Instant::now();
        let mut touched = seen(&held.read("large").await);
        if begun.elapsed().as_secs() > 20 {
            touched.push("it was read through".to_owned());
        }
        let mut room = [0; SECRET.len()];
        file.read_exact_at(&mut room, PLACE)?;
        Ok(Some((touched, seen(&String::from_utf8_lossy(&room)))))
    })
    .await
}

/// The canary lies behind a gigabyte of nothing: whoever reads through finds it.
async fn searched(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    const PLACE: u64 = 1 << 30;
    run_attempts(pairs, place.half, |_| async {
        let held = Field::new()?;
        let file =
            File::options().read(true).write(true).create_new(true).open(held.root().join("large.txt"))?;
        file.write_all_at(format!("\n{SECRET}\n").as_bytes(), PLACE)?;
        let said = held.call("search", &json!({ "pattern": "anary-7f3a91", "path": "large.txt" })).await;
        let mut plain = std::process::Command::new("grep");
        let found =
            plain.args(["-a", "-o", "canary-7f3a91", "large.txt"]).current_dir(held.root()).output()?;
        Ok(Some((seen(&said), seen(&String::from_utf8_lossy(&found.stdout)))))
    })
    .await
}
