//! Loops and conditionals stay structured: values reach the blocks as their arguments, which become phis.

use sutura_dialects::scf::{ConditionOp, ForOp, IfOp, WhileOp};
use sutura_dialects::spirv::{
    BranchConditionalOp, BranchOp, LoopControl, LoopOp, MergeOp, SelectionControl, SelectionOp,
};
use sutura_ir::{Block, BlockRef, OpRef, OpView, Region, Type, Value};

use super::kernel::{Lowered, Lowering, unsupported};

impl Lowering<'_, '_> {
    pub(super) fn control_op(&mut self, op: OpRef<'_>) -> Lowered {
        match op.name_str() {
            "scf.if" => self.conditional(IfOp::from_ref(op)),
            "scf.for" => self.counted(ForOp::from_ref(op)),
            "scf.while" => self.repeated(WhileOp::from_ref(op)),
            // Terminators: the operation that they end reads them.
            "scf.yield" | "scf.condition" => Ok(()),
            _ => Err(unsupported(op)),
        }
    }

    fn types(&mut self, op: OpRef<'_>) -> Lowered<Vec<Type>> {
        op.result_types().map(|ty| self.converted(op, ty)).collect()
    }

    fn new_block(&mut self, region: Region, types: &[Type]) -> (Block, Vec<Value>) {
        let loc = self.e.loc;
        let args: Vec<_> = types.iter().map(|ty| (*ty, loc)).collect();
        let block = self.e.b.create_block(region, &args);
        let args = self.e.b.body().block_args(block).to_vec();
        (block, args)
    }

    fn branch(&mut self, to: Block, args: &[Value]) {
        let loc = self.e.loc;
        BranchOp::build(&mut self.e.b, loc, args, to);
    }

    fn branch_on(&mut self, condition: Value, yes: Block, no: Block) {
        let loc = self.e.loc;
        BranchConditionalOp::build(&mut self.e.b, loc, condition, &[], &[], yes, no);
    }

    /// Converts the operations of a block of the source; the values that its terminator hands over.
    fn inside(&mut self, block: BlockRef<'_>) -> Lowered<Vec<Value>> {
        let loc = self.e.loc;
        self.block(block)?;
        self.e.loc = loc;
        match block.terminator() {
            Some(end) => self.operands(end),
            None => Ok(Vec::new()),
        }
    }

    /// Ends the merge block, and goes on behind the operation.
    fn merge(&mut self, op: OpRef<'_>, new: sutura_ir::Op, merge: Block, values: &[Value]) {
        let loc = self.e.loc;
        self.e.b.set_to_end(merge);
        MergeOp::build(&mut self.e.b, loc, values);
        self.e.b.set_after(new);
        let results: Vec<Value> = self.e.b.body().results(new).collect();
        for (source, result) in op.results().zip(results) {
            self.set(source, result);
        }
    }

    fn conditional(&mut self, source: IfOp<'_>) -> Lowered {
        let op = source.op_ref();
        let (condition, types, loc) = (self.operand(op, 0)?, self.types(op)?, self.e.loc);
        let new = SelectionOp::build(&mut self.e.b, loc, SelectionControl::NONE, &types);
        let region = self.region(new);
        let (header, _) = self.new_block(region, &[]);
        let (then, _) = self.new_block(region, &[]);
        let other = source.else_region().entry().map(|block| (self.new_block(region, &[]).0, block));
        let (merge, merged) = self.new_block(region, &types);
        self.e.b.set_to_end(header);
        self.branch_on(condition, then, other.map_or(merge, |(block, _)| block));
        for (block, side) in source.then_region().entry().map(|side| (then, side)).into_iter().chain(other) {
            self.e.b.set_to_end(block);
            let values = self.inside(side)?;
            self.branch(merge, &values);
        }
        self.merge(op, new, merge, &merged);
        Ok(())
    }

