//! Declarations of the operations that name operators.

use sutura_ir::constraints::{
    AnyType, ArrayAttr, DenseI64ArrayAttr, DictArrayAttr, DictionaryAttr, FlatSymbolRefAttr, StrAttr, SymbolNameAttr,
    TypeAttr, UnitAttr,
};
use sutura_ir::op;

/// An operator: its name, and the ops that it stands for.
///
/// The body is a program at a *collapsed* rank: a size of an input may be a *group*, which stands for any number of
/// neighbouring dimensions of the tensors that the operator is applied to. Everything that is known of an operator (what fits
/// it, the shapes of its results, what it computes, what it becomes) follows from this declaration.
///
/// * Sizes of inputs are symbols or numbers. `groups` names the symbols that are groups. `unit` as value means that the group
///   holds the dimensions that are left; `"before axis"`, that it holds those before the dimension that the attribute `axis`
///   names, which may count from the end; `"ones of N"`, that it holds one of size 1 for each of those of the group `N`, for
///   results that keep the rank. Any other symbol stands for one size.
/// * `sizes` names symbols that are the value of an attribute, `{G = "num_groups"}`, or how many times one goes into another,
///   `{G = "heads / shared_heads"}`. A size of an input may be such symbols, and symbols that are sizes of other inputs, times
///   another, which is then what is left of that dimension. An attribute whose default is 0 leaves the size to the inputs.
/// * A size of an input may be a number times a symbol, `4 * H`: it says what `H` is, unless another dimension does.
/// * `elements` lists the element types that the operator takes. The first is the one in which the body is written, and
///   stands for all of them; ops on floats stand for their namesakes on integers.
/// * `accumulator` is the type in the body that stands for the one in which numbers of the element type are accumulated:
///   `f32` for narrower floats, `i32` for narrower integers.
/// * `attributes` are those of the operator: a value is the default, a type asks for one. `graph.param` reads them.
/// * Inputs whose numbers are in `broadcast` may be shorter, or have dimensions of size 1, where the others say more; if all
///   inputs are, their shapes are broadcast together. A size that `exact` names is not stretched: such an input has it.
/// * Inputs whose numbers are in `or_scalar` have exactly their sizes, or are a tensor of rank 0, the same number for all.
/// * `laws` says what holds of it: `"idempotent"`, what it makes it keeps; `"involution"`, twice is not at all; `"shift invariant"`, a
///   number that is added to all elements of the first input from the axis on changes nothing.
/// * With `leaves_name` the op that makes its result, where it is expanded, has the name as attribute `graph.operator`, so that
///   later passes need not find out what the ops are. They compare them with this declaration before they act on it.
/// * The body may apply other operators, but not itself through them.
/// * The body may hold loops, `scf.for`, with a constant step greater than 0; what they carry are tensors without groups, of sizes
///   that have names. Their bounds may be sizes (`tensor.dim`), and `graph.gather` and `graph.scatter` at `tensor.from_elements`
///   of the counter read and write what belongs to one step.
/// * `onnx` says which operators of ONNX it realises: each entry has the name `op`, of another domain than ONNX's `domain`, may have the first and last version
///   (`since`, `until`), attributes `with` a value that they must have, attributes to `ignore`, and scalars for inputs that are
///   left out (`absent`); with `variadic` an operator of two inputs takes any number, one after the other; with
///   `variadic = "sum"` that one joins them, and this one is applied to what it gives, with their number as attribute `count`.
///
/// ```mlir
/// graph.operator @scale {attributes = {factor = 2.0 : f32}, elements = [f32, f16], groups = {A},
///                        summary = "x * factor"} {
/// ^bb0(%x: tensor<?xf32, #dyn.shape<[A]>>):
///   %0 = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[A]>>) -> tensor<?xf32, #dyn.shape<[A]>>
///       {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
///   ^bb0(%e: f32):
///     %factor = graph.param "factor" : f32
///     %y = arith.mulf %e, %factor : f32
///     graph.yield %y : f32
///   }
///   graph.yield %0 : tensor<?xf32, #dyn.shape<[A]>>
/// }
/// ```
#[op(
    "graph.operator",
    traits(IsolatedFromAbove, Symbol, SingleBlock),
    format = "$sym_name attr-dict $body",
    verify_regions
)]
pub struct OperatorOp {
    /// Name by which it is applied.
    sym_name: Attr<SymbolNameAttr>,
    /// What it computes, in a line.
    summary: Attr<StrAttr>,
    /// Element types, the first one that of the body.
    elements: Attr<ArrayAttr>,
    /// What stands for the accumulator's type in the body.
    accumulator: OptAttr<TypeAttr>,
    /// Symbols that stand for several dimensions.
    groups: OptAttr<DictionaryAttr>,
    /// Symbols that are the value of an attribute.
    sizes: OptAttr<DictionaryAttr>,
    /// Attributes of the operator: defaults, or types of those that have none.
    attributes: OptAttr<DictionaryAttr>,
    /// Inputs that are stretched to the sizes of the others.
    #[default(&[])]
    broadcast: Attr<DenseI64ArrayAttr>,
    /// Inputs that are a tensor, or one number for all of its elements.
    #[default(&[])]
    or_scalar: Attr<DenseI64ArrayAttr>,
    /// Sizes, the last ones of inputs that are stretched, which are not.
    #[default(&[])]
    exact: Attr<ArrayAttr>,
    /// Its name stays on the op that makes its result.
    leaves_name: OptAttr<UnitAttr>,
    /// What holds of it.
    #[default(&[])]
    laws: Attr<ArrayAttr>,
    /// Operators of ONNX that it realises.
    #[default(&[])]
    onnx: Attr<DictArrayAttr>,
    /// The ops, on arguments that are the inputs.
    body: Region,
}

/// An operator applied to tensors, by name. The attributes are those that its declaration, a [`OperatorOp`], has. In the body of
/// another operator an attribute may be a name: it has the value that this attribute of the operator around has.
///
/// ```mlir
/// %y = graph.apply @softmax(%x) {axis = 1 : i64} : (tensor<?x30xf32>) -> tensor<?x30xf32>
/// ```
#[op(
    "graph.apply",
    traits(Pure),
    format = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)"
)]
pub struct ApplyOp {
    /// The operator.
    callee: Attr<FlatSymbolRefAttr>,
    /// Its inputs.
    operands: Operands<AnyType>,
    /// Its results.
    results: Results<AnyType>,
}

/// An attribute of the operator around, as a number.
///
/// ```mlir
/// %epsilon = graph.param "epsilon" : f32
/// ```
#[op(
    "graph.param",
    traits(Pure),
    format = "custom<Name>($attribute) attr-dict `:` type($result)",
    parents("graph.compute")
)]
pub struct ParamOp {
    /// Name of the attribute.
    attribute: Attr<StrAttr>,
    /// Its value, converted to this type.
    result: Res<AnyType>,
}
