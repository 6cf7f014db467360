//! Regions of scalar ops, compiled once to steps on lanes.
//!
//! A structured op runs its scalar region for every point of its iteration space. Run op by op, that costs a hook call
//! per op and point; a [`Program`] looks at each op once per strip of points.

mod errors;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use sutura_ir::body::Value as SsaValue;
use sutura_ir::op_def::Traits;
use sutura_ir::types::FloatKind;
use sutura_ir::{OpRef, RegionRef};

use crate::complex::{ComplexFn, Parts};
use crate::constant::constant;
use crate::elementwise::{Meaning, ScalarMeaning};
use crate::error::{Fault, InterpError};
use crate::num::{Kernel, LaneResult, NumOp};
use crate::scalar::{DType, Scalar};

/// Number of a register.
type Reg = usize;

/// Registers of a value: one, or two of a complex number.
type Regs = SmallVec<[Reg; 2]>;

#[derive(Clone, Debug)]
struct Step {
    kernel: Kernel,
    args: SmallVec<[Reg; 3]>,
    out: Reg,
}

/// A compiled region of one block whose ops all have a scalar meaning and whose terminator hands values back.
///
/// A complex number is two numbers here, its real and its imaginary part, among arguments and results too.
#[derive(Clone, Debug)]
pub struct Program {
    /// Type of each register; the first are the block's arguments.
    types: Vec<DType>,
    num_args: usize,
    used_args: Vec<bool>,
    constants: Vec<(Reg, u64)>,
    indices: Vec<(Reg, usize)>,
    captured: Vec<(Reg, SsaValue)>,
    steps: Vec<Step>,
    results: Vec<Reg>,
}

impl Program {
    /// Compiles a region. Values from outside it become captured inputs.
    ///
    /// # Errors
    /// Names the first op that has no scalar meaning.
    pub fn compile(region: RegionRef<'_>) -> Result<Self, InterpError> {
        let mut blocks = region.blocks();
        let (Some(block), None) = (blocks.next(), blocks.next()) else {
            return Err(Fault::unsupported("a scalar region needs exactly one block").into());
        };
        let mut compiler = Compiler { program: Self::empty(), regs: FxHashMap::default() };
        for &arg in block.args() {
            let regs = compiler.registers(DType::expect_scalar(region.cx, region.body.ty(arg))?);
            compiler.program.used_args.extend(regs.iter().map(|_| !region.body.is_unused(arg)));
            compiler.regs.insert(arg, regs);
        }
        compiler.program.num_args = compiler.program.types.len();
        for op in block.ops() {
            compiler.op(op).map_err(|fault| InterpError::at(op, fault))?;
        }
        Ok(compiler.program)
    }

    /// A function of complex numbers with parts of type `kind`.
    ///
    /// # Errors
    /// When it cannot be computed.
    pub fn of_complex(function: ComplexFn, kind: FloatKind) -> Result<Self, Fault> {
        let mut program = Self::empty();
        let args: Vec<Reg> = (0..function.parts()).map(|_| program.register(DType::Float(kind))).collect();
        (program.num_args, program.used_args) = (args.len(), vec![true; args.len()]);
        let made = function.apply(&mut Steps { program: &mut program, kind }, &args)?;
        program.results.extend(made);
        Ok(program)
    }

    fn empty() -> Self {
        Self {
            types: Vec::new(),
            num_args: 0,
            used_args: Vec::new(),
            constants: Vec::new(),
            indices: Vec::new(),
            captured: Vec::new(),
            steps: Vec::new(),
            results: Vec::new(),
        }
    }

    /// The program with quotients that wrap where they do not fit, see [`crate::NumOp::wrapping`].
    #[must_use]
    pub fn wrapping(mut self) -> Self {
        self.steps = self.steps.into_iter().map(|s| Step { kernel: s.kernel.wrapping(), ..s }).collect();
        self
    }

    /// Types of the block's arguments.
    pub fn arg_types(&self) -> &[DType] {
        &self.types[..self.num_args]
    }

    /// True when the block uses argument `index`.
    pub fn uses_arg(&self, index: usize) -> bool {
        self.used_args[index]
    }

