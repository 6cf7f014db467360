//! Attributes of the spirv dialect.

use std::fmt;

use sutura_ir::asm::parse::{AsmParser, ParamParser, TokenParser};
use sutura_ir::ext::ParamValue;
use sutura_ir::{Attr, Context, Reported};

sutura_ir::enum_attr! {
    /// How pointers are represented.
    pub enum AddressingModel = "spirv.addressing_model", "valid SPIR-V AddressingModel";
    {
        /// They are not numbers.
        Logical => "Logical",
        /// All are numbers of 32 bits.
        Physical32 => "Physical32",
        /// All are numbers of 64 bits.
        Physical64 => "Physical64",
        /// Those of storage class `PhysicalStorageBuffer` are numbers of 64 bits.
        PhysicalStorageBuffer64 => "PhysicalStorageBuffer64",
    }
}

sutura_ir::enum_attr! {
    /// How invocations see each other's memory accesses.
    #[allow(missing_docs)]
    pub enum MemoryModel = "spirv.memory_model", "valid SPIR-V MemoryModel";
    {
        Simple => "Simple",
        Glsl450 => "GLSL450",
        OpenCl => "OpenCL",
        Vulkan => "Vulkan",
    }
}

sutura_ir::enum_attr! {
    /// What an entry point is an entry to.
    #[allow(missing_docs)]
    pub enum ExecutionModel = "spirv.execution_model", "valid SPIR-V ExecutionModel";
    {
        Vertex => "Vertex",
        Fragment => "Fragment",
        GlCompute => "GLCompute",
        Kernel => "Kernel",
        TessellationControl => "TessellationControl",
        TessellationEvaluation => "TessellationEvaluation",
        Geometry => "Geometry",
        RayGeneration => "RayGenerationKHR",
        Intersection => "IntersectionKHR",
        AnyHit => "AnyHitKHR",
        ClosestHit => "ClosestHitKHR",
        Miss => "MissKHR",
        Callable => "CallableKHR",
        Task => "TaskEXT",
        Mesh => "MeshEXT",
    }
}

