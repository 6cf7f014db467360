//! A program in upstream operations, cut into batches that are compiled by themselves.
//!
//! Functions that refer to nothing, which kernels are, are sorted by the hash of their text, and the list is cut where the hashes
//! say. So a batch depends on the functions in it and on no others: not on their order, nor on how many threads there are. Who
//! changes one kernel changes one batch, and perhaps the next.

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use sutura_dialects::func::FuncOp;
use sutura_ir::asm::print::{attr_text, generic_op_text};
use sutura_ir::symbols::{SYMBOL_VISIBILITY, symbol_ident};
use sutura_ir::{Attr, AttrData, Context, Ident, Module, OpRef};

/// A batch ends with the function that makes its text so long.
const LENGTH: usize = 160 << 10;
/// It ends as well with a function whose hash is one of this many in 256.
const ENDS: u8 = 48;

/// A part of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// A module, in generic form.
    pub(crate) text: String,
    /// The functions of other batches that it refers to.
    pub(crate) elsewhere: Vec<String>,
}

/// A program's batches: what has references first, then kernels. None for a program that is one batch: it has attributes of its
/// own, or nothing that could be apart.
pub(crate) fn batches(cx: &Context, module: &Module) -> Option<Vec<Batch>> {
    let top = module.op_ref(cx);
    if !cx.entries(top.body.attrs(top.op)).is_empty() || !cx.entries(top.body.props(top.op)).is_empty() {
        return None;
    }
    let ops: Vec<OpRef<'_>> = top.region(0)?.entry()?.ops().collect();
    let mentioned: Vec<FxHashSet<Ident>> = ops.par_iter().map(|op| mentioned(*op)).collect();
    let is_apart = |at: &usize| mentioned[*at].is_empty() && is_function(ops[*at]);
    let (apart, together): (Vec<usize>, Vec<usize>) = (0..ops.len()).partition(is_apart);
    if apart.is_empty() {
        return None;
    }
    let texts = |of: &[usize]| -> Vec<String> { of.par_iter().map(|at| generic_op_text(ops[*at])).collect() };
    let mut batches = Vec::new();
    if !together.is_empty() {
        let mut wanted: FxHashSet<Ident> = FxHashSet::default();
        together.iter().for_each(|at| wanted.extend(&mentioned[*at]));
        let is_wanted = |op: &OpRef<'_>| symbol_ident(*op).is_some_and(|name| wanted.contains(&name));
        let declared: Vec<OpRef<'_>> = apart.iter().map(|at| ops[*at]).filter(is_wanted).collect();
        let elsewhere = declared.iter().filter_map(|op| op.symbol_name()).map(str::to_owned).collect();
        let declarations = declared.into_iter().map(declaration).collect::<Option<Vec<_>>>()?;
        batches.push(Batch { text: module_of(declarations.iter().chain(&texts(&together))), elsewhere });
    }
    batches.extend(cut(texts(&apart)).into_iter().map(|text| Batch { text, elsewhere: Vec::new() }));
    Some(batches)
}

/// All names in references of an operation and of those in it.
fn mentioned(op: OpRef<'_>) -> FxHashSet<Ident> {
    let (mut seen, mut names, mut pending) = (FxHashSet::default(), FxHashSet::default(), Vec::<Attr>::new());
    op.walk(&mut |op| {
        pending.extend([op.body.props(op.op), op.body.attrs(op.op)]);
        while let Some(attr) = pending.pop() {
            if !seen.insert(attr) {
                continue;
            }
            match op.cx.attr_data(attr) {
                AttrData::SymbolRef { root, nested } => {
                    names.insert(root);
                    names.extend(op.cx.idents(nested));
                }
                AttrData::Array(list) => pending.extend(op.cx.list_attrs(list)),
                AttrData::Dict(_) => pending.extend(op.cx.entries(attr).iter().map(|entry| entry.value)),
                _ => {}
            }
        }
    });
    names
}

/// Whether an operation is a function with a body that says nothing of who sees it.
fn is_function(op: OpRef<'_>) -> bool {
    let has_body = op.region(0).is_some_and(|region| !region.is_empty());
    op.is::<FuncOp<'_>>() && has_body && op.attr(SYMBOL_VISIBILITY).is_none()
}

/// What stands for a function where it is not.
fn declaration(op: OpRef<'_>) -> Option<String> {
    let (ty, name) = (attr_text(op.cx, op.attr("function_type")?), attr_text(op.cx, op.attr("sym_name")?));
    Some(format!(
        "\"func.func\"() <{{function_type = {ty}, sym_name = {name}, sym_visibility = \"private\"}}> ({{\n}}) : () -> ()"
    ))
}

