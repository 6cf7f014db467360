//! The `#[op]` attribute: an operation declared as a Rust struct.
//!
//! The struct's doc comment is the operation's documentation (its first line the summary), its fields are the
//! declaration:
//!
//! ```ignore
//! /// Integer addition.
//! #[op("arith.addi", traits(Pure, Commutative), format = "$lhs `,` $rhs attr-dict `:` type($result)", fold)]
//! pub struct AddIOp<T: SignlessIntegerOrIndexLike> {
//!     lhs: Operand<T>,
//!     rhs: Operand<T>,
//!     #[name("overflowFlags")]
//!     #[default(OverflowFlags::NONE)]
//!     overflow_flags: Attr<IntegerOverflowFlags>,
//!     result: Res<T>,
//! }
//! ```
//!
//! | field type | declares | accessor | parameter of `build` |
//! |---|---|---|---|
//! | `Operand<C>` | one operand | `Value` | `Value` |
//! | `OptOperand<C>` | none or one | `Option<Value>` | `Option<Value>` |
//! | `Operands<C>` | any number | iterator | `&[Value]` |
//! | `Res<C>` `OptRes<C>` `Results<C>` | results, likewise | likewise | `Type`, `Option<Type>`, `&[Type]`; none where inferred |
//! | `Attr<C>` | inherent attribute | `C::Get`; `…_attr()` for the `Attr` | `C::Set`; none with `#[default(…)]` |
//! | `OptAttr<C>` | one that may be absent | `Option<C::Get>` | `Option<C::Set>`; none with `#[absent]` |
//! | `Flag` | unit attribute, present or not | `bool` | `bool`; none with `#[absent]` |
//! | `Region` | one region | `RegionRef` | none: it is created empty |
//! | `Regions` | any number, last | iterator | `usize` |
//! | `Successor` | one successor | `Block` | `Block` |
//! | `Successors` | any number, last | `&[Block]` | `&[Block]` |
//!
//! `C` is a type that names a constraint (`TypeConstraintDef`, `AttrConstraintDef`), or a generic parameter of the
//! struct: a *constraint variable*, bounded by the constraint that its type must fulfil. Values declared with the same
//! variable have the same type, so a result declared with an operand's variable is inferred. `#[name("camelCase")]`
//! gives the name in the text when it is not the field's; `#[default(value)]` the `C::Set` value that absence of an
//! attribute stands for, which the generic form writes unless it is `#[absent]` too; `#[absent]` alone makes constructors
//! leave the attribute out.
//!
//! Arguments after the name: `traits(…)`, `format = "…"`, `parents("…")`, `default_dialect = "…"`,
//! `implicit_terminator = "…"`, and the flags `verify`, `verify_regions`, `fold`, `infer`, `canonicalize`, each of
//! which names a trait of `sutura_ir::op_def` that the type implements by hand.
//!
//! Generated for `AddIOp`: a `Copy` view `AddIOp<'a>` implementing `OpView<'a>` with the accessors above (they expect
//! an op that fits its declaration, as every verified op does), and the constructors `AddIOp::state(b, loc, …) ->
//! OpState`, `AddIOp::build(b, loc, …) -> Op` and, for an op with exactly one result, `AddIOp::value(b, loc, …) ->
//! Value`, with parameters in the order of the fields.
#![forbid(unsafe_code)]

mod builders;
mod expand;
mod model;
mod param;
mod param_format;
mod rewrite;
#[cfg(test)]
mod tests;

