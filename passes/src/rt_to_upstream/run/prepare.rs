//! What actions need, computed where the builder stands.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::routines::table::{Arguments, ELEMENTS, Typed};
use sutura_dialects::rt::{BufferType, CopyOp, ExchangeOp, ExpectOp, ViewOp};
use sutura_ir::{OpView, Type, Value};

use super::{Ready, Run, Word};
use crate::rt_to_upstream::interface_text::{self, symbol_variable};
use crate::rt_to_upstream::packed;
use crate::rt_to_upstream::program::{Action, Call, Launch, buffer_type};

impl<'p> Run<'p, '_, '_, '_, '_> {
    pub(super) fn prepare(&mut self, action: &'p Action<'_>) -> Result<Ready, String> {
        match action {
            Action::Launch(launch) => self.prepare_launch(launch),
            Action::Packed(launches) if self.program.on_device => {
                let all = launches.iter().map(|launch| self.prepare_launch(launch)).collect::<Result<_, _>>()?;
                Ok(Ready::Select(vec![(None, all)]))
            }
            Action::Packed(launches) => self.prepare_packed(launches),
            Action::Call(call) => self.prepare_call(call),
            Action::Invoke(invoke) => self.prepare_invoke(invoke),
            Action::Copy(copy) => self.prepare_copy(*copy),
            Action::Exchange(exchange) => self.prepare_exchange(*exchange),
            Action::Expect(expect, number) => self.prepare_expect(*expect, *number),
            Action::Compare(view, number) => self.prepare_compare(*view, *number),
            Action::WriteSizes(write) => {
                let sizes =
                    write.sizes().iter().map(|size| self.sizes.value(self.e, size)).collect::<Result<_, _>>()?;
                Ok(Ready::WriteSizes(self.address(write.list())?, sizes))
            }
            Action::ReadSizes(_) => Ok(Ready::ReadSizes),
            Action::If(condition, sides) => Ok(Ready::If(self.address(*condition)?, self.prepare_sides(sides)?)),
            Action::While(condition, sides) => Ok(Ready::While(self.address(*condition)?, self.prepare_sides(sides)?)),
            Action::Select(versions) => {
                let mut ready = Vec::with_capacity(versions.len());
                for (i, (guard, inside)) in versions.iter().enumerate() {
                    let condition = if i + 1 < versions.len() { Some(self.sizes.guard(self.e, guard)?) } else { None };
                    let inside = inside.iter().map(|a| self.prepare(a)).collect::<Result<_, _>>()?;
                    ready.push((condition, inside));
                }
                Ok(Ready::Select(ready))
            }
        }
    }

