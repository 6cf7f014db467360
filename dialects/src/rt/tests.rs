//! Programs around kernels of a test dialect, whose meaning is Rust.

use sutura_interp::{Callable, Frame, InterpError, Interpreter, Value, Values};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::diagnostics::Diagnostics;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Builder, Context, Dialect, DialectBuilder, Loc, Module, OpRef, OpState, Type};

use super::*;
use crate::r#dyn::{Poly, SymbolInfo};
use crate::gir::checks::{DataCheck, DataCheckKind};

/// A kernel by name: `scale` doubles each element of its first buffer into its second, `sum` sums rows.
#[sutura_ir::op("test.kernel", traits(Symbol))]
struct KernelOp {
    sym_name: Attr<sutura_ir::constraints::SymbolNameAttr>,
}

struct TestDialect;

impl Dialect for TestDialect {
    const NAME: &'static str = "test";

    fn register(d: &mut DialectBuilder<'_>) {
        d.op::<KernelOp<'_>>();
        d.interface::<dyn Launchable>("test.kernel", &kernel::AnnotatedFunction);
        d.interface::<dyn Callable>("test.kernel", &RunKernel);
    }
}

struct RunKernel;

impl Callable for RunKernel {
    fn call(&self, op: OpRef<'_>, args: Values, frame: &mut Frame<'_>) -> Result<Values, InterpError> {
        let (from, to) = (args[0].memref()?, args[1].memref()?);
        let (values, shape) = Value::Tensor(frame.memory().read(from)?).to_f32()?;
        let result = match op.symbol_name() {
            Some("scale") => (values.iter().map(|v| v * 2.0).collect::<Vec<_>>(), shape),
            _ => {
                let rows = values.chunks(shape[1].max(1)).map(|row| row.iter().sum()).collect();
                (rows, vec![shape[0]])
            }
        };
        let result = Value::tensor_f32(result.0, &result.1)?;
        frame.memory().write(to, result.tensor()?)?;
        Ok(Values::new())
    }
}

fn p(text: &str) -> Poly {
    Poly::parse(text).unwrap()
}

fn buffer(dims: &[&str]) -> BufferType {
    BufferType::new(Type::F32, dims.iter().map(|d| p(d)).collect())
}

fn context() -> Context {
    Context::new(crate::all().with::<TestDialect>())
}

fn kernel(b: &mut Builder<'_>, name: &str, params: &[(Access, &[&str])], requires: &[&str]) {
    let dim = |name: &str| (name.to_owned(), SymbolInfo::default());
    let signature = KernelSignature {
        params: params.iter().map(|(access, dims)| Param { access: *access, ty: buffer(dims) }).collect(),
        dims: vec![dim("M"), dim("N")],
        requires: requires.iter().map(|r| p(r)).collect(),
        grid: vec![p("M")],
        ops: Vec::new(),
        checks: [(DataCheckKind::Index, "gather"), (DataCheckKind::Division, "mean")]
            .map(|(kind, what)| DataCheck { kind, what: what.into() })
            .to_vec(),
    };
    let cx = b.cx();
    let state = OpState::of(cx, <KernelOp<'_> as sutura_ir::OpView<'_>>::def(), Loc::UNKNOWN)
        .prop(cx.ident("sym_name"), cx.string_attr(name))
        .attr(cx.ident(KERNEL_ATTR), signature.to_attr(cx));
    b.create(state);
}

fn symbol(name: &str, min: i64, max: i64) -> Symbol {
    Symbol { name: name.to_owned(), info: SymbolInfo { min, max, div: 1, likely: vec![4] } }
}

fn header() -> ProgramHeader {
    ProgramHeader {
        name: "main".to_owned(),
        symbols: vec![symbol("B", 0, 64), symbol("N", 1, 9000)],
        inputs: vec![("x".to_owned(), buffer(&["B", "N"])), ("mask".to_owned(), buffer(&["N", "4"]))],
        outputs: vec![("y".to_owned(), buffer(&["B"]))],
        constraints: Vec::new(),
        private: false,
    }
}

