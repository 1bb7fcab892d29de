//! Precedence, for any subset of layers that sets any subset of keys.

use proptest::prelude::*;

use super::super::check::variable_of;
use super::*;

/// A layer that sets some keys.
type Sets = BTreeMap<&'static str, ConfigValue>;

fn any_value(key: &'static str) -> BoxedStrategy<ConfigValue> {
    let number = |min: u64, max: u64| (min..=max).prop_map(ConfigValue::Integer).boxed();
    let model = "(demo|local)/[a-z]{1,3}";
    match key {
        "model.default" => model.prop_map(ConfigValue::Text).boxed(),
        "model.fallbacks" => proptest::collection::btree_set(model, 0..4)
            .prop_map(|set| ConfigValue::List(set.into_iter().collect()))
            .boxed(),
        "providers.local.images" => any::<bool>().prop_map(ConfigValue::Bool).boxed(),
        "providers.local.format" => {
            prop_oneof![Just("openai_chat"), Just("openai_responses"), Just("anthropic_messages")]
                .prop_map(|text| ConfigValue::Text(text.to_owned()))
                .boxed()
        }
        "providers.local.base_url" => "https://[a-z]{1,5}".prop_map(ConfigValue::Text).boxed(),
        "listen.tcp" => (1_u16..).prop_map(|port| ConfigValue::Text(format!("127.0.0.1:{port}"))).boxed(),
        "limits.turns_max" => number(1, 10_000),
        _ => number(1, 60),
    }
}

const KEYS: [&str; 9] = [
    "daemon.drain_seconds",
    "limits.parallel_tools_max",
    "limits.turns_max",
    "listen.tcp",
    "model.default",
    "model.fallbacks",
    "providers.local.base_url",
    "providers.local.format",
    "providers.local.images",
];

fn any_layer() -> impl Strategy<Value = Sets> {
    let maybe = |key: &'static str| proptest::option::of(any_value(key)).prop_map(move |value| (key, value));
    let each: Vec<_> = KEYS.into_iter().map(maybe).collect();
    each.prop_map(|each| each.into_iter().filter_map(|(key, value)| Some((key, value?))).collect())
}

/// Returns a value as a variable or a flag holds it.
fn plain(value: &ConfigValue) -> String {
    match value {
        ConfigValue::Integer(number) => number.to_string(),
        ConfigValue::Text(text) => text.clone(),
        ConfigValue::Bool(yes) => yes.to_string(),
        ConfigValue::List(items) => items.join(","),
    }
}

fn loaded(file: &Sets, variables: &Sets, flags: &Sets) -> Config {
    let text: String = file.iter().map(|(key, value)| format!("{key} = {}\n", value.to_toml())).collect();
    let variables = variables.iter().map(|(key, value)| (variable_of(key), plain(value))).collect();
    let flags: Vec<_> = flags.iter().map(|(key, value)| (*key, plain(value))).collect();
    let file = ConfigText { path: Path::new("FILE"), text: &text };
    assemble(Some(file), &variables, &flags, ErrorCollector::default()).expect("valid")
}

proptest! {
    #[test]
    fn the_highest_layer_that_sets_a_key_wins_and_is_its_origin(
        mut file in any_layer(), variables in any_layer(), flags in any_layer(),
    ) {
        // A provider needs its address.
        file.entry("providers.local.base_url").or_insert(ConfigValue::Text("https://h".to_owned()));
        let config = loaded(&file, &variables, &flags);
        let rows: BTreeMap<_, _> = config.rows().map(|(key, value, origin)| (key.to_owned(), (value, origin))).collect();
        let defaults: BTreeMap<_, _> =
            with_file("", &[], &[]).expect("valid").rows().map(|(key, value, _)| (key.to_owned(), value)).collect();
        for key in KEYS {
            let found = rows.get(key);
            if let Some(value) = flags.get(key) {
                prop_assert_eq!(found, Some(&(value.to_toml(), "flag".to_owned())));
            } else if let Some(value) = variables.get(key) {
                let origin = format!("environment variable {}", variable_of(key));
                prop_assert_eq!(found, Some(&(value.to_toml(), origin)));
            } else if let Some(value) = file.get(key) {
                let line = file.keys().position(|other| *other == key).map_or(0, |at| at + 1);
                prop_assert_eq!(found, Some(&(value.to_toml(), format!("FILE:{line}"))));
            } else if let Some(default) = defaults.get(key) {
                prop_assert_eq!(found, Some(&(default.clone(), "default".to_owned())));
            } else {
                // What only a provider has.
                prop_assert!(found.is_none_or(|(_, origin)| origin == "default"));
            }
        }
    }

    #[test]
    fn the_digest_depends_on_values_and_never_on_where_they_come_from(
        mut sets in any_layer(), places in proptest::collection::vec(0..3_u8, KEYS.len()),
    ) {
        sets.entry("providers.local.base_url").or_insert(ConfigValue::Text("https://h".to_owned()));
        let mut layers = [Sets::new(), Sets::new(), Sets::new()];
        for ((key, value), place) in sets.iter().zip(&places) {
            layers[usize::from(*place)].insert(key, value.clone());
        }
        let [file, variables, flags] = &layers;
        let (spread, alone) = (loaded(file, variables, flags), loaded(&sets, &Sets::new(), &Sets::new()));
        prop_assert_eq!(spread.canonical_text(), alone.canonical_text());
        prop_assert!(spread.changed_keys(&alone).is_empty());
        // And it does depend on them.
        let mut other = sets.clone();
        other.insert("limits.turns_max", ConfigValue::Integer(sets.get("limits.turns_max").map_or(7, |value| match value {
            ConfigValue::Integer(number) => number % 10_000 + 1,
            _ => 7,
        })));
        let other = loaded(&other, &Sets::new(), &Sets::new());
        prop_assert_ne!(other.canonical_text(), alone.canonical_text());
        prop_assert_eq!(other.changed_keys(&alone), ["limits.turns_max"]);
    }
}
