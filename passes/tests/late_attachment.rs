//! Interfaces that one crate attaches to operations of another are asked by the generic passes as if they had been there
//! from the beginning.

use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::constraints::*;
use sutura_ir::interfaces::*;
use sutura_ir::pass::{Event, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::*;

/// An operation whose crate knows no interface.
#[op("far.convert", traits(Pure), format = "$input attr-dict `:` type($input) `to` type($output)")]
struct ConvertOp {
    input: Operand<AnyType>,
    output: Res<AnyType>,
}

/// Looks at memory.
#[op("far.look", traits(Pure), format = "$input attr-dict `:` type($input)")]
struct LookOp<T: AnyType> {
    input: Operand<T>,
    output: Res<T>,
}

/// Makes memory.
#[op("far.make", format = "attr-dict `:` type($memory)")]
struct MakeOp {
    memory: Res<AnyType>,
}

struct FarDialect;
impl Dialect for FarDialect {
    const NAME: &'static str = "far";
    fn register(d: &mut DialectBuilder<'_>) {
        d.op::<ConvertOp<'_>>().op::<LookOp<'_>>().op::<MakeOp<'_>>();
    }
}

/// Converts between tensors of one rank.
struct SameRank;
impl CastLike for SameRank {
    fn are_compatible(&self, cx: &Context, from: &[Type], to: &[Type]) -> bool {
        let rank = |ty: &Type| cx.shape(*ty).map(<[i64]>::len);
        from.iter().map(rank).eq(to.iter().map(rank))
    }

    fn may_skip(&self, _: &Context, _: Type, _: Type, _: Type) -> bool {
        true
    }
}
impl ReifyShapes for SameRank {
    fn dim_size(&self, op: OpRef<'_>, _: usize, dim: usize) -> Option<DimSize> {
        Some(DimSize::Of(op.operand(0), dim))
    }
}

struct Looks;
impl ViewLike for Looks {
    fn source(&self, op: OpRef<'_>) -> Value {
        op.operand(0)
    }

    fn is_whole(&self, _: OpRef<'_>) -> bool {
        true
    }
}

struct Makes;
impl MemoryEffects for Makes {
    fn effects(&self, op: OpRef<'_>) -> Effects {
        Effects::from_elem(Effect { kind: EffectKind::Allocate, value: Some(op.result(0)) }, 1)
    }
}

/// The context with the interfaces attached, or without.
fn context(attached: bool) -> Context {
    let mut registry = sutura_dialects::all().with::<FarDialect>();
    if attached {
        registry.attach_named::<dyn CastLike>("far.convert", &SameRank);
        registry.attach_named::<dyn ReifyShapes>("far.convert", &SameRank);
        registry.attach_named::<dyn ViewLike>("far.look", &Looks);
        registry.attach_named::<dyn MemoryEffects>("far.make", &Makes);
    }
    Context::new(registry)
}

fn parse(cx: &Context, text: &str) -> Result<Module, String> {
    let source = cx.sources().add("far.mlir".to_string(), text.to_string()).expect("a short text");
    let mut diags = Diagnostics::default();
    let module = sutura_grammar::parse_module(cx, &source, &sutura_grammar::ParseOptions::default(), &mut diags);
    let valid = module.ok().filter(|m| verify(m.op_ref(cx), VerifyOptions::default(), &mut diags).is_ok());
    valid.ok_or_else(|| diags.take().remove(0).message)
}

/// The program behind `passes`, and what was printed.
fn run(attached: bool, text: &str, passes: &str) -> (String, String) {
    let cx = context(attached);
    let mut module = parse(&cx, text).expect("a program");
    let mut registry = PassRegistry::new();
    sutura_passes::register(&mut registry);
    let pipeline = format!("builtin.module({passes})");
    let mut manager = parse_pipeline(&cx, &registry, "test", &pipeline, &mut Diagnostics::default()).expect("passes");
    let mut printed = String::new();
    let config = RunConfig { verify_each: true, ..RunConfig::default() };
    let (_, result) = run_pipeline(&cx, &mut module, &mut manager, &config, &mut |event| {
        if let Event::Text(text) = event {
            printed += &text;
        }
    });
    result.expect("the passes run");
    (module_text(&cx, &module, &PrintOptions::default()), printed)
}

#[test]
fn casts_are_checked_and_folded() {
    let text = "func.func @f(%t: tensor<?xf32>) -> tensor<2xf32> {
      %0 = far.convert %t : tensor<?xf32> to tensor<4xf32>
      %1 = far.convert %0 : tensor<4xf32> to tensor<2xf32>
      %2 = far.convert %1 : tensor<2xf32> to tensor<2xf32>
      return %2 : tensor<2xf32>
    }";
    assert_eq!(run(true, text, "canonicalize").0.matches("far.convert").count(), 1);
    assert_eq!(run(false, text, "canonicalize").0.matches("far.convert").count(), 3);
    let wrong = "func.func @f(%t: tensor<?xf32>) { %0 = far.convert %t : tensor<?xf32> to tensor<4x4xf32> return }";
    let message =
        "'far.convert' op operand type 'tensor<?xf32>' and result type 'tensor<4x4xf32>' are cast incompatible";
    assert_eq!(parse(&context(true), wrong).err().as_deref(), Some(message));
    assert!(parse(&context(false), wrong).is_ok());
}

#[test]
fn sizes_are_found() {
    let text = "func.func @f(%t: tensor<?xf32>) -> index {
      %c0 = arith.constant 0 : index
      %0 = far.convert %t : tensor<?xf32> to tensor<?xi32>
      %1 = tensor.dim %0, %c0 : tensor<?xi32>
      return %1 : index
    }";
    let (known, _) = run(true, text, "canonicalize");
    assert!(known.contains("tensor.dim %t") && !known.contains("far.convert"), "{known}");
    assert!(run(false, text, "canonicalize").0.contains("far.convert"));
}

#[test]
fn memory_is_traced() {
    let text = "func.func @f(%m: memref<4xi32>, %i: index, %x: i32) -> (i32, i32) {
      %own = far.make : memref<4xi32>
      %view = far.look %own : memref<4xi32>
      %0 = memref.load %m[%i] : memref<4xi32>
      memref.store %x, %view[%i] : memref<4xi32>
      %1 = memref.load %m[%i] : memref<4xi32>
      return %0, %1 : i32, i32
    }";
    let (_, said) = run(true, text, "print-analysis{analysis=alias}");
    assert!(said.contains("%own and %view: must") && said.contains("%m and %view: no"), "{said}");
    assert_eq!(run(true, text, "cse").0.matches("memref.load").count(), 1);
    assert_eq!(run(false, text, "cse").0.matches("memref.load").count(), 2);
}
