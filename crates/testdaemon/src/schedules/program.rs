//! The program that gets messages: it appends each to a file, which is the count of its effects.
//!
//! Where the daemon is to be killed beside it, it says through a pipe where it is, and waits. Begin at [`install`].

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};

use super::place::{KillPlace, PlaceWatch};
use crate::test_home::TestHome;

const SCRIPT: &str = "take.sh";
/// The file with a line for each message.
pub(super) const COUNTED: &str = "counted";
/// The file whose presence makes the program take messages without counting them: a mistake on purpose.
pub(super) const FORGETS: &str = "forgets";
const SAID: &str = "said";
const GO: &str = "go";
// A program whose daemon was killed first reads nothing.
const TEXT: &str = r#"cd "$1" || exit 1
read -r line
step() {
    if [ -p said ]; then
        printf '%s\n' "$1" > said
        read -r go < go
    fi
}
step began
if [ -n "$line" ] && [ ! -e forgets ]; then printf '%s\n' "$line" >> counted; fi
step counted
"#;

/// Puts the program into a house, and returns its command line in the house at `place`.
pub(super) fn install(house: &TestHome, place: &Path) -> Result<Vec<String>> {
    fs::write(house.path(SCRIPT), TEXT).context("could not write the script")?;
    let script = place.join(SCRIPT).display().to_string();
    Ok(vec!["/bin/sh".to_owned(), script, place.display().to_string()])
}

/// Returns what the program counted: the messages, in order.
pub(super) fn counted(house: &TestHome) -> Result<Vec<String>> {
    match fs::read_to_string(house.path(COUNTED)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        text => {
            Ok(text.context("could not read what the program counted")?.lines().map(str::to_owned).collect())
        }
    }
}

/// The pipes by which the program says where it is and gets the word to go on.
pub(super) struct ProgramSteps {
    said: Lines<BufReader<Receiver>>,
    go: Sender,
}

impl ProgramSteps {
    /// Makes the pipes, which the program finds when it starts.
    pub(super) fn begin(house: &TestHome) -> Result<Self> {
        for name in [SAID, GO] {
            let mode = Mode::from_raw_mode(0o600);
            mknodat(CWD, house.path(name), FileType::Fifo, mode, 0).context("could not make a pipe")?;
        }
        // Open at both ends, so that it never ends.
        let mut both = OpenOptions::new();
        both.read_write(true);
        let said = both.open_receiver(house.path(SAID)).context("could not open a pipe")?;
        let go = both.open_sender(house.path(GO)).context("could not open a pipe")?;
        Ok(Self { said: BufReader::new(said).lines(), go })
    }

    /// Lets the program go on until it is at the place that is waited for. There it goes on waiting.
    pub(super) async fn conduct(&mut self, watch: &PlaceWatch) -> Result<()> {
        loop {
            let line = self.said.next_line().await.context("could not read from the program")?;
            let line = line.context("the pipe of the program ended")?;
            let place = KillPlace::ALL.into_iter().find(|place| place.step() == Some(line.as_str()));
            if watch.reach(place.context("the program says something else")?) {
                return Ok(());
            }
            self.go.write_all(b"go\n").await.context("could not let the program go on")?;
        }
    }

    /// Lets the program go on to its end.
    pub(super) async fn let_go(&mut self) -> Result<()> {
        self.go.write_all(b"go\ngo\n").await.context("could not let the program go on")
    }
}
