//! Which kept files go with an erasure.
//!
//! Owns the choice: by owner, by the call that left them, or by what they hold. Deletes nothing itself.

use palyra_journal_core::families::effects;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::read_approvals::{EffectFilter, EffectQuery};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_ports::{ErasureSubject, KeptFile};
use palyra_types::effect::KeptFileId;
use palyra_types::proof::SeqRange;

use crate::error::AdminError;
use crate::parts::AdminPorts;

/// Which kept files.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeptSelection {
    /// Those of a subject.
    Of(ErasureSubject),
    /// Those that hold what the present redactor takes out.
    WithSecrets,
}

/// Returns the kept files of a selection.
pub(crate) async fn selected_kept(
    ports: &AdminPorts,
    selection: KeptSelection,
) -> Result<Vec<KeptFileId>, AdminError> {
    let mut selected = Vec::new();
    for file in ports.kept.list(None).await? {
        let is_selected = match selection {
            KeptSelection::Of(subject) => belongs(ports, &file, subject).await?,
            KeptSelection::WithSecrets => holds_secret(ports, &file).await,
        };
        if is_selected {
            selected.push(file.id);
        }
    }
    Ok(selected)
}

async fn belongs(ports: &AdminPorts, file: &KeptFile, subject: ErasureSubject) -> Result<bool, AdminError> {
    let owner = file.owner;
    Ok(match subject {
        ErasureSubject::Run(run) => owner.run == run,
        ErasureSubject::Session(session) => {
            (owner.principal, owner.session) == (session.principal, session.id)
        }
        ErasureSubject::Principal(principal) => owner.principal == principal,
        ErasureSubject::Range(range) => is_called_in(&*ports.families, file, range).await?,
    })
}

/// Returns whether the call that left a file began in a range of entries.
async fn is_called_in(
    families: &dyn ReadFamilies,
    file: &KeptFile,
    range: SeqRange,
) -> Result<bool, AdminError> {
    let mut query = EffectQuery {
        principal: None,
        run: Some(file.owner.run),
        only: EffectFilter::All,
        before: None,
        limit: RECORD_PAGE_ROWS_MAX,
    };
    loop {
        let of_page = query.clone();
        let page = families.query(move |rows, _| effects::records(rows, &of_page)).await?;
        let Some(last) = page.last() else { return Ok(false) };
        query.before = Some(last.started_at.1);
        if let Some(effect) = page.iter().find(|record| record.effect == file.owner.effect) {
            return Ok((range.first..=range.last).contains(&effect.started_at.1));
        }
    }
}

/// What cannot be read counts as holding one.
async fn holds_secret(ports: &AdminPorts, file: &KeptFile) -> bool {
    let Ok(content) = ports.kept.read(file.id.clone()).await else { return true };
    let is_whole = content.refusal.is_none();
    let holds = content.entries.iter().any(|entry| {
        let text = String::from_utf8_lossy(entry.bytes.expose()).into_owned();
        ports.redactor.redact(text.into()).findings.changed()
    });
    holds || !is_whole
}
