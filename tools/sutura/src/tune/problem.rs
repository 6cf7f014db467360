//! Regions as a program of their own, which is compiled and run.

use std::collections::HashMap;

use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::TreeAttr;
use sutura_dialects::target::machine_in;
use sutura_ir::asm::print::{PrintOptions, op_text};
use sutura_ir::{Context, Module, Op, OpRef, Rewriter, Type};
use sutura_passes::gir::cost::likely;
use sutura_passes::stitch::alone::Alone;
use sutura_passes::stitch::replan::model_of;

use crate::input;

/// What is done to regions before they are measured.
#[derive(Clone, Copy, Debug)]
pub(super) enum Make<'a> {
    /// Nothing.
    AsIs,
    /// The only one gets a schedule.
    Schedule(&'a TreeAttr),
    /// Their ops become other kernels.
    Plan(&'a [Vec<usize>]),
}

/// What is measured.
pub(super) struct Problem {
    /// Of the text without names and places, and of the sizes: equal regions have equal ones.
    pub(super) key: String,
    /// The sizes that are measured at, in words.
    pub(super) sizes: String,
    /// Dims of all inputs at these sizes.
    pub(super) inputs: Vec<Vec<i64>>,
    regions: Alone,
}

impl Problem {
    /// Takes `graph.fusion`s, which are in order, out of their function, at sizes that are given or likely.
    ///
    /// # Errors
    /// Says why the regions cannot stand alone.
    pub(super) fn of(cx: &Context, regions: &[OpRef<'_>], given: &HashMap<String, i64>) -> Result<Self, String> {
        let regions = Alone::of(cx, regions)?;
        let facts = regions.facts(cx)?;
        let own = |free: &str| Some(given.get(free).copied().unwrap_or_else(|| likely(&facts.info(free))));
        let value_of = |name: &str| facts.canonical(&Poly::symbol(name)).eval(&own);
        let inputs = regions.types.iter().map(|ty| dims(cx, *ty, &value_of)).collect::<Result<_, _>>()?;
        let sizes = facts.symbols().map(|(name, _)| {
            let value = value_of(name).ok_or_else(|| format!("the value of its size `{name}` is not known"))?;
            let known = given.contains_key(&**name) || !facts.info(name).likely.is_empty();
            Ok(format!("{name}={value}{}", if known { "" } else { " (assumed)" }))
        });
        let mut sizes = sizes.collect::<Result<Vec<_>, String>>()?.join(", ");
        if sizes.is_empty() {
            sizes.push_str("the fixed sizes");
        }
        let key = input::hash(format!("{}{sizes}", regions.text(cx)).as_bytes());
        Ok(Self { key, sizes, inputs, regions })
    }

    /// The program for a machine, `described` by a module that holds its description, made in one way.
    ///
    /// # Errors
    /// When the regions cannot be made so.
    pub(super) fn text(&self, cx: &Context, described: &Module, make: Make<'_>) -> Result<String, String> {
        let made = match make {
            Make::AsIs => self.regions.clone(),
            Make::Schedule(tree) => self.scheduled(cx, tree)?,
            Make::Plan(kernels) => self.regions.replanned(cx, kernels, &model_of(cx, described.body())?)?,
        };
        let machine = machine_in(cx, described.body())?.ok_or("the module describes no machine")?;
        let function = OpRef::new(cx, made.module.body(), made.function);
        // Without aliases, so that one text can follow the other.
        let options = PrintOptions { local_scope: true, ..PrintOptions::default() };
        Ok(format!("{}\n{}", op_text(machine, &options), op_text(function, &options)))
    }

    fn scheduled(&self, cx: &Context, tree: &TreeAttr) -> Result<Alone, String> {
        let mut made = self.regions.clone();
        let inside = made.module.body_mut().nested_mut(made.function).ok_or("its function has no body")?;
        let mut rewriter = Rewriter::new(cx, inside);
        let set = |region: &Op| rewriter.set_prop(*region, "schedule", Some(cx.ext_attr(tree.clone())));
        made.regions.iter().for_each(set);
        Ok(made)
    }
}

fn dims(cx: &Context, ty: Type, value_of: &dyn Fn(&str) -> Option<i64>) -> Result<Vec<i64>, String> {
    let shape = symbolic_shape(cx, ty).ok_or("it reads a tensor of unknown rank")?;
    let dim = |size: Option<Poly>| size.and_then(|s| s.eval(value_of)).filter(|n| *n >= 0);
    let dims = shape.into_iter().map(dim).collect::<Option<_>>();
    dims.ok_or_else(|| "a size of a tensor that it reads is not known".to_owned())
}
