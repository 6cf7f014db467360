//! Conditions, loops and versions: blocks and branches.

use sutura_ir::{Type, Value};

use super::{LOOK_SLOT, REPORTED, REPORTED_WORD, Ready, Run, Word};
use crate::rt_to_upstream::emit::{Pred, ptr_type};

impl<'p> Run<'p, '_, '_, '_, '_> {
    /// What a condition in memory holds now.
    fn condition(&mut self, address: Word) -> Value {
        let address = self.word(address);
        if self.program.on_device {
            return self.condition_on_device(address);
        }
        let byte = self.e.load_here(address, Type::I8, 0);
        let zero = self.e.i8(0);
        self.e.compare(Pred::Ne, byte, zero)
    }

    /// The same in memory of a device, where the runtime looks. What goes wrong ends the run.
    fn condition_on_device(&mut self, address: Value) -> Value {
        let look = self.e.load(self.table, ptr_type(self.e.cx()), LOOK_SLOT);
        let found = self.e.call_pointer_for(look, &[self.context, address], Type::I32);
        let zero = self.e.i32(0);
        let fine = self.e.compare(Pred::Sge, found, zero);
        if let Some(fail) = self.fail {
            self.e.branch_unless(fine, fail, &[found]);
        }
        self.e.compare(Pred::Ne, found, zero)
    }

    /// Blocks, not regions: what stands in them may end the run. `fill` emits the first side for 0, the other for 1.
    pub(super) fn perform_if(
        &mut self,
        condition: Word,
        fill: &mut dyn FnMut(&mut Self, usize) -> Result<(), String>,
    ) -> Result<(), String> {
        let holds = self.condition(condition);
        let blocks = [self.e.block(self.fail), self.e.block(self.fail)];
        let behind = self.e.block(self.fail);
        self.e.branch_to(holds, blocks);
        for (side, block) in blocks.into_iter().enumerate() {
            self.e.b.set_to_end(block);
            fill(self, side)?;
            self.e.branch(behind);
        }
        self.e.b.set_to_end(behind);
        Ok(())
    }

    /// A loop ends with the run once anything was reported: what follows may be nonsense for which it would never end. `fill` emits
    /// what makes the condition for 0, and what follows where it holds for 1.
    pub(super) fn perform_while(
        &mut self,
        condition: Word,
        fill: &mut dyn FnMut(&mut Self, usize) -> Result<(), String>,
    ) -> Result<(), String> {
        let [first, inside, behind] = [0; 3].map(|_| self.e.block(self.fail));
        self.e.branch(first);
        self.e.b.set_to_end(first);
        fill(self, 0)?;
        let reported = self.e.load_here(self.table, Type::I32, REPORTED_WORD);
        let (zero, code) = (self.e.i32(0), self.e.i32(REPORTED));
        let fine = self.e.compare(Pred::Eq, reported, zero);
        if let Some(fail) = self.fail {
            self.e.branch_unless(fine, fail, &[code]);
        }
        let holds = self.condition(condition);
        self.e.branch_to(holds, [inside, behind]);
        self.e.b.set_to_end(inside);
        fill(self, 1)?;
        self.e.branch(first);
        self.e.b.set_to_end(behind);
        Ok(())
    }

    pub(super) fn perform_all(&mut self, actions: &[Ready]) -> Result<(), String> {
        actions.iter().try_for_each(|action| self.perform(action))
    }

    /// Nested conditionals, one for each guard.
    pub(super) fn select(&mut self, versions: &[(Option<Value>, Vec<Ready>)]) -> Result<(), String> {
        let mut open = Vec::new();
        for (condition, inside) in versions {
            let conditional = condition.map(|condition| self.e.begin_if(condition));
            self.perform_all(inside)?;
            if let Some(op) = conditional {
                self.e.otherwise(op);
                open.push(op);
            }
        }
        while let Some(op) = open.pop() {
            self.e.end_if(op);
        }
        Ok(())
    }
}