fn module_of<'t>(texts: impl IntoIterator<Item = &'t String>) -> String {
    let mut module = "\"builtin.module\"() ({\n".to_owned();
    for text in texts {
        module.push_str(text);
        module.push('\n');
    }
    module.push_str("}) : () -> ()\n");
    module
}

/// Batches of functions, by their texts.
fn cut(texts: Vec<String>) -> Vec<String> {
    let mut hashed: Vec<(blake3::Hash, String)> =
        texts.into_par_iter().map(|text| (blake3::hash(text.as_bytes()), text)).collect();
    hashed.sort_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
    let (mut batches, mut batch, mut length) = (Vec::new(), Vec::new(), 0);
    for (hash, text) in hashed {
        length += text.len();
        batch.push(text);
        // The first byte says where in the order it is, so another one decides.
        if length >= LENGTH || hash.as_bytes()[31] < ENDS {
            batches.push(module_of(&std::mem::take(&mut batch)));
            length = 0;
        }
    }
    if !batch.is_empty() {
        batches.push(module_of(&batch));
    }
    batches
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::pipeline::Compilation;
    use crate::talk::Talk;

    /// The batches of a program with functions that return these numbers, and `main`, which calls the first two.
    fn batches_of(numbers: &[i64], of_module: &str) -> Option<Vec<Batch>> {
        let functions = numbers
            .iter()
            .map(|n| format!("func.func @k{n}() -> i64 {{ %n = arith.constant {n} : i64\n func.return %n : i64 }}\n"));
        let calls: String =
            numbers.iter().take(2).map(|n| format!("%r{n} = func.call @k{n}() : () -> i64\n")).collect();
        let text = format!(
            "module {of_module} {{ {} func.func @main() {{ {calls} func.return }} func.func private @outside() }}",
            functions.collect::<String>()
        );
        let compilation = Compilation::new();
        let program = compilation.parse(&text, Path::new("test.mlir"), &Talk::silent()).expect("it is right");
        batches(&compilation.cx, &program.module)
    }

    fn functions(batch: &Batch) -> Vec<&str> {
        let names = batch.text.split("sym_name = \"").skip(1);
        names.map(|rest| rest.split('"').next().unwrap_or_default()).collect()
    }

    #[test]
    fn every_function_is_in_one_batch_and_declared_where_it_is_called() {
        let numbers: Vec<i64> = (0..60).collect();
        let batches = batches_of(&numbers, "").expect("it is cut");
        assert!(batches.len() > 3, "{}", batches.len());
        let mut first = functions(&batches[0]);
        first.sort_unstable();
        assert_eq!(first, ["k0", "k1", "main", "outside"]);
        assert_eq!(batches[0].elsewhere, ["k0", "k1"]);
        let mut rest: Vec<&str> = batches[1..].iter().flat_map(functions).collect();
        rest.sort_unstable();
        let mut expected: Vec<String> = numbers.iter().map(|n| format!("k{n}")).collect();
        expected.sort_unstable();
        assert_eq!(rest, expected);
    }

    #[test]
    fn a_batch_depends_on_its_functions_and_not_on_their_order() {
        let numbers: Vec<i64> = (0..60).collect();
        let turned: Vec<i64> = [0, 1].into_iter().chain((2..60).rev()).collect();
        let batches = batches_of(&numbers, "").expect("it is cut");
        let (again, other) = (batches_of(&numbers, ""), batches_of(&turned, "").expect("it is cut"));
        assert_eq!(Some(&batches), again.as_ref());
        assert_eq!(batches[1..], other[1..]);
        // One function more is in one batch, which may be cut there.
        let more: Vec<i64> = (0..61).collect();
        let more = batches_of(&more, "").expect("it is cut");
        assert!(more.iter().filter(|batch| !batches.contains(batch)).count() <= 2);
    }

    #[test]
    fn what_cannot_be_cut_is_one_batch() {
        assert_eq!(batches_of(&[1, 2], "attributes {x.y = 1 : i64}"), None);
    }

    #[test]
    fn a_long_function_ends_a_batch() {
        let long = |n: usize| format!("{n} {}", "x".repeat(LENGTH));
        let cut = cut((0..5).map(long).collect());
        assert_eq!(cut.len(), 5);
    }
}
