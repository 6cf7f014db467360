//! Sizes of what conditions and loops hand on: which of them differ, what they are called in each region, and the most that they are.
//!
//! A size that is known in one region alone gets a symbol of its own there, whatever the function calls it: in the program each symbol
//! is told once in a block.

use std::collections::{BTreeSet, HashMap};

use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::{Instance, Poly};
use sutura_dialects::func::{CallOp, FuncOp};
use sutura_dialects::rt::{BufferType, ProgramInfo, ProgramOp, Solution};
use sutura_ir::{OpRef, OpView, Value};

use super::{Read, Side};
use crate::graph_to_gir::kernel::Built;
use crate::graph_to_gir::program::{Assembly, buffer};

/// Where one of several values lies that control hands on: a buffer, and whether these are of different sizes, so that each lies at
/// its front.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Target {
    pub(super) root: Value,
    pub(super) front: bool,
}

/// The symbols of sizes that a region alone knows, by what the function calls them.
#[derive(Default)]
pub(super) struct Scope(HashMap<Poly, Poly>);

/// A dimension of one of several values that differs from what is known of it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Entry {
    /// Number of the value, and the dimension.
    pub(super) at: (usize, usize),
    /// What it is called where it is read.
    pub(super) size: Poly,
    /// The most that it is.
    pub(super) most: Poly,
}

/// What a program says of its sizes.
pub(super) struct Callee {
    inputs: Vec<Poly>,
    /// Of each output the dimensions, and the most that they are, over sizes of the inputs.
    outputs: Vec<(Vec<Poly>, Vec<Poly>)>,
}

impl Callee {
    /// Of a function that is no program yet: its arguments tell all sizes.
    fn of_function(function: FuncOp<'_>) -> Result<Self, String> {
        let op = function.op_ref();
        let entry = op.region(0).and_then(|region| region.entry()).ok_or("it has no body")?;
        let shape = |value: Value| symbolic_shape(op.cx, entry.body.ty(value)).into_iter().flatten();
        let sizes =
            |value: Value| shape(value).collect::<Option<Vec<Poly>>>().ok_or("its type does not tell its sizes");
        let inputs = entry.args().iter().map(|arg| sizes(*arg)).collect::<Result<Vec<_>, _>>()?.concat();
        let told: BTreeSet<_> = inputs.iter().flat_map(Poly::symbols).collect();
        let returned = entry.terminator().into_iter().flat_map(OpRef::operands);
        let outputs = returned.map(sizes).collect::<Result<Vec<_>, _>>()?;
        let decided = outputs.iter().flatten().any(|size| size.symbols().iter().any(|name| !told.contains(name)));
        if decided {
            return Err("it calls, directly or through others, what calls it".to_owned());
        }
        Ok(Self { inputs, outputs: outputs.into_iter().map(|sizes| (sizes.clone(), sizes)).collect() })
    }
}

