//! SPIR-V, what Vulkan devices run: modules, functions in structured control flow, computations.

mod arith;
mod asm;
mod attrs;
mod ops;
pub mod types;
mod verify;

use std::borrow::Cow;

use sutura_ir::asm::print::type_text;
use sutura_ir::interfaces::{BranchOp as BranchInterface, EffectKind, MemoryEffects, ResultNames};
use sutura_ir::op_def::OpView;
use sutura_ir::smallvec::SmallVec;
use sutura_ir::{Dialect, DialectBuilder, OpRef, Type, TypeData};

use crate::branches::Successors;
use crate::effects::{On, Place};
pub use arith::*;
pub use attrs::*;
pub use ops::*;
pub use verify::part_type;

/// The spirv dialect.
#[derive(Clone, Copy, Debug)]
pub struct SpirvDialect;

static READ: On = On(&[(EffectKind::Read, Place::Operand(0))]);
static WRITE: On = On(&[(EffectKind::Write, Place::Operand(0))]);
static ALLOCATE: On = On(&[(EffectKind::Allocate, Place::Result(0))]);
static NOTHING: On = On(&[]);

impl Dialect for SpirvDialect {
    const NAME: &'static str = "spirv";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("SPIR-V, what Vulkan devices run.").partial();
        d.ty("ptr", types::parse_pointer)
            .ty("array", types::parse_array)
            .ty("rtarray", types::parse_runtime_array)
            .ty("struct", types::parse_struct)
            .attr("addressing_model", AddressingModel::parse_attr)
            .attr("memory_model", MemoryModel::parse_attr)
            .attr("execution_model", ExecutionModel::parse_attr)
            .attr("execution_mode", ExecutionMode::parse_attr)
            .attr("scope", Scope::parse_attr)
            .attr("storage_class", StorageClass::parse_attr)
            .attr("function_control", FunctionControl::parse_attr)
            .attr("selection_control", SelectionControl::parse_attr)
            .attr("loop_control", LoopControl::parse_attr)
            .attr("memory_access", MemoryAccess::parse_attr)
            .attr("memory_semantics", MemorySemantics::parse_attr)
            .attr("vce", Vce::parse_attr)
            .directive("ModuleHead", asm::MODULE_HEAD)
            .directive("FuncHead", asm::FUNC_HEAD)
            .directive("Variable", asm::VARIABLE)
            .directive("EntryPoint", asm::ENTRY_POINT)
            .directive("ExecutionMode", asm::EXECUTION_MODE)
            .directive("Constant", asm::CONSTANT)
            .directive("Load", asm::LOAD)
            .directive("Store", asm::STORE)
            .directive("LocalVariable", asm::LOCAL_VARIABLE)
            .directive("Weights", asm::WEIGHTS)
            .directive("SelectionHead", asm::SELECTION_HEAD)
            .directive("LoopHead", asm::LOOP_HEAD)
            .directive("Scope", asm::SCOPE)
            .directive("Semantics", asm::SEMANTICS)
            .directive("Extended", asm::EXTENDED)
            .directive("PartType", asm::PART_TYPE)
            .directive("Pointee", asm::POINTEE)
            .directive("InsertDynamic", asm::INSERT_DYNAMIC);
        register_structure(d);
        register_numbers(d);
        register_questions(d);
        register_composites(d);
    }
}

fn register_structure(d: &mut DialectBuilder<'_>) {
    d.op::<ModuleOp<'_>>().op::<FuncOp<'_>>().op::<GlobalVariableOp<'_>>();
    d.op::<EntryPointOp<'_>>().op::<ExecutionModeOp<'_>>();
    d.op::<ConstantOp<'_>>().op::<UndefOp<'_>>().op::<AddressOfOp<'_>>();
    d.op::<AccessChainOp<'_>>().op::<LoadOp<'_>>().op::<StoreOp<'_>>().op::<VariableOp<'_>>();
    d.op::<BranchOp<'_>>().op::<BranchConditionalOp<'_>>().op::<SelectionOp<'_>>().op::<LoopOp<'_>>();
    d.op::<MergeOp<'_>>().op::<ReturnOp<'_>>().op::<ReturnValueOp<'_>>().op::<UnreachableOp<'_>>();
    d.op::<FunctionCallOp<'_>>().op::<ControlBarrierOp<'_>>().op::<MemoryBarrierOp<'_>>();
    d.op::<AtomicExchangeOp<'_>>().op::<AtomicUMinOp<'_>>();
    d.op::<ShuffleOp<'_>>().op::<ShuffleXorOp<'_>>().op::<ShuffleUpOp<'_>>().op::<ShuffleDownOp<'_>>();
    d.op_interface::<LoadOp<'_>, dyn MemoryEffects>(&READ)
        .op_interface::<StoreOp<'_>, dyn MemoryEffects>(&WRITE)
        .op_interface::<VariableOp<'_>, dyn MemoryEffects>(&ALLOCATE)
        .op_interface::<UndefOp<'_>, dyn MemoryEffects>(&NOTHING)
        .op_interface::<ConstantOp<'_>, dyn ResultNames>(&ConstantName)
        .op_interface::<AddressOfOp<'_>, dyn ResultNames>(&AddressName)
        .op_interface::<crate::spirv::BranchOp<'_>, dyn BranchInterface>(&Successors { first_group: 0 })
        .op_interface::<BranchConditionalOp<'_>, dyn BranchInterface>(&Successors { first_group: 1 });
}

