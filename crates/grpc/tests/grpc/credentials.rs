//! Every call with every kind of wrong credential. The calls come from the schemas: a new one fails here until
//! somebody says whom it is for.

use std::time::Duration;

use palyra_testkit::Script;
use palyra_types::ErrorCode;
use tonic::Code;
use tonic::transport::Channel;

use crate::daemon::TestDaemon;
use crate::raw::{Answer, assert_refused, call, methods};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
    Anyone,
    Principals,
    Owner,
}

/// Every call of ours, in order of path.
const CALLS: &[(&str, For)] = &[
    ("/palyra.v1.AdminService/CreateToken", For::Owner),
    ("/palyra.v1.AdminService/GetConfig", For::Owner),
    ("/palyra.v1.AdminService/GetStatus", For::Owner),
    ("/palyra.v1.AdminService/ListBackgroundTasks", For::Owner),
    ("/palyra.v1.AdminService/ListTokens", For::Owner),
    ("/palyra.v1.AdminService/ReloadConfig", For::Owner),
    ("/palyra.v1.AdminService/RevokeToken", For::Owner),
    ("/palyra.v1.AdminService/Shutdown", For::Owner),
    ("/palyra.v1.AgentsService/ListAgents", For::Principals),
    ("/palyra.v1.ApprovalsService/ExportApprovals", For::Principals),
    ("/palyra.v1.ApprovalsService/GetApproval", For::Principals),
    ("/palyra.v1.ApprovalsService/ListApprovals", For::Principals),
    ("/palyra.v1.ApprovalsService/ListGrants", For::Principals),
    ("/palyra.v1.ApprovalsService/ResolveApproval", For::Principals),
    ("/palyra.v1.ApprovalsService/RevokeGrant", For::Principals),
    ("/palyra.v1.ApprovalsService/WatchApprovals", For::Principals),
    ("/palyra.v1.ComponentsService/AddComponent", For::Owner),
    ("/palyra.v1.ComponentsService/ExamineComponent", For::Owner),
    ("/palyra.v1.ComponentsService/ListTools", For::Owner),
    ("/palyra.v1.ComponentsService/RemoveComponent", For::Owner),
    ("/palyra.v1.EffectsService/DiscardKeptFile", For::Principals),
    ("/palyra.v1.EffectsService/ListEffects", For::Principals),
    ("/palyra.v1.EffectsService/ListKeptFiles", For::Principals),
    ("/palyra.v1.EffectsService/PlaceKeptFile", For::Principals),
    ("/palyra.v1.EffectsService/PreviewUndo", For::Principals),
    ("/palyra.v1.EffectsService/ResolveEffect", For::Principals),
    ("/palyra.v1.EffectsService/ShowKeptFile", For::Principals),
    ("/palyra.v1.EffectsService/UndoRun", For::Principals),
    ("/palyra.v1.ErasureService/EraseContent", For::Owner),
    ("/palyra.v1.ErasureService/ScrubJournal", For::Owner),
    ("/palyra.v1.GatewayService/CancelRun", For::Principals),
    ("/palyra.v1.GatewayService/GetRun", For::Principals),
    ("/palyra.v1.GatewayService/ListBookmarks", For::Principals),
    ("/palyra.v1.GatewayService/ListErrorCodes", For::Principals),
    ("/palyra.v1.GatewayService/ListRuns", For::Principals),
    ("/palyra.v1.GatewayService/PlaceBookmark", For::Principals),
    ("/palyra.v1.GatewayService/ReadAttachment", For::Principals),
    ("/palyra.v1.GatewayService/ReadSessionTape", For::Principals),
    ("/palyra.v1.GatewayService/ReadTape", For::Principals),
    ("/palyra.v1.GatewayService/RemoveBookmark", For::Principals),
    ("/palyra.v1.GatewayService/ResolveId", For::Principals),
    ("/palyra.v1.GatewayService/RunStream", For::Principals),
    ("/palyra.v1.GatewayService/SendInput", For::Principals),
    ("/palyra.v1.GatewayService/StartRun", For::Principals),
    ("/palyra.v1.JournalService/GetJournalStatus", For::Owner),
    ("/palyra.v1.JournalService/ListEntries", For::Owner),
    ("/palyra.v1.JournalService/RebuildJournal", For::Owner),
    ("/palyra.v1.JournalService/VerifyJournal", For::Owner),
    ("/palyra.v1.ModelsService/ListModels", For::Principals),
    ("/palyra.v1.ModelsService/TestModel", For::Principals),
    ("/palyra.v1.PolicyService/ClearPosture", For::Owner),
    ("/palyra.v1.PolicyService/DiffPolicy", For::Owner),
    ("/palyra.v1.PolicyService/ExplainDecision", For::Owner),
    ("/palyra.v1.PolicyService/GetPolicy", For::Owner),
    ("/palyra.v1.PolicyService/GetShadow", For::Owner),
    ("/palyra.v1.PolicyService/ListPostures", For::Owner),
    ("/palyra.v1.PolicyService/SetPosture", For::Owner),
    ("/palyra.v1.ProofService/ExportJournal", For::Owner),
    ("/palyra.v1.ProofService/GetCheckpoint", For::Principals),
    ("/palyra.v1.ProofService/ProveConsistency", For::Principals),
    ("/palyra.v1.ProofService/ProveEntry", For::Owner),
    ("/palyra.v1.SessionsService/ArchiveSession", For::Principals),
    ("/palyra.v1.SessionsService/CleanupSession", For::Principals),
    ("/palyra.v1.SessionsService/ListSessions", For::Principals),
    ("/palyra.v1.SessionsService/RenameSession", For::Principals),
    ("/palyra.v1.SessionsService/ResolveSession", For::Principals),
    ("/palyra.v1.SessionsService/RestoreSession", For::Principals),
    ("/palyra.v1.SkillsService/DisableSkill", For::Owner),
    ("/palyra.v1.SkillsService/EnableSkill", For::Owner),
    ("/palyra.v1.SkillsService/GetSkill", For::Owner),
    ("/palyra.v1.SkillsService/InstallSkill", For::Owner),
    ("/palyra.v1.SkillsService/ListSkills", For::Owner),
    ("/palyra.v1.SkillsService/RemoveSkill", For::Owner),
    ("/palyra.v1.SkillsService/VerifySkills", For::Owner),
    ("/palyra.v1.VaultService/BindSecret", For::Owner),
    ("/palyra.v1.VaultService/GetVault", For::Owner),
    ("/palyra.v1.VaultService/ListSecrets", For::Owner),
    ("/palyra.v1.VaultService/PutSecret", For::Owner),
    ("/palyra.v1.VaultService/RemoveSecret", For::Owner),
    ("/palyra.v1.VaultService/SetVaultPassphrase", For::Owner),
    ("/palyra.v1.VaultService/UnbindSecret", For::Owner),
    ("/palyra.v1.VaultService/UnlockVault", For::Owner),
];

