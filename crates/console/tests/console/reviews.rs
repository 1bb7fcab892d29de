//! What was learned is decided about on its page: with its evidence, and with a way back.

use palyra_learning::{FoundCandidate, LearningRuntimeConfig, SupportingEvidence};
use palyra_ports::Clock;
use palyra_types::learning::{CandidateAuthor, CandidateKind, CitedEntry};
use palyra_types::session::SessionRef;
use palyra_types::surface::Surface;
use palyra_types::tool::Taints;
use palyra_types::{Content, RunId, SessionId, TapeSeq};

use crate::browser::ConsoleBrowser;
use crate::daemon::TestDaemon;

/// Not sure enough to be applied without a review.
const STRENGTH_BPS: u32 = 8_000;

/// Returns the id after a text.
#[track_caller]
fn id_after<'a>(page: &'a str, before: &str) -> &'a str {
    let (_, after) = page.split_once(before).unwrap_or_else(|| panic!("no {before}: {page}"));
    &after[..26]
}

/// A person who said something, and whose session was looked at.
struct LearnedHome {
    daemon: TestDaemon,
    browser: ConsoleBrowser,
    run: RunId,
    session: SessionId,
}

impl LearnedHome {
    /// Starts a run with an input.
    async fn new(input: &str) -> Self {
        let daemon = TestDaemon::start().await;
        let browser = ConsoleBrowser::sign_in(&daemon).await;
        let start = "/console/chat/start";
        let chat = browser.get("/console/chat").await;
        let body = format!("token={}&key=k1&input={input}", chat.token_for(start));
        let sent = browser.post(start, &body).await;
        let session = id_after(sent.location(), "/console/sessions/").parse().unwrap();
        let page = browser.get(sent.location()).await;
        let run = id_after(&page.body, "/console/runs/").parse().unwrap();
        Self { daemon, browser, run, session }
    }

    /// Records that something was found in the run.
    async fn learn(&self, text: &str) {
        let principal = self.daemon.state.admin.access.local_principal();
        let session = SessionRef { principal, id: self.session };
        let time = self.daemon.clock.wall();
        let found = FoundCandidate {
            kind: CandidateKind::Preference,
            text: Content::new(text.to_owned()),
            author: CandidateAuthor::Rules,
            evidence: vec![CitedEntry { run: self.run, tape_seq: TapeSeq(1) }],
            supporting: vec![SupportingEvidence { run: self.run, time, strength_bps: STRENGTH_BPS }],
            taints: Taints::NONE,
            via: Surface::Console,
            is_sensitive: false,
        };
        let memories = &self.daemon.state.admin.memories;
        memories.learn(session, vec![found], &LearningRuntimeConfig::default()).await.unwrap();
    }

    /// Presses a button of the first candidate of a page, and returns the page that follows.
    async fn press(&self, page: &str, verb: &str) -> String {
        let shown = self.browser.get(page).await;
        let candidate = id_after(&shown.body, "action=\"/console/learning/");
        let path = format!("/console/learning/{candidate}/review");
        let body = format!("token={}&review={verb}", shown.token_for(&path));
        let decided = self.browser.post(&path, &body).await;
        assert_eq!(decided.status, 303, "{decided:?}");
        self.browser.get(decided.location()).await.body
    }
}

#[tokio::test]
async fn a_candidate_is_accepted_undone_and_rejected_on_its_page() {
    let home = LearnedHome::new("From+now+on+keep+answers+short.").await;
    home.learn("keep <b>answers</b> short").await;
    let page = home.browser.get("/console/learning").await.body;
    let cited = format!("/console/runs/{}?at=1#seq-1", home.run);
    for part in [
        "Preference, 80 % sure",
        "it is not sure enough",
        "keep &lt;b&gt;answers&lt;/b&gt; short",
        "From now on keep answers short.",
        &cited,
        "class=\"added\"",
        "Nothing that was learned is in use.",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let waiting = home.browser.get("/console").await.body;
    let named = id_after(&waiting, "/console/learning?show=").to_owned();

    let accepted = home.press("/console/learning", "accept").await;
    assert!(accepted.contains("Accepted. Runs that start from now on use it."), "{accepted}");
    assert!(
        accepted.contains("Nothing waits for your review.") && accepted.contains("because you accepted it")
    );
    let one = format!("/console/learning?show={named}");
    let shown = home.browser.get(&one).await.body;
    assert!(shown.contains("class=\"removed\"") && !shown.contains("value=\"reject\""), "{shown}");

    let undone = home.press("/console/learning", "undo").await;
    assert!(undone.contains("Undone. Runs that start from now on do not use it."), "{undone}");
    assert!(undone.contains("Nothing that was learned is in use."), "{undone}");

    home.learn("answer in metric units").await;
    let rejected = home.press("/console/learning", "reject").await;
    assert!(rejected.contains("Rejected. It is not proposed again."), "{rejected}");
    let back = home.browser.get(&one).await;
    let review = format!("/console/learning/{named}/review");
    let refused = home.browser.post(&review, "token=0&review=accept").await;
    assert!(refused.status == 403 && refused.body.contains("PLY-1212"), "{refused:?}");
    let body = format!("token={}&review=edit&text=Keep+answers+to+one+line", back.token_for(&review));
    let edited = home.browser.post(&review, &body).await;
    let edited = home.browser.get(edited.location()).await.body;
    assert!(
        edited.contains("Accepted in your words.") && edited.contains("Keep answers to one line"),
        "{edited}"
    );
}
