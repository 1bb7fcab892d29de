//! Which mends fit which failure of a model, in tables.

use super::*;

#[test]
fn a_variable_that_the_daemon_lacks_is_named_with_the_way_to_a_daemon_that_has_it() {
    for message in [
        "PLY-3001: no key for `box`: `BOX_KEY` is not set in the daemon's environment",
        "box/m does not answer: no key for `box`: `BOX_KEY` is not set in the daemon's environment",
        "/a/palyra.toml:3:7: no key for provider `box`: `BOX_KEY` is not set in the daemon's environment",
    ] {
        let missing = missing_key(message).unwrap();
        assert_eq!(missing, MissingKey { server: "box", variable: "BOX_KEY" }, "{message}");
        let removed = missing.of_removed_server();
        assert!(removed.contains("`box`") && removed.contains("`palyra admin stop`"), "{removed}");
        for (mend, end) in [
            (missing.mend(), "then the same command again there"),
            (missing.mend_of_daemon(), "the next command there starts a daemon that has it"),
        ] {
            let begin = "in a shell where BOX_KEY is exported: `palyra admin stop`, ";
            assert!(mend.starts_with(begin) && mend.ends_with(end), "{mend}");
            assert!(!mend.contains("model use"), "another default was not asked for: {mend}");
        }
    }
    for message in [
        "no key for `box`: `BOX_KEY` is not set in this environment",
        "HTTP 401: `BOX_KEY` is not set in the daemon's environment",
        "no key for `box`: `$(reboot)` is not set in the daemon's environment",
        "",
    ] {
        assert_eq!(missing_key(message), None, "{message}");
    }
}

#[test]
fn the_mend_of_a_known_model_names_a_setting_where_another_test_alone_does_not_help() {
    for (code, named) in [
        (ErrorCode::ModelAuth, Some("`key` in its section")),
        (ErrorCode::ModelPermission, Some("at the provider")),
        (ErrorCode::ModelPermanent, Some("`palyra model list --ask`")),
        (ErrorCode::ModelMalformed, Some("`format`")),
        (ErrorCode::ModelNetwork, Some("OPENAI_BASE_URL")),
        (ErrorCode::ModelQuota, None),
        (ErrorCode::ModelTransient, None),
        (ErrorCode::RunNotFound, None),
    ] {
        let mend = mend_of_known(code);
        assert_eq!(mend.is_some(), named.is_some(), "{code}");
        assert!(mend.unwrap_or_default().contains(named.unwrap_or_default()), "{code}: {mend:?}");
    }
    let of_vault = "the key may not be sent: `palyra admin vault bind a b`, then `palyra config reload`";
    let asked = |message| mend_of_test(ErrorCode::ModelAuth, message, "a/b");
    assert_eq!(asked(of_vault).as_deref(), Some("then the same command again"));
    let of_run = mend_of_model(ErrorCode::ModelAuth, of_vault, "a/b");
    assert_eq!(of_run.as_deref(), Some("then the same command again"));
    let unset = "HTTP 401: wrong; no key is configured for `openai`: OPENAI_API_KEY, or `key` in its section";
    assert!(mend_of_unset_key(unset).is_some_and(|mend| mend.contains("export OPENAI_API_KEY")));
    assert_eq!(mend_of_unset_key("HTTP 401: wrong"), None);
}

#[test]
fn a_model_without_a_price_leads_to_the_budget_that_needs_it() {
    let message = "model `a/b` was not asked: budget `all` (total, window day) allows 1 token. budget `my money` (total, window \
                   day) limits money, and the model has no price";
    let mend = mend_of_model(ErrorCode::ModelWithoutPrice, message, "a/b").unwrap();
    assert!(mend.ends_with("`palyra budget remove 'my money'`"), "{mend}");
}

#[test]
fn a_run_whose_server_is_gone_leads_to_what_named_it_and_not_to_a_test() {
    let said = "the run's model is no longer configured";
    let mend = mend_of_model(ErrorCode::ModelPermanent, said, "openai/shop").unwrap();
    for part in ["OPENAI_BASE_URL, PALYRA_MODEL and OPENAI_API_KEY", "a new run"] {
        assert!(mend.contains(part) && !mend.contains("model test"), "{mend}");
    }
    let mend = mend_of_model(ErrorCode::ModelPermanent, said, "mine/shop").unwrap();
    assert!(mend.contains("no server `mine`") && mend.contains("`palyra model add mine`"), "{mend}");
    assert_eq!(mend_of_model(ErrorCode::ModelPermanent, "HTTP 400: no", "openai/shop"), None);
}