sutura_ir::enum_attr! {
    /// What holds for an entry point. Those that no pass makes have the names of the specification and no description.
    #[allow(missing_docs, clippy::upper_case_acronyms)]
    pub enum ExecutionMode = "spirv.execution_mode", "valid SPIR-V ExecutionMode";
    {
        /// Size of a workgroup: three numbers.
        LocalSize => "LocalSize",
        /// Denormal results of floats of this width are kept.
        DenormPreserve => "DenormPreserve",
        /// Denormal operands and results of floats of this width become zero.
        DenormFlushToZero => "DenormFlushToZero",
        /// Signs of zeros, infinities and NaN of floats of this width are kept.
        SignedZeroInfNanPreserve => "SignedZeroInfNanPreserve",
        /// Results of this width are rounded to the nearest value, ties to even.
        RoundingModeRte => "RoundingModeRTE",
        /// Results of this width are rounded toward zero.
        RoundingModeRtz => "RoundingModeRTZ",
        /// Nothing is assumed away and multiplication is not contracted with addition, unless an operation says so.
        ContractionOff => "ContractionOff",
        Invocations => "Invocations",
        SpacingEqual => "SpacingEqual",
        SpacingFractionalEven => "SpacingFractionalEven",
        SpacingFractionalOdd => "SpacingFractionalOdd",
        VertexOrderCw => "VertexOrderCw",
        VertexOrderCcw => "VertexOrderCcw",
        PixelCenterInteger => "PixelCenterInteger",
        OriginUpperLeft => "OriginUpperLeft",
        OriginLowerLeft => "OriginLowerLeft",
        EarlyFragmentTests => "EarlyFragmentTests",
        PointMode => "PointMode",
        Xfb => "Xfb",
        DepthReplacing => "DepthReplacing",
        DepthGreater => "DepthGreater",
        DepthLess => "DepthLess",
        DepthUnchanged => "DepthUnchanged",
        LocalSizeHint => "LocalSizeHint",
        InputPoints => "InputPoints",
        InputLines => "InputLines",
        InputLinesAdjacency => "InputLinesAdjacency",
        Triangles => "Triangles",
        InputTrianglesAdjacency => "InputTrianglesAdjacency",
        Quads => "Quads",
        Isolines => "Isolines",
        OutputVertices => "OutputVertices",
        OutputPoints => "OutputPoints",
        OutputLineStrip => "OutputLineStrip",
        OutputTriangleStrip => "OutputTriangleStrip",
        VecTypeHint => "VecTypeHint",
        Initializer => "Initializer",
        Finalizer => "Finalizer",
        SubgroupSize => "SubgroupSize",
        SubgroupsPerWorkgroup => "SubgroupsPerWorkgroup",
        SubgroupsPerWorkgroupId => "SubgroupsPerWorkgroupId",
        LocalSizeId => "LocalSizeId",
        LocalSizeHintId => "LocalSizeHintId",
        SubgroupUniformControlFlowKHR => "SubgroupUniformControlFlowKHR",
        PostDepthCoverage => "PostDepthCoverage",
        EarlyAndLateFragmentTestsAMD => "EarlyAndLateFragmentTestsAMD",
        StencilRefReplacingEXT => "StencilRefReplacingEXT",
        StencilRefUnchangedFrontAMD => "StencilRefUnchangedFrontAMD",
        StencilRefGreaterFrontAMD => "StencilRefGreaterFrontAMD",
        StencilRefLessFrontAMD => "StencilRefLessFrontAMD",
        StencilRefUnchangedBackAMD => "StencilRefUnchangedBackAMD",
        StencilRefGreaterBackAMD => "StencilRefGreaterBackAMD",
        StencilRefLessBackAMD => "StencilRefLessBackAMD",
        OutputLinesEXT => "OutputLinesEXT",
        OutputPrimitivesEXT => "OutputPrimitivesEXT",
        DerivativeGroupQuadsNV => "DerivativeGroupQuadsNV",
        DerivativeGroupLinearNV => "DerivativeGroupLinearNV",
        OutputTrianglesEXT => "OutputTrianglesEXT",
        PixelInterlockOrderedEXT => "PixelInterlockOrderedEXT",
        PixelInterlockUnorderedEXT => "PixelInterlockUnorderedEXT",
        SampleInterlockOrderedEXT => "SampleInterlockOrderedEXT",
        SampleInterlockUnorderedEXT => "SampleInterlockUnorderedEXT",
        ShadingRateInterlockOrderedEXT => "ShadingRateInterlockOrderedEXT",
        ShadingRateInterlockUnorderedEXT => "ShadingRateInterlockUnorderedEXT",
        SharedLocalMemorySizeINTEL => "SharedLocalMemorySizeINTEL",
        RoundingModeRTPINTEL => "RoundingModeRTPINTEL",
        RoundingModeRTNINTEL => "RoundingModeRTNINTEL",
        FloatingPointModeALTINTEL => "FloatingPointModeALTINTEL",
        FloatingPointModeIEEEINTEL => "FloatingPointModeIEEEINTEL",
        MaxWorkgroupSizeINTEL => "MaxWorkgroupSizeINTEL",
        MaxWorkDimINTEL => "MaxWorkDimINTEL",
        NoGlobalOffsetINTEL => "NoGlobalOffsetINTEL",
        NumSIMDWorkitemsINTEL => "NumSIMDWorkitemsINTEL",
        SchedulerTargetFmaxMhzINTEL => "SchedulerTargetFmaxMhzINTEL",
        StreamingInterfaceINTEL => "StreamingInterfaceINTEL",
        NamedBarrierCountINTEL => "NamedBarrierCountINTEL",
    }
}

sutura_ir::enum_attr! {
    /// A set of invocations.
    #[allow(missing_docs)]
    pub enum Scope = "spirv.scope", "valid SPIR-V Scope";
    {
        CrossDevice => "CrossDevice",
        Device => "Device",
        Workgroup => "Workgroup",
        Subgroup => "Subgroup",
        Invocation => "Invocation",
        QueueFamily => "QueueFamily",
        ShaderCall => "ShaderCallKHR",
    }
}

