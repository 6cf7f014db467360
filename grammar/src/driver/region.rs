//! Regions and blocks.

use rustc_hash::FxHashMap;

use sutura_ir::asm::parse::RegionArg;
use sutura_ir::body::{Block, Body};
use sutura_ir::builder::Builder;
use sutura_ir::diagnostics::{Diagnostic, Reported, codes, did_you_mean};

use super::generic::NO_OPERAND;
use super::scope::{Def, Scope};
use super::{Driver, Frame, Label, Level, OpStart, OpenOp, OpenRegion};
use crate::rules::{Node, Rule, Span};
use crate::units::Unit;

impl<'t> Driver<'t> {
    fn region(&mut self) -> &mut OpenRegion<'t> {
        &mut self.frames.last_mut().expect("the file is a region").region
    }

    /// The body that the regions of an op are built in: for an isolated op, from its first region on, one of its own.
    pub(super) fn enter_op_body(&mut self, start: &mut OpStart<'t>) {
        if start.isolated && !start.entered {
            start.entered = true;
            let count = start.name.def(self.cx()).map_or(0, |d| d.regions.len());
            self.levels.push(Level { body: Box::new(Body::new(count)), scope: Scope::new(self.reader.text) });
        }
    }

    /// Opens a region whose brace is at `at`.
    pub(super) fn open_region(&mut self, op: OpenOp<'t>, at: usize, default_dialect: &'static str) {
        let mark = self.level().scope.mark();
        let region = OpenRegion {
            at,
            blocks: Vec::new(),
            current: None,
            labels: FxHashMap::default(),
            mark,
            has_entry: false,
            default_dialect,
        };
        self.frames.push(Frame { op, region });
    }

    /// Opens a region of an op with an error; what it defines is of no use to others.
    pub(super) fn open_broken(&mut self, at: usize) {
        self.damaged = true;
        self.levels.push(Level { body: Box::new(Body::new(0)), scope: Scope::new(self.reader.text) });
        self.open_region(OpenOp::Broken, at, "");
    }

    /// Creates the entry block with arguments that were given before the region.
    pub(super) fn enter_with_args(&mut self, args: &[RegionArg]) -> Result<(), Reported> {
        let cx = self.cx();
        let block = Builder::new(cx, &mut self.level().body).create_detached_block();
        let region = self.region();
        region.blocks.push(block);
        region.current = Some(block);
        region.has_entry = true;
        for arg in args {
            let value = Builder::new(cx, &mut self.level().body).add_block_arg(block, arg.ty, arg.loc);
            if let Some(name) = arg.name {
                let at = self.reader.offset(arg.loc).unwrap_or_default();
                // Names live as long as the context, which outlives the text.
                let name = cx.str(name);
                self.define(name, Def::Value(value), at)?;
                self.keep_name(value, name);
            }
        }
        Ok(())
    }

    /// The block that ops go to; the first of a region may have no label.
    pub(super) fn current_block(&mut self) -> Block {
        if let Some(block) = self.region().current {
            return block;
        }
        let cx = self.cx();
        let block = Builder::new(cx, &mut self.level().body).create_detached_block();
        let region = self.region();
        region.blocks.push(block);
        region.current = Some(block);
        block
    }

    /// The block called `name`, defined or to be defined later in this region.
    pub(super) fn successor(&mut self, name: &'t str, at: usize) -> Block {
        if let Some(label) = self.region().labels.get(name) {
            return label.block;
        }
        let cx = self.cx();
        let block = Builder::new(cx, &mut self.level().body).create_detached_block();
        self.region().labels.insert(name, Label { block, at, defined: false });
        block
    }

    pub(super) fn label(&mut self, unit: Unit<'t>) -> Result<(), Reported> {
        if self.frames.len() == 1 {
            if self.damaged {
                return Ok(());
            }
            return Err(self.reader.error(unit.start, "expected operation name in quotes"));
        }
        let region = self.region();
        if region.has_entry && region.blocks.len() == 1 && region.labels.is_empty() {
            let entry = region.blocks[0];
            let is_empty = self.level().body.first_op(entry).is_none();
            if is_empty && self.level().body.block_args(entry).is_empty() {
                // No argument was named: the label begins the entry block.
                let region = self.region();
                region.blocks.clear();
                region.current = None;
                region.has_entry = false;
            } else if is_empty {
                let message = "invalid block name in region with named arguments";
                return Err(self.reader.error(unit.start, message));
            }
        }
        let mut children = unit.node.clone().children();
        let name = children.next().expect("a label");
        let block = self.define_block(name.text(), unit.start)?;
        self.place_label(unit.start, block, name.text());
        let mut end = name.span().end;
        let mut first = true;
        let mut arg: Option<Node<'t>> = None;
        for child in children {
            match child.rule() {
                Rule::value => {
                    if !first {
                        self.check_comma(end, child.start() - 1, "expected ')'")?;
                    }
                    first = false;
                    arg = Some(child);
                    continue;
                }
                Rule::arg_type => {
                    let Some(arg) = arg.take() else {
                        return Err(self.reader.error(child.start(), "expected SSA operand"));
                    };
                    self.block_arg(block, &arg, &child)?;
                }
                _ => self.block_arg_loc(block, &child)?,
            }
            end = child.span().end;
        }
        self.check_last(Span::new(end, unit.node.span().end), b')', NO_OPERAND)
    }

    /// Defines a block, which may have been referred to.
    fn define_block(&mut self, name: &'t str, at: usize) -> Result<Block, Reported> {
        self.reader.check_name('^', name, at)?;
        let block = match self.region().labels.get(name).copied() {
            Some(label) if label.defined => {
                let first = self.reader.loc(label.at);
                let error = Diagnostic::error(self.reader.loc(at), format!("redefinition of block '^{name}'"));
                return Err(self.reader.report(error.code(codes::REDEFINED).note(first, "previously defined here")));
            }
            Some(label) => label.block,
            None => self.successor(name, at),
        };
        let region = self.region();
        region.labels.insert(name, Label { block, at, defined: true });
        region.blocks.push(block);
        region.current = Some(block);
        Ok(block)
    }

    fn block_arg(&mut self, block: Block, name: &Node<'t>, ty: &Node<'t>) -> Result<(), Reported> {
        let at = name.start() - 1;
        if name.text().contains('#') {
            return Err(self.reader.error(at, "result number not allowed in argument list"));
        }
        let is_function = self.reader.text.as_bytes()[ty.start()] == b'(';
        let ty = if is_function {
            let (inputs, results) = self.reader.function(ty.span())?;
            self.cx().ty(sutura_ir::TypeData::Function { inputs, results })
        } else {
            self.reader.ty(ty.span())?
        };
        let (cx, loc) = (self.cx(), self.reader.loc(at));
        let value = Builder::new(cx, &mut self.level().body).add_block_arg(block, ty, loc);
        self.define(name.text(), Def::Value(value), at)?;
        self.keep_name(value, name.text());
        Ok(())
    }

    /// The location of the last argument.
    fn block_arg_loc(&mut self, block: Block, node: &Node<'t>) -> Result<(), Reported> {
        let loc = self.reader.location(node.span())?;
        let cx = self.cx();
        if !Builder::new(cx, &mut self.level().body).set_last_arg_loc(block, loc) {
            return Err(self.reader.error(node.start(), "expected SSA operand"));
        }
        Ok(())
    }

    /// Ends the innermost region and returns what waits for it, with the region's blocks.
    fn end_region(&mut self) -> Result<(OpenOp<'t>, Vec<Block>), Reported> {
        let Frame { op, region } = self.frames.pop().expect("checked by the caller");
        let mark = region.mark;
        self.level().scope.forget(mark);
        let mut undefined: Vec<_> = region.labels.iter().filter(|(_, l)| !l.defined).collect();
        undefined.sort_by_key(|(_, l)| l.at);
        if !undefined.is_empty() && !self.damaged {
            for (name, label) in undefined {
                let error = Diagnostic::error(self.reader.loc(label.at), "reference to an undefined block");
                let error = error.code(codes::UNDEFINED_BLOCK);
                let known = region.labels.iter().filter(|(_, l)| l.defined).map(|(name, _)| *name);
                self.reader.report(match did_you_mean(name, known) {
                    Some(meant) => error.help(format!("did you mean `^{meant}`?")),
                    None => error,
                });
            }
            self.damaged = true;
        }
        Ok((op, region.blocks))
    }

    /// `}` and what follows it in the same op.
    pub(super) fn close(&mut self, unit: Unit<'t>) -> Result<(), Reported> {
        if self.frames.len() == 1 {
            if self.damaged {
                return Ok(());
            }
            return Err(self.reader.error(unit.start, "expected operation name in quotes"));
        }
        let (mut op, blocks) = self.end_region()?;
        self.place_close(unit.start, &mut op);
        match op {
            OpenOp::Generic(op) => self.resume_generic(op, blocks, unit),
            OpenOp::Custom(op) => self.resume_custom(op, blocks, &unit),
            OpenOp::Broken => {
                self.levels.pop();
                let opens = unit.node.children().filter(|n| matches!(n.rule(), Rule::gnext | Rule::copen)).last();
                if let Some(node) = opens {
                    self.open_broken(node.start());
                }
                Ok(())
            }
        }
    }
}
