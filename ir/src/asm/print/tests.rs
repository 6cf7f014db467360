use super::*;
use crate::attrs::AttrData;
use crate::builder::{Builder, OpState};
use crate::location::Loc;
use crate::registry::Registry;
use crate::types::{FloatKind, TypeData};

fn cx() -> Context {
    Context::new(Registry::default())
}

fn float(kind: FloatKind, value: f64) -> String {
    let mut out = String::new();
    number::write_float(&mut out, kind, crate::float::from_f64(kind, value));
    out
}

#[test]
fn floats_are_written_as_llvm_does() {
    // Expected texts are mlir-opt's.
    assert_eq!(float(FloatKind::F32, 1.0), "1.000000e+00");
    assert_eq!(float(FloatKind::F64, 0.0), "0.000000e+00");
    assert_eq!(float(FloatKind::F64, -0.0), "-0.000000e+00");
    assert_eq!(float(FloatKind::F64, 1e300), "1.000000e+300");
    assert_eq!(float(FloatKind::F32, 12.3456789), "12.3456793");
    assert_eq!(float(FloatKind::F16, 0.1015625), "1.015630e-01");
    assert_eq!(float(FloatKind::BF16, 0.40625), "4.062500e-01");
    assert_eq!(float(FloatKind::F8E4M3FN, 1.25), "1.250000e+00");
    assert_eq!(float(FloatKind::F32, f64::INFINITY), "0x7F800000");
    assert_eq!(float(FloatKind::F64, 0.1 + 0.2), "0.30000000000000004");
    // Cut off rather than rounded where six digits are left of the exact value.
    assert_eq!(float(FloatKind::F64, 99.99), "99.989999999999994");
    assert_eq!(float(FloatKind::F64, 6.2), "6.200000e+00");
    assert_eq!(float(FloatKind::F32, 6.2), "6.1999998");
    assert_eq!(float(FloatKind::F32, 14_526_433_280.0), "1.45264333E+10");
    assert_eq!(float(FloatKind::F64, 123456789.0), "0x419D6F3454000000");
    assert_eq!(float(FloatKind::F64, 12345678.5), "12345678.5");
    assert_eq!(float(FloatKind::F64, 1234567.0), "0x4132D68700000000");
    assert_eq!(float(FloatKind::F64, 1.23456789e-7), "1.2345678899999999E-7");
}

#[test]
fn wide_floats_keep_all_digits() {
    let cx = cx();
    let ty = cx.ty(TypeData::Float(FloatKind::F128));
    // The double nearest to 0.1, as f128.
    let words = cx.int_list(&[0xa000_0000_0000_0000u64 as i64, 0x3ffb_9999_9999_9999]);
    let attr = cx.attr(AttrData::BigFloat { ty, words });
    assert_eq!(attr_text(&cx, attr), "0.100000000000000005551115123125782702 : f128");
    let ty = cx.ty(TypeData::Float(FloatKind::F80));
    let words = cx.int_list(&[0xc000_0000_0000_0000u64 as i64, 0x3fff]);
    let attr = cx.attr(AttrData::BigFloat { ty, words });
    assert_eq!(attr_text(&cx, attr), "1.500000e+00 : f80");
}