/// A module with both kernels and the program that `fill` builds.
fn module(cx: &Context, header: ProgramHeader, fill: impl FnOnce(&mut ProgramBuilder<'_>)) -> Module {
    let mut module = Module::new(cx, Loc::UNKNOWN);
    let block = module.body().entry_block().unwrap();
    let mut b = Builder::at_end(cx, module.body_mut(), block);
    kernel(&mut b, "scale", &[(Access::Read, &["M", "N"]), (Access::Write, &["M", "N"])], &["8192 - N"]);
    kernel(&mut b, "sum", &[(Access::Read, &["M", "N"]), (Access::Write, &["M"])], &[]);
    let mut program = ProgramBuilder::new(cx, header);
    fill(&mut program);
    program.finish(&mut b, Loc::UNKNOWN);
    module
}

/// Rows of twice the input summed; the doubled input lies in a temporary while it fits.
fn fill(program: &mut ProgramBuilder<'_>) {
    let (x, y) = (program.input(0), program.output(0));
    let t = program.alloc(Loc::UNKNOWN, buffer(&["B", "N"]));
    let dims = [p("B"), p("N")];
    program.select(Loc::UNKNOWN, &[vec![p("4096 - N")]], |version, b| {
        if version == 0 {
            super::launch(b, Loc::UNKNOWN, "scale", (&[x, t], &dims), None, &[]);
            super::launch(b, Loc::UNKNOWN, "sum", (&[t, y], &dims), None, &[]);
        } else {
            super::launch(b, Loc::UNKNOWN, "sum", (&[x, y], &dims), Some(&p("2*B*N")), &[]);
        }
    });
}

fn errors(cx: &Context, module: &Module) -> Vec<String> {
    let mut diags = Diagnostics::default();
    let _ = verify(module.op_ref(cx), VerifyOptions::default(), &mut diags);
    diags.iter().map(|d| d.message.clone()).collect()
}

fn refused(header: ProgramHeader, fill: impl FnOnce(&mut ProgramBuilder<'_>), words: &str) {
    let cx = context();
    let messages = errors(&cx, &module(&cx, header, fill));
    assert!(messages.iter().any(|m| m.contains(words)), "{messages:?}");
}

#[test]
fn a_program_verifies_and_prints() {
    let cx = context();
    let module = module(&cx, header(), fill);
    assert_eq!(errors(&cx, &module), [""; 0]);
    let text = module_text(&cx, &module, &PrintOptions::default());
    let head = "rt.program @main(%arg0 : !rt.buffer<f32, [B, N]> in \"x\", %arg1 : !rt.buffer<f32, [N, 4]> in \"mask\", \
                %arg2 : !rt.buffer<f32, [B]> out \"y\") symbols(B : [0, 64] likely [4], N : [1, 9000] likely [4]) {";
    assert!(text.contains(head), "{text}");
    for line in [
        "%0 = alloc : !rt.buffer<f32, [B, N]>",
        "select if [-N + 4096]",
        "launch @scale(%arg0, %0) dims [B, N] : !rt.buffer<f32, [B, N]>, !rt.buffer<f32, [B, N]>",
        "launch @sum(%arg0, %arg2) dims [B, N] work [2*B*N] :",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

fn run(n: usize) -> Result<Vec<f32>, String> {
    let cx = context();
    let module = module(&cx, header(), fill);
    let mut interpreter = Interpreter::new(&cx, &module);
    let x = Value::tensor_f32((0..2 * n).map(|i| i as f32).collect(), &[2, n]).unwrap();
    let mask = Value::tensor_f32(vec![0.0; 4 * n.min(8999)], &[n.min(8999), 4]).unwrap();
    let results = interpreter.call("main", &[x, mask]).map_err(|e| e.message().to_owned())?;
    Ok(results[0].to_f32().unwrap().0)
}

#[test]
fn the_first_version_whose_guard_holds_runs() {
    assert_eq!(run(3).unwrap(), [6.0, 24.0]);
    // The second version sums without doubling.
    let sums = run(5000).unwrap();
    assert_eq!(sums[0], (0..5000).map(|i| i as f32).sum::<f32>());
}

#[test]
fn dims_that_disagree_are_told_by_name() {
    assert_eq!(run(9000).unwrap_err(), "input `mask` dimension 0 is 8999, but input `x` dimension 1 is 9000");
    assert_eq!(run(9001).unwrap_err(), "input `x` dimension 1 is 9001, outside [1, 9000]");
    assert_eq!(run(0).unwrap_err(), "input `x` dimension 1 is 0, outside [1, 9000]");
}

#[test]
fn symbols_are_solved_from_sums_and_equalities() {
    let cx = context();
    let mut header = header();
    header.symbols = vec![symbol("H", 1, 100), symbol("K", 0, 100), symbol("W", 0, 100)];
    header.inputs = vec![("x".to_owned(), buffer(&["2*H + K", "K", "H"])), ("z".to_owned(), buffer(&["3*K + 1"]))];
    header.outputs = vec![("y".to_owned(), buffer(&["W - 2"]))];
    header.constraints = vec![Constraint::new(ConstraintKind::Equal, p("W + 1"), p("H + K"))];
    let module = module(&cx, header, |_| {});
    let program = module.op_ref(&cx).region(0).unwrap().entry().unwrap().ops().last().unwrap();
    let info = ProgramInfo::read(program).unwrap();
    let solution = Solution::of(&info).unwrap();
    let solve = |x: &[i64], z: &[i64]| {
        solution.solve(&info.symbols, &[x, z]).map_err(|(check, a, b)| (check.words.left.clone(), a, b))
    };
    assert_eq!(solve(&[13, 3, 5], &[10]), Ok(vec![Some(5), Some(3), Some(7)]));
    assert_eq!(solve(&[12, 3, 5], &[10]), Err(("input `x` dimension 0".to_owned(), 12, 13)));
    assert_eq!(solve(&[13, 3, 5], &[11]), Err(("input `z` dimension 0".to_owned(), 11, 10)));
    assert_eq!(solve(&[2, 0, 1], &[1]), Err(("output `y` dimension 0".to_owned(), -2, 0)));
}

#[test]
fn a_multiple_is_divided_only_when_it_is_one() {
    let cx = context();
    let mut header = header();
    header.symbols = vec![symbol("H", 0, 100)];
    header.inputs = vec![("x".to_owned(), buffer(&["2*H"]))];
    header.outputs = Vec::new();
    let module = module(&cx, header, |_| {});
    let program = module.op_ref(&cx).region(0).unwrap().entry().unwrap().ops().last().unwrap();
    let info = ProgramInfo::read(program).unwrap();
    let solution = Solution::of(&info).unwrap();
    assert_eq!(solution.solve(&info.symbols, &[&[14]]), Ok(vec![Some(7)]));
    assert!(matches!(solution.solve(&info.symbols, &[&[15]]), Err((_, 15, 2))));
}

#[test]
fn a_size_may_be_divided_by_another_one() {
    let cx = context();
    let mut header = header();
    header.symbols = vec![symbol("N", 0, 100), symbol("M", 0, 100), symbol("Q", 0, 1000), symbol("R", 0, 1000)];
    header.inputs = vec![("x".to_owned(), buffer(&["N", "4"])), ("z".to_owned(), buffer(&["M"]))];
    header.outputs = vec![("y".to_owned(), buffer(&["M", "Q"]))];
    let mut by_another = Constraint::new(ConstraintKind::Compatible, p("4*N"), p("M*Q"));
    by_another.left_words = Some("4*N (reshape)".to_owned());
    // What is told by a size that is told so itself, with the sign turned round.
    let by_both = Constraint::new(ConstraintKind::Compatible, p("M*Q*R"), p("M*Q"));
    header.constraints = vec![by_both, by_another];
    let module = module(&cx, header, |_| {});
    let program = module.op_ref(&cx).region(0).unwrap().entry().unwrap().ops().last().unwrap();
    let info = ProgramInfo::read(program).unwrap();
    let solution = Solution::of(&info).unwrap();
    let solve = |n: i64, m: i64| {
        let solved = solution.solve(&info.symbols, &[&[n, 4], &[m]]);
        solved.map_err(|(check, a, b)| (check.words.left.clone(), check.condition.clone(), a, b))
    };
    assert_eq!(solve(6, 8), Ok(vec![Some(6), Some(8), Some(3), Some(1)]));
    assert_eq!(solve(6, 5), Err(("4*N (reshape)".to_owned(), Condition::MultipleOf(p("M")), 24, 5)));
    // Nothing divided by nothing could be anything.
    for n in [0, 6] {
        let (left, _, value, least) = solve(n, 0).unwrap_err();
        assert_eq!((left.as_str(), value, least), ("the size `M`, by which 4*N (reshape) is divided", 0, 1));
    }
}

#[test]
fn an_equality_in_which_each_term_has_the_symbol_does_not_tell_it() {
    let cx = context();
    let mut header = header();
    header.symbols = vec![symbol("N", 0, 100), symbol("H", 0, 100)];
    header.inputs = vec![("x".to_owned(), buffer(&["N", "12"]))];
    header.outputs = vec![("y".to_owned(), buffer(&["N", "H"]))];
    // `H` is any number where `N` is at least 2.
    let of_n = Constraint::new(ConstraintKind::Compatible, p("H*min(N, 2) - H"), p("H"));
    header.constraints = vec![of_n.clone(), Constraint::new(ConstraintKind::Compatible, p("12*N"), p("H*N"))];
    let solution_of = |header: ProgramHeader| {
        let module = module(&cx, header, |_| {});
        let program = module.op_ref(&cx).region(0).unwrap().entry().unwrap().ops().last().unwrap();
        let info = ProgramInfo::read(program).unwrap();
        Solution::of(&info).map(|solution| solution.solve(&info.symbols, &[&[3, 12]]).map_err(|(_, a, b)| (a, b)))
    };
    assert_eq!(solution_of(header.clone()).unwrap(), Ok(vec![Some(3), Some(12)]));
    header.constraints = vec![of_n];
    assert!(matches!(solution_of(header), Err(Unsolvable::Symbols(names)) if names == ["H"]));
}

#[test]
fn a_list_of_sizes_is_looked_at() {
    let cx = context();
    let mut header = header();
    let integers = BufferType::new(Type::I64, vec![Poly::from(2)]);
    header.symbols = vec![symbol("N", 0, 100)];
    header.inputs = vec![("x".to_owned(), buffer(&["N", "4"])), ("s".to_owned(), integers)];
    header.outputs = vec![("y".to_owned(), buffer(&["N", "4"]))];
    let module = module(&cx, header, |program| {
        let (x, list, y) = (program.input(0), program.input(1), program.output(0));
        program.expect(Loc::UNKNOWN, list, "reshape 'y'", &[p("N"), p("4")], &[p("N"), p("-1")]);
        program.copy(Loc::UNKNOWN, x, y);
    });
    let run = |sizes: [i64; 2]| {
        let x = Value::tensor_f32(vec![1.0; 12], &[3, 4]).unwrap();
        let s = Value::Tensor(sutura_interp::Tensor::from_i64(sizes.to_vec(), &[2]).unwrap());
        let results = Interpreter::new(&cx, &module).call("main", &[x, s]);
        results.map(|_| ()).map_err(|e| e.message().to_owned())
    };
    for right in [[3, 4], [-1, 4], [0, 4], [3, -1], [0, -1]] {
        assert_eq!(run(right), Ok(()), "{right:?}");
    }
    let wrong = |i, given, size| {
        Err(format!(
            "reshape 'y': element {i} of its shape asks for {given}, and dimension {i} of the result is {size}"
        ))
    };
    assert_eq!(run([4, 3]), wrong(0, 4, 3));
    assert_eq!(run([3, 0]), wrong(1, 0, 4));
    // Only one may be open.
    assert_eq!(run([-1, -1]), wrong(1, -1, 4));
    assert_eq!(run([-2, 4]), wrong(0, -2, 3));
}

#[test]
fn wrong_headers_are_refused() {
    let mut lacking = header();
    lacking.symbols.push(symbol("S", 0, 4));
    refused(lacking, fill, "do not determine symbol 'S'");
    let mut undeclared = header();
    undeclared.outputs[0].1 = buffer(&["T"]);
    refused(undeclared, fill, "'T' is used in a size but is no symbol");
    let mut twice = header();
    twice.inputs[1].0 = "x".to_owned();
    refused(twice, fill, "two inputs are named 'x'");
    let mut empty = header();
    empty.symbols[0].info.max = -1;
    refused(empty, fill, "no sensible range");
    let mut contradicting = header();
    contradicting.constraints.push(Constraint::new(ConstraintKind::Equal, p("B"), p("B + 1")));
    refused(contradicting, fill, "contradict");
}

#[test]
fn wrong_launches_are_refused() {
    let launch = |callee: &'static str,
                  dims: &'static [&'static str],
                  buffers: fn(&ProgramBuilder<'_>) -> Vec<sutura_ir::Value>| {
        move |program: &mut ProgramBuilder<'_>| {
            let dims: Vec<Poly> = dims.iter().map(|d| p(d)).collect();
            let buffers = buffers(program);
            program.launch(Loc::UNKNOWN, callee, &buffers, &dims, None);
        }
    };
    let right: fn(&ProgramBuilder<'_>) -> Vec<sutura_ir::Value> = |b| vec![b.input(0), b.output(0)];
    refused(header(), launch("sun", &["B", "N"], right), "'sun' does not reference a symbol");
    refused(header(), launch("main", &["B", "N"], right), "'main' is no kernel");
    refused(header(), launch("sum", &["B"], right), "gives 1 sizes where the kernel takes 2");
    refused(
        header(),
        launch("sum", &["N", "N"], right),
        "argument 0 is a !rt.buffer<f32, [B, N]> where the kernel takes",
    );
    refused(header(), launch("sum", &["B", "N"], |b| vec![b.output(0), b.output(0)]), "argument 0 is a");
    refused(header(), launch("sum", &["B", "T"], right), "'T', which is no symbol");
    refused(header(), |_| {}, "never writes output 'y'");
}

#[test]
fn contents_are_followed() {
    let dims = [p("B"), p("N")];
    refused(
        header(),
        |b| {
            let t = b.alloc(Loc::UNKNOWN, buffer(&["B", "N"]));
            b.launch(Loc::UNKNOWN, "sum", &[t, b.output(0)], &dims, None);
        },
        "reads a buffer before anything is written to it",
    );
    // Without the guard nothing keeps N within what the kernel takes.
    refused(
        header(),
        |b| {
            let t = b.alloc(Loc::UNKNOWN, buffer(&["B", "N"]));
            b.launch(Loc::UNKNOWN, "scale", &[b.input(0), t], &dims, None);
        },
        "nothing guarantees that -N + 8192 is not negative",
    );
    refused(
        header(),
        |b| {
            let (x, y) = (b.input(0), b.output(0));
            b.select(Loc::UNKNOWN, &[vec![p("100 - N")]], |version, b| {
                if version == 0 {
                    super::launch(b, Loc::UNKNOWN, "sum", (&[x, y], &dims), None, &[]);
                }
            });
        },
        "never writes output 'y'",
    );
    refused(
        header(),
        |b| {
            let view = b.view(Loc::UNKNOWN, b.input(0), buffer(&["B", "N"]));
            b.copy(Loc::UNKNOWN, view, b.input(0));
        },
        "writes to an input or a constant",
    );
    refused(header(), |b| _ = b.view(Loc::UNKNOWN, b.input(0), buffer(&["B"])), "cannot prove that B*N elements are B");
}

#[test]
fn a_plan_keeps_apart_what_is_in_use_together() {
    let cx = context();
    let plan = |ordered: bool| {
        let mut module = module(&cx, header(), |b| {
            let t = b.alloc(Loc::UNKNOWN, buffer(&["B", "N"]));
            let ty = cx.ext_type(buffer(&["B", "N"]));
            let after: &[_] = if ordered { &[t] } else { &[] };
            let u = AllocOp::value(&mut b.at_end(), Loc::UNKNOWN, after, false, ty);
            b.copy(Loc::UNKNOWN, b.input(0), t);
            b.copy(Loc::UNKNOWN, t, u);
            b.launch(Loc::UNKNOWN, "sum", &[u, b.output(0)], &[p("B"), p("N")], None);
        });
        let body = module.body_mut();
        let program = body.entry_block().and_then(|b| body.last_op(b)).unwrap();
        sutura_ir::Rewriter::new(&cx, body).set_prop(program, "planned", Some(sutura_ir::Attr::UNIT));
        errors(&cx, &module)
    };
    assert_eq!(plan(true), [""; 0]);
    assert!(plan(false)[0].contains("in use together"), "{:?}", plan(false));
}
