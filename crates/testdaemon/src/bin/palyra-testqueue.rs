//! One life of the background queue: `palyra-testqueue STATE_DIR EFFECTS NUMBER KILL MISTAKE`, never part of what ships.

use anyhow::{Context, Result};
use palyra_testdaemon::task_queue::{QueueLife, live};

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().context("it takes a folder, a file, a number, a kill and a mistake");
    let life = QueueLife {
        state_dir: word()?.into(),
        effects: word()?.into(),
        number: word()?.parse().context("the number of a life")?,
        kill: word()?.parse()?,
        mistake: word()?.parse()?,
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().build().context("could not start a runtime")?;
    let report = runtime.block_on(live(life))?;
    serde_json::to_writer(std::io::stdout().lock(), &report).context("could not say what became of it")
}
