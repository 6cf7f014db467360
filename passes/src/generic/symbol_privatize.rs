//! `symbol-privatize`: hides the symbols that nobody outside is to use.

use sutura_ir::analysis::{AliasAnalysis, CallGraph, DominanceInfo, Liveness, PreservedAnalyses};
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::symbols::{SYMBOL_VISIBILITY, Visibility, symbol_ident};
use sutura_ir::{Op, OpRef, Rewriter, Traits};

/// The pass.
pub static SYMBOL_PRIVATIZE: PassInfo = PassInfo {
    name: "SymbolPrivatize",
    argument: "symbol-privatize",
    summary: "Mark symbols private",
    description: "Makes all symbols directly in the operation, a symbol table, private, but for those listed. Then \
                  `symbol-dce`, `sccp` and `inline` may assume that all uses are in the program.",
    anchor: Anchor::Any,
    options: &[OptionInfo {
        name: "exclude",
        kind: OptionKind::List,
        default: "",
        help: "Names of the symbols that are not made private",
    }],
    statistics: &[StatisticInfo { name: "num-privatized", description: "Number of symbols made private" }],
    create,
};

struct SymbolPrivatize {
    exclude: Vec<String>,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(SymbolPrivatize { exclude: options.list("exclude").into_iter().map(String::from).collect() }))
}

impl Pass for SymbolPrivatize {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let (cx, name) = (run.cx, run.header.name);
        if !name.traits(cx).has(Traits::SymbolTable) {
            let message = format!("'symbol-privatize' needs a symbol table, which '{}' is not", name.as_str(cx));
            return Err(run.diags.error(run.header.loc, message).into());
        }
        let body = &*run.body;
        let symbols = body.owner_regions().flat_map(|r| body.blocks(r)).flat_map(|b| body.ops(b));
        let symbols: Vec<(Op, &str)> =
            symbols.filter_map(|op| Some((op, cx.str(symbol_ident(OpRef::new(cx, body, op))?)))).collect();
        for missing in self.exclude.iter().filter(|e| !symbols.iter().any(|(_, name)| name == e)) {
            let message = format!("option `exclude` names '{missing}', which is no symbol of the table");
            run.diags.report(sutura_ir::Diagnostic::warning(run.header.loc, message));
        }
        let visibility = cx.ident(SYMBOL_VISIBILITY);
        let is_to_hide = |op: Op, name: &str| {
            Visibility::of(OpRef::new(cx, body, op)) != Visibility::Private && !self.exclude.iter().any(|e| e == name)
        };
        let to_hide = symbols.into_iter().filter(|(op, name)| is_to_hide(*op, name)).map(|(op, _)| op);
        let (hidden, stay): (Vec<Op>, Vec<Op>) =
            to_hide.partition(|op| body.name(*op).info(cx).is_none_or(|info| info.attr_names.contains(&visibility)));
        for op in stay {
            let (loc, name) = (run.body.loc(op), run.body.name(op).as_str(cx));
            run.missed(loc, format!("'{name}' stays as it is: symbols of its kind have no visibility"));
        }
        for &op in &hidden {
            let view = OpRef::new(cx, run.body, op);
            let (loc, name) = (view.loc(), view.symbol_name().unwrap_or_default().to_string());
            run.passed(loc, format!("'@{name}' is private now"));
        }
        let mut rewriter = Rewriter::new(cx, run.body);
        for &op in &hidden {
            rewriter.set_prop(op, SYMBOL_VISIBILITY, Some(cx.string_attr("private")));
        }
        run.count("num-privatized", hidden.len() as u64);
        // Only data-flow looks at visibility.
        let kept = PreservedAnalyses::unless(!hidden.is_empty()).and::<AliasAnalysis>().and::<CallGraph>();
        Ok(kept.and::<DominanceInfo>().and::<Liveness>())
    }
}
