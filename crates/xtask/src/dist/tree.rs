//! The files of a release, laid out as they lie below `/`.
//!
//! Owns where each file goes, its mode and its content; makes no package.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::programs;
use crate::repo;

/// Texts that are made for a release.
pub(super) struct ReleaseTexts {
    /// The terms of other crates.
    pub(super) licences: String,
    /// The bill of materials.
    pub(super) bill: String,
}

/// For whom the files are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileLayout {
    /// Below `/usr`, by a package manager.
    System,
    /// Below a folder of the person's own, such as `~/.local`.
    Person,
}

/// A folder that holds `usr` and nothing else.
pub(super) struct Tree {
    pub(super) folder: PathBuf,
}

const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/palyra"),
    ("zsh", "usr/share/zsh/vendor-completions/_palyra"),
    ("fish", "usr/share/fish/vendor_completions.d/palyra.fish"),
];
const DOCUMENTS: &str = "usr/share/doc/palyra";

impl Tree {
    /// Lays out everything anew.
    pub(super) fn lay_out(
        folder: &Path,
        built: &Path,
        papers: &ReleaseTexts,
        layout: FileLayout,
    ) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("could not remove {}", folder.display()))?;
        }
        let tree = Self { folder: folder.to_owned() };
        for name in programs::NAMES {
            let program = fs::read(built.join(name)).with_context(|| format!("could not read {name}"))?;
            tree.write(&format!("usr/bin/{name}"), &program, 0o755)?;
        }
        symlink("palyra", folder.join("usr/bin/palyrad")).context("could not link palyrad")?;
        tree.manuals(&built.join("palyra"))?;
        tree.completions(&built.join("palyra"))?;
        tree.unit(layout)?;
        tree.documents(papers)?;
        Ok(tree)
    }

    fn manuals(&self, palyra: &Path) -> Result<()> {
        let folder = self.folder.join("usr/share/man/man1");
        fs::create_dir_all(&folder).context("could not make the folder of the manual pages")?;
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).context("could not open the folder")?;
        run(Command::new(palyra).args(["admin", "man", "--dir"]).arg(&folder))?;
        let pages = fs::read_dir(&folder).context("could not list the manual pages")?;
        let mut pages: Vec<PathBuf> = pages.flatten().map(|entry| entry.path()).collect();
        pages.sort();
        ensure!(!pages.is_empty(), "`palyra admin man` wrote no page");
        // Without a name and a date inside: the same page gives the same bytes.
        run(Command::new("gzip").args(["--no-name", "--best"]).args(&pages))?;
        for page in pages {
            let packed = PathBuf::from(format!("{}.gz", page.display()));
            fs::set_permissions(&packed, Permissions::from_mode(0o644)).context("could not open a page")?;
        }
        Ok(())
    }

    fn completions(&self, palyra: &Path) -> Result<()> {
        for (shell, path) in COMPLETIONS {
            let mut command = Command::new(palyra);
            let output = command.args(["admin", "completions", shell]).stderr(Stdio::inherit()).output();
            let output = output.context("could not start palyra")?;
            ensure!(output.status.success(), "`palyra admin completions {shell}` failed");
            self.write(path, &output.stdout, 0o644)?;
        }
        Ok(())
    }

    fn unit(&self, layout: FileLayout) -> Result<()> {
        const OWN: &str = "ExecStart=%h/.local/bin/palyrad";
        let unit = fs::read_to_string(repo::root().join("contrib/systemd/palyrad.service"))
            .context("could not read the unit")?;
        ensure!(unit.contains(OWN), "the unit does not start {OWN}");
        let unit = match layout {
            FileLayout::System => unit.replace(OWN, "ExecStart=/usr/bin/palyrad"),
            FileLayout::Person => unit,
        };
        self.write("usr/lib/systemd/user/palyrad.service", unit.as_bytes(), 0o644)
    }

    fn documents(&self, papers: &ReleaseTexts) -> Result<()> {
        let root = repo::root();
        for (file, name) in
            [("LICENSE", "copyright"), ("README.md", "README.md"), ("CHANGELOG.md", "CHANGELOG.md")]
        {
            let text = fs::read(root.join(file)).with_context(|| format!("could not read {file}"))?;
            self.write(&format!("{DOCUMENTS}/{name}"), &text, 0o644)?;
        }
        self.write(&format!("{DOCUMENTS}/THIRD-PARTY.txt"), papers.licences.as_bytes(), 0o644)?;
        self.write(&format!("{DOCUMENTS}/palyra.cdx.json"), papers.bill.as_bytes(), 0o644)
    }

    fn write(&self, path: &str, content: &[u8], mode: u32) -> Result<()> {
        let file = self.folder.join(path);
        let mut folder = self.folder.clone();
        for part in Path::new(path).parent().into_iter().flat_map(Path::components) {
            folder.push(part);
            fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
            fs::set_permissions(&folder, Permissions::from_mode(0o755))
                .with_context(|| format!("could not open {}", folder.display()))?;
        }
        fs::write(&file, content).with_context(|| format!("could not write {}", file.display()))?;
        fs::set_permissions(&file, Permissions::from_mode(mode))
            .with_context(|| format!("could not set the mode of {}", file.display()))
    }
}

/// Runs a program to its end; fails when it does.
pub(super) fn run(command: &mut Command) -> Result<()> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("could not start {shown}"))?;
    ensure!(status.success(), "{shown} failed: {status}");
    Ok(())
}
