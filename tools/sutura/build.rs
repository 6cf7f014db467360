//! Makes the tool and its tests find MLIR's shared library at run time (see `codegen/link`).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    match std::env::var("DEP_MLIR_SHARED_LIBDIR") {
        Ok(libdir) => println!("cargo::rustc-link-arg=-Wl,-rpath,{libdir}"),
        Err(_) => println!("cargo::error=the build script of sutura-mlir-link did not say where MLIR's libraries are"),
    }
}