sutura_ir::enum_attr! {
    /// Where an object lives and who shares it.
    #[allow(missing_docs)]
    pub enum StorageClass = "spirv.storage_class", "valid SPIR-V StorageClass";
    {
        UniformConstant => "UniformConstant",
        Input => "Input",
        Uniform => "Uniform",
        Output => "Output",
        Workgroup => "Workgroup",
        CrossWorkgroup => "CrossWorkgroup",
        Private => "Private",
        Function => "Function",
        Generic => "Generic",
        PushConstant => "PushConstant",
        StorageBuffer => "StorageBuffer",
        PhysicalStorageBuffer => "PhysicalStorageBuffer",
        AtomicCounter => "AtomicCounter",
        Image => "Image",
        CallableData => "CallableDataKHR",
        IncomingCallableData => "IncomingCallableDataKHR",
        RayPayload => "RayPayloadKHR",
        HitAttribute => "HitAttributeKHR",
        IncomingRayPayload => "IncomingRayPayloadKHR",
        ShaderRecordBuffer => "ShaderRecordBufferKHR",
        TaskPayloadWorkgroup => "TaskPayloadWorkgroupEXT",
        CodeSection => "CodeSectionINTEL",
        DeviceOnly => "DeviceOnlyINTEL",
        HostOnly => "HostOnlyINTEL",
    }
}

/// Sets of flags, which SPIR-V's text joins with `|`; the empty set is `None`.
macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $full:literal, $what:literal;
       { $($(#[$flag_doc:meta])* $flag:ident = $bit:literal => $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct $name(u32);

        impl $name {
            /// No flag.
            pub const NONE: Self = Self(0);
            $($(#[$flag_doc])* pub const $flag: Self = Self(1 << $bit);)*
            const WORDS: &'static [(&'static str, u32)] = &[$(($word, 1 << $bit)),*];

            /// The flags of both.
            #[must_use]
            pub const fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// True when every flag of `other` is set.
            pub fn has(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// The flags of a text such as `A|B`.
            pub(super) fn from_text(text: &str) -> Option<Self> {
                if text == "None" {
                    return Some(Self::NONE);
                }
                text.split('|').try_fold(Self::NONE, |flags, word| {
                    Self::WORDS.iter().find(|(w, _)| *w == word.trim()).map(|(_, bit)| Self(flags.0 | bit))
                })
            }

            /// What `from_text` reads, in words.
            pub(super) fn known() -> String {
                let words: Vec<&str> = Self::WORDS.iter().map(|(word, _)| *word).collect();
                format!("expected None or some of {}, joined by '|'", words.join(", "))
            }

            pub(super) fn parse(p: &mut dyn TokenParser) -> Result<Self, Reported> {
                p.punct("<")?;
                let flags = Self::words(p)?;
                p.punct(">")?;
                Ok(flags)
            }

            pub(super) fn words(p: &mut dyn TokenParser) -> Result<Self, Reported> {
                let mut flags = Self::NONE;
                loop {
                    let loc = p.loc();
                    let word = p.any_keyword()?;
                    let Some(flag) = Self::from_text(&word) else { return Err(p.error_at(loc, &Self::known())) };
                    flags = flags.with(flag);
                    if !p.opt_punct("|") {
                        return Ok(flags);
                    }
                }
            }

            pub(super) fn parse_attr(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
                let flags = Self::parse(p)?;
                Ok(p.cx().ext_attr(flags))
            }
        }

        impl fmt::Display for $name {
            /// `A|B`
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let set = Self::WORDS.iter().filter(|(_, bit)| self.0 & bit != 0);
                let words: Vec<&str> = set.map(|(word, _)| *word).collect();
                f.write_str(if words.is_empty() { "None" } else { "" })?;
                f.write_str(&words.join("|"))
            }
        }

        impl ParamValue for $name {
            const NAME: &'static str = $full;

            fn print(&self, _: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
                write!(out, "<{self}>")
            }
        }

        sutura_ir::ext_attr_constraint!($name, $what);
    )*};
}

