//! Compiles the schemas without `protoc`, and keeps the descriptor set for reflection and JSON.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new("proto");
    println!("cargo:rerun-if-changed=proto");
    let mut files = Vec::new();
    for folder in ["proto/palyra/v1", "proto/palyra/store/v1"] {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "proto") {
                files.push(path);
            }
        }
    }
    files.sort();
    let set = protox::compile(&files, [root])?;
    let out = std::env::var("OUT_DIR")?;
    let public = protox::prost_reflect::prost_types::FileDescriptorSet {
        file: set.file.iter().filter(|file| file.package() != "palyra.store.v1").cloned().collect(),
    };
    std::fs::write(Path::new(&out).join("palyra.v1.bin"), prost::Message::encode_to_vec(&public))?;
    let services = std::env::var_os("CARGO_FEATURE_GRPC").is_some();
    let mut config = tonic_prost_build::Config::new();
    config.enable_type_names();
    tonic_prost_build::configure()
        .build_client(services)
        .build_server(services)
        .build_transport(false)
        .compile_fds_with_config(set, config)?;
    Ok(())
}
