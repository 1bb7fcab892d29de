//! A reload swaps everything or nothing, and tells what it did.

use std::path::Path;

use palyra_api::ReloadHandle;
use tokio::signal::unix::{SignalKind, signal};

use super::*;

/// A running reloader, and everything it may swap.
struct Rig {
    folder: tempfile::TempDir,
    handle: ReloadHandle,
    seen: ReloadReceivers,
}

impl Rig {
    async fn start(text: &str) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("palyra.toml");
        std::fs::write(&file, text).expect("written");
        let source = ConfigSource { explicit: Some(file), environment: BTreeMap::new(), flags: Vec::new() };
        let config = source.load().expect("valid");
        let directory = models::build(&config, &no_vault(), MissingSecret::Awaited).await.expect("models");
        let prices = prices::load(&config).expect("prices");
        let policies = PolicySource {
            shipped: palyra_policy::ToolPolicyRules::shipped(),
            tools: Arc::new(palyra_tools::BuiltinTools::new()),
            folder: source.policies_folder(),
        };
        let (swap, seen) = watched(config, directory, prices, &policies).expect("a policy");
        let (handle, requests) = ReloadHandle::channel();
        let hangups = signal(SignalKind::user_defined2()).expect("a signal");
        let reloader = ConfigReloader::new(source, policies, no_vault(), swap, ServiceNotices::none());
        tokio::spawn(reloader.run(hangups, requests));
        Self { folder, handle, seen }
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("palyra.toml")
    }

    async fn reload(&self, text: &str) -> Result<ReloadReport, ReloadError> {
        std::fs::write(self.file(), text).expect("written");
        self.handle.reload().await
    }

    fn turns_max(&self) -> u32 {
        self.seen.snapshots.borrow().limits.turns_max
    }

    fn check(&self) -> (CheckLevel, String) {
        let checks = self.seen.checks.borrow();
        (checks[0].level, checks[0].found.replace(&shown(&self.file()), "FILE"))
    }
}

