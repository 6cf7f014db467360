//! A kernel on what lies in its caller's memory computes what it does on buffers, for every type of elements.

use sutura_dialects::gir::interp::{InPlace, Options, run_kernel_in_place, run_kernel_op};
use sutura_dialects::gir::kernel::KernelInfo;
use sutura_interp::{Buffer, DType, Random, Scalar};
use sutura_ir::{Context, Diagnostics, Module, OpRef};

const TYPES: &[&str] =
    &["i1", "i2", "i4", "ui4", "i8", "ui8", "i12", "i16", "i24", "i32", "i64", "f8E4M3FN", "f16", "bf16", "f32", "f64"];

/// `y[N, M]` is the transpose of `x[M, N]`, a row of `x` by each group.
fn transpose(cx: &Context, ty: &str) -> Module {
    let text = format!(
        "gir.kernel @k(%x: !gir.view<dram, {ty}, [M, N]> in, %y: !gir.view<dram, {ty}, [N, M]> out)
             dims(%M : [0, 100], %N : [1, 100]) grid(%i = M) units(1) {{
           %zero = arith.constant 0 : index
           %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, {ty}, [M, N]> -> !gir.slice<dram, {ty}, [1, N]>
           %t = gir.load %from : !gir.slice<dram, {ty}, [1, N]> -> !gir.tile<l1, {ty}, [1, N]>
           %to = gir.slice %y[%zero, %i] cols(0) : !gir.view<dram, {ty}, [N, M]> -> !gir.slice<dram, {ty}, [1, N]>
           gir.store %t, %to : !gir.tile<l1, {ty}, [1, N]>, !gir.slice<dram, {ty}, [1, N]>
         }}"
    );
    let source = cx.sources().add("k.mlir".to_owned(), text.clone()).expect("a short text");
    let mut diags = Diagnostics::default();
    let module = sutura_grammar::parse_module(cx, &source, &sutura_grammar::ParseOptions::default(), &mut diags);
    module.unwrap_or_else(|_| panic!("{text}\n{:#?}", diags.take()))
}

fn kernel<'a>(cx: &'a Context, module: &'a Module) -> OpRef<'a> {
    module
        .op_ref(cx)
        .region(0)
        .and_then(|region| region.entry())
        .and_then(|block| block.ops().next())
        .expect("a kernel")
}

#[test]
fn constants_and_rooms_hold_what_buffers_do() {
    for (seed, ty) in TYPES.iter().enumerate() {
        let cx = Context::new(sutura_dialects::all());
        let module = transpose(&cx, ty);
        let kernel = kernel(&cx, &module);
        let info = KernelInfo::read(kernel).expect("a kernel");
        let dtype = DType::of(&cx, info.views[0].1.elem).expect("numbers");
        let (rows, columns) = (5, 7);
        let mut random = Random::new(seed as u64);
        let mut buffers = [Buffer::zeros(dtype, rows * columns), Buffer::undefined(dtype, rows * columns)];
        (0..rows * columns).for_each(|i| buffers[0].set(i, Some(Scalar::from_bits(dtype, random.next_u64()))));
        let bytes = buffers[0].to_le_bytes().expect("all are defined");
        let mut made = vec![0; bytes.len()];
        let dims = [rows as i64, columns as i64];
        let given = vec![
            InPlace::Constant { dtype, bytes: &bytes, len: rows * columns },
            InPlace::Room { dtype, bytes: &mut made },
        ];
        run_kernel_in_place(kernel, None, given, &dims).unwrap_or_else(|error| panic!("{ty}: {error}"));
        run_kernel_op(kernel, None, &mut buffers, &dims, &Options::default()).expect("it ran in place");
        assert_eq!(Some(&made), buffers[1].to_le_bytes().as_ref(), "{ty}");
        assert_ne!(made, bytes, "{ty}");
    }
}

#[test]
fn one_element_stands_for_all() {
    let cx = Context::new(sutura_dialects::all());
    let module = transpose(&cx, "i16");
    let (bytes, mut made) = ([0x34, 0x12], [0; 12]);
    let (dtype, len) = (DType::Int { width: 16, unsigned: false }, 6);
    let given = vec![InPlace::Constant { dtype, bytes: &bytes, len }, InPlace::Room { dtype, bytes: &mut made }];
    run_kernel_in_place(kernel(&cx, &module), None, given, &[2, 3]).expect("it runs");
    assert_eq!(made, [0x34, 0x12].repeat(6)[..]);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let cx = Context::new(sutura_dialects::all());
    let module = transpose(&cx, "i16");
    let (bytes, dtype) = ([0; 12], DType::Int { width: 16, unsigned: false });
    let run = |given: Vec<InPlace<'_>>| {
        run_kernel_in_place(kernel(&cx, &module), None, given, &[2, 3]).expect_err("it does not fit").to_string()
    };
    let constant = |len: usize| InPlace::Constant { dtype, bytes: &bytes, len };
    let (mut room, mut odd, mut short) = ([0; 12], [0; 11], [0; 10]);
    assert!(run(vec![constant(6)]).contains("%y is not given what it needs"));
    assert!(run(vec![constant(5), InPlace::Room { dtype, bytes: &mut room }]).contains("%x is not given"));
    assert!(run(vec![constant(6), InPlace::Room { dtype, bytes: &mut odd }]).contains("%y is not given"));
    assert!(run(vec![constant(6), InPlace::Room { dtype, bytes: &mut short }]).contains("does not fit a buffer of 5"));
    assert!(run(vec![constant(6), constant(6)]).contains("%y is not given"));
    let wide = InPlace::Constant { dtype: DType::I64, bytes: &bytes, len: 1 };
    assert!(run(vec![wide, InPlace::Room { dtype, bytes: &mut room }]).contains("%x is not given"));
}