    /// Types of the values handed back.
    pub fn result_types(&self) -> impl ExactSizeIterator<Item = DType> + '_ {
        self.results.iter().map(|&r| self.types[r])
    }

    /// SSA values from outside the region and those of [`Meaning::External`], in the order in which `Lanes::new` wants them.
    pub fn captured(&self) -> impl ExactSizeIterator<Item = SsaValue> + '_ {
        self.captured.iter().map(|(_, value)| *value)
    }

    /// Number of numeric ops.
    pub fn num_steps(&self) -> usize {
        self.steps.len()
    }

    /// Runs it on lanes of numbers, as bits: a slice per argument, all of one length. Returns a list per value handed back.
    ///
    /// # Errors
    /// The first fault of a lane, and arguments that do not fit.
    pub fn call(&self, captured: &[crate::Scalar], args: &[&[u64]]) -> Result<Vec<Vec<u64>>, Fault> {
        let width = args.first().map_or(1, |lanes| lanes.len());
        if args.len() != self.num_args || args.iter().any(|lanes| lanes.len() != width) {
            return Err(Fault::invalid_ir(format!("{} arguments for {}", args.len(), self.num_args)));
        }
        let mut lanes = Lanes::new(self, captured, width)?;
        for (i, arg) in args.iter().enumerate() {
            lanes.arg(i).copy_from_slice(arg);
        }
        self.run(&mut lanes, width).map_err(|failed| failed.fault)?;
        Ok((0..self.results.len()).map(|i| lanes.result(self, i).to_vec()).collect())
    }

    pub(crate) fn run(&self, lanes: &mut Lanes, n: usize) -> LaneResult {
        for step in &self.steps {
            let mut out = std::mem::take(&mut lanes.regs[step.out]);
            let args: SmallVec<[&[u64]; 3]> = step.args.iter().map(|&r| &lanes.regs[r][..n]).collect();
            let result = step.kernel.eval_lanes(&args, &mut out[..n]);
            drop(args);
            lanes.regs[step.out] = out;
            result?;
        }
        Ok(())
    }
}

struct Compiler {
    program: Program,
    regs: FxHashMap<SsaValue, Regs>,
}

/// Steps that compute with the parts of complex numbers.
struct Steps<'a> {
    program: &'a mut Program,
    kind: FloatKind,
}

impl Parts for Steps<'_> {
    type Number = Reg;

    fn op(&mut self, op: NumOp, args: &[&Reg]) -> Result<Reg, Fault> {
        let args: SmallVec<[Reg; 3]> = args.iter().map(|arg| **arg).collect();
        self.program.step(op, args, None)
    }

    fn constant(&mut self, value: f64) -> Result<Reg, Fault> {
        let number = Scalar::float(value, self.kind);
        Ok(self.program.constant(number.dtype(), number.bits()))
    }
}

impl Program {
    fn register(&mut self, dtype: DType) -> Reg {
        self.types.push(dtype);
        self.types.len() - 1
    }

    fn constant(&mut self, dtype: DType, bits: u64) -> Reg {
        let reg = self.register(dtype);
        self.constants.push((reg, bits));
        reg
    }

    /// A step, whose result's type is inferred or given.
    fn step(&mut self, op: NumOp, args: SmallVec<[Reg; 3]>, result: Option<DType>) -> Result<Reg, Fault> {
        let types: SmallVec<[DType; 3]> = args.iter().map(|&r| self.types[r]).collect();
        let result = result.or_else(|| op.infer(&types));
        let kernel = op.with_types(&types, result.ok_or_else(|| Fault::invalid_ir(format!("{op:?} has no type")))?)?;
        let out = self.register(kernel.result());
        self.steps.push(Step { kernel, args, out });
        Ok(out)
    }
}

impl Compiler {
    fn registers(&mut self, dtype: DType) -> Regs {
        match dtype.part() {
            Some(part) => [part; 2].into_iter().map(|part| self.program.register(part)).collect(),
            None => SmallVec::from_slice(&[self.program.register(dtype)]),
        }
    }

    fn read(&mut self, op: OpRef<'_>, value: SsaValue) -> Result<Regs, Fault> {
        if let Some(regs) = self.regs.get(&value) {
            return Ok(regs.clone());
        }
        let reg = self.captured(DType::expect_scalar(op.cx, op.ty(value))?, value)?;
        self.regs.insert(value, SmallVec::from_slice(&[reg]));
        Ok(SmallVec::from_slice(&[reg]))
    }

    fn captured(&mut self, dtype: DType, value: SsaValue) -> Result<Reg, Fault> {
        if dtype.part().is_some() {
            return Err(Fault::unsupported("a complex number from outside the region"));
        }
        let reg = self.program.register(dtype);
        self.program.captured.push((reg, value));
        Ok(reg)
    }

    fn op(&mut self, op: OpRef<'_>) -> Result<(), Fault> {
        if op.has_trait(Traits::Terminator) {
            for value in op.operands() {
                let regs = self.read(op, value)?;
                self.program.results.extend(regs);
            }
            return Ok(());
        }
        let Some(meaning) = op.interface::<dyn ScalarMeaning>() else {
            return Err(Fault::unsupported("has no meaning on single numbers"));
        };
        let meanings = meaning.meaning(op)?;
        if meanings.len() != op.num_results() {
            return Err(Fault::invalid_ir(format!(
                "has {} results and meanings for {}",
                op.num_results(),
                meanings.len()
            )));
        }
        for (result, meaning) in op.results().zip(meanings) {
            let regs = self.result(op, result, meaning)?;
            self.regs.insert(result, regs);
        }
        Ok(())
    }

