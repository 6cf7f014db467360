//! Attributes of the llvm dialect.

use std::fmt;

use sutura_ir::asm::parse::{ParamParser, TokenParser};
use sutura_ir::ext::ParamValue;
use sutura_ir::{Attr, Context, Reported, Type};

sutura_ir::bit_enum_attr! {
    /// What may be assumed about floats, and what may be traded for speed.
    pub struct FastmathFlags = "llvm.fastmath", ", ", "LLVM fastmath flags";
    {
        /// No operand or result is NaN.
        NNAN = 0 => "nnan",
        /// No operand or result is infinite.
        NINF = 1 => "ninf",
        /// The sign of a zero does not matter.
        NSZ = 2 => "nsz",
        /// A division may become a multiplication by the reciprocal.
        ARCP = 3 => "arcp",
        /// Operations may be contracted, as multiplication and addition into one.
        CONTRACT = 4 => "contract",
        /// Functions may be approximated.
        AFN = 5 => "afn",
        /// Operations may be reassociated.
        REASSOC = 6 => "reassoc",
    } all "fast"
}

sutura_ir::enum_attr! {
    /// Who sees a symbol, and what happens when several files define it.
    pub enum Linkage = "llvm.linkage", "LLVM Linkage specification";
    {
        /// Seen by everyone.
        External => "external",
        /// Seen by everyone, defined elsewhere; the body is there for inlining.
        AvailableExternally => "available_externally",
        /// One of several definitions is kept, if used.
        Linkonce => "linkonce",
        /// The same, where all definitions are equal.
        LinkonceOdr => "linkonce_odr",
        /// One of several definitions is kept.
        Weak => "weak",
        /// The same, where all definitions are equal.
        WeakOdr => "weak_odr",
        /// Arrays of all files are joined.
        Appending => "appending",
        /// Seen in this file.
        Internal => "internal",
        /// Seen in this file, without a name in the object.
        Private => "private",
        /// Null when nobody defines it.
        ExternWeak => "extern_weak",
        /// Zero-initialized, merged by size.
        Common => "common",
    }
}

sutura_ir::enum_attr! {
    /// Where arguments and results of a call are passed.
    #[allow(missing_docs)]
    pub enum CConv = "llvm.cconv", "LLVM Calling Convention specification";
    {
        C => "ccc",
        Fast => "fastcc",
        Cold => "coldcc",
        Ghc => "cc_10",
        HiPE => "cc_11",
        AnyReg => "anyregcc",
        PreserveMost => "preserve_mostcc",
        PreserveAll => "preserve_allcc",
        Swift => "swiftcc",
        CxxFastTls => "cxx_fast_tlscc",
        Tail => "tailcc",
        CFGuardCheck => "cfguard_checkcc",
        SwiftTail => "swifttailcc",
        X86StdCall => "x86_stdcallcc",
        X86FastCall => "x86_fastcallcc",
        ArmApcs => "arm_apcscc",
        ArmAapcs => "arm_aapcscc",
        ArmAapcsVfp => "arm_aapcs_vfpcc",
        Msp430Intr => "msp430_intrcc",
        X86ThisCall => "x86_thiscallcc",
        PtxKernel => "ptx_kernelcc",
        PtxDevice => "ptx_devicecc",
        SpirFunc => "spir_funccc",
        SpirKernel => "spir_kernelcc",
        IntelOclBi => "intel_ocl_bicc",
        X8664SysV => "x86_64_sysvcc",
        Win64 => "win64cc",
        X86VectorCall => "x86_vectorcallcc",
        Hhvm => "hhvmcc",
        HhvmC => "hhvm_ccc",
        X86Intr => "x86_intrcc",
        AvrIntr => "avr_intrcc",
        AvrSignal => "avr_signalcc",
        AvrBuiltin => "avr_builtincc",
        AmdgpuVs => "amdgpu_vscc",
        AmdgpuGs => "amdgpu_gscc",
        AmdgpuPs => "amdgpu_pscc",
        AmdgpuCs => "amdgpu_cscc",
        AmdgpuKernel => "amdgpu_kernelcc",
        X86RegCall => "x86_regcallcc",
        AmdgpuHs => "amdgpu_hscc",
        Msp430Builtin => "msp430_builtincc",
        AmdgpuLs => "amdgpu_lscc",
        AmdgpuEs => "amdgpu_escc",
        AArch64VectorCall => "aarch64_vectorcallcc",
        AArch64SveVectorCall => "aarch64_sve_vectorcallcc",
        WasmEmscriptenInvoke => "wasm_emscripten_invokecc",
        AmdgpuGfx => "amdgpu_gfxcc",
        M68kIntr => "m68k_intrcc",
    }
}

sutura_ir::enum_attr! {
    /// Whether a call may or must reuse the caller's frame.
    pub enum TailCallKind = "llvm.tailcallkind", "LLVM Calling Convention specification";
    {
        /// Nothing is said.
        None => "none",
        /// It may.
        Tail => "tail",
        /// It must.
        MustTail => "musttail",
        /// It must not.
        NoTail => "notail",
    }
}

sutura_ir::enum_attr! {
    /// Which functions keep a frame pointer.
    pub enum FramePointerKind = "llvm.framePointerKind", "LLVM FramePointerKind";
    {
        /// None.
        None => "none",
        /// Those that call others.
        NonLeaf => "non-leaf",
        /// All.
        All => "all",
        /// None, but the register stays unused.
        Reserved => "reserved",
    }
}

