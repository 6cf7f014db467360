//! Random modules in generic form, made from the declarations of all operations. Most are wrong, in few places.

use sutura_interp::random::Random;
use sutura_ir::Registry;
use sutura_ir::op_def::{Arity, OpDef};

use crate::corpus::Corpus;
use crate::mutate::pick;

struct Generator<'g> {
    corpus: &'g Corpus,
    ops: &'g [&'static OpDef],
    random: &'g mut Random,
    out: String,
    next: usize,
}

/// A value that can be used: name and type.
type Named = (String, String);

/// The deepest nesting of regions.
const DEPTH: usize = 3;

/// A module of some random operations.
pub fn module(corpus: &Corpus, registry: &Registry, random: &mut Random) -> String {
    let ops: Vec<&'static OpDef> = registry.op_defs().collect();
    let mut generator = Generator { corpus, ops: &ops, random, out: String::new(), next: 0 };
    generator.out.push_str("\"builtin.module\"() ({\n");
    for _ in 0..generator.random.range(0, 3) {
        generator.function();
    }
    generator.block(&mut Vec::new(), 1);
    generator.out.push_str("}) : () -> ()\n");
    generator.out
}

impl Generator<'_> {
    fn ty(&mut self) -> String {
        const COMMON: &[&str] = &["i32", "f32", "index", "i1", "tensor<4xf32>", "tensor<?xf32>", "memref<4xf32>"];
        if self.random.range(0, 2) > 0 {
            pick(self.random, COMMON).to_string()
        } else {
            pick(self.random, &self.corpus.types).clone()
        }
    }

    fn attr(&mut self) -> String {
        const COMMON: &[&str] =
            &["1 : i32", "0 : index", "unit", "\"text\"", "@f", "[1, 2]", "array<i64: 0, 1>", "f32"];
        if self.random.range(0, 2) == 0 {
            pick(self.random, COMMON).to_string()
        } else {
            pick(self.random, &self.corpus.attrs).clone()
        }
    }

    fn value(&mut self) -> String {
        self.next += 1;
        format!("%{}", self.next)
    }

    fn function(&mut self) {
        let args: Vec<Named> = (0..self.random.range(0, 4)).map(|_| (self.value(), self.ty())).collect();
        let types: Vec<&str> = args.iter().map(|(_, ty)| &**ty).collect();
        let named: Vec<String> = args.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        self.next += 1;
        self.out.push_str(&format!(
            "\"func.func\"() <{{sym_name = \"f{}\", function_type = ({}) -> ()}}> ({{\n^bb0({}):\n",
            self.next,
            types.join(", "),
            named.join(", ")
        ));
        let mut values = args;
        self.block(&mut values, 1);
        self.out.push_str("\"func.return\"() : () -> ()\n}) : () -> ()\n");
    }

    fn block(&mut self, values: &mut Vec<Named>, depth: usize) {
        for _ in 0..self.random.range(0, 6) {
            let def = *pick(self.random, self.ops);
            self.op(def, values, depth);
        }
    }

    fn count(&mut self, arity: Arity) -> usize {
        // Now and then another number than is declared.
        if self.random.range(0, 30) == 0 {
            return self.random.range(0, 4) as usize;
        }
        match arity {
            Arity::Single => 1,
            Arity::Optional => self.random.range(0, 1) as usize,
            _ => self.random.range(0, 3) as usize,
        }
    }

    fn op(&mut self, def: &'static OpDef, values: &mut Vec<Named>, depth: usize) {
        let (mut operands, mut segments) = (Vec::new(), Vec::new());
        for group in def.operands {
            let count = self.count(group.arity);
            segments.push(count.to_string());
            for _ in 0..count {
                if values.is_empty() {
                    let named = (self.value(), self.ty());
                    self.out.push_str(&format!(
                        "{} = \"builtin.unrealized_conversion_cast\"() : () -> {}\n",
                        named.0, named.1
                    ));
                    values.push(named);
                }
                operands.push(pick(self.random, values).clone());
            }
        }
        let same = operands.first().map(|(_, ty)| ty.clone());
        let mut results = Vec::new();
        for group in def.results {
            for _ in 0..self.count(group.arity) {
                let ty = same.clone().filter(|_| self.random.range(0, 2) > 0).unwrap_or_else(|| self.ty());
                results.push((self.value(), ty));
            }
        }
        let names: Vec<&str> = results.iter().map(|(name, _)| &**name).collect();
        let equals = if names.is_empty() { "" } else { " = " };
        let used: Vec<&str> = operands.iter().map(|(name, _)| &**name).collect();
        let head = format!("{}{equals}\"{}\"({})", names.join(", "), def.name, used.join(", "));
        self.out.push_str(&head);
        self.props(def, &segments);
        self.regions(def, values, depth);
        let types = |list: &[Named]| list.iter().map(|(_, ty)| ty.clone()).collect::<Vec<_>>().join(", ");
        let end = format!(" : ({}) -> ({})\n", types(&operands), types(&results));
        self.out.push_str(&end);
        values.extend(results);
    }

    fn props(&mut self, def: &'static OpDef, segments: &[String]) {
        let mut props = Vec::new();
        for attr in def.attrs {
            if def.is_segment_sizes(attr.name) {
                props.push(format!("{} = array<i32: {}>", attr.name, segments.join(", ")));
            } else if !attr.optional || self.random.range(0, 1) == 0 {
                props.push(format!("{} = {}", attr.name, self.attr()));
            }
        }
        if self.random.range(0, 8) == 0 {
            props.push(format!("extra = {}", self.attr()));
        }
        if !props.is_empty() {
            let props = format!(" <{{{}}}>", props.join(", "));
            self.out.push_str(&props);
        }
    }

    fn regions(&mut self, def: &'static OpDef, values: &[Named], depth: usize) {
        if def.regions.is_empty() {
            return;
        }
        self.out.push_str(" (");
        for index in 0..def.regions.len() {
            self.out.push_str(if index > 0 { ", {\n" } else { "{\n" });
            if depth < DEPTH {
                let args: Vec<Named> = (0..self.random.range(0, 2)).map(|_| (self.value(), self.ty())).collect();
                let named: Vec<String> = args.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
                let head = format!("^bb0({}):\n", named.join(", "));
                self.out.push_str(&head);
                let mut inner = [values, &args].concat();
                self.block(&mut inner, depth + 1);
                self.terminator(def, &inner);
            }
            self.out.push('}');
        }
        self.out.push(')');
    }

    fn terminator(&mut self, def: &'static OpDef, values: &[Named]) {
        let name = def.implicit_terminator.unwrap_or("scf.yield");
        let operand =
            if values.is_empty() || self.random.range(0, 1) == 0 { None } else { Some(pick(self.random, values)) };
        let (used, ty) = operand.map_or(("", ""), |(name, ty)| (&**name, &**ty));
        let line = format!("\"{name}\"({used}) : ({ty}) -> ()\n");
        self.out.push_str(&line);
    }
}