    fn result(&mut self, op: OpRef<'_>, result: SsaValue, meaning: Meaning) -> Result<Regs, Fault> {
        let dtype = DType::expect_scalar(op.cx, op.ty(result))?;
        let one = |reg| Ok(SmallVec::from_slice(&[reg]));
        match meaning {
            Meaning::Forward => {
                let source = op.operands().next().ok_or_else(|| Fault::invalid_ir("has no operand"))?;
                self.read(op, source)
            }
            Meaning::Constant(attr) => {
                let value = constant(op.cx, attr)?.scalar()?;
                if value.dtype() != dtype {
                    return Err(Fault::type_mismatch(format!("a constant {value:?} of type {dtype}")));
                }
                let parts = value.parts().map_or(SmallVec::from_slice(&[value]), SmallVec::<[Scalar; 2]>::from);
                Ok(parts.iter().map(|part| self.program.constant(part.dtype(), part.bits())).collect())
            }
            Meaning::External => one(self.captured(dtype, result)?),
            Meaning::Index(iterator) => {
                let reg = self.program.register(dtype);
                self.program.indices.push((reg, iterator));
                one(reg)
            }
            Meaning::Num(NumOp::Select) if dtype.part().is_some() => self.select(op),
            Meaning::Num(num) => {
                let values: SmallVec<[SsaValue; 3]> = op.operands().take(num.arity()).collect();
                let args = values.into_iter().map(|v| self.read(op, v)).collect::<Result<SmallVec<[Regs; 3]>, _>>()?;
                if args.iter().any(|regs| regs.len() != 1) {
                    return Err(Fault::type_mismatch(format!("{num:?} has no meaning for complex numbers")));
                }
                one(self.program.step(num, args.iter().map(|regs| regs[0]).collect(), Some(dtype))?)
            }
            Meaning::Complex(function) => {
                let values: SmallVec<[SsaValue; 2]> = op.operands().collect();
                let mut args: SmallVec<[Reg; 4]> = SmallVec::new();
                for value in values {
                    args.extend(self.read(op, value)?);
                }
                let kind = match args.first().map(|&reg| self.program.types[reg]) {
                    Some(DType::Float(kind)) => kind,
                    _ => return Err(Fault::type_mismatch("expects complex numbers")),
                };
                let made = function.apply(&mut Steps { program: &mut self.program, kind }, &args)?;
                let types: SmallVec<[DType; 2]> = made.iter().map(|&reg| self.program.types[reg]).collect();
                let wanted = dtype.part().map_or(SmallVec::from_slice(&[dtype]), |part| SmallVec::from([part; 2]));
                if types != wanted {
                    return Err(Fault::type_mismatch(format!("makes no number of type {dtype}")));
                }
                Ok(made)
            }
        }
    }

    /// A selection is one of each part.
    fn select(&mut self, op: OpRef<'_>) -> Result<Regs, Fault> {
        let values: SmallVec<[SsaValue; 3]> = op.operands().collect();
        let args = values.into_iter().map(|v| self.read(op, v)).collect::<Result<SmallVec<[Regs; 3]>, _>>()?;
        let [truth, then, other] = &args[..] else { return Err(Fault::invalid_ir("does not select of two")) };
        let parts = then.iter().zip(other);
        parts.map(|(&a, &b)| self.program.step(NumOp::Select, SmallVec::from([truth[0], a, b]), None)).collect()
    }
}

/// The registers of a running [`Program`]: one slice of lanes each.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    regs: Vec<Vec<u64>>,
}

impl Lanes {
    /// Registers of `width` lanes, constants and captured numbers filled in.
    pub(crate) fn new(program: &Program, captured: &[crate::Scalar], width: usize) -> Result<Self, Fault> {
        if captured.len() != program.captured.len() {
            let message = format!("{} numbers for {} captured values", captured.len(), program.captured.len());
            return Err(Fault::invalid_ir(message));
        }
        let mut regs = vec![vec![0; width]; program.types.len()];
        for (reg, bits) in &program.constants {
            regs[*reg].fill(*bits);
        }
        for ((reg, _), value) in program.captured.iter().zip(captured) {
            if value.dtype() != program.types[*reg] {
                return Err(Fault::type_mismatch(format!("a captured value {value:?} of another type")));
            }
            regs[*reg].fill(value.bits());
        }
        Ok(Self { regs })
    }

    /// Lanes of argument `index`.
    pub(crate) fn arg(&mut self, index: usize) -> &mut [u64] {
        &mut self.regs[index]
    }

    /// Lanes of result `index`.
    pub(crate) fn result(&self, program: &Program, index: usize) -> &[u64] {
        &self.regs[program.results[index]]
    }

    /// Fills the registers that hold indices: `at` is the point of the first lane, which grows along `along`.
    pub(crate) fn set_indices(&mut self, program: &Program, at: &[usize], along: Option<usize>) {
        for &(reg, iterator) in &program.indices {
            let dtype = program.types[reg];
            let step = u64::from(along == Some(iterator));
            let first = at.get(iterator).copied().unwrap_or(0) as u64;
            for (k, lane) in self.regs[reg].iter_mut().enumerate() {
                *lane = dtype.wrap(first + step * k as u64);
            }
        }
    }
}
