//! Laws: what is printed parses to the same, and no input makes the parser panic.

mod common;

use proptest::prelude::*;

use common::{context, parse};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::attrs::{AttrData, NamedAttr};
use sutura_ir::location::LocData;
use sutura_ir::types::FloatKind;
use sutura_ir::{Attr, Block, Builder, Context, DYNAMIC, Loc, Module, OpState, Region, Type, TypeData, Value};

/// Bytes that decide what is built: any sequence makes a program.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    fn word(&mut self) -> i64 {
        i64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    fn text(&mut self) -> String {
        (0..self.below(6)).filter_map(|_| char::from_u32(self.word() as u32 % 0x3000)).collect()
    }

    fn ty(&mut self, cx: &Context, depth: usize) -> Type {
        let kinds = if depth == 0 { 4 } else { 12 };
        let inner = depth.saturating_sub(1);
        match self.below(kinds) {
            0 => [Type::INDEX, Type::NONE, Type::I1, Type::I64][self.below(4)],
            1 => cx.int_type(u32::from(self.byte()) + 1),
            2 => cx.ty(TypeData::Float(FloatKind::ALL[self.below(18)].0)),
            3 => {
                let (dialect, body) = (cx.ident("foo"), cx.ident(".bar<a -> \">\">"));
                cx.ty(TypeData::Opaque { dialect, body, refs: cx.attr_list(&[]) })
            }
            4 => cx.ty(TypeData::Complex(Type::F32)),
            5 => {
                let inputs: Vec<Type> = (0..self.below(3)).map(|_| self.ty(cx, inner)).collect();
                let results: Vec<Type> = (0..self.below(3)).map(|_| self.ty(cx, inner)).collect();
                cx.function_type(&inputs, &results)
            }
            6 => {
                let types: Vec<Type> = (0..self.below(20)).map(|_| self.ty(cx, 0)).collect();
                cx.ty(TypeData::Tuple(cx.type_list(&types)))
            }
            7 => {
                let encoding = (self.below(2) == 1).then(|| self.attr(cx, inner));
                let shape = self.shape();
                cx.tensor_type(&shape, Type::F32, encoding)
            }
            8 => cx.ty(TypeData::UnrankedTensor(Type::BF16)),
            9 => {
                let strides = cx.int_list(&[self.word().saturating_abs(), DYNAMIC]);
                let layout = cx.attr(AttrData::Strided { offset: DYNAMIC, strides });
                let space = (self.below(2) == 1).then(|| cx.int_attr(3, Type::I64));
                cx.memref_type(&[4, DYNAMIC], Type::I8, Some(layout), space)
            }
            10 => cx.ty(TypeData::UnrankedMemRef { elem: Type::F64, space: None }),
            _ => {
                let (shape, scalable) = (cx.int_list(&[4, 2]), cx.int_list(&[1, 0]));
                cx.ty(TypeData::Vector { shape, scalable, elem: Type::I1 })
            }
        }
    }

    fn shape(&mut self) -> Vec<i64> {
        (0..self.below(3)).map(|_| if self.below(3) == 0 { DYNAMIC } else { self.byte().into() }).collect()
    }

    fn attr(&mut self, cx: &Context, depth: usize) -> Attr {
        let kinds = if depth == 0 { 6 } else { 14 };
        let inner = depth.saturating_sub(1);
        match self.below(kinds) {
            0 => Attr::UNIT,
            1 => cx.int_attr(self.word(), [Type::I64, Type::I1, Type::INDEX, Type::I8][self.below(4)]),
            2 => self.float(cx),
            3 => cx.string_attr(&self.text()),
            4 => {
                let ty = self.ty(cx, inner);
                cx.type_attr(ty)
            }
            5 => cx.symbol_ref(&format!("s{}", self.text())),
            6 => {
                let elements: Vec<Attr> = (0..self.below(4)).map(|_| self.attr(cx, inner)).collect();
                cx.array_attr(&elements)
            }
            7 => self.dict(cx, inner),
            8 => self.dense(cx),
            9 => {
                let words = cx.int_list(&[self.word(), self.word() >> 8]);
                cx.attr(AttrData::BigInteger { ty: cx.int_type(128), words })
            }
            10 => {
                let values: Vec<i64> = (0..self.below(4)).map(|_| self.word()).collect();
                cx.i64_array(&values)
            }
            11 => {
                let map = cx.identity_map(self.below(3) as u32);
                cx.affine_map_attr(map)
            }
            12 => {
                let (file, line) = (cx.ident("f"), u32::from(self.byte()));
                let loc = cx.loc(LocData::FileLineCol { file, line, col: 1, end: None });
                cx.attr(AttrData::Location(loc))
            }
            _ => {
                let inner = self.attr(cx, 0);
                let refs = cx.attr_list(&[cx.affine_map_attr(cx.identity_map(2))]);
                let (dialect, body) = (cx.ident("foo"), cx.ident(".x<\u{1}>"));
                let opaque = cx.attr(AttrData::Opaque { dialect, body, refs, ty: Type::NONE });
                cx.array_attr(&[opaque, inner])
            }
        }
    }

    fn float(&mut self, cx: &Context) -> Attr {
        let (kind, _, bits) = FloatKind::ALL[self.below(16)];
        let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        let bits = self.word() as u64 & mask;
        cx.attr(AttrData::Float { ty: cx.ty(TypeData::Float(kind)), bits })
    }

    fn dense(&mut self, cx: &Context) -> Attr {
        let shape = [self.below(3) as i64, self.below(60) as i64];
        let count = (shape[0] * shape[1]) as usize;
        let data: Vec<u8> = (0..4 * count).map(|_| self.byte()).collect();
        let splat = count != 0 && data.chunks(4).all(|c| c == &data[..4]);
        let ty = cx.tensor_type(&shape, [Type::I32, Type::F32][self.below(2)], None);
        cx.attr(AttrData::Dense { ty, data: cx.blob(if splat { &data[..4] } else { &data }), splat })
    }

    fn dict(&mut self, cx: &Context, depth: usize) -> Attr {
        let entry = |c: &mut Self| NamedAttr { name: cx.ident(&format!("k{}", c.text())), value: c.attr(cx, depth) };
        let entries: Vec<NamedAttr> = (0..self.below(3)).map(|_| entry(self)).collect();
        cx.dict(&entries)
    }

    /// Ops in `block`, with nested regions; operands are values defined before, anywhere around.
    fn ops(&mut self, builder: &mut Builder<'_>, block: Block, values: &mut Vec<Value>, depth: usize) {
        let cx = builder.cx();
        for _ in 0..self.below(4) {
            builder.set_to_end(block);
            let names = ["x", "foo.bar", "a b", "foo.é"];
            let mut state = OpState::new(cx.op_name(names[self.below(4)]), Loc::UNKNOWN);
            if !values.is_empty() {
                let picked: Vec<Value> = (0..self.below(3)).map(|_| values[self.below(values.len())]).collect();
                state = state.operands(picked);
            }
            let results: Vec<Type> = (0..self.below(3)).map(|_| self.ty(cx, 2)).collect();
            let dict = self.dict(cx, 3);
            state = state.results(results).regions(if depth == 0 { 0 } else { self.below(3) });
            for entry in cx.entries(dict) {
                state = state.attr(entry.name, entry.value);
            }
            let op = builder.create(state);
            let regions: Vec<Region> = builder.body().regions(op).collect();
            for region in regions {
                self.region(builder, region, values, depth - 1);
            }
            let results: Vec<Value> = builder.body().results(op).collect();
            for value in results {
                if self.below(2) == 1 {
                    let name = format!("v{}", self.below(3));
                    builder.set_value_name(value, Some(cx.ident(&name)));
                }
                values.push(value);
            }
        }
    }

    fn region(&mut self, builder: &mut Builder<'_>, region: Region, values: &mut Vec<Value>, depth: usize) {
        let cx = builder.cx();
        let known = values.len();
        let blocks: Vec<Block> = (0..self.below(3))
            .map(|_| {
                let args: Vec<(Type, Loc)> = (0..self.below(3)).map(|_| (self.ty(cx, 1), Loc::UNKNOWN)).collect();
                builder.create_block(region, &args)
            })
            .collect();
        for &block in &blocks {
            values.extend_from_slice(builder.body().block_args(block));
            self.ops(builder, block, values, depth);
            builder.set_to_end(block);
            let targets: Vec<Block> = (0..self.below(3)).map(|_| blocks[self.below(blocks.len())]).collect();
            builder.create(OpState::new(cx.op_name("br"), Loc::UNKNOWN).successors(targets));
        }
        values.truncate(known);
    }
}

