//! What a region computes where: each op once over its own iterators, and once more for a reader that reads what the op
//! makes at other places than it is made at.
//!
//! Such a reader (a slice, a padding, a transposition with a broadcast, a concatenation) does not look into memory: the
//! op that makes what it reads is taken along at the reader's index, its own reads composed with the reader's. So moves
//! of data inside a region cost recomputation and no memory. Only ops that combine nothing are taken along, and dear
//! ones only as often as they have elements.

use std::collections::HashMap;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::form::{Form, PickForm, Symbols, map_of, mentions_symbol, one};
use sutura_dialects::graph::maps::replace_symbols;
use sutura_dialects::graph::{IteratorKind, SliceOp, maps};
use sutura_ir::affine::{AffineExpr, AffineMap};
use sutura_ir::work::Counter;
use sutura_ir::{Attr, Context, OpRef, Value};

use super::cost::{body_cost, likely_size, value_text};
use super::form::divides;
use super::nest::{sizes, substitute};
use super::{Fit, misfit};

/// What may be computed any number of times.
const CHEAP: u32 = 2;

/// How often a dear element may be computed, on average.
const TIMES: i64 = 4;

/// Copies of ops that a region may hold: for any region, and for each of its ops. A copy is made for each reader of what is
/// read elsewhere than it is made, and again for each reader of that: in a chain of moves they are quadratic, and where a move
/// reads what another makes twice they double at each step.
const COPIES: usize = 64;
const COPIES_PER_OP: usize = 8;

static UNITS: Counter = Counter::new("regions: ops and copies composed");

/// An op computed at some places.
pub(super) struct Unit<'a> {
    /// The op's form over the unit's iterators.
    pub(super) form: Form<'a>,
    /// Number of the first iterator's variable.
    pub(super) first: usize,
    /// Extents of the iterators.
    pub(super) extents: Vec<Poly>,
    /// Value of each iterator of the op, in the unit's iterators.
    pub(super) values: Vec<AffineExpr>,
    /// How each input is read.
    pub(super) reads: Vec<Read>,
    /// Number of the first result among the region's values.
    pub(super) slot: usize,
    /// Computed for one reader.
    pub(super) copy: bool,
    /// What is computed outside the op's iteration space is not looked at, so that it may be anything.
    loose: bool,
}

/// How an input is read.
pub(super) struct Read {
    pub(super) slot: Option<usize>,
    /// Which of the region's values is read elsewhere than it is made.
    moved: Option<usize>,
    pub(super) oob: Option<Attr>,
    pub(super) guard: Vec<(AffineExpr, Poly)>,
}

/// What becomes of a read of combined numbers elsewhere than they are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moved {
    /// It is refused: nothing is combined twice.
    Refused,
    /// It is one of memory, which those who schedule the region have near or have written before.
    Kept,
}

/// The units of a region.
pub(super) struct Composer<'f, 'a> {
    facts: &'f Facts,
    moved: Moved,
    forms: Vec<Form<'a>>,
    /// Form and result that make a value.
    made: HashMap<Value, (usize, usize)>,
    units: Vec<Unit<'a>>,
    /// The unit of each form as it stands.
    own: Vec<usize>,
    /// Disjoint sets of the units' iterators.
    sets: Vec<usize>,
    slots: usize,
    /// Likely points at which a form is computed in copies.
    copied: HashMap<usize, i64>,
    /// Units that are copies.
    copies: usize,
    pub(super) symbols: Symbols,
}

