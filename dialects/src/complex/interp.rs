//! What complex ops do when a program runs: the functions of [`sutura_interp::complex`].

use sutura_interp::elementwise::attach;
use sutura_interp::{ComplexFn, ComplexOp, ConstantOp};
use sutura_ir::DialectBuilder;
use sutura_ir::name_of;

use crate::complex::{
    AbsOp, AddOp, AngleOp, ConjOp, CosOp, CreateOp, DivOp, EqualOp, ExpOp, ImOp, LogOp, MulOp, NegOp, NotEqualOp, ReOp,
    SinOp, SqrtOp, SubOp,
};

macro_rules! functions {
    ($($op:ident => $function:ident),+ $(,)?) => {
        /// The function of complex numbers that the op called `name` is.
        pub fn function(name: &str) -> Option<ComplexFn> {
            let functions = [$((name_of::<$op<'_>>(), ComplexFn::$function)),+];
            functions.into_iter().find(|(op, _)| *op == name).map(|(_, function)| function)
        }

        /// Attaches the hooks.
        pub(super) fn register(d: &mut DialectBuilder<'_>) {
            $(attach::<$op<'_>, _>(d, &ComplexOp(ComplexFn::$function));)+
            attach::<crate::complex::ConstantOp<'_>, _>(d, &ConstantOp);
        }
    };
}

functions! {
    AbsOp => Abs,
    AddOp => Add,
    AngleOp => Angle,
    ConjOp => Conj,
    CosOp => Cos,
    CreateOp => Create,
    DivOp => Div,
    EqualOp => Eq,
    ExpOp => Exp,
    ImOp => Im,
    LogOp => Log,
    MulOp => Mul,
    NegOp => Neg,
    NotEqualOp => Ne,
    ReOp => Re,
    SinOp => Sin,
    SqrtOp => Sqrt,
    SubOp => Sub,
}