sutura_ir::keyword_attrs! {
    /// Comparisons of integers and pointers.
    pub enum ICmpPredicate(Type::I64) = "llvm.icmp comparison predicate";
    {
        /// Equal.
        Eq = 0 => "eq",
        /// Not equal.
        Ne = 1 => "ne",
        /// Signed less than.
        Slt = 2 => "slt",
        /// Signed less than or equal.
        Sle = 3 => "sle",
        /// Signed greater than.
        Sgt = 4 => "sgt",
        /// Signed greater than or equal.
        Sge = 5 => "sge",
        /// Unsigned less than.
        Ult = 6 => "ult",
        /// Unsigned less than or equal.
        Ule = 7 => "ule",
        /// Unsigned greater than.
        Ugt = 8 => "ugt",
        /// Unsigned greater than or equal.
        Uge = 9 => "uge",
    }

    /// Comparisons of floats.
    pub enum FCmpPredicate(Type::I64) = "llvm.fcmp comparison predicate";
    {
        /// Never.
        False = 0 => "_false",
        /// Ordered and equal.
        Oeq = 1 => "oeq",
        /// Ordered and greater than.
        Ogt = 2 => "ogt",
        /// Ordered and greater than or equal.
        Oge = 3 => "oge",
        /// Ordered and less than.
        Olt = 4 => "olt",
        /// Ordered and less than or equal.
        Ole = 5 => "ole",
        /// Ordered and not equal.
        One = 6 => "one",
        /// Ordered: no operand is NaN.
        Ord = 7 => "ord",
        /// Unordered or equal.
        Ueq = 8 => "ueq",
        /// Unordered or greater than.
        Ugt = 9 => "ugt",
        /// Unordered or greater than or equal.
        Uge = 10 => "uge",
        /// Unordered or less than.
        Ult = 11 => "ult",
        /// Unordered or less than or equal.
        Ule = 12 => "ule",
        /// Unordered or not equal.
        Une = 13 => "une",
        /// Unordered: an operand is NaN.
        Uno = 14 => "uno",
        /// Always.
        True = 15 => "_true",
    }
}

sutura_ir::keyword_attrs! {
    /// How an atomic access is ordered with others.
    pub enum AtomicOrdering(Type::I64) = "Atomic ordering for LLVM's memory model";
    {
        /// Not atomic.
        NotAtomic = 0 => "not_atomic",
        /// No order, and values that were written by someone.
        Unordered = 1 => "unordered",
        /// One order per address.
        Monotonic = 2 => "monotonic",
        /// Sees what happened before the release that it reads from.
        Acquire = 4 => "acquire",
        /// What happened before is seen by an acquire that reads from it.
        Release = 5 => "release",
        /// Both.
        AcqRel = 6 => "acq_rel",
        /// One order of all such accesses.
        SeqCst = 7 => "seq_cst",
    }
}

/// `#llvm.dereferenceable<bytes = 4, mayBeNull = true>`: so many bytes may be read through a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dereferenceable {
    /// How many.
    pub bytes: u64,
    /// Unless it is null.
    pub may_be_null: bool,
}

impl Dereferenceable {
    /// Reads `<bytes = 4, mayBeNull = true>`.
    ///
    /// # Errors
    /// When it is malformed.
    pub(super) fn parse(p: &mut dyn TokenParser) -> Result<Self, Reported> {
        p.punct("<")?;
        p.keyword("bytes")?;
        p.punct("=")?;
        let loc = p.loc();
        let Ok(bytes) = u64::try_from(p.int()?) else { return Err(p.error_at(loc, "expected a number of bytes")) };
        let mut may_be_null = false;
        if p.opt_punct(",") {
            p.keyword("mayBeNull")?;
            p.punct("=")?;
            may_be_null = p.opt_keyword("true");
            if !may_be_null {
                p.keyword("false")?;
            }
        }
        p.punct(">")?;
        Ok(Self { bytes, may_be_null })
    }

    pub(super) fn parse_attr(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
        let value = Self::parse(p)?;
        Ok(p.cx().ext_attr(value))
    }
}

impl fmt::Display for Dereferenceable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<bytes = {}{}>", self.bytes, if self.may_be_null { ", mayBeNull = true" } else { "" })
    }
}

impl ParamValue for Dereferenceable {
    const NAME: &'static str = "llvm.dereferenceable";

    fn print(&self, _: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{self}")
    }
}

/// `#llvm.vscale_range<minRange = 1 : i32, maxRange = 16 : i32>`: how many times as long as they say scalable vectors
/// may be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VScaleRange {
    /// At least.
    pub min: i32,
    /// At most; 0 for any.
    pub max: i32,
}

impl VScaleRange {
    pub(super) fn parse_attr(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
        p.punct("<")?;
        let mut bounds = [0; 2];
        for (bound, word) in bounds.iter_mut().zip(["minRange", "maxRange"]) {
            if word == "maxRange" {
                p.punct(",")?;
            }
            p.keyword(word)?;
            p.punct("=")?;
            let loc = p.loc();
            let attr = p.attr(None)?;
            let Some(number) = p.cx().as_int(attr).filter(|_| p.cx().attr_type(attr) == Some(Type::I32)) else {
                return Err(p.error_at(loc, "expected a number of type i32"));
            };
            *bound = number as i32;
        }
        p.punct(">")?;
        Ok(p.cx().ext_attr(Self { min: bounds[0], max: bounds[1] }))
    }
}

impl ParamValue for VScaleRange {
    const NAME: &'static str = "llvm.vscale_range";

    fn print(&self, _: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "<minRange = {} : i32, maxRange = {} : i32>", self.min, self.max)
    }
}

sutura_ir::ext_attr_constraint!(Dereferenceable, "LLVM dereferenceable attribute");
sutura_ir::ext_attr_constraint!(VScaleRange, "A vscale_range attribute");
