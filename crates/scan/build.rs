//! Compiles the eBPF programs and generates their skeleton.

use libbpf_cargo::SkeletonBuilder;
use std::{env, path::PathBuf};

const SOURCE: &str = "src/bpf/walk.bpf.c";

fn main() {
    let Some(out) = env::var_os("OUT_DIR").map(PathBuf::from) else {
        panic!("OUT_DIR is not set; run this through cargo");
    };
    SkeletonBuilder::new()
        .source(SOURCE)
        // Debian and Ubuntu keep asm/types.h in a directory per architecture.
        .clang_args(["-Wall", "-Werror", "-I/usr/include/x86_64-linux-gnu"])
        .build_and_generate(out.join("walk.skel.rs"))
        .unwrap_or_else(|error| {
            panic!("cannot compile {SOURCE}; clang is needed (apt install clang): {error:#}")
        });
    println!("cargo:rerun-if-changed=src/bpf");
}