#[test]
fn strings_are_escaped() {
    let cx = cx();
    assert_eq!(attr_text(&cx, cx.string_attr("x\"\n\\é")), r#""x\22\0A\\\C3\A9""#);
    assert_eq!(attr_text(&cx, cx.symbol_ref("a b")), "@\"a b\"");
}

#[test]
fn shapes_nest_and_splats_do_not() {
    let cx = cx();
    let ty = cx.tensor_type(&[2, 2], Type::I8, None);
    let dense = |data: &[u8], splat| cx.attr(AttrData::Dense { ty, data: cx.blob(data), splat });
    assert_eq!(attr_text(&cx, dense(&[1, 2, 3, 255], false)), "dense<[[1, 2], [3, -1]]> : tensor<2x2xi8>");
    assert_eq!(attr_text(&cx, dense(&[7], true)), "dense<7> : tensor<2x2xi8>");
    let long = cx.tensor_type(&[102], Type::I1, None);
    let bits: Vec<u8> = (0..102).map(|i| u8::from(i % 3 != 1)).collect();
    let attr = cx.attr(AttrData::Dense { ty: long, data: cx.blob(&bits), splat: false });
    assert_eq!(attr_text(&cx, attr), "dense<\"0x6DDBB66DDBB66DDBB66DDBB62D\"> : tensor<102xi1>");
}

/// `%x` twice in one block, `%x` again in a nested region, and an unnamed value.
fn named_values(cx: &Context) -> Module {
    let mut module = Module::new(cx, Loc::UNKNOWN);
    let block = module.body().entry_block().expect("a module has a block");
    let mut builder = Builder::at_end(cx, module.body_mut(), block);
    let x = cx.ident("x");
    for _ in 0..2 {
        let op = builder.create(OpState::new(cx.op_name("t.def"), Loc::UNKNOWN).results([Type::I32, Type::I32]));
        let value = builder.body().result(op, 0);
        builder.set_value_name(value, Some(x));
    }
    let outer = builder.create(OpState::new(cx.op_name("t.outer"), Loc::UNKNOWN).regions(1));
    let unnamed = builder.create(OpState::new(cx.op_name("t.def"), Loc::UNKNOWN).results([Type::I32]));
    let region = builder.body().regions(outer).next().expect("one region");
    let inner = builder.create_block(region, &[(Type::F32, Loc::UNKNOWN)]);
    builder.set_to_end(inner);
    let operand = builder.body().result(unnamed, 0);
    let op = builder.create(OpState::new(cx.op_name("t.def"), Loc::UNKNOWN).operands([operand]).results([Type::I32]));
    let value = builder.body().result(op, 0);
    builder.set_value_name(value, Some(x));
    let body = builder.create_block(region, &[(Type::INDEX, Loc::UNKNOWN)]);
    builder.set_to_end(body);
    builder.create(OpState::new(cx.op_name("t.br"), Loc::UNKNOWN).successors([body, body]));
    module
}

#[test]
fn names_are_kept_and_made_unique() {
    let cx = cx();
    let module = named_values(&cx);
    let text = module_text(&cx, &module, &PrintOptions::generic());
    let expected = r#""builtin.module"() ({
  %x:2 = "t.def"() : () -> (i32, i32)
  %x_0:2 = "t.def"() : () -> (i32, i32)
  "t.outer"() ({
  ^bb0(%arg0: f32):
    %x_1 = "t.def"(%0) : (i32) -> i32
  ^bb1(%1: index):  // 2 preds: ^bb1, ^bb1
    "t.br"()[^bb1, ^bb1] : () -> ()
  }) : () -> ()
  %0 = "t.def"() : () -> i32
}) : () -> ()
"#;
    assert_eq!(text, expected);
    let options = PrintOptions { discard_value_names: true, ..PrintOptions::generic() };
    let text = module_text(&cx, &module, &options);
    assert!(text.contains("%1:2 = ") && text.contains("%3 = \"t.def\"(%2)"), "{text}");
}

#[test]
fn maps_are_hoisted_and_local_scope_keeps_them() {
    let cx = cx();
    let mut module = Module::new(&cx, Loc::UNKNOWN);
    let block = module.body().entry_block().expect("a module has a block");
    let d0 = cx.affine_dim(0);
    let minus = cx.affine_binary(crate::affine::AffineOp::Mul, d0, cx.affine_const(-1));
    let map = cx.affine_map(1, 0, &[cx.affine_binary(crate::affine::AffineOp::Add, minus, cx.affine_const(-3))]);
    let memref = cx.memref_type(&[4], Type::F32, Some(cx.affine_map_attr(map)), None);
    let mut builder = Builder::at_end(&cx, module.body_mut(), block);
    builder.create(OpState::new(cx.op_name("t.def"), Loc::UNKNOWN).results([memref]));
    let text = module_text(&cx, &module, &PrintOptions::generic());
    assert!(text.starts_with("#map = affine_map<(d0) -> (-d0 - 3)>\n"), "{text}");
    assert!(text.contains("() -> memref<4xf32, #map>"), "{text}");
    let local = PrintOptions { local_scope: true, ..PrintOptions::generic() };
    assert!(module_text(&cx, &module, &local).contains("memref<4xf32, affine_map<(d0) -> (-d0 - 3)>>"));
}
