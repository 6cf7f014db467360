//! The descriptions that are built in, and finding others.

use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::{Context, Module, Type};

use super::constraints::{Class, Owner};
use super::*;

fn context() -> Context {
    Context::new(crate::all())
}

#[test]
fn built_in_descriptions_say_what_plans_need() {
    let cx = context();
    let finder = Finder::default();
    let gpus = ["cpu_fibers", "gfx1100", "gfx90a", "gfx942", "lavapipe", "sm_100", "sm_80", "sm_90", "vulkan"];
    let processors = ["aarch64", "generic", "riscv64", "x86_amx", "x86_avx2", "x86_avx512", "x86_avx512_dot"];
    let mut names = [&gpus[..], &processors].concat();
    names.sort_unstable();
    assert_eq!(finder.names(&cx).unwrap(), names);
    for gpu in gpus {
        let desc = finder.find(&cx, gpu).unwrap().desc;
        let lanes = desc.subgroup.expect("threads that run in lockstep");
        assert_eq!(desc.vector_bytes(), lanes * 16, "{gpu}: 16 bytes a thread");
        let shared: Vec<_> = desc.of_class(Class::Sram).filter(|s| s.managed && s.owner == Owner::Group).collect();
        assert_eq!(shared.len(), 1, "{gpu}: the memory of a block");
    }
    for (name, vector, registers, (mr, nr)) in [
        ("aarch64", 16, 32, (12, 8)),
        ("generic", 16, 16, (4, 8)),
        ("riscv64", 16, 32, (4, 4)),
        ("x86_avx2", 32, 16, (6, 16)),
        ("x86_avx512", 64, 32, (12, 32)),
        ("x86_avx512_dot", 64, 32, (12, 32)),
        ("x86_amx", 64, 32, (12, 32)),
    ] {
        let desc = finder.find(&cx, name).unwrap().desc;
        assert_eq!((desc.vector_bytes(), desc.registers(), desc.lanes(32)), (vector, registers, vector / 4));
        let products = desc.register_tiles.iter().filter(|t| t.operand == Type::F32 && t.kr == 1);
        let tile = products.max_by_key(|t| (t.mr * t.nr, t.nr)).unwrap();
        assert_eq!((tile.mr, tile.nr, tile.acc), (mr, nr, Type::F32));
        let sums = mr as u64 * nr as u64 / desc.lanes(32);
        assert!(sums + nr as u64 / desc.lanes(32) < registers, "sums, a row of the right operand and one register");
        let sizes: Vec<u64> = desc.caches().filter_map(|c| c.bytes).collect();
        assert!(sizes.is_sorted() && sizes.last() == Some(&desc.last_cache_bytes()), "nearest first");
        assert!(!desc.pays_threads(1 << 10, 1 << 10) && desc.pays_threads(1 << 30, 0) && desc.pays_threads(0, 1 << 40));
    }
}

#[test]
fn a_family_may_stand_before_the_name() {
    let cx = context();
    let finder = Finder::default();
    assert_eq!(finder.find(&cx, "cuda:sm_90").unwrap().desc.name, "sm_90");
    assert_eq!(finder.find(&cx, "rocm:gfx942").unwrap().desc.name, "gfx942");
    let error = |name: &str| finder.find(&cx, name).unwrap_err().to_string();
    assert_eq!(error("cuda:sm_91"), "there is no target 'cuda:sm_91'; did you mean 'cuda:sm_90'?");
    assert!(error("rocm:sm_90").starts_with("there is no target 'rocm:sm_90'"));
    assert!(error("metal:m1").starts_with("there is no target 'metal:m1'"));
}

#[test]
fn the_hash_is_that_of_the_meaning() {
    let cx = context();
    let one = |text: &str| from_text(&cx, "t.mlir", "a test", text).unwrap().desc.hash;
    let text =
        "target.machine @m {triple = \"t\", features = \"\"} { target.space @d {class = \"dram\", owner = \"all\"} }";
    assert_eq!(one(text), one(&format!("// A comment.\n{}", text.replace("{ ", "{\n"))));
    assert_ne!(one(text), one(&text.replace("@d", "@e")));
    let intrinsic = Finder::default().find(&cx, "x86_avx2").unwrap();
    let shown = module_text(&cx, &intrinsic.module, &PrintOptions::default());
    assert_eq!(one(&shown), intrinsic.desc.hash, "as printed");
    let with_more = shown.trim_end().strip_suffix('}').unwrap().to_owned()
        + "func.func @f(%x : index) -> index {\n%y = arith.addi %x, %x : index\nreturn %y : index\n}\n}";
    assert_eq!(one(&with_more), intrinsic.desc.hash, "whatever lies beside it\n{with_more}");
}