flags! {
    /// What a compiler should do with a function.
    FunctionControl = "spirv.function_control", "valid SPIR-V FunctionControl";
    {
        /// Inline it.
        INLINE = 0 => "Inline",
        /// Do not inline it.
        DONT_INLINE = 1 => "DontInline",
        /// It has no effect, and reads only what it is given.
        PURE = 2 => "Pure",
        /// It depends on its arguments alone.
        CONST = 3 => "Const",
        /// Do not optimise it.
        OPT_NONE = 16 => "OptNoneINTEL",
    }

    /// What a compiler should do with a conditional.
    SelectionControl = "spirv.selection_control", "valid SPIR-V SelectionControl";
    {
        /// Remove the branch.
        FLATTEN = 0 => "Flatten",
        /// Keep it.
        DONT_FLATTEN = 1 => "DontFlatten",
    }

    /// What a compiler should do with a loop.
    LoopControl = "spirv.loop_control", "valid SPIR-V LoopControl";
    {
        /// Unroll it.
        UNROLL = 0 => "Unroll",
        /// Do not unroll it.
        DONT_UNROLL = 1 => "DontUnroll",
        /// Its iterations do not depend on one another.
        DEPENDENCY_INFINITE = 2 => "DependencyInfinite",
        /// So many iterations apart they may depend on one another.
        DEPENDENCY_LENGTH = 3 => "DependencyLength",
        /// It runs at least so often.
        MIN_ITERATIONS = 4 => "MinIterations",
        /// It runs at most so often.
        MAX_ITERATIONS = 5 => "MaxIterations",
        /// The number of its iterations is a multiple.
        ITERATION_MULTIPLE = 6 => "IterationMultiple",
        /// Peel so many iterations.
        PEEL_COUNT = 7 => "PeelCount",
        /// Unroll it so many times.
        PARTIAL_COUNT = 8 => "PartialCount",
        /// Cycles from one iteration to the next, of Intel's extension, as those below.
        INITIATION_INTERVAL = 16 => "InitiationIntervalINTEL",
        /// Iterations that run at the same time.
        MAX_CONCURRENCY = 17 => "MaxConcurrencyINTEL",
        /// Arrays without dependences.
        DEPENDENCY_ARRAY = 18 => "DependencyArrayINTEL",
        /// Pipeline it.
        PIPELINE_ENABLE = 19 => "PipelineEnableINTEL",
        /// Make one loop of so many nested ones.
        LOOP_COALESCE = 20 => "LoopCoalesceINTEL",
        /// Iterations of outer loops that interleave.
        MAX_INTERLEAVING = 21 => "MaxInterleavingINTEL",
        /// Iterations that begin before it is known whether they run.
        SPECULATED_ITERATIONS = 22 => "SpeculatedIterationsINTEL",
        /// Do not fuse it with another.
        NO_FUSION = 23 => "NoFusionINTEL",
    }

    /// How memory is accessed.
    MemoryAccess = "spirv.memory_access", "valid SPIR-V MemoryAccess";
    {
        /// It must happen.
        VOLATILE = 0 => "Volatile",
        /// The address is a multiple of the alignment that is given.
        ALIGNED = 1 => "Aligned",
        /// It will not be accessed again soon.
        NONTEMPORAL = 2 => "Nontemporal",
        /// What is stored becomes available to a scope.
        MAKE_POINTER_AVAILABLE = 3 => "MakePointerAvailable",
        /// What a scope has made available is seen.
        MAKE_POINTER_VISIBLE = 4 => "MakePointerVisible",
        /// Other invocations access it too.
        NON_PRIVATE_POINTER = 5 => "NonPrivatePointer",
        /// Scopes of aliases are given.
        ALIAS_SCOPE = 16 => "AliasScopeINTELMask",
        /// Scopes that it does not alias are given.
        NO_ALIAS = 17 => "NoAliasINTELMask",
    }

    /// Which memory a barrier orders, and how.
    MemorySemantics = "spirv.memory_semantics", "valid SPIR-V MemorySemantics";
    {
        /// What follows stays behind.
        ACQUIRE = 1 => "Acquire",
        /// What is before stays before.
        RELEASE = 2 => "Release",
        /// Both.
        ACQUIRE_RELEASE = 3 => "AcquireRelease",
        /// One order for all.
        SEQUENTIALLY_CONSISTENT = 4 => "SequentiallyConsistent",
        /// Buffers.
        UNIFORM_MEMORY = 6 => "UniformMemory",
        /// Memory of the subgroup.
        SUBGROUP_MEMORY = 7 => "SubgroupMemory",
        /// Memory of the workgroup.
        WORKGROUP_MEMORY = 8 => "WorkgroupMemory",
        /// Memory shared by workgroups.
        CROSS_WORKGROUP_MEMORY = 9 => "CrossWorkgroupMemory",
        /// Atomic counters.
        ATOMIC_COUNTER_MEMORY = 10 => "AtomicCounterMemory",
        /// Images.
        IMAGE_MEMORY = 11 => "ImageMemory",
        /// Outputs of tessellation.
        OUTPUT_MEMORY = 12 => "OutputMemory",
        /// What was written becomes available.
        MAKE_AVAILABLE = 13 => "MakeAvailable",
        /// What is available is seen.
        MAKE_VISIBLE = 14 => "MakeVisible",
        /// It is not removed.
        VOLATILE = 15 => "Volatile",
    }
}

