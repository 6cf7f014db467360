//! `symbol-dce`: erases private symbols to which nothing refers.

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::attrs::{Attr, AttrData};
use sutura_ir::context::Ident;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::symbols::{Visibility, symbol_ident};
use sutura_ir::{Context, Op, OpRef, Rewriter, Traits};

/// The pass.
pub static SYMBOL_DCE: PassInfo = PassInfo {
    name: "SymbolDCE",
    argument: "symbol-dce",
    summary: "Eliminate dead symbols",
    description: "Erases private symbols directly in the operation, a symbol table, that nothing alive refers to. A \
                  symbol is alive when it is not private, or when an operation that is alive mentions its name, in a \
                  nested symbol table or not.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[StatisticInfo { name: "num-dce'd", description: "Number of symbols DCE'd" }],
    create,
};

struct SymbolDce;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(SymbolDce))
}

impl Pass for SymbolDce {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let name = run.header.name;
        if !name.traits(run.cx).has(Traits::SymbolTable) {
            let message = format!("'symbol-dce' needs a symbol table, which '{}' is not", name.as_str(run.cx));
            return Err(run.diags.error(run.header.loc, message).into());
        }
        let dead = dead_symbols(run.cx, run.body, |_| true);
        for &op in &dead {
            let view = OpRef::new(run.cx, run.body, op);
            let (loc, name) = (view.loc(), view.symbol_name().unwrap_or_default().to_string());
            run.passed(loc, format!("'@{name}' is erased: it is private, and nothing alive refers to it"));
            Rewriter::new(run.cx, run.body).erase_op(op);
        }
        run.count("num-dce'd", dead.len() as u64);
        Ok(PreservedAnalyses::unless(!dead.is_empty()))
    }
}

/// Private symbols for which `may_die` holds and that no path of references reaches from what is alive.
pub(super) fn dead_symbols(cx: &Context, body: &sutura_ir::Body, may_die: impl Fn(Op) -> bool) -> Vec<Op> {
    let all: Vec<OpRef<'_>> = body
        .owner_regions()
        .flat_map(|r| body.blocks(r))
        .flat_map(|b| body.ops(b))
        .map(|o| OpRef::new(cx, body, o))
        .collect();
    let is_private =
        |op: &OpRef<'_>| symbol_ident(*op).is_some() && Visibility::of(*op) == Visibility::Private && may_die(op.op);
    let private: FxHashMap<Ident, OpRef<'_>> =
        all.iter().filter(|op| is_private(op)).filter_map(|op| Some((symbol_ident(*op)?, *op))).collect();
    let mut references = References { cx, seen: FxHashSet::default() };
    let mut alive: FxHashSet<Ident> = FxHashSet::default();
    let mut pending: Vec<OpRef<'_>> = all.iter().copied().filter(|op| !is_private(op)).collect();
    while let Some(op) = pending.pop() {
        for name in references.inside(op) {
            if let Some(symbol) = private.get(&name)
                && alive.insert(name)
            {
                pending.push(*symbol);
            }
        }
    }
    let is_dead = |op: &&OpRef<'_>| is_private(op) && symbol_ident(**op).is_some_and(|name| !alive.contains(&name));
    all.iter().filter(is_dead).map(|op| op.op).collect()
}

/// Finds names in attributes; an attribute is looked into once.
struct References<'c> {
    cx: &'c Context,
    seen: FxHashSet<Attr>,
}

impl References<'_> {
    /// Names that `op` and the ops in it mention in attributes not seen before.
    fn inside(&mut self, op: OpRef<'_>) -> Vec<Ident> {
        let mut names = Vec::new();
        op.walk(&mut |op| {
            for dict in [op.body.props(op.op), op.body.attrs(op.op)] {
                self.collect(dict, &mut names);
            }
        });
        names
    }

    fn collect(&mut self, attr: Attr, names: &mut Vec<Ident>) {
        let mut pending = vec![attr];
        while let Some(attr) = pending.pop() {
            if !self.seen.insert(attr) {
                continue;
            }
            match self.cx.attr_data(attr) {
                AttrData::SymbolRef { root, nested } => {
                    names.push(root);
                    names.extend(self.cx.idents(nested));
                }
                AttrData::Array(list) => pending.extend(self.cx.list_attrs(list)),
                AttrData::Dict(_) => pending.extend(self.cx.entries(attr).iter().map(|e| e.value)),
                _ => {}
            }
        }
    }
}