impl<'f, 'a> Composer<'f, 'a> {
    /// Composes the ops of a region, which stand in order.
    ///
    /// # Errors
    /// When an op has no structured form, or reads what others make in a way that composes with nothing.
    pub(super) fn of(facts: &'f Facts, ops: &[OpRef<'a>], moved: Moved) -> Fit<Self> {
        let mut forms: Vec<Form<'a>> = Vec::with_capacity(ops.len());
        let mut symbols = Symbols::default();
        for op in ops {
            match Form::of(*op, facts, &mut symbols) {
                Some(form) => forms.push(form),
                None => return misfit(without_form(*op, facts)),
            }
        }
        if let Some(form) = forms.iter().find(|form| form.scatter.is_some() && forms.len() > 1) {
            let name = value_text(form.op.cx, form.op.body, form.op.result(0));
            return misfit(format!("writes {name} at indices that are data, which only a loop of its own does"));
        }
        let mut made = HashMap::new();
        for (i, form) in forms.iter().enumerate() {
            made.extend(form.results().enumerate().map(|(r, value)| (value, (i, r))));
        }
        for i in 0..forms.len() {
            for p in 0..forms[i].picks.len() {
                while let Some(pick) = seen_through(facts, &forms, &made, &forms[i].picks[p]) {
                    forms[i].picks[p] = pick;
                }
            }
        }
        let mut this = Self {
            facts,
            moved,
            forms,
            made,
            units: Vec::new(),
            own: Vec::new(),
            sets: Vec::new(),
            slots: 0,
            copied: HashMap::new(),
            copies: 0,
            symbols,
        };
        for i in 0..this.forms.len() {
            let form = this.forms[i].clone();
            let mut extents = Vec::new();
            for (i, extent) in form.extents.clone().into_iter().enumerate() {
                let Some(extent) = extent else {
                    return misfit(format!("runs along d{i} of a '{}', whose extent is not known", form.op.name_str()));
                };
                extents.push(facts.canonical(&extent));
            }
            let values = (0..extents.len()).map(|i| form.op.cx.affine_dim(i as u32)).collect();
            let first = this.variables(extents.len());
            let unit = Unit { form, first, extents, values, reads: vec![], slot: 0, copy: false, loose: false };
            let unit = this.add(unit)?;
            this.own.push(unit);
        }
        // Ops that read the same tensor and nothing of each other run through it together.
        for ((a, i), (b, j)) in super::siblings::pairs(&this.forms) {
            this.join(this.units[this.own[a]].first + i, this.units[this.own[b]].first + j);
        }
        Ok(this)
    }

    /// Units that make `outputs`, or what is read for them, in order.
    pub(super) fn needed(&mut self, outputs: &[Value]) -> Vec<Unit<'a>> {
        let mut read = vec![false; self.slots];
        let mut needed = Vec::new();
        for unit in std::mem::take(&mut self.units).into_iter().rev() {
            let mut results = unit.form.results().enumerate();
            let wanted = results.any(|(i, value)| read[unit.slot + i] || !unit.copy && outputs.contains(&value));
            if wanted {
                unit.reads.iter().filter_map(|r| r.slot.or(r.moved)).for_each(|slot| read[slot] = true);
                needed.push(unit);
            }
        }
        needed.reverse();
        needed
    }

    /// The set that a variable is in.
    pub(super) fn class(&self, mut x: usize) -> usize {
        while self.sets[x] != x {
            x = self.sets[x];
        }
        x
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.class(a), self.class(b));
        self.sets[a.max(b)] = a.min(b);
    }

    fn variables(&mut self, count: usize) -> usize {
        let first = self.sets.len();
        self.sets.extend(first..first + count);
        first
    }

    /// Adds a unit behind what it reads.
    fn add(&mut self, mut unit: Unit<'a>) -> Fit<usize> {
        UNITS.add(1);
        if let Some(pick) = unit.form.picks.iter().find(|pick| self.made.contains_key(&pick.indices)) {
            let name = value_text(unit.form.op.cx, unit.form.op.body, pick.indices);
            return misfit(format!("reads at indices, {name}, that the region makes"));
        }
        for (input, value) in unit.form.inputs.clone().into_iter().enumerate() {
            let read = match self.made.get(&value).copied() {
                Some(maker) => self.read_made(&unit, input, maker)?,
                None => self.read_memory(&unit, input)?,
            };
            unit.reads.push(read);
        }
        unit.slot = self.slots;
        self.slots += unit.form.result_maps.len();
        self.units.push(unit);
        Ok(self.units.len() - 1)
    }

    /// Expressions of a read that may leave the tensor, with its sizes there.
    fn leaving(&self, unit: &Unit<'a>, input: usize) -> Fit<Vec<(AffineExpr, Poly)>> {
        let op = unit.form.op;
        if unit.form.oob[input].is_none() && !unit.loose {
            return Ok(vec![]);
        }
        let sizes = sizes(op.cx, op.body, self.facts, unit.form.inputs[input])?;
        let read = op.cx.map_results(unit.form.input_maps[input]).iter().copied().zip(sizes);
        let inside = |expr: AffineExpr, size: &Poly| self.symbols.inside(op.cx, self.facts, expr, &unit.extents, size);
        Ok(read.filter(|(expr, size)| !inside(*expr, size)).collect())
    }

    fn read_memory(&self, unit: &Unit<'a>, input: usize) -> Fit<Read> {
        let op = unit.form.op;
        let oob = match self.leaving(unit, input)?[..] {
            [] => None,
            // A number that nobody looks at, by which every function can be computed.
            _ => unit.form.oob[input].or_else(|| Some(one(op.cx, op.cx.element_type(op.ty(unit.form.inputs[input]))))),
        };
        Ok(Read { slot: None, moved: None, oob, guard: vec![] })
    }

    fn read_made(&mut self, unit: &Unit<'a>, input: usize, (maker, result): (usize, usize)) -> Fit<Read> {
        let oob = unit.form.oob[input];
        if oob.is_none()
            && let Some(pairs) = self.plain(unit, input, (maker, result))?
        {
            let own = &self.units[self.own[maker]];
            let (first, slot) = (own.first, own.slot + result);
            pairs.into_iter().for_each(|(r, m)| self.join(unit.first + r, first + m));
            return Ok(Read { slot: Some(slot), moved: None, oob: None, guard: vec![] });
        }
        if self.moved == Moved::Kept && self.is_of_combined(maker) {
            return self.read_moved(unit, input, (maker, result));
        }
        let op = unit.form.op;
        if self.forms[maker].combines() {
            let name = value_text(op.cx, op.body, unit.form.inputs[input]);
            return misfit(format!("reads {name} otherwise than element by element, and it is combined from others"));
        }
        let leaving = self.leaving(unit, input)?;
        let loose = !leaving.is_empty();
        let copy = self.copy(unit, input, (maker, result), loose)?;
        let slot = self.units[copy].slot + result;
        match oob {
            Some(oob) if loose => Ok(Read { slot: Some(slot), moved: None, oob: Some(oob), guard: leaving }),
            _ => Ok(Read { slot: Some(slot), moved: None, oob: None, guard: vec![] }),
        }
    }

    /// Whether a form combines, or is computed from what the region combines.
    fn is_of_combined(&self, form: usize) -> bool {
        let (mut seen, mut open) = (vec![false; self.forms.len()], vec![form]);
        while let Some(at) = open.pop() {
            if self.forms[at].combines() {
                return true;
            }
            let makers = self.forms[at].inputs.iter().filter_map(|value| Some(self.made.get(value)?.0));
            open.extend(makers.filter(|maker| !std::mem::replace(&mut seen[*maker], true)));
        }
        false
    }

    /// Reads what the region makes elsewhere than it is made. What the reader goes along one by one they go along together.
    fn read_moved(&mut self, unit: &Unit<'a>, input: usize, (number, result): (usize, usize)) -> Fit<Read> {
        let (cx, maker) = (unit.form.op.cx, &self.units[self.own[number]]);
        let read = cx.map_results(unit.form.input_maps[input]);
        let alone = |r: usize| read.iter().filter(|e| maps::mentions(cx, **e, r)).count() == 1;
        let mut pairs = Vec::new();
        for (r, w) in read.iter().zip(cx.map_results(maker.form.result_maps[result])) {
            if let (Some(r), Some(w)) = (maps::plain_dim(cx, *r), maps::plain_dim(cx, *w))
                && alone(r)
                && self.facts.prove_equal(&unit.extents[r], &maker.extents[w])
            {
                pairs.push((unit.first + r, maker.first + w));
            }
        }
        let moved = Some(maker.slot + result);
        pairs.into_iter().for_each(|(r, m)| self.join(r, m));
        Ok(Read { moved, ..self.read_memory(unit, input)? })
    }

    /// Pairs of iterators of a reader and of what it reads that are the same, if it reads element by element.
    fn plain(
        &self,
        unit: &Unit<'a>,
        input: usize,
        (number, result): (usize, usize),
    ) -> Fit<Option<Vec<(usize, usize)>>> {
        let (op, maker) = (unit.form.op, &self.forms[number]);
        let sizes = sizes(op.cx, op.body, self.facts, unit.form.inputs[input])?;
        let read = op.cx.map_results(unit.form.input_maps[input]);
        let written = op.cx.map_results(maker.result_maps[result]);
        let mut pairs = Vec::new();
        for (dim, (r, w)) in read.iter().zip(written).enumerate() {
            match (maps::plain_dim(op.cx, *r), maps::plain_dim(op.cx, *w)) {
                (Some(r), Some(w)) if pairs.iter().all(|(other, _)| *other != r) => pairs.push((r, w)),
                (None, Some(_)) if sizes[dim].as_const() != Some(1) => return Ok(None),
                // Two dimensions at one iterator: a diagonal.
                (Some(_), Some(_)) => return Ok(None),
                // A size of 1: there is one place to read.
                _ => {}
            }
        }
        let maker = &self.units[self.own[number]];
        // What is computed beyond the end of a tensor is made there too.
        let same = |(r, m): &(usize, usize)| self.facts.prove_equal(&unit.extents[*r], &maker.extents[*m]);
        if unit.copy && !pairs.iter().all(same) {
            return Ok(None);
        }
        // A tensor and its transposition read at once would make two iterators one.
        let own = maker.first;
        let reader = unit.first..unit.first + unit.extents.len();
        let crosses = |(r, m): &(usize, usize)| {
            let class = self.class(own + m);
            reader.clone().any(|other| other != unit.first + r && self.class(other) == class)
        };
        Ok((!pairs.iter().any(crosses)).then_some(pairs))
    }

    /// Computes the op that makes what a reader reads at the reader's places. Returns the unit.
    fn copy(&mut self, reader: &Unit<'a>, input: usize, (number, result): (usize, usize), loose: bool) -> Fit<usize> {
        let (cx, maker) = (reader.form.op.cx, self.forms[number].clone());
        if loose && maker.body.is_some_and(|body| body.ops().any(divides)) {
            let name = value_text(cx, reader.form.op.body, reader.form.inputs[input]);
            return misfit(format!("would divide integers for {name} where nobody looks at it, perhaps by 0"));
        }
        let read = cx.map_results(reader.form.input_maps[input]);
        let written = cx.map_results(maker.result_maps[result]);
        let picks = picks_of(cx, &reader.form, read);
        // The reader's iterators that this read depends on, outermost dimensions first.
        let mut used: Vec<usize> = Vec::new();
        for expr in read.iter().chain(picks.iter().flat_map(|pick| &pick.index)) {
            used.extend(
                (0..reader.extents.len())
                    .filter(|i| maps::mentions(cx, *expr, *i) && !used.contains(i))
                    .collect::<Vec<_>>(),
            );
        }
        let local = |i: usize| cx.affine_dim(used.iter().position(|u| *u == i).expect("mentioned above") as u32);
        let place = |i: usize| written.iter().position(|e| maps::plain_dim(cx, *e) == Some(i));
        let values: Option<Vec<AffineExpr>> =
            (0..maker.iterators.len()).map(|i| Some(substitute(cx, read[place(i)?], &local))).collect();
        let values = values.expect("a result map names every parallel iterator");
        // What the maker picks is picked anew at the reader's places, under numbers of its own.
        let anew: Vec<(usize, usize)> =
            maker.picks.iter().map(|pick| (pick.symbol, self.symbols.pick(&pick.size))).collect();
        let renamed = |s: usize| {
            let own = anew.iter().find(|(old, _)| *old == s).map_or(s, |(_, new)| *new);
            cx.affine_symbol(own as u32)
        };
        let symbols = &mut self.symbols;
        let mut here = |e: &AffineExpr| {
            let there = substitute(cx, replace_symbols(cx, *e, &renamed), &|i| values[i]);
            symbols.normal(cx, there, used.len())
        };
        let mut all: Vec<PickForm> = picks
            .iter()
            .map(|pick| {
                let index = pick.index.iter().map(|e| substitute(cx, *e, &local)).collect();
                PickForm { index, ..pick.clone() }
            })
            .collect();
        all.extend(maker.picks.iter().zip(&anew).map(|(pick, (_, symbol))| {
            let index = pick.index.iter().map(&mut here).collect();
            PickForm { symbol: *symbol, index, ..pick.clone() }
        }));
        let mut composed = |map: &AffineMap| {
            let exprs: Vec<AffineExpr> = cx.map_results(*map).iter().map(&mut here).collect();
            map_of(cx, used.len(), &exprs)
        };
        let own: Vec<AffineExpr> = (0..used.len()).map(|i| cx.affine_dim(i as u32)).collect();
        self.copies += 1;
        if self.copies > COPIES + COPIES_PER_OP * self.forms.len() {
            let name = value_text(cx, reader.form.op.body, reader.form.inputs[input]);
            return misfit(format!(
                "would compute ops in more than {} copies, one of them for {name}, which is read otherwise than it is made",
                self.copies - 1
            ));
        }
        let form = Form {
            iterators: vec![IteratorKind::Parallel; used.len()],
            input_maps: maker.input_maps.iter().map(&mut composed).collect(),
            result_maps: vec![cx.affine_map(used.len() as u32, 0, &own); maker.result_maps.len()],
            picks: all,
            ..maker.clone()
        };
        let extents: Vec<Poly> = used.iter().map(|i| reader.extents[*i].clone()).collect();
        self.charge(number, &form, &extents)?;
        let first = self.variables(used.len());
        for (i, reader_iterator) in used.iter().enumerate() {
            self.join(first + i, reader.first + reader_iterator);
        }
        self.add(Unit { form, first, extents, values, reads: vec![], slot: 0, copy: true, loose })
    }

    /// Refuses to compute a dear op many times.
    fn charge(&mut self, number: usize, form: &Form<'a>, extents: &[Poly]) -> Fit<()> {
        let points =
            |extents: &[Poly]| extents.iter().map(|e| likely_size(self.facts, e)).fold(1i64, i64::saturating_mul);
        let own = points(&self.units[self.own[number]].extents);
        let here = points(extents);
        let copied = self.copied.entry(number).or_insert(0);
        *copied = copied.saturating_add(here);
        if body_cost(form.body) <= CHEAP || *copied <= own.saturating_mul(TIMES) {
            return Ok(());
        }
        let name = value_text(form.op.cx, form.op.body, form.op.result(0));
        misfit(format!("would compute {copied} elements of {name}, which has {own}, at likely sizes"))
    }
}

