//! Compiles the schemas without `protoc`, and keeps the descriptor set for reflection and JSON.

use std::path::Path;

#[path = "build/operations.rs"]
mod operations;
#[path = "build/short_names.rs"]
mod short_names;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new("proto");
    println!("cargo:rerun-if-changed=proto");
    println!("cargo:rerun-if-changed=build");
    let public_files = schemas(Path::new("proto/palyra/v1"))?;
    let store_files = schemas(Path::new("proto/palyra/store/v1"))?;

    // Encoded by the compiler itself: its prost types would lose the options of methods.
    let public = protox::Compiler::new([root])?
        .include_imports(true)
        .include_source_info(false)
        .open_files(&public_files)?
        .encode_file_descriptor_set();
    let out = std::env::var("OUT_DIR")?;
    let out = Path::new(&out);
    std::fs::write(out.join("palyra.v1.bin"), &public)?;
    let operations = operations::read(&public)?;
    std::fs::write(out.join("operations.rs"), operations::to_rust(&operations))?;
    std::fs::write(out.join("short_names.rs"), short_names::to_rust(&public)?)?;

    let mut set = protox::compile(public_files.iter().chain(&store_files), [root])?;
    set.file.retain(|file| file.package() != "palyra.options.v1");
    let has = |feature: &str| std::env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let mut config = tonic_prost_build::Config::new();
    config.enable_type_names();
    tonic_prost_build::configure()
        .build_client(has("GRPC"))
        .build_server(has("GRPC_SERVER"))
        .generate_default_stubs(true)
        .build_transport(false)
        .compile_fds_with_config(set, config)?;
    Ok(())
}

fn schemas(folder: &Path) -> std::io::Result<Vec<std::path::PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "proto") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
