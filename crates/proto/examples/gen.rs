//! Generates `src/gen` from the files below `proto/`; with `--check` it only compares.
//!
//! `cargo run -p lockstep-proto --example gen [-- --check]`

#![allow(clippy::expect_used, reason = "a generator stops at the first problem")]

use prost_types::FileDescriptorSet;
use protox::prost::Message;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let is_check = std::env::args()
        .skip(1)
        .any(|argument| argument == "--check");
    match run(is_check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(is_check: bool) -> Result<(), Box<dyn Error>> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let proto_folder = crate_folder.join("../../proto");
    let generated = generate(&proto_folder)?;
    let target = crate_folder.join("src/gen");
    if is_check {
        return compare(&target, &generated);
    }
    fs::create_dir_all(&target)?;
    for name in existing(&target)? {
        if !generated.contains_key(&name) {
            fs::remove_file(target.join(name))?;
        }
    }
    for (name, bytes) in &generated {
        fs::write(target.join(name), bytes)?;
        println!("wrote src/gen/{name}");
    }
    Ok(())
}

/// All generated files, by name.
fn generate(proto_folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, Box<dyn Error>> {
    let mut files = Vec::new();
    find_protos(proto_folder, &mut files)?;
    files.sort();
    let descriptors: FileDescriptorSet = protox::compile(&files, [proto_folder])?;
    let out = tempfile::tempdir()?;
    tonic_prost_build::configure()
        .bytes(".")
        .build_transport(true)
        .out_dir(out.path())
        .compile_fds(descriptors.clone())?;
    let mut generated = BTreeMap::new();
    for name in existing(out.path())? {
        let text = fs::read_to_string(out.path().join(&name))?;
        generated.insert(name, text.into_bytes());
    }
    generated.insert("descriptor.bin".to_owned(), descriptors.encode_to_vec());
    Ok(generated)
}

fn find_protos(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find_protos(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "proto")
        {
            files.push(path);
        }
    }
    Ok(())
}

fn existing(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

fn compare(target: &Path, generated: &BTreeMap<String, Vec<u8>>) -> Result<(), Box<dyn Error>> {
    let names = existing(target)?;
    let unexpected = names.iter().filter(|name| !generated.contains_key(*name));
    let differing = generated.iter().filter_map(|(name, bytes)| {
        let is_same = fs::read(target.join(name)).is_ok_and(|found| found == *bytes);
        (!is_same).then_some(name)
    });
    let stale: Vec<&str> = unexpected.chain(differing).map(String::as_str).collect();
    if stale.is_empty() {
        return Ok(());
    }
    let files = stale.join(", ");
    Err(format!(
        "src/gen is not what proto/ says: {files}; run `cargo run -p lockstep-proto --example gen`"
    )
    .into())
}