fn no_vault() -> KeySources {
    KeySources {
        environment: Arc::default(),
        vault: None,
        gateways: palyra_ports::GatewayTrail::default(),
        answers: crate::model_answers::ModelAnswers::default(),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[tokio::test]
async fn a_good_configuration_is_swapped_in_and_what_changed_is_told() {
    let rig = Rig::start("limits.turns_max = 5").await;
    let before = rig.seen.snapshots.borrow().digest;
    let text =
        "limits.turns_max = 6\nmodel.default = \"x/m\"\n[providers.x]\nbase_url = \"http://127.0.0.1:1/v1\"";
    let report = rig.reload(text).await.expect("reloaded");
    let expect = [
        "limits.turns_max",
        "model.default",
        "providers.x.base_url",
        "providers.x.format",
        "providers.x.parallel_requests_max",
    ];
    assert_eq!(report.changed, expect);
    assert!(report.needs_restart.is_empty());
    assert_eq!(rig.turns_max(), 6);
    assert_eq!((report.digest == before, report.digest), (false, rig.seen.snapshots.borrow().digest));
    assert_eq!(rig.seen.models.borrow().default_model().to_string(), "x/m");
    let turns =
        rig.seen.facts.borrow().iter().find(|fact| fact.key == "limits.turns_max").cloned().expect("there");
    assert_eq!((turns.value.as_str(), turns.origin), ("6", format!("{}:1", shown(&rig.file()))));
    assert_eq!(rig.check().0, CheckLevel::Ok);
    assert!(rig.reload(text).await.expect("reloaded").changed.is_empty());
}

#[tokio::test]
async fn another_model_for_embeddings_is_swapped_in_and_a_wrong_one_is_not() {
    let rig = Rig::start("").await;
    let names = || -> Vec<String> {
        let models = rig.seen.models.borrow();
        models.embedders().iter().map(|embedder| embedder.embedding_model().name.to_string()).collect()
    };
    assert_eq!(names(), ["palyra-embedded"]);
    let local = "[providers.x]\nbase_url = \"http://127.0.0.1:1/v1\"";
    let report = rig.reload(&format!("embeddings.model = \"x/e\"\n{local}")).await.expect("reloaded");
    assert_eq!(report.changed[0], "embeddings.model");
    assert!(report.needs_restart.is_empty());
    assert_eq!(names(), ["x/e", "palyra-embedded"]);
    let refused =
        rig.reload(&format!("embeddings.model = \"y/e\"\n{local}")).await.expect_err("no such provider");
    assert!(refused.to_string().contains("`embeddings.model` is `y/e`, and no provider"), "{refused}");
    assert_eq!(names(), ["x/e", "palyra-embedded"]);
}

#[tokio::test]
async fn a_bad_configuration_changes_nothing_and_says_so() {
    let rig = Rig::start("limits.turns_max = 5").await;
    let before = rig.seen.snapshots.borrow().clone();
    for (text, told) in [
        ("limits.turns_max = 0\nlimits.x = 1", "2 mistakes\n  FILE:1:20: `limits.turns_max` takes"),
        ("limits.turns_max = 7\nmodel.default = \"nope/m\"", "FILE:2:17: `model.default` is `nope/m`"),
        ("limits.turns_max = 7\n[providers.x]\nbase_url = \"nonsense\"", "provider `x` cannot be set up"),
        ("[limits", "not valid TOML"),
    ] {
        let refused = rig.reload(text).await.expect_err(text);
        assert!(refused.to_string().replace(&shown(&rig.file()), "FILE").contains(told), "{refused}");
        assert_eq!(*rig.seen.snapshots.borrow(), before);
        assert_eq!(rig.seen.models.borrow().default_model().to_string(), "demo/demo");
        let (level, found) = rig.check();
        assert!(
            level == CheckLevel::Warning
                && found.contains("the old one stays in force")
                && found.contains(told)
        );
    }
    std::fs::remove_file(rig.file()).expect("removed");
    let missing = rig.handle.reload().await.expect_err("no file").to_string();
    assert!(missing.ends_with("the configuration cannot be read: it does not exist"), "{missing}");
    assert_eq!(rig.turns_max(), 5);
    rig.reload("limits.turns_max = 8").await.expect("mended");
    assert_eq!((rig.turns_max(), rig.check().0), (8, CheckLevel::Ok));
}

#[tokio::test]
async fn what_needs_a_restart_is_named_until_it_is_as_at_the_start() {
    let rig = Rig::start("listen.tcp = \"127.0.0.1:7070\"").await;
    let moved = rig.reload("listen.tcp = \"127.0.0.1:7071\"").await.expect("reloaded");
    assert_eq!(
        (moved.changed.as_slice(), &moved.needs_restart),
        (&["listen.tcp".to_owned()][..], &moved.changed)
    );
    assert!(rig.check().1.ends_with("since it needs a restart: listen.tcp"), "{:?}", rig.check());
    let again = rig.reload("listen.tcp = \"127.0.0.1:7071\"\nlimits.turns_max = 3").await.expect("reloaded");
    assert_eq!(
        (again.changed, again.needs_restart),
        (vec!["limits.turns_max".to_owned()], vec!["listen.tcp".to_owned()])
    );
    let back = rig.reload("listen.tcp = \"127.0.0.1:7070\"").await.expect("reloaded");
    assert_eq!((back.changed.len(), back.needs_restart.len(), rig.check().0), (2, 0, CheckLevel::Ok));
}

#[tokio::test]
async fn policies_are_read_again_and_bad_ones_leave_the_old_in_force() {
    let rig = Rig::start("").await;
    let policies = rig.folder.path().join("policies");
    std::fs::create_dir(&policies).expect("a folder");
    let digest = || rig.seen.policy.borrow().digest();
    let before = digest();
    std::fs::write(policies.join("mine.cedar"), "@id(\"mine\")\nforbid (principal, action, resource);\n")
        .expect("written");
    assert_eq!(rig.reload("").await.expect("taken").changed, ["policies"]);
    assert!(rig.reload("").await.expect("taken").changed.is_empty());
    let with_mine = digest();
    assert_ne!(before, with_mine);
    std::fs::write(policies.join("mine.cedar"), "forbid (").expect("written");
    let Err(ReloadError::Invalid { mistakes }) = rig.reload("").await else { panic!("it was taken") };
    assert!(mistakes[0].contains("mine.cedar:1:"), "{mistakes:?}");
    assert_eq!(digest(), with_mine);
    assert_eq!(rig.seen.checks.borrow()[1].level, CheckLevel::Ok);
}

#[tokio::test]
async fn a_daemon_that_begins_with_bad_policies_denies_everything_until_they_are_mended() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("palyra.toml");
    std::fs::write(&file, "").expect("written");
    let policies = folder.path().join("policies");
    std::fs::create_dir(&policies).expect("a folder");
    std::fs::write(policies.join("mine.cedar"), "permit (").expect("written");
    let source = ConfigSource { explicit: Some(file), environment: BTreeMap::new(), flags: Vec::new() };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = source.load().expect("valid");
    let directory = models::build(&config, &no_vault(), MissingSecret::Awaited).await.expect("models");
    let source = PolicySource {
        shipped: palyra_policy::ToolPolicyRules::shipped(),
        tools: Arc::new(palyra_tools::BuiltinTools::new()),
        folder: source.policies_folder(),
    };
    let (_swap, seen) = watched(config, directory, PublishedPrices::shipped(), &source).expect("a policy");
    assert!(seen.policy.borrow().policies().is_empty());
    let check = seen.checks.borrow()[1].clone();
    assert!(check.level == CheckLevel::Error && check.found.contains("PLY-4201"), "{check:?}");
}

#[tokio::test]
async fn prices_are_read_again_and_a_catalogue_with_a_mistake_leaves_the_old_one() {
    let rig = Rig::start("").await;
    let file = rig.folder.path().join("prices.toml");
    let settings = format!("prices.file = \"{}\"", file.display());
    let published = || rig.seen.prices.borrow().clone();
    let shipped = published();
    std::fs::write(&file, "currency = \"EUR\"\n").expect("written");
    assert_eq!(rig.reload(&settings).await.expect("taken").changed, ["prices.file"]);
    let first = published();
    assert!(!first.is_same_as(&shipped));
    assert!(rig.reload(&settings).await.expect("taken").changed.is_empty());
    std::fs::write(&file, "currency = \"CHF\"\n").expect("written");
    assert_eq!(rig.reload(&settings).await.expect("taken").changed, ["prices"]);
    let second = published();
    assert!(!second.is_same_as(&first));
    std::fs::write(&file, "currency = \"chf\"\n").expect("written");
    let refused = rig.reload(&settings).await.expect_err("refused").to_string();
    assert!(refused.contains("prices.toml: line 1 of the price catalogue: `currency` needs"), "{refused}");
    assert!(published().is_same_as(&second));
    rig.reload("").await.expect("taken");
    assert!(published().is_same_as(&shipped));
}