/// Calls of services that come from elsewhere.
const FOREIGN_CALLS: &[(&str, For)] = &[
    ("/grpc.health.v1.Health/Check", For::Anyone),
    ("/grpc.health.v1.Health/Watch", For::Anyone),
    ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", For::Principals),
    ("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", For::Principals),
];

#[test]
fn every_call_of_the_schemas_is_listed() {
    let listed: Vec<&str> = CALLS.iter().map(|(path, _)| *path).collect();
    assert_eq!(methods(), listed, "say in CALLS whom each call is for");
}

#[tokio::test]
async fn no_call_is_answered_on_a_wrong_credential() {
    let daemon = TestDaemon::start().await;
    let channel = daemon.remote().await;
    let wrong = wrong_credentials(&daemon).await;
    let mut words = None;
    for (path, whom) in CALLS.iter().chain(FOREIGN_CALLS) {
        for (what, values) in &wrong {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let answer = call(&channel, path, Vec::new(), &values).await;
            if *whom == For::Anyone {
                answer.unwrap_or_else(|status| panic!("{path} with {what}: {status}"));
                continue;
            }
            let status = answer.err().unwrap_or_else(|| panic!("{path} with {what} was answered"));
            assert_refused(&status, Code::Unauthenticated, ErrorCode::Unauthenticated);
            // No reason is told apart from another.
            let answer = Answer::from(status);
            assert_eq!(words.get_or_insert_with(|| answer.clone()), &answer, "{path} with {what}");
        }
    }
    assert_eq!(daemon.provider.counts().begun, 0);
    assert!(!daemon.wish.is_cancelled());
}