#[test]
fn a_model_that_its_server_does_not_have_leads_to_those_it_has_and_not_to_a_test() {
    for said in [
        "HTTP 404: The model `smal` does not exist",
        "HTTP 404: model 'smal' not found, try pulling it first",
        "HTTP 404: not_found_error: model: smal not found",
        "HTTP 400: model_not_found",
    ] {
        let mend = mend_of_model(ErrorCode::ModelPermanent, said, "mine/smal").unwrap();
        assert!(mend.starts_with("`palyra model list mine --ask`"), "{said}: {mend}");
        assert!(mend.contains("--model") && !mend.contains("model test"), "{said}: {mend}");
        let unnamed = mend_of_model(ErrorCode::ModelPermanent, said, "").unwrap();
        assert!(unnamed.starts_with("`palyra model list --ask`"), "{said}: {unnamed}");
    }
    for (code, said) in [
        (ErrorCode::ModelPermanent, "HTTP 404: page not found"),
        (ErrorCode::ModelPermanent, "HTTP 400: the model does not support tools"),
        (ErrorCode::ModelTransient, "the model `smal` does not exist"),
    ] {
        assert_eq!(mend_of_model(code, said, "mine/smal"), None, "{said}");
    }
}

#[test]
fn a_model_whose_name_is_made_up_is_tested_without_it() {
    let mend = mend_of_model(ErrorCode::ModelNetwork, "no connection", MODEL_UNKNOWN).unwrap();
    assert!(mend.ends_with("then `palyra model test`"), "{mend}");
    assert_eq!(mend_of_model(ErrorCode::ModelNetwork, "no connection", "mine/shop"), None);
}

#[test]
fn a_try_without_a_key_is_mended_by_one_and_else_as_any_other() {
    for code in [ErrorCode::ModelAuth, ErrorCode::ModelPermission] {
        assert!(mend_without_key(code).contains("--key env:NAME"), "{code}");
        assert!(mend_of_try(code).contains("what --key names"), "{code}");
    }
    for code in [ErrorCode::ModelNetwork, ErrorCode::ModelPermanent, ErrorCode::ModelQuota] {
        assert_eq!(mend_without_key(code), mend_of_try(code), "{code}");
    }
}

#[test]
fn a_model_that_the_server_does_not_list_is_named_with_those_it_has() {
    let names = ["mine/qwen3:latest", "mine/llama3"].map(str::to_owned);
    for (model, near) in [("lama3", "mine/llama3"), ("unknown", "mine/qwen3:latest")] {
        let doubt = unlisted_model("mine", model, &names).unwrap();
        let end = format!("it has mine/qwen3:latest, mine/llama3: `palyra model use {near}` names that one");
        assert!(doubt.ends_with(&end), "{doubt}");
    }
    for model in ["llama3", "qwen3", "qwen3:latest"] {
        assert_eq!(unlisted_model("mine", model, &names), None, "{model}");
    }
    // A server that lists none says nothing about any.
    assert_eq!(unlisted_model("mine", "unknown", &[]), None);
}

#[test]
fn a_schema_and_a_key_of_the_vault_lead_to_what_helps() {
    let message = "the answer does not fit the schema: `/a`: must be of type string";
    assert!(mend_of_demo(message, "demo/demo").unwrap().contains("`palyra model add`"));
    let named = "the demo provider has one model, `demo`, and no `nope`";
    assert!(mend_of_demo(named, "demo/nope").unwrap().contains("--model demo/demo"));
    assert_eq!((mend_of_demo(message, "a/b"), mend_of_demo("busy", "demo/demo")), (None, None));
    let said = vault_key_untested("my", "127.0.0.1:80", "my/b c");
    assert!(said.contains("`palyra model test 'my/b c'`"), "{said}");
    assert!(said.contains("`palyra admin vault put my --host 127.0.0.1:80`"), "{said}");
    assert!(said.contains("`palyra admin vault bind my 127.0.0.1:80`"), "{said}");
}

const LACKS: &str = "PLY-3001: no key for `x`: `X_KEY` is not set in the daemon's environment, set it";

#[test]
fn a_daemon_that_was_stopped_is_said_to_be_stopped_without_its_error() {
    assert_eq!(
        stopped_notice(LACKS),
        "the running daemon was stopped, because X_KEY is not set in its environment; your next \
         command here starts one with this environment, where X_KEY is set"
    );
    let other = stopped_notice("unknown key `modle`");
    assert!(other.contains("unknown key `modle`; your next command"), "{other}");
}

#[test]
fn a_key_that_a_daemon_lacks_has_a_way_to_it() {
    let unset = keyless_notice(LACKS, |_| false);
    assert!(unset.contains("in a shell where X_KEY is exported"), "{unset}");
    let set = keyless_notice(LACKS, |name| name == "X_KEY");
    assert!(set.contains("`palyra admin stop` lets your next command"), "{set}");
    assert!(set.contains("where X_KEY is set"), "{set}");
}