/// The pick of the tensor of which the region makes its indices by copying alone, a slice for one, where an element has the
/// same place there and the same number, counted row by row, by which a wrong one is reported.
fn seen_through(
    facts: &Facts,
    forms: &[Form<'_>],
    made: &HashMap<Value, (usize, usize)>,
    pick: &PickForm,
) -> Option<PickForm> {
    let (maker, result) = *made.get(&pick.indices)?;
    let maker = &forms[maker];
    let (cx, body) = (maker.op.cx, maker.op.body);
    let block = maker.body.filter(|block| block.ops().count() == 1)?;
    let yielded = block.terminator()?.operands().nth(result)?;
    let input = block.args().iter().position(|arg| *arg == yielded)?;
    if maker.combines() || maker.oob[input].is_some() || !maker.picks.is_empty() {
        return None;
    }
    let written = cx.map_results(maker.result_maps[result]);
    let place = |i: usize| pick.index.get(written.iter().position(|e| maps::plain_dim(cx, *e) == Some(i))?).copied();
    let places: Vec<AffineExpr> = (0..maker.iterators.len()).map(place).collect::<Option<_>>()?;
    let source = maker.inputs[input];
    let read = cx.map_results(maker.input_maps[input]);
    let index: Vec<AffineExpr> = read.iter().map(|e| substitute(cx, *e, &|i| places[i])).collect();
    let (here, there) = (sizes(cx, body, facts, pick.indices).ok()?, sizes(cx, body, facts, source).ok()?);
    // Where there is one index, nothing stands before it: then the size of the first dimension with more does not count.
    let more = (0..here.len()).find(|d| here[*d].as_const() != Some(1)).unwrap_or(here.len());
    let counts = |d: usize| d > more && !facts.prove_equal(&here[d], &there[d]);
    let same = index == pick.index && here.len() == there.len() && !(0..here.len()).any(counts);
    same.then(|| PickForm { indices: source, index, ..pick.clone() })
}

/// Why an op has no structured form.
fn without_form(op: OpRef<'_>, facts: &Facts) -> String {
    let plain = format!("'{}' has no structured form", op.name_str());
    let Some(slice) = op.as_::<SliceOp<'_>>() else { return plain };
    let name = |v: Value| value_text(op.cx, op.body, v);
    let shape = symbolic_shape(op.cx, op.ty(slice.input())).unwrap_or_default();
    let size = |axis: i64| shape.get(axis as usize).cloned().flatten().map(|size| facts.canonical(&size));
    let open = |axis: &i64| slice.starts().is_none() || size(*axis).is_none_or(|size| size.as_const().is_none());
    let axes = slice.axes();
    let Some(at) = axes.iter().position(open) else { return plain };
    let (axis, input) = (axes[at], name(slice.input()));
    let bound = |known: Option<Vec<i64>>, operand: usize| match known {
        Some(list) => list[at].to_string(),
        None => slice.bounds().nth(operand).map_or_else(String::new, |v| format!("element {at} of {}", name(v))),
    };
    let (start, end) = (bound(slice.starts(), 0), bound(slice.ends(), 1));
    let of = size(axis).map_or_else(|| "a size that depends on data".to_owned(), |size| format!("size {size}"));
    format!(
        "{plain}: it cuts dimension {axis} of {input}, of {of}, from {start} to {end}, which is not known to lie inside; \
         bounds must be constants or follow from shapes by arithmetic that stays short, and ranges of symbols can make it so"
    )
}

/// The picks of a reader that its read mentions, and those by which they are picked.
fn picks_of(cx: &Context, reader: &Form<'_>, read: &[AffineExpr]) -> Vec<PickForm> {
    let mut wanted: Vec<&PickForm> = Vec::new();
    for pick in reader.picks.iter().rev() {
        let by = wanted.iter().flat_map(|other| &other.index);
        if read.iter().chain(by).any(|e| mentions_symbol(cx, *e, pick.symbol)) {
            wanted.push(pick);
        }
    }
    wanted.into_iter().rev().cloned().collect()
}
