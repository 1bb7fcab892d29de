//! What `wit/tool.wit` says, as types and traits.

#![allow(unreachable_pub, missing_docs, clippy::all, reason = "made by a macro")]

wasmtime::component::bindgen!({
    path: "wit",
    world: "tool",
    imports: { default: async | trappable },
    exports: { default: async },
    with: { "palyra:tool/secrets.secret": crate::secret::OpenedSecret },
});