impl<'a> Assembly<'a, '_> {
    /// Whether a size is known where the op stands.
    fn is_known(&self, size: &Poly) -> bool {
        size.symbols().iter().all(|name| self.known.contains(name))
    }

    /// From here on the sizes of the value are known.
    pub(super) fn now_known(&mut self, op: OpRef<'a>, value: Value) -> Built<()> {
        let ty = buffer(op, op.body, value)?;
        self.known.extend(ty.dims.iter().flat_map(|size| size.symbols()));
        Ok(())
    }

    /// A symbol for a size that the function calls `size`, known in one region alone. Nothing bounds it yet.
    fn local(&mut self, scope: &mut Scope, size: &Poly) -> Poly {
        if let Some(known) = scope.0.get(size) {
            return known.clone();
        }
        let hint = size.as_symbol().unwrap_or("d");
        let info = size.as_symbol().map(|name| self.facts.info(name)).unwrap_or_default();
        let name = self.converted.program.symbol(hint, &info);
        self.facts.define(&name, info);
        self.bounds.open(&name);
        let symbol = Poly::symbol(&name);
        scope.0.insert(size.clone(), symbol.clone());
        symbol
    }

    /// The buffer of a value of a region, as the region knows its sizes.
    fn local_type(&mut self, scope: &mut Scope, op: OpRef<'a>, value: Value) -> Built<BufferType> {
        let ty = buffer(op, op.body, value)?;
        let dims = ty.dims.iter();
        let dims = dims.map(|size| if self.is_known(size) { size.clone() } else { self.local(scope, size) });
        Ok(BufferType::new(ty.elem, dims.collect()))
    }

    /// Type of a value of a region, or from around it.
    pub(super) fn type_of(&self, value: Value) -> BufferType {
        self.types.get(&value).cloned().unwrap_or_else(|| self.converted.program.ty(self.buffers[&value]).clone())
    }

    /// The types of what the call of a region makes.
    pub(super) fn made_types(&mut self, scope: &mut Scope, side: &Side<'a>) -> Built<()> {
        let Some(call) = side.call else { return Ok(()) };
        for result in call.op_ref().results() {
            let ty = self.local_type(scope, call.op_ref(), result)?;
            self.types.insert(result, ty);
        }
        Ok(())
    }

    /// The types of a region's arguments, each of which is given something of type `given`; what it is called there where it differs.
    pub(super) fn given_types(
        &mut self,
        scope: &mut Scope,
        op: OpRef<'a>,
        args: &[(Value, BufferType)],
    ) -> Built<Vec<Entry>> {
        let mut entries = Vec::new();
        for (number, (arg, given)) in args.iter().enumerate() {
            let mut ty = self.local_type(scope, op, *arg)?;
            for (dim, given) in given.dims.iter().enumerate() {
                if !self.facts.prove_equal(&ty.dims[dim], given) {
                    let size = ty.dims[dim].clone();
                    entries.push(Entry { at: (number, dim), most: size.clone(), size });
                } else if !self.is_known(given) {
                    ty.dims[dim] = given.clone();
                }
            }
            self.types.insert(*arg, ty);
        }
        Ok(entries)
    }

    /// The most that a size is, over what is known around.
    pub(super) fn most(&self, op: OpRef<'a>, size: &Poly) -> Built<Poly> {
        self.bounds.most(&self.facts, size).map_err(|why| {
            let error = op.error(format!("makes something of a size that cannot be planned for: {why}"));
            Box::new(error.help("let the size follow from sizes of the inputs, or be bounded by some"))
        })
    }

    /// Bounds the symbols of what the call of a region makes.
    pub(super) fn bound_made(&mut self, op: OpRef<'a>, side: &Side<'a>) -> Built<()> {
        let Some(call) = side.call else { return Ok(()) };
        let results: Vec<Value> = call.op_ref().results().collect();
        let Some(bounds) = self.call_bounds(call)? else { return Ok(()) };
        for (result, bounds) in results.iter().zip(bounds) {
            for (size, bound) in self.types[result].dims.clone().iter().zip(bounds) {
                self.bound(op, size, &bound)?;
            }
        }
        Ok(())
    }

    /// Says that a size is at most another one. It is a symbol of a region, or known.
    pub(super) fn bound(&mut self, op: OpRef<'a>, size: &Poly, most: &Poly) -> Built<()> {
        if let Some(name) = size.as_symbol().filter(|_| !self.bounds.is_known(size)) {
            let most = self.most(op, most)?;
            self.bounds.define(name, most);
        }
        Ok(())
    }

    /// The most that each dimension of what a call makes is, over the sizes that it is given; `None` where all are known.
    pub(super) fn call_bounds(&self, call: CallOp<'a>) -> Built<Option<Vec<Vec<Poly>>>> {
        let op = call.op_ref();
        let all_known =
            op.results().all(|result| self.types[&result].dims.iter().all(|size| self.bounds.is_known(size)));
        if all_known {
            return Ok(None);
        }
        let failed = |why: &str| {
            let error = op.error(format!("calls '@{}', of whose sizes nothing is known: {why}", call.callee()));
            Box::new(error.help("functions that decide sizes are converted before those that call them"))
        };
        let callee = self.callee(call.callee()).map_err(|why| failed(&why))?;
        let actual: Vec<Poly> = op.operands().flat_map(|value| self.type_of(value).dims).collect();
        let instance = Instance::of(&callee.inputs.iter().zip(&actual).collect::<Vec<_>>(), &[]);
        let mut bounds = Vec::with_capacity(callee.outputs.len());
        for (result, (_, most)) in op.results().zip(&callee.outputs) {
            let sizes = self.types[&result].dims.iter().zip(most);
            let bound = |(size, most): (&Poly, &Poly)| match self.bounds.is_known(size) {
                true => Ok(size.clone()),
                false => instance.size(most).ok_or_else(|| failed("the sizes of its inputs do not tell its bounds")),
            };
            bounds.push(sizes.map(bound).collect::<Built<Vec<Poly>>>()?);
        }
        Ok(Some(bounds))
    }

    /// What is known of a function that is a program now.
    fn callee(&self, name: &str) -> Result<Callee, String> {
        let (cx, module) = (self.function.cx, self.function.body);
        let beside = module.op_block(self.function.op).into_iter().flat_map(|block| module.ops(block));
        let mut beside = beside.map(|op| OpRef::new(cx, module, op));
        let callee = beside.find(|op| op.symbol_name() == Some(name)).ok_or("it is not in the module")?;
        if let Some(function) = callee.as_::<FuncOp<'_>>() {
            return Callee::of_function(function);
        }
        if !callee.is::<ProgramOp<'_>>() {
            return Err("it is no program".to_owned());
        }
        let info = ProgramInfo::read(callee)?;
        let phases = Solution::of(&info).map_err(|error| error.to_string())?.phases;
        let inputs = info.inputs.iter().flat_map(|port| port.ty.dims.iter().cloned()).collect();
        let mut outputs = Vec::with_capacity(info.outputs.len());
        for port in &info.outputs {
            let most = port.ty.dims.iter().map(|size| phases.most(size)).collect::<Result<Vec<_>, _>>()?;
            outputs.push((port.ty.dims.clone(), most));
        }
        Ok(Callee { inputs, outputs })
    }

    /// What is called, where it decides a size.
    pub(super) fn invocation(
        &self,
        call: CallOp<'a>,
        inputs: Vec<Value>,
        outputs: Vec<Value>,
    ) -> Built<super::Invocation> {
        let sizes: Vec<Poly> = call.op_ref().results().flat_map(|result| self.types[&result].dims.clone()).collect();
        let most = self.call_bounds(call)?.map(|bounds| bounds.concat()).filter(|most| *most != sizes);
        Ok(super::Invocation { program: call.callee().to_owned(), inputs, outputs, most })
    }

    /// A list for sizes, and how they are read; `None` without any.
    pub(super) fn list(&mut self, op: OpRef<'a>, entries: &[Entry]) -> Option<Read> {
        if entries.is_empty() {
            return None;
        }
        let list = self.converted.program.size_list(op.loc(), entries.len());
        let (sizes, most) = entries.iter().map(|entry| (entry.size.clone(), entry.most.clone())).unzip();
        Some(Read { list, what: sutura_dialects::graph::described(op), sizes, most })
    }

    /// The sizes that values have where others are read.
    pub(super) fn sizes_at(&self, entries: &[Entry], values: &[Value]) -> Vec<Poly> {
        entries.iter().map(|entry| self.type_of(values[entry.at.0]).dims[entry.at.1].clone()).collect()
    }

    /// Every symbol that is known from here on is a size by itself, so that reading them tells it.
    pub(super) fn check_told(&self, op: OpRef<'a>, entries: &[Entry]) -> Built<()> {
        let told =
            |name: &str| self.known.contains(name) || entries.iter().any(|entry| entry.size.as_symbol() == Some(name));
        let open = entries.iter().find_map(|entry| entry.size.symbols().into_iter().find(|name| !told(name)));
        open.map_or(Ok(()), |name| {
            let error = op.error(format!("makes something whose size has '{name}' in it, which nothing tells"));
            Err(Box::new(error.help("let a size of a result be this symbol alone")))
        })
    }
}
