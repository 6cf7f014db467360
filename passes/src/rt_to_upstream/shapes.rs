//! `sutura_shapes`: solves the symbols from the inputs' dims, checks them, gives the outputs' dims and the workspace. Sizes that
//! data decide are planned for the most that they may be; `sutura_output_dims` gives the outputs' dims when they are known.

use sutura_ir::{Block, Type, Value};

use super::checker::{Checker, Dims};
use super::emit::Emit;
use super::program::{Program, Temporary};
use super::sizes::Sizes;

/// Fills the function, whose arguments are `args`.
pub(super) fn emit(program: &Program<'_>, e: &mut Emit<'_, '_>, args: &[Value]) -> Result<(), String> {
    let &[input_dims, symbols, output_dims, workspace_bytes, detail] = args else {
        return Err("the interface has five arguments".to_owned());
    };
    let entry = e.b.body().value_block(detail).expect("an argument is of a block");
    let fail = failure_block(e, detail);
    e.b.set_to_end(entry);
    let mut sizes = Sizes::new(&program.facts);
    let dims = Dims::Inputs(input_dims);
    Checker { program, sizes: &mut sizes, e, symbols, dims, fail, checks: 0, applies: None }.phase(0)?;
    for (i, symbol) in program.info.symbols.iter().enumerate().filter(|(i, _)| !program.phases().is_told(*i)) {
        let most = program.phases().most(&sutura_dialects::r#dyn::Poly::symbol(&symbol.name))?;
        let value = sizes.value(e, &most)?;
        e.store(value, symbols, i as i32);
    }
    for (i, dim) in program.planned_dims.iter().enumerate() {
        let value = sizes.value(e, dim)?;
        e.store(value, output_dims, i as i32);
    }
    let (_, total) = workspace(e, &mut sizes, &program.temporaries)?;
    e.store(total, workspace_bytes, 0);
    let ok = e.i32(0);
    e.ret(&[ok]);
    Ok(())
}

/// Fills `sutura_output_dims`, whose arguments are `args`: the symbols' values, and where the dims of all outputs go.
pub(super) fn emit_output_dims(program: &Program<'_>, e: &mut Emit<'_, '_>, args: &[Value]) -> Result<(), String> {
    let &[symbols, output_dims] = args else { return Err("the interface has two arguments".to_owned()) };
    let mut sizes = Sizes::new(&program.facts);
    for (i, symbol) in program.info.symbols.iter().enumerate() {
        sizes.define_in(&symbol.name, symbols, i as i32);
    }
    for (i, dim) in program.info.outputs.iter().flat_map(|port| &port.ty.dims).enumerate() {
        let value = sizes.value(e, dim)?;
        e.store(value, output_dims, i as i32);
    }
    e.ret(&[]);
    Ok(())
}

/// `^fail(code, first, second)`: stores the values and returns the code.
fn failure_block(e: &mut Emit<'_, '_>, detail: Value) -> Block {
    let (region, loc) = (e.b.body().region(), e.loc);
    let block = e.b.create_block(region, &[(Type::I32, loc), (Type::I64, loc), (Type::I64, loc)]);
    let args = e.b.body().block_args(block).to_vec();
    e.b.set_to_end(block);
    e.store(args[1], detail, 0);
    e.store(args[2], detail, 1);
    e.ret(&args[..1]);
    block
}

/// The offset in bytes of each temporary, and the size of the workspace: where each ends is where the next may begin.
pub(super) fn workspace(
    e: &mut Emit<'_, '_>,
    sizes: &mut Sizes<'_>,
    temporaries: &[Temporary],
) -> Result<(Vec<Value>, Value), String> {
    let zero = sizes.constant(e, 0);
    let (mut offsets, mut ends) = (Vec::with_capacity(temporaries.len()), Vec::with_capacity(temporaries.len()));
    let mut last = vec![true; temporaries.len()];
    for temporary in temporaries {
        let mut offset: Option<Value> = None;
        for &before in &temporary.after {
            last[before] = false;
            offset = Some(offset.map_or(ends[before], |o| e.int("arith.maxsi", o, ends[before])));
        }
        let bytes = sizes.value(e, &temporary.bytes)?;
        let end = offset.map_or(bytes, |o| e.int("arith.addi", o, bytes));
        offsets.push(offset.unwrap_or(zero));
        ends.push(end);
    }
    let mut total = zero;
    for (end, _) in ends.iter().zip(&last).filter(|(_, last)| **last) {
        total = if total == zero { *end } else { e.int("arith.maxsi", total, *end) };
    }
    Ok((offsets, total))
}
