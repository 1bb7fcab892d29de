//! Pages of outputs, from tapes as they are recorded.

use futures::FutureExt;

use futures::future::BoxFuture;
use palyra_ports::read_tape::TapePage;
use palyra_types::attachment::{Blob, BlobRef};
use palyra_types::event::ToolEvent;
use palyra_types::session::SessionRef;
use palyra_types::{PrincipalId, Redacted, RunId, Seq, SessionId, Timestamp};

use super::*;

fn handle() -> OutputHandle {
    OutputHandle { run: RunId::from_parts(1, 1), effect: EffectId(2) }
}

/// A tape in pages of two entries.
struct RecordedTape(Vec<OrchestratorTapeRecord>);

impl ReadTape for RecordedTape {
    fn tape(
        &self,
        run: RunId,
        after: TapeSeq,
        _limit: usize,
    ) -> BoxFuture<'static, Result<TapePage, ReadError>> {
        let later = self.0.iter().filter(|entry| entry.run == run && entry.tape_seq > after);
        let entries: Vec<_> = later.take(2).cloned().collect();
        let more = if entries.len() == 2 { MoreEntries::Some } else { MoreEntries::None };
        async move { Ok(TapePage { entries, more }) }.boxed()
    }

    fn session_tape(
        &self,
        _session: SessionRef,
        _after: Option<Seq>,
        _limit: usize,
    ) -> BoxFuture<'static, Result<TapePage, ReadError>> {
        async { Err(ReadError::Busy) }.boxed()
    }

    fn blob(&self, _place: BlobRef) -> BoxFuture<'static, Result<Option<Blob>, ReadError>> {
        async { Err(ReadError::Busy) }.boxed()
    }
}

/// Records pieces that a call printed, each with where it ends.
fn printed(effect: u32, pieces: &[(&str, u64)], rest: OutputRest) -> RecordedTape {
    let entries = (1..).zip(pieces).map(|(number, (text, shown_bytes))| {
        let output = ToolOutput {
            effect: EffectId(effect),
            shown_bytes: *shown_bytes,
            rest,
            text: Redacted::cleaned((*text).to_owned()),
        };
        OrchestratorTapeRecord {
            seq: Seq(number),
            run: handle().run,
            session: SessionId::from_parts(1, 1),
            principal: PrincipalId::from_parts(1, 1),
            tape_seq: TapeSeq(u32::try_from(number).expect("few")),
            time: Timestamp(1),
            content: ContentState::Present,
            actor: None,
            event: TapeEvent::Tool(ToolEvent::Output(output)),
        }
    });
    RecordedTape(entries.collect())
}

fn of(session: u64) -> ToolInvocation {
    let mut invocation = crate::commands::tests::granted("/".as_ref(), NAME, "", "");
    invocation.session = SessionId::from_parts(1, session.into());
    invocation.used_by.principal = PrincipalId::from_parts(1, 1);
    invocation
}

fn page(told: &RecordedTape, from: u64, room: usize) -> Result<String, CommandFailure> {
    let mut page = OutputPage::new(from, room);
    let filled = fill(&mut page, told, handle(), &of(1)).now_or_never();
    filled.expect("it is all there")?;
    page.describe(handle())
}

#[test]
fn pages_follow_each_other_until_the_end() {
    let told = printed(2, &[("abc", 3), ("defg", 7), ("hä", 10)], OutputRest::Follows);
    for (from, room, expected) in [
        (0, 100, "[bytes 0 to 10, which is the end]\nabcdefghä"),
        (0, 5, "[bytes 0 to 5; read on with \"from\": 5]\nabcde"),
        (5, 3, "[bytes 5 to 8; read on with \"from\": 8]\nfgh"),
        (5, 4, "[bytes 5 to 8; read on with \"from\": 8]\nfgh"),
        (8, 4, "[bytes 8 to 10, which is the end]\nä"),
        (
            9,
            4,
            "[nothing is kept of this output from byte 9 on; 10 bytes are kept, and its end is in its result]\n",
        ),
        (
            u64::MAX,
            4,
            "[nothing is kept of this output from byte 18446744073709551615 on; 10 bytes are kept, and its end is in its result]\n",
        ),
    ] {
        assert_eq!(page(&told, from, room).as_deref(), Ok(expected), "{from} {room}");
    }
}

#[test]
fn what_is_not_kept_is_said() {
    let told = printed(2, &[("abc", 3)], OutputRest::InOutcome);
    let said = page(&told, 0, 100).expect("a page");
    assert_eq!(said, "[bytes 0 to 3; no more is kept, and its end is in its result]\nabc");
}

#[test]
fn a_call_that_was_made_again_is_read_from_its_last_beginning() {
    let told = printed(2, &[("abc", 3), ("de", 5), ("xyz", 3), ("w", 4)], OutputRest::Follows);
    assert_eq!(page(&told, 1, 100).as_deref(), Ok("[bytes 1 to 4, which is the end]\nyzw"));
}

#[test]
fn a_run_that_is_too_long_is_not_told_as_ended() {
    let pieces: Vec<_> = (1..=2 * TAPE_PAGES_MAX as u64).map(|end| ("x", end)).collect();
    let mut told = printed(2, &pieces, OutputRest::Follows);
    assert!(page(&told, 0, usize::MAX).is_err());
    told.0.pop();
    assert!(page(&told, 0, usize::MAX).is_ok(), "one entry less is read to its end");
}

#[test]
fn what_was_erased_is_not_told_as_empty() {
    let mut told = printed(2, &[("", 3)], OutputRest::Follows);
    told.0[0].content = ContentState::Erased;
    let refused = page(&told, 0, 100).expect_err("it is gone");
    assert!(refused.to_string().contains("erased"), "{refused}");
}

#[test]
fn another_conversation_s_output_is_as_good_as_none() {
    let told = printed(2, &[("canary", 6)], OutputRest::Follows);
    let mut page = OutputPage::new(0, 100);
    fill(&mut page, &told, handle(), &of(2)).now_or_never().expect("at once").expect("it was read");
    let refused = page.describe(handle()).expect_err("not theirs").to_string();
    let nothing = self::page(&printed(1, &[("other", 5)], OutputRest::Follows), 0, 100);
    assert_eq!(refused, nothing.expect_err("another call").to_string());
}

#[test]
fn a_handle_is_read_as_it_is_written() {
    assert_eq!(handle().to_string().parse(), Ok(handle()));
    for text in ["", "-", "2", "01-2", &format!("{}-", handle().run), &format!("{}-x", handle().run)] {
        assert!(text.parse::<OutputHandle>().is_err(), "{text}");
    }
}