/// Declares an operation; see the crate documentation.
#[proc_macro_attribute]
pub fn op(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand_op(args.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Declares a dialect's type by its parameters.
///
/// ```ignore
/// /// A number of elements.
/// #[ty("toy.list", format = "`<` $elem `x` $count (`,` `in` $space^)? `>`", verify)]
/// pub struct ListType {
///     /// Type of the elements.
///     elem: Type,
///     count: i64,
///     /// Where they lie.
///     space: Option<String>,
/// }
/// ```
///
/// Parameters are of types that implement `sutura_ir::ext::Param`: `Type`, `Attr`, integers, `bool`, `String`, enumerations
/// declared with `enum_attr!`, `Vec`s of them; an `Option`, and a parameter with `#[default(…)]`, may be absent. The format has
/// literals in back quotes, `$name`, `params` (all, separated by commas), `struct(params)` or `struct($a, $b)` (each as `name =
/// value`, in any order) and groups `(… $name^ …)?`, present when the parameter marked `^` is: an `Option`, a list that is not
/// empty, a value other than the default. Without a format it is `` `<` params `>` ``. It is checked by the compiler.
///
/// `verify` names the trait `sutura_ir::ext::VerifyParams`, which the type implements by hand. Generated are the struct, its
/// parser and printer, `ListType::get(cx, …)`, `ListType::of(cx, ty)`; the struct names its own constraint, as in
/// `Operand<ListType>`. It is registered by `DialectBuilder::define_type`.
#[proc_macro_attribute]
pub fn ty(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand_param(param::Kind::Type, args.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Declares a dialect's attribute by its parameters, as `#[ty]` does a type; registered by `DialectBuilder::define_attr`.
#[proc_macro_attribute]
pub fn attr(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand_param(param::Kind::Attr, args.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

fn expand_param(
    kind: param::Kind,
    args: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> syn::Result<proc_macro2::TokenStream> {
    let args = syn::parse2::<param::Args>(args)?;
    param::expand(kind, &args, syn::parse2::<syn::ItemStruct>(item)?)
}

/// Declares rewrites: a pattern, conditions, and what takes the place of the results.
///
/// ```ignore
/// rewrite! {
///     /// `(x * c0) * c1` to `x * (c0 * c1)`.
///     fn mul_of_product(rw) {
///         MulIOp(MulIOp(x, #c0), #c1: ty)
///         let Some(product) = fold_product(rw.cx(), ty, c0, c1);
///         => MulIOp(x, ConstantOp(product))
///     }
/// }
/// ```
///
/// Each rule becomes a function `fn(Op, &mut Rewriter) -> Option<()>`, to be added to a `PatternSet`. When it does not
/// apply it says which part did not match.
///
/// | in a pattern | matches |
/// |---|---|
/// | `AddIOp(a, b)` | the op; `a`, `b` say what its operands are |
/// | `AddIOp(a, ..)` | the same, where further operands may be anything |
/// | `x` | any value, which is then called `x`; the same value when `x` is bound already |
/// | `_` | any value |
/// | `#c`, `x @ #c` | a value (called `x`) that is a constant, whose attribute is then called `c` |
/// | `MulIOp(…)` in place of an operand | a value that this op defines |
/// | `a: t` | the same as `a`; its type is then called `t`, or is `t` when that is bound already |
/// | `AddIOp(…) -> t` | the first result's type is called `t`, or is `t` |
/// | `CmpIOp(…) { predicate: p }` | `p` is a Rust pattern for what the accessor `predicate()` returns |
/// | `m @ MulIOp(…)` | the op itself is called `m` |
/// | `let PATTERN = EXPRESSION;` after it | the expression's value, a Rust pattern that may not match |
/// | `if EXPRESSION` after it | when it is true |
///
/// Behind `=>` stands what takes the place of the result: `Op(arguments)`, a name in camel case, is made by `Op::value`; any
/// other expression is a value, or an argument; in parentheses also a call of a function or variant in camel case. Several
/// results are `(a, b)`, none `()`. `let name = …;` before it makes values that are used more than once.
///
/// Names of ops and accessors, types of arguments and the numbers of operands, results and arguments are checked by the
/// compiler.
#[proc_macro]
pub fn rewrite(rules: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let rules = syn::parse::<rewrite::Rules>(rules);
    rules.and_then(|rules| rewrite::expand(&rules)).unwrap_or_else(syn::Error::into_compile_error).into()
}

fn expand_op(args: proc_macro2::TokenStream, item: proc_macro2::TokenStream) -> syn::Result<proc_macro2::TokenStream> {
    let args = syn::parse2::<model::OpArgs>(args)?;
    let item = syn::parse2::<syn::ItemStruct>(item)?;
    Ok(expand::expand(&model::OpModel::new(args, item)?))
}