fn build(cx: &Context, choices: &[u8]) -> Module {
    let mut module = Module::new(cx, Loc::UNKNOWN);
    let block = module.body().entry_block().expect("a module has a block");
    let mut builder = Builder::at_end(cx, module.body_mut(), block);
    Choices(choices.iter()).ops(&mut builder, block, &mut Vec::new(), 3);
    module
}

/// Texts from which others are made by damage.
const SEEDS: [&str; 4] = [
    "module @m attributes {a.b = 1 : i32} {\n  t.fn @f {\n    %a = const 5 : i32\n    %r = t.loop carry(%x = %a : i32) {\n      \
     %s = t.add %x, %a {q = \"é\\22\"} : i32\n    }\n    br ^bb1(%r : i32)\n  ^bb1(%b: i32):\n    %c = const true\n    \
     t.if %c else_first { } { \"x\"() : () -> () }\n    t.many down fast [1, 2] from %a : i32 [%a] as f32 : (i32) -> i32\n  }\n}\n",
    "#map = affine_map<(d0)[s0] -> (d0 * 2 - s0, (d0 + 1) floordiv 3)>\n!t = !foo.bar<#map, \">\">\n%0:2 = \"a\"() ({\n^bb0(%x: \
     memref<4xf32, #map>, %y: !t loc(\"z\"(\"f\":1:2))):\n  \"br\"(%x)[^bb1] <{p = 1 : i64}> : (memref<4xf32, #map>) -> ()\n^bb1:\n}, {}) \
     {a = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>, b = #foo.x<a -> b> : i32} : () -> (i32, (i32) -> f32) loc(#l)\n#l = \
     loc(fused<\"m\">[callsite(\"a\" at unknown), \"f\":1:2 to :3])\n",
    "\"t\"() {a = [1.5e-3 : bf16, 0x7F : i8, @a::@\"b\", {c, d = unit}], b = sparse<[[0, 1]], 5> : tensor<2x2xi32>, c = \
     array<i1: true>, d = strided<[1, ?], offset: ?>, e = distinct[3]<42 : i32>, f = affine_set<(d0) : (d0 >= 0, d0 == 1)>, g = \
     dense<\"0x00FF\"> : tensor<2xi8>, h = !t.pair<tuple<vector<[4]x2xi1>>, -3>, i = #t.note<[\"a\"]>} : () -> ()\n{-# \
     dialect_resources: { builtin: { k: \"0x00\" } }, external_resources: { x: { y: true } } #-}\n",
    "// comment \"\n  %a = \"x\"() : () -> tensor<?x*xf32>\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_printed_parses_to_the_same(choices in prop::collection::vec(any::<u8>(), 0..600)) {
        let cx = context();
        let module = build(&cx, &choices);
        for generic in [true, false] {
            for discard_value_names in [true, false] {
                for local_scope in [true, false] {
                    let options = PrintOptions { generic, discard_value_names, local_scope, ..PrintOptions::default() };
                    let text = module_text(&cx, &module, &options);
                    let again = parse(&cx, &text).map_err(|e| TestCaseError::fail(format!("{e:#?}\n{text}")))?;
                    prop_assert_eq!(module_text(&cx, &again, &options), text);
                }
            }
        }
    }

    #[test]
    fn damaged_text_is_read_without_panic(
        seed in 0..SEEDS.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), "[ -~é\n\t]{0,3}", 0usize..4), 1..6),
    ) {
        let mut text: Vec<char> = SEEDS[seed].chars().collect();
        for (place, insert, remove) in damage {
            let at = place.index(text.len().max(1)).min(text.len());
            let end = (at + remove).min(text.len());
            text.splice(at..end, insert.chars());
        }
        let text: String = text.into_iter().collect();
        let _ = parse(&context(), &text);
    }

    #[test]
    fn any_text_is_read_without_panic(text in "[ -~\n]{0,60}") {
        let _ = parse(&context(), &text);
    }
}

#[test]
fn truncated_text_is_read_without_panic() {
    for seed in SEEDS {
        for (at, _) in seed.char_indices() {
            let _ = parse(&context(), &seed[..at]);
            let _ = parse(&context(), &seed[at..]);
        }
    }
}