/// Names and values of `authorization` headers that must not work.
async fn wrong_credentials(daemon: &TestDaemon) -> Vec<(&'static str, Vec<String>)> {
    let access = &daemon.state.admin.access;
    let expired = access.create_token("user:alice", "expired", Duration::from_secs(60)).await.unwrap();
    daemon.pass(Duration::from_secs(61));
    let revoked = access.create_token("user:alice", "revoked", Duration::from_secs(60)).await.unwrap();
    access.revoke_token(revoked.0.id).await.unwrap();
    let good = daemon.token("user:alice").await;
    let one = |value: String| vec![value];
    let mut almost = good.clone();
    let last = if almost.pop() == Some('0') { '1' } else { '0' };
    almost.push(last);
    vec![
        ("no credential", Vec::new()),
        ("a blank credential", one(String::new())),
        ("a scheme alone", one("Bearer".to_owned())),
        ("a blank token", one("Bearer ".to_owned())),
        ("a prefix alone", one("Bearer palyra_".to_owned())),
        ("no scheme", one(good.clone())),
        ("another scheme", one(format!("Basic {good}"))),
        ("a token with a letter more", one(format!("Bearer {good}0"))),
        ("a token with another last letter", one(format!("Bearer {almost}"))),
        ("a token in capitals", one(format!("Bearer {}", good.to_uppercase()))),
        ("a token without its prefix", one(format!("Bearer {}", &good["palyra_".len()..]))),
        ("a token twice", vec![format!("Bearer {good}"), format!("Bearer {good}")]),
        ("an expired token", one(format!("Bearer {}", expired.1.expose()))),
        ("a revoked token", one(format!("Bearer {}", revoked.1.expose()))),
    ]
}

#[tokio::test]
async fn a_good_token_opens_what_is_for_principals_and_nothing_else() {
    let daemon = TestDaemon::start().await;
    daemon.provider.otherwise(Script::new().text("ok"));
    let channel = daemon.remote().await;
    let bearer = format!("Bearer {}", daemon.token("user:alice").await);
    for (path, whom) in CALLS.iter().chain(FOREIGN_CALLS) {
        let answer = call(&channel, path, Vec::new(), &[&bearer]).await;
        if *whom == For::Owner {
            let status = answer.err().unwrap_or_else(|| panic!("{path} was answered"));
            assert_refused(&status, Code::PermissionDenied, ErrorCode::PermissionDenied);
        } else {
            assert_let_in(path, answer.err());
        }
    }
    let unlisted = call(&channel, "/palyra.v1.NewService/New", Vec::new(), &[&bearer]).await.unwrap_err();
    assert_refused(&unlisted, Code::PermissionDenied, ErrorCode::PermissionDenied);
    assert!(!daemon.wish.is_cancelled());
}

#[tokio::test]
async fn the_owner_of_the_socket_needs_no_token_and_none_makes_a_difference() {
    let daemon = TestDaemon::start().await;
    let channel: Channel = daemon.local().await;
    let alice = format!("Bearer {}", daemon.token("user:alice").await);
    for authorization in [&[][..], &["Bearer nonsense"], &[alice.as_str()]] {
        for (path, _) in CALLS.iter().chain(FOREIGN_CALLS).filter(|(path, _)| !path.ends_with("/Shutdown")) {
            assert_let_in(path, call(&channel, path, Vec::new(), authorization).await.err());
        }
    }
    call(&channel, "/palyra.v1.AdminService/Shutdown", Vec::new(), &[]).await.unwrap();
    assert!(daemon.wish.is_cancelled());
}

/// An empty message may be refused for what it says, never for who sent it.
#[track_caller]
fn assert_let_in(path: &str, refused: Option<tonic::Status>) {
    let code = refused.map_or(Code::Ok, |status| status.code());
    assert!(!matches!(code, Code::Unauthenticated | Code::PermissionDenied), "{path}: {code:?}");
}
