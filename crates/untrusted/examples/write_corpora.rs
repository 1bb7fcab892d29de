//! Writes the seeds of every corpus to where the targets look for them.

use std::path::Path;

use palyra_untrusted::{seeds, targets};

fn main() -> std::io::Result<()> {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, _) in targets::ALL {
        let folder = corpora.join(name);
        std::fs::create_dir_all(&folder)?;
        for (seed, bytes) in seeds::of(name) {
            std::fs::write(folder.join(seed), bytes)?;
        }
    }
    Ok(())
}
