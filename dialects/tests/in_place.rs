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

/// `y[2, N, 4]` has columns of `x[N, M]` in panels of 4, with zeros behind the last one; each `extra` op is in the loop too.
fn panels(cx: &Context, ty: &str, extra: &str) -> Module {
    let text = format!(
        "gir.kernel @k(%x: !gir.view<dram, {ty}, [N, M]> in, %y: !gir.view<dram, {ty}, [2, N, 4]> out)
             dims(%N : [0, 100], %M : [5, 8]) grid(%p = 2) units(1) {{
           %zero = arith.constant 0 : index
           %one = arith.constant 1 : index
           %first = gir.index affine_map<(d0) -> (d0 * 4)>(%p)
           gir.for %i = %zero to %N {{
             %from = gir.slice %x[%i, %first] cols(1) : !gir.view<dram, {ty}, [N, M]> -> !gir.slice<dram, {ty}, [1, 4]>
             %t = gir.load %from pad(0 : {ty}) : !gir.slice<dram, {ty}, [1, 4]> -> !gir.tile<l1, {ty}, [1, 4]>
             %to = gir.slice %y[%p, %i, %zero] cols(2) : !gir.view<dram, {ty}, [2, N, 4]> -> !gir.slice<dram, {ty}, [1, 4]>
             gir.store %t, %to : !gir.tile<l1, {ty}, [1, 4]>, !gir.slice<dram, {ty}, [1, 4]>
             {extra}
           }}
         }}"
    );
    let source = cx.sources().add("k.mlir".to_owned(), text.clone()).expect("a short text");
    let mut diags = Diagnostics::default();
    let module = sutura_grammar::parse_module(cx, &source, &sutura_grammar::ParseOptions::default(), &mut diags);
    module.unwrap_or_else(|_| panic!("{text}\n{:#?}", diags.take()))
}

/// What [`panels`] makes of `x`, and what is wrong.
fn panelled(extra: &str, (rows, columns): (usize, usize)) -> Result<Vec<i16>, String> {
    let cx = Context::new(sutura_dialects::all());
    let module = panels(&cx, "i16", extra);
    let dtype = DType::Int { width: 16, unsigned: false };
    let x: Vec<u8> = (1..=rows * columns).flat_map(|n| (n as i16).to_le_bytes()).collect();
    // What was there before does not count.
    let mut y = vec![0xff; 2 * rows * 4 * 2];
    let given =
        vec![InPlace::Constant { dtype, bytes: &x, len: rows * columns }, InPlace::Room { dtype, bytes: &mut y }];
    let dims = [rows as i64, columns as i64];
    run_kernel_in_place(kernel(&cx, &module), None, given, &dims).map_err(|error| error.to_string())?;
    Ok(y.chunks(2).map(|word| i16::from_le_bytes([word[0], word[1]])).collect())
}

#[test]
fn what_is_only_moved_is_padded_where_nothing_is() {
    assert_eq!(panelled("", (2, 5)), Ok(vec![1, 2, 3, 4, 6, 7, 8, 9, 5, 0, 0, 0, 10, 0, 0, 0]));
    assert_eq!(panelled("", (1, 8)), Ok(vec![1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!(panelled("", (0, 8)), Ok(vec![]));
}

#[test]
fn what_is_moved_wrongly_is_said_as_ever() {
    let store = |place: &str| {
        format!(
            "%again = gir.slice %y[{place}] cols(2) : !gir.view<dram, i16, [2, N, 4]> -> !gir.slice<dram, i16, [1, 4]>
             gir.store %t, %again : !gir.tile<l1, i16, [1, 4]>, !gir.slice<dram, i16, [1, 4]>"
        )
    };
    let twice = panelled(&store("%p, %i, %zero"), (2, 5)).expect_err("it writes twice");
    assert!(twice.contains("a second time"), "{twice}");
    let outside = panelled(&store("%first, %i, %zero"), (2, 5)).expect_err("there are two panels");
    assert!(outside.contains("second time") || outside.contains("lies outside its size"), "{outside}");
}