    fn prepare_sides(&mut self, sides: &'p [Vec<Action<'_>>; 2]) -> Result<[Vec<Ready>; 2], String> {
        let mut side = |i: usize| sides[i].iter().map(|action| self.prepare(action)).collect::<Result<Vec<_>, _>>();
        Ok([side(0)?, side(1)?])
    }

    fn prepare_exchange(&mut self, exchange: ExchangeOp<'_>) -> Result<Ready, String> {
        Ok(Ready::Exchange([self.slot(exchange.first())?, self.slot(exchange.second())?]))
    }

    fn prepare_compare(&mut self, view: ViewOp<'_>, number: i64) -> Result<Ready, String> {
        let op = view.op_ref();
        let (from, to) = (&buffer_type(op, view.buffer()).dims, &buffer_type(op, view.result()).dims);
        let check = self.sizes.constant(self.e, number);
        let sizes = from.iter().zip(to);
        let sizes = sizes.map(|(from, to)| Ok((self.sizes.value(self.e, from)?, self.sizes.value(self.e, to)?)));
        Ok(Ready::Compare { check, sizes: sizes.collect::<Result<_, String>>()? })
    }

    fn prepare_launch(&mut self, launch: &'p Launch<'_>) -> Result<Ready, String> {
        let (buffers, dims) = self.arguments(launch)?;
        let groups = self.sizes.value(self.e, &launch.groups)?;
        if launch.groups_of_block.is_some() {
            let words = self.words(launch, buffers, dims)?;
            let number = self.kernels.iter().position(|kernel| kernel.symbol == launch.op.callee());
            let number = number.ok_or_else(|| format!("@{} is not among the kernels", launch.op.callee()))?;
            let kernel = self.sizes.constant(self.e, number as i64);
            let count = self.sizes.constant(self.e, words.len() as i64);
            return Ok(Ready::Enqueue { kernel, words, count, groups });
        }
        let grain = self.grain(&launch.work, &launch.groups)?;
        let checks = (!launch.signature.checks.is_empty()).then(|| self.sizes.constant(self.e, launch.first_check));
        Ok(Ready::Launch { kernel: launch.op.callee().to_owned(), buffers, checks, dims, groups, grain })
    }

    /// What a kernel of a device is given: buffers and sizes. One that checks data gets the place for its reports behind its
    /// buffers, and behind its sizes the number of its first check.
    fn words(&mut self, launch: &Launch<'_>, buffers: Vec<Word>, dims: Vec<Value>) -> Result<Vec<Word>, String> {
        let dims: Vec<Word> = dims.into_iter().map(Word::Known).collect();
        if launch.signature.checks.is_empty() {
            return Ok([buffers, dims].concat());
        }
        // The runtime reads the number of a check from so many bits.
        if self.program.data_checks.len() > usize::from(u16::MAX) {
            return Err(format!("kernels of a device check data in more than {} ways", u16::MAX));
        }
        let reports = self.reports.ok_or_else(|| format!("@{} has checks that have no number", launch.op.callee()))?;
        let first = self.sizes.constant(self.e, launch.first_check);
        Ok([buffers, vec![Word::Known(reports)], dims, vec![Word::Known(first)]].concat())
    }

    /// Addresses of the buffers, and the sizes.
    fn arguments(&mut self, launch: &'p Launch<'_>) -> Result<(Vec<Word>, Vec<Value>), String> {
        let buffers = launch.op.buffers().map(|b| self.address(b)).collect::<Result<_, _>>()?;
        let dims = launch.dims.iter().map(|d| self.sizes.value(self.e, d)).collect::<Result<_, _>>()?;
        Ok((buffers, dims))
    }

    /// One launch of the function that runs the parts; see [`super::packed`] for what it takes.
    fn prepare_packed(&mut self, launches: &'p [Launch<'_>]) -> Result<Ready, String> {
        let dispatcher = packed::find(&self.program.dispatchers, launches);
        let dispatcher = dispatcher.ok_or_else(|| "no function runs these launches".to_owned())?;
        let (mut buffers, mut dims, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        let (mut work, mut all) = (Poly::default(), Poly::default());
        for launch in launches {
            if !launch.signature.checks.is_empty() {
                return Err(format!(
                    "@{} checks its data, which launches that run together cannot",
                    launch.op.callee()
                ));
            }
            let (own_buffers, own_dims) = self.arguments(launch)?;
            buffers.extend(own_buffers);
            dims.extend(own_dims);
            (work, all) = (work.add(&launch.work), all.add(&launch.groups));
            let own = self.sizes.value(self.e, &launch.groups)?;
            let end = ends.last().map_or(own, |before| self.e.int("arith.addi", *before, own));
            ends.push(end);
        }
        let groups = *ends.last().ok_or_else(|| "'rt.packed' launches nothing".to_owned())?;
        let grain = self.grain(&work, &all)?;
        let dims = [ends, dims].concat();
        Ok(Ready::Launch { kernel: dispatcher.name.clone(), buffers, checks: None, dims, groups, grain })
    }

    /// The fewest of `groups` that are worth a thread: those that together do `grain_work` scalar operations, if all do
    /// `work`.
    fn grain(&mut self, work: &Poly, groups: &Poly) -> Result<Value, String> {
        let one = self.sizes.constant(self.e, 1);
        let per_group = match work.divide_exact(groups) {
            Some(per_group) => {
                if let Some(work) = per_group.as_const() {
                    let grain = self.grain_work / work.max(1);
                    return Ok(self.sizes.constant(self.e, grain.max(1)));
                }
                self.sizes.value(self.e, &per_group)?
            }
            None => {
                let (work, groups) = (self.sizes.value(self.e, work)?, self.sizes.value(self.e, groups)?);
                let groups = self.e.int("arith.maxsi", groups, one);
                self.e.int("arith.divsi", work, groups)
            }
        };
        let per_group = self.e.int("arith.maxsi", per_group, one);
        let grain_work = self.sizes.constant(self.e, self.grain_work);
        let grain = self.e.int("arith.divsi", grain_work, per_group);
        Ok(self.e.int("arith.maxsi", grain, one))
    }

    fn prepare_copy(&mut self, copy: CopyOp<'_>) -> Result<Ready, String> {
        let (from, to) = (self.address(copy.from())?, self.address(copy.to())?);
        let op = copy.op_ref();
        let bytes = self.sizes.value(self.e, &buffer_type(op, copy.from()).bytes(op.cx))?;
        Ok(Ready::Copy { from, to, bytes })
    }

    fn prepare_call(&mut self, call: &Call<'_>) -> Result<Ready, String> {
        let op = call.op.op_ref();
        let (inputs, outputs, scratch) = (call.op.inputs(), call.op.outputs(), call.op.scratch());
        let counts = [inputs.clone().count(), outputs.clone().count(), usize::from(scratch.is_some())];
        let mut numbers: Vec<Poly> = counts.iter().map(|count| Poly::constant(*count as i64)).collect();
        let (params, types) = self.places(call)?;
        for ty in inputs.map(|value| buffer_type(op, value).clone()).chain(types) {
            let name = interface_text::element_name(op.cx, ty.elem);
            let code = ELEMENTS.iter().position(|known| *known == name);
            let code =
                code.ok_or_else(|| format!("the routine '{}' takes no elements of type {name}", call.routine.name))?;
            numbers.extend([code, ty.dims.len()].map(|n| Poly::constant(n as i64)));
            numbers.extend(ty.dims.iter().cloned());
        }
        numbers.extend(scratch.map(|v| buffer_type(op, v).bytes(op.cx)));
        for param in &params {
            numbers.push(Poly::constant(param.len() as i64));
            numbers.extend(param.iter().cloned());
        }
        let numbers = numbers.iter().map(|size| self.sizes.value(self.e, size)).collect::<Result<_, _>>()?;
        let buffers = op.operands().map(|v| self.address(v)).collect::<Result<_, _>>()?;
        let symbol = self.e.address_of(&symbol_variable(call.routine));
        Ok(Ready::Call { symbol, buffers, numbers })
    }

    /// The parameters and the types of outputs that a call is told: what it decides is given as the places that there are.
    fn places(&self, call: &Call<'_>) -> Result<(Vec<Vec<Poly>>, Vec<BufferType>), String> {
        let op = call.op.op_ref();
        let (mut params, outputs) = (call.params.clone(), call.op.outputs().map(|v| buffer_type(op, v).clone()));
        let mut outputs: Vec<BufferType> = outputs.collect();
        let Some((_, decision, places)) = self.program.decision(op) else { return Ok((params, outputs)) };
        for (param, places) in decision.params.iter().zip(places) {
            params[*param] = vec![places.clone()];
        }
        let inputs: Vec<&BufferType> = call.op.inputs().map(|v| buffer_type(op, v)).collect();
        let typed = inputs.iter().map(|ty| Typed { elem: ty.elem, is_float: ty.elem.is_float(op.cx), dims: &ty.dims });
        let typed: Vec<Typed<'_, Poly, Type>> = typed.collect();
        let arguments = Arguments { inputs: &typed, params: &params };
        for (output, (_, rule)) in outputs.iter_mut().zip(call.routine.outputs_of(inputs.len())) {
            let dims = arguments.dims(call.routine, rule).ok_or("an output is too large to be computed")?;
            output.dims = dims.unwrap_or_else(|| output.dims.clone());
        }
        Ok((params, outputs))
    }

    fn prepare_expect(&mut self, expect: ExpectOp<'_>, number: i64) -> Result<Ready, String> {
        let op = expect.op_ref();
        let elem = BufferType::of(op.cx, op.ty(expect.list())).map_or(Type::I64, |ty| ty.elem);
        let (list, check) = (self.address(expect.list())?, self.sizes.constant(self.e, number));
        let sizes = expect.sizes().into_iter().zip(expect.copied());
        let sizes =
            sizes.map(|(wanted, copied)| Ok((self.sizes.value(self.e, &wanted)?, self.sizes.value(self.e, &copied)?)));
        let sizes = sizes.collect::<Result<_, String>>()?;
        Ok(Ready::Expect { list, elem, check, sizes })
    }
}
