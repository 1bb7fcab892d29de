//! The text of a catalogue, byte for byte: its digest is stored.

use super::*;

fn spec(name: &str, contract: EffectContract, conduct: ToolConduct, risk: ApprovalRiskLevel) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: "d".to_owned(),
        schema: serde_json::json!({ "type": "object" }),
        contract,
        parallelism: Parallelism::Parallel,
        conduct,
        capabilities: Vec::new(),
        taints: Taints::NONE,
        risk,
        deadline: Duration::from_secs(1),
        output_bytes_max: 1,
    }
}

fn row(name: &str, [contract, conduct, risk, capabilities]: [&str; 4]) -> String {
    format!(
        r#"{{"capabilities":"{capabilities}","conduct":"{conduct}","contract":"{contract}","description":"d","name":"{name}","risk":"{risk}","schema":{{"type":"object"}},"version":1}}"#
    )
}

#[test]
fn the_text_of_a_catalogue_never_changes() {
    use {ApprovalRiskLevel as Risk, EffectContract as Contract, ToolConduct as Conduct};
    let mut all = spec("e", Contract::Opaque, Conduct::Direct, Risk::Low);
    all.capabilities = vec![
        Capability::ReadFiles,
        Capability::WriteFiles,
        Capability::Network,
        Capability::Process,
        Capability::Secrets,
        Capability::AskUser,
        Capability::Component,
    ];
    let mut one = spec("b", Contract::Keyed, Conduct::Prepared, Risk::Medium);
    one.capabilities = vec![Capability::Network];
    let catalog = ToolCatalog::new(vec![
        all,
        spec("a", Contract::Pure, Conduct::Direct, Risk::Low),
        one,
        spec("c", Contract::Probe, Conduct::Question, Risk::High),
        spec("d", Contract::Local, Conduct::Direct, Risk::Critical),
    ]);
    let expected = [
        row("a", ["Pure", "Direct", "Low", "[]"]),
        row("b", ["Keyed", "Prepared", "Medium", "[Network]"]),
        row("c", ["Probe", "Question", "High", "[]"]),
        row("d", ["Local", "Direct", "Critical", "[]"]),
        row(
            "e",
            [
                "Opaque",
                "Direct",
                "Low",
                "[ReadFiles, WriteFiles, Network, Process, Secrets, AskUser, Component]",
            ],
        ),
    ];
    assert_eq!(catalog.canonical_text(), format!("[{}]", expected.join(",")));
}