fn register_numbers(d: &mut DialectBuilder<'_>) {
    d.op::<FAddOp<'_>>().op::<FSubOp<'_>>().op::<FMulOp<'_>>().op::<FDivOp<'_>>().op::<FRemOp<'_>>();
    d.op::<FNegateOp<'_>>().op::<IAddOp<'_>>().op::<ISubOp<'_>>().op::<IMulOp<'_>>().op::<SDivOp<'_>>();
    d.op::<SRemOp<'_>>().op::<UDivOp<'_>>().op::<UModOp<'_>>().op::<SNegateOp<'_>>();
    d.op::<BitwiseAndOp<'_>>().op::<BitwiseOrOp<'_>>().op::<BitwiseXorOp<'_>>().op::<NotOp<'_>>();
    d.op::<BitCountOp<'_>>().op::<BitReverseOp<'_>>().op::<ShiftLeftLogicalOp<'_>>();
    d.op::<ShiftRightLogicalOp<'_>>().op::<ShiftRightArithmeticOp<'_>>();
    d.op::<IAddCarryOp<'_>>().op::<ISubBorrowOp<'_>>().op::<UMulExtendedOp<'_>>().op::<SMulExtendedOp<'_>>();
    d.op::<GLFAbsOp<'_>>().op::<GLFloorOp<'_>>().op::<GLCeilOp<'_>>().op::<GLRoundEvenOp<'_>>();
    d.op::<GLSqrtOp<'_>>().op::<GLInverseSqrtOp<'_>>().op::<GLFmaOp<'_>>().op::<GLSAbsOp<'_>>();
    d.op::<GLFindUMsbOp<'_>>().op::<GLFindILsbOp<'_>>();
    d.op::<BitcastOp<'_>>().op::<ConvertFToSOp<'_>>().op::<ConvertFToUOp<'_>>().op::<ConvertSToFOp<'_>>();
    d.op::<ConvertUToFOp<'_>>().op::<FConvertOp<'_>>().op::<SConvertOp<'_>>().op::<UConvertOp<'_>>();
    d.op::<ConvertUToPtrOp<'_>>().op::<ConvertPtrToUOp<'_>>();
}

fn register_questions(d: &mut DialectBuilder<'_>) {
    d.op::<LogicalAndOp<'_>>().op::<LogicalOrOp<'_>>().op::<LogicalEqualOp<'_>>();
    d.op::<LogicalNotEqualOp<'_>>().op::<LogicalNotOp<'_>>().op::<SelectOp<'_>>();
    d.op::<FOrdEqualOp<'_>>().op::<FOrdNotEqualOp<'_>>().op::<FOrdLessThanOp<'_>>();
    d.op::<FOrdLessThanEqualOp<'_>>().op::<FOrdGreaterThanOp<'_>>().op::<FOrdGreaterThanEqualOp<'_>>();
    d.op::<FUnordEqualOp<'_>>().op::<FUnordNotEqualOp<'_>>().op::<FUnordLessThanOp<'_>>();
    d.op::<FUnordLessThanEqualOp<'_>>().op::<FUnordGreaterThanOp<'_>>().op::<FUnordGreaterThanEqualOp<'_>>();
    d.op::<IEqualOp<'_>>().op::<INotEqualOp<'_>>().op::<SLessThanOp<'_>>().op::<SLessThanEqualOp<'_>>();
    d.op::<SGreaterThanOp<'_>>().op::<SGreaterThanEqualOp<'_>>().op::<ULessThanOp<'_>>();
    d.op::<ULessThanEqualOp<'_>>().op::<UGreaterThanOp<'_>>().op::<UGreaterThanEqualOp<'_>>();
    d.op::<IsNanOp<'_>>().op::<IsInfOp<'_>>();
}

fn register_composites(d: &mut DialectBuilder<'_>) {
    d.op::<CompositeConstructOp<'_>>().op::<CompositeExtractOp<'_>>().op::<CompositeInsertOp<'_>>();
    d.op::<VectorExtractDynamicOp<'_>>().op::<VectorInsertDynamicOp<'_>>().op::<VectorShuffleOp<'_>>();
}

/// `cst3_i32`, `true`, `cst_vec_4xf32`: names of constants, as upstream gives them.
struct ConstantName;

impl ResultNames for ConstantName {
    fn names(&self, op: OpRef<'_>) -> Names {
        let (cx, value) = (op.cx, ConstantOp::from_ref(op).attr());
        let ty = op.ty(op.result(0));
        let name = match (cx.type_data(ty), cx.as_int(value)) {
            _ if ty == Type::I1 => format!("{}", cx.as_bool(value).unwrap_or_default()),
            (TypeData::Integer { .. }, Some(number)) => format!("cst{number}_{}", type_text(cx, ty)),
            (TypeData::Vector { .. }, _) => {
                let dims: String = cx.shape(ty).unwrap_or_default().iter().map(|dim| format!("{dim}x")).collect();
                format!("cst_vec_{dims}{}", type_text(cx, cx.element_type(ty)))
            }
            _ if ty.is_float(cx) => format!("cst_{}", type_text(cx, ty)),
            _ => "cst".to_string(),
        };
        [(0, name.into())].into_iter().collect()
    }
}

/// `id_addr`
struct AddressName;

impl ResultNames for AddressName {
    fn names(&self, op: OpRef<'_>) -> Names {
        [(0, format!("{}_addr", AddressOfOp::from_ref(op).variable()).into())].into_iter().collect()
    }
}

type Names = SmallVec<[(usize, Cow<'static, str>); 1]>;