#[test]
fn the_host_gets_the_best_that_fits() {
    let cx = context();
    let finder = Finder::default();
    let name = |features: &[&str]| finder.host(&cx, "x86_64-linux", features).unwrap().desc.name;
    let all: Vec<String> =
        finder.find(&cx, "x86_avx512").unwrap().desc.required_features().map(str::to_owned).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let narrow: Vec<&str> = all.iter().copied().filter(|f| !f.starts_with("avx512")).collect();
    assert_eq!(name(&all), "x86_avx512");
    let dots = [&all[..], &["avx512vnni", "avx512bf16"]].concat();
    assert_eq!(name(&dots), "x86_avx512_dot");
    assert_eq!(name(&[&dots[..], &["amx-tile", "amx-int8"]].concat()), "x86_avx512_dot", "no products of bf16");
    assert_eq!(name(&[&dots[..], &["amx-tile", "amx-int8", "amx-bf16"]].concat()), "x86_amx");
    assert_eq!(name(&narrow), "x86_avx2");
    assert_eq!(name(&["avx", "sse3"]), "generic");
    assert_eq!(finder.host(&cx, "aarch64-linux", &["neon"]).unwrap().desc.name, "aarch64");
}

#[test]
fn files_come_before_what_is_built_in() {
    let cx = context();
    let folder = tempfile::tempdir().unwrap();
    let describe = |name: &str| {
        format!(
            "target.machine @{name} {{triple = \"t\", features = \"+magic\"}} {{ target.space @d {{class = \"dram\", owner = \"all\"}} }}"
        )
    };
    std::fs::write(folder.path().join("generic.mlir"), describe("generic")).unwrap();
    std::fs::write(folder.path().join("wrong.mlir"), describe("right")).unwrap();
    std::fs::write(folder.path().join("broken.mlir"), "target.machine @broken").unwrap();
    let finder = Finder { folders: vec![folder.path().to_owned(), folder.path().join("absent")], file: None };
    assert_eq!(finder.find(&cx, "generic").unwrap().desc.features, ["+magic"]);
    assert_eq!(finder.find(&cx, "x86_avx2").unwrap().origin, "built in");
    let error = |name: &str| finder.find(&cx, name).unwrap_err().to_string();
    assert!(error("wrong").contains("describes @right, where its name says 'wrong'"));
    assert!(error("broken").contains("broken.mlir' describes no target"));
    assert_eq!(error("x86_avx521"), "there is no target 'x86_avx521'; did you mean 'x86_avx512'?");

    let file = folder.path().join("any.mlir");
    std::fs::write(&file, describe("mine")).unwrap();
    let finder = Finder { file: Some(file), folders: vec![] };
    assert_eq!(finder.find(&cx, "mine").unwrap().desc.triple, "t");
    assert_eq!(finder.host(&cx, "t-linux", &["magic"]).unwrap().desc.name, "mine");
    assert_eq!(
        finder.host(&cx, "x86_64", &["magic"]).unwrap().desc.name,
        "generic",
        "the other's architecture differs"
    );
    assert!(matches!(finder.host(&cx, "t", &[]), Err(TargetError::NoHost)));
}

#[test]
fn a_description_is_attached_once() {
    let cx = context();
    let target = Finder::default().find(&cx, "x86_avx2").unwrap();
    let mut module = Module::new(&cx, sutura_ir::Loc::UNKNOWN);
    let op = target.attach(&cx, module.body_mut()).unwrap();
    let machine = machine_of(module.op_ref(&cx)).unwrap().unwrap();
    assert_eq!(TargetDesc::from_op(machine).unwrap(), target.desc);
    assert_eq!(target.attach(&cx, module.body_mut()).unwrap(), op, "the same one stays");
    let other = Finder::default().find(&cx, "generic").unwrap();
    let error = other.attach(&cx, module.body_mut()).unwrap_err().message.clone();
    assert!(error.ends_with("is what the module is for, and @generic is asked for"), "{error}");
}
