//! The function of a program at the graph level, its values by name, and what it returns.

use std::path::Path;

use sutura_dialects::func::FuncOp;
use sutura_grammar::{KeepLayout, ParseOptions};
use sutura_import::onnx::{NAME, Outline, OutlineNode};
use sutura_ir::op_def::Traits;
use sutura_ir::{Attr, Block, Body, Context, Module, NamedAttr, Op, OpRef, Rewriter, Type, Value};

use crate::failure::Failure;
use crate::pipeline::{Compilation, Level};
use crate::talk::Talk;

/// The function that a program is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GraphFunction {
    pub(crate) op: Op,
    pub(crate) block: Block,
}

/// A value with its name.
pub(crate) type Named = (String, Value);

impl GraphFunction {
    /// The function `@main`, or the only one that is not private.
    pub(crate) fn of(cx: &Context, module: &Module) -> Result<Self, Failure> {
        let body = module.body();
        let ops = body.entry_block().into_iter().flat_map(|block| body.ops(block)).map(|op| OpRef::new(cx, body, op));
        let functions = ops.filter(|op| op.as_::<FuncOp<'_>>().is_some_and(|f| !f.is_declaration()));
        let functions: Vec<OpRef<'_>> = functions.collect();
        let is_private = |op: &&OpRef<'_>| op.prop("sym_visibility").is_some_and(|v| cx.as_str(v) == Some("private"));
        let public: Vec<&OpRef<'_>> = functions.iter().filter(|op| !is_private(op)).collect();
        let main = functions.iter().find(|op| op.symbol_name() == Some("main"));
        let found = match (main, &public[..]) {
            (Some(main), _) => main,
            (None, [only]) => only,
            (None, []) => return Err(Failure::input("the program has no function")),
            (None, _) => {
                return Err(Failure::input("the program has several functions, and none is called `@main`"));
            }
        };
        let region = found.region(0);
        match (region.and_then(|r| r.entry()), region.map_or(0, |r| r.blocks().count())) {
            (Some(entry), 1) => Ok(Self { op: found.op, block: entry.block }),
            _ => Err(Failure::input("the program's function has several blocks, and a graph has one")),
        }
    }

    /// A program in text at the graph level, and its function.
    pub(crate) fn parsed(
        compilation: &Compilation,
        text: &str,
        path: &Path,
        talk: &Talk,
    ) -> Result<(Module, Self), Failure> {
        let options = ParseOptions { allow_unregistered: true, layout: KeepLayout::All, ..ParseOptions::default() };
        let program = compilation.parse_with(text, path, &options, talk)?;
        if program.level() != Level::Graph {
            let level = program.level().name();
            let failure =
                Failure::usage(format!("`{}` is at the {level} level, where values have no names", path.display()));
            return Err(failure.hint("take the model, or what `--emit=graph` writes"));
        }
        let function = Self::of(&compilation.cx, &program.module)?;
        Ok((program.module, function))
    }

    pub(crate) fn body<'m>(&self, module: &'m Module) -> &'m Body {
        module.body().nested(self.op).expect("a function has a body of its own")
    }

    /// What it returns.
    pub(crate) fn results(&self, module: &Module) -> Vec<Value> {
        let body = self.body(module);
        body.last_op(self.block).map_or_else(Vec::new, |op| body.operands(op).collect())
    }

    /// Names that attributes give to arguments (`arg_attrs`) or results (`res_attrs`).
    fn attribute_names(&self, cx: &Context, module: &Module, which: &str) -> Vec<Option<String>> {
        let op = OpRef::new(cx, module.body(), self.op);
        let dicts = op.prop(which).and_then(|attrs| cx.array(attrs)).unwrap_or_default();
        dicts.iter().map(|dict| cx.as_str(cx.entry(*dict, cx.ident(NAME))?).map(str::to_owned)).collect()
    }

    /// Arguments with their names, in order.
    pub(crate) fn arguments(&self, cx: &Context, module: &Module) -> Vec<Named> {
        let args = self.body(module).block_args(self.block);
        self.named(cx, module, "arg_attrs", args, "argument")
    }

    /// Results with their names, in order.
    pub(crate) fn named_results(&self, cx: &Context, module: &Module) -> Vec<Named> {
        self.named(cx, module, "res_attrs", &self.results(module), "result")
    }

    fn named(&self, cx: &Context, module: &Module, which: &str, values: &[Value], kind: &str) -> Vec<Named> {
        let given = self.attribute_names(cx, module, which);
        let body = self.body(module);
        let name = |(i, value): (usize, &Value)| {
            let own = || body.value_name(*value).map(|name| cx.str(name).to_owned());
            let name = given.get(i).cloned().flatten().or_else(own);
            (name.unwrap_or_else(|| format!("{kind}{i}")), *value)
        };
        values.iter().enumerate().map(name).collect()
    }

    /// What the text calls a value, or one that is like no other name.
    pub(crate) fn name(&self, cx: &Context, module: &Module, value: Value) -> String {
        let body = self.body(module);
        let own = body.value_name(value).map(|name| cx.str(name).to_owned());
        own.unwrap_or_else(|| format!("%{}", value.index()))
    }

    /// The function as far as names tell.
    pub(crate) fn outline(&self, cx: &Context, module: &Module) -> Outline {
        let body = self.body(module);
        let name = |value: Value| self.name(cx, module, value);
        let args = body.block_args(self.block);
        let node = |op: Op| {
            let mut node = OutlineNode {
                label: format!("`{}`", OpRef::new(cx, body, op).name_str()),
                needs: body.operands(op).map(name).collect(),
                gives: body.results(op).map(name).collect(),
                inside: Vec::new(),
            };
            OpRef::new(cx, body, op).walk(&mut |inner| {
                if inner.op != op && std::ptr::eq(inner.body, body) {
                    let outside = |v: &Value| body.value_block(*v) == Some(self.block);
                    node.needs.extend(inner.operands().filter(outside).map(name));
                    node.inside.extend(inner.results().filter(|v| body.value_name(*v).is_some()).map(name));
                }
            });
            node
        };
        let nodes = body.ops(self.block).filter(|op| !self.is_last(cx, body, *op)).map(node).collect();
        let outputs = self.results(module).into_iter().map(name).collect();
        Outline { inputs: args.iter().map(|arg| name(*arg)).collect(), weights: Vec::new(), outputs, nodes }
    }

    pub(crate) fn is_last(&self, cx: &Context, body: &Body, op: Op) -> bool {
        OpRef::new(cx, body, op).has_trait(Traits::Terminator)
    }

    /// Makes the function return these values, with these names.
    pub(crate) fn set_results(&self, cx: &Context, module: &mut Module, results: &[Named]) {
        let values: Vec<Value> = results.iter().map(|(_, value)| *value).collect();
        let (body, block) = (self.body(module), self.block);
        let types: Vec<Type> = values.iter().map(|value| body.ty(*value)).collect();
        let inputs: Vec<Type> = body.block_args(block).iter().map(|arg| body.ty(*arg)).collect();
        let last = body.last_op(block);
        let mut outer = Rewriter::new(cx, module.body_mut());
        outer.edit_nested(self.op, |inside| {
            if let Some(last) = last {
                Rewriter::new(cx, inside).set_operands(last, &values);
            }
        });
        let names: Vec<Attr> = results.iter().map(|(name, _)| dict(cx, name)).collect();
        outer.set_prop(self.op, "function_type", Some(cx.type_attr(cx.function_type(&inputs, &types))));
        outer.set_prop(self.op, "res_attrs", Some(cx.array_attr(&names)));
    }
}

/// The attributes of an argument or result that has a name.
pub(crate) fn dict(cx: &Context, name: &str) -> Attr {
    cx.dict(&[NamedAttr { name: cx.ident(NAME), value: cx.string_attr(name) }])
}