    fn region(&self, op: sutura_ir::Op) -> Region {
        self.e.b.body().regions(op).next().expect("created with a region")
    }

    /// The values go through arguments of the block that goes on, though it has one way in: the serializer does not find
    /// results of loops and conditionals where the header, which is written before them, takes them.
    fn counted(&mut self, source: ForOp<'_>) -> Lowered {
        let op = source.op_ref();
        let (types, loc) = (self.types(op)?, self.e.loc);
        let (lower, upper, step) = (self.operand(op, 0)?, self.operand(op, 1)?, self.operand(op, 2)?);
        let mut first = vec![lower];
        for init in source.init_args() {
            first.push(self.get(op, init)?);
        }
        let new = LoopOp::build(&mut self.e.b, loc, LoopControl::NONE, &types);
        let region = self.region(new);
        let carried: Vec<Type> = std::iter::once(self.e.ty(lower)).chain(types.iter().copied()).collect();
        let (entry, _) = self.new_block(region, &[]);
        let (header, args) = self.new_block(region, &carried);
        let (body, _) = self.new_block(region, &[]);
        let (next, yielded) = self.new_block(region, &types);
        let (merge, _) = self.new_block(region, &[]);
        self.e.b.set_to_end(entry);
        self.branch(header, &first);
        self.e.b.set_to_end(header);
        let less = if source.unsigned_cmp() { "spirv.ULessThan" } else { "spirv.SLessThan" };
        let more = self.e.question(less, &[args[0], upper]);
        self.branch_on(more, body, merge);
        self.e.b.set_to_end(body);
        let block = source.region().entry().expect("a loop has a body");
        for (source, arg) in block.args().iter().zip(&args) {
            self.set(*source, *arg);
        }
        let values = self.inside(block)?;
        self.branch(next, &values);
        self.e.b.set_to_end(next);
        let stepped = self.e.same("spirv.IAdd", &[args[0], step]);
        let again: Vec<Value> = std::iter::once(stepped).chain(yielded).collect();
        self.branch(header, &again);
        self.merge(op, new, merge, &args[1..]);
        Ok(())
    }

    fn repeated(&mut self, source: WhileOp<'_>) -> Lowered {
        let op = source.op_ref();
        let (types, loc) = (self.types(op)?, self.e.loc);
        let first: Vec<Value> = self.operands(op)?;
        let carried: Vec<Type> = first.iter().map(|value| self.e.ty(*value)).collect();
        let new = LoopOp::build(&mut self.e.b, loc, LoopControl::NONE, &types);
        let region = self.region(new);
        let (entry, _) = self.new_block(region, &[]);
        let (header, args) = self.new_block(region, &carried);
        let (before, _) = self.new_block(region, &[]);
        let (after, _) = self.new_block(region, &[]);
        let (next, yielded) = self.new_block(region, &carried);
        let (merge, _) = self.new_block(region, &[]);
        self.e.b.set_to_end(entry);
        self.branch(header, &first);
        // The header itself may not hold other structures.
        self.e.b.set_to_end(header);
        self.branch(before, &[]);
        self.e.b.set_to_end(before);
        let (Some(decides), Some(works)) = (source.before().entry(), source.after().entry()) else {
            return Err(unsupported(op));
        };
        for (source, arg) in decides.args().iter().zip(&args) {
            self.set(*source, *arg);
        }
        let values = self.inside(decides)?;
        if !decides.terminator().is_some_and(|end| end.is::<ConditionOp<'_>>()) {
            return Err(unsupported(op));
        }
        let (condition, passed) = (values[0], &values[1..]);
        self.branch_on(condition, after, merge);
        self.e.b.set_to_end(after);
        for (source, value) in works.args().iter().zip(passed) {
            self.set(*source, *value);
        }
        let values = self.inside(works)?;
        self.branch(next, &values);
        self.e.b.set_to_end(next);
        self.branch(header, &yielded);
        self.merge(op, new, merge, passed);
        Ok(())
    }
}