/// `#spirv.vce<v1.5, [Shader, Int64], [SPV_KHR_16bit_storage]>`: version, capabilities and extensions of a module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Vce {
    /// `v1.5`
    pub version: String,
    /// Names of the capabilities.
    pub capabilities: Vec<String>,
    /// Names of the extensions.
    pub extensions: Vec<String>,
}

const VERSIONS: [&str; 7] = ["v1.0", "v1.1", "v1.2", "v1.3", "v1.4", "v1.5", "v1.6"];

impl Vce {
    pub(super) fn parse(p: &mut dyn TokenParser) -> Result<Self, Reported> {
        p.punct("<")?;
        let loc = p.loc();
        let version = version(p)?;
        if !VERSIONS.contains(&version.as_str()) {
            return Err(p.error_at(loc, &format!("expected a version: one of {}", VERSIONS.join(", "))));
        }
        p.punct(",")?;
        let capabilities = words(p)?;
        p.punct(",")?;
        let extensions = words(p)?;
        p.punct(">")?;
        Ok(Self { version, capabilities, extensions })
    }

    pub(super) fn parse_attr(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
        let value = Self::parse(p)?;
        Ok(p.cx().ext_attr(value))
    }
}

/// `v1.5`
fn version(p: &mut dyn TokenParser) -> Result<String, Reported> {
    p.any_keyword()
}

/// `[A, B]`
fn words(p: &mut dyn TokenParser) -> Result<Vec<String>, Reported> {
    p.punct("[")?;
    let mut words = Vec::new();
    while !p.opt_punct("]") {
        if !words.is_empty() {
            p.punct(",")?;
        }
        words.push(p.any_keyword()?);
    }
    Ok(words)
}

impl ParamValue for Vce {
    const NAME: &'static str = "spirv.vce";

    fn print(&self, _: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        let Self { version, capabilities, extensions } = self;
        write!(out, "<{version}, [{}], [{}]>", capabilities.join(", "), extensions.join(", "))
    }
}

sutura_ir::attr_constraints! {
    /// Version, capabilities and extensions.
    pub VceAttr = "version-capability-extension attribute", sutura_ir::op_def::AttrSyntax::Plain;
    get |cx, attr| -> &'a Vce { cx.attr_as::<Vce>(attr) }
    set |cx, value: Vce| { cx.ext_attr(value) }
}

/// A word, in quotes, of an enumeration that `from` knows.
pub(super) fn quoted<T>(p: &mut dyn AsmParser, from: fn(&str) -> Option<T>, known: &str) -> Result<T, Reported> {
    let loc = p.loc();
    let text = p.string()?;
    from(&text).ok_or_else(|| p.error_at(loc, known))
}
