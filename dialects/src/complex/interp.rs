//! What complex ops do when a program runs: the functions of [`sutura_interp::complex`].

use sutura_interp::elementwise::attach;
use sutura_interp::{ComplexFn, ComplexOp, ConstantOp};
use sutura_ir::DialectBuilder;

/// The functions that ops of the dialect are, by name.
pub(super) const FUNCTIONS: &[(&str, ComplexOp)] = &[
    ("complex.abs", ComplexOp(ComplexFn::Abs)),
    ("complex.add", ComplexOp(ComplexFn::Add)),
    ("complex.angle", ComplexOp(ComplexFn::Angle)),
    ("complex.conj", ComplexOp(ComplexFn::Conj)),
    ("complex.cos", ComplexOp(ComplexFn::Cos)),
    ("complex.create", ComplexOp(ComplexFn::Create)),
    ("complex.div", ComplexOp(ComplexFn::Div)),
    ("complex.eq", ComplexOp(ComplexFn::Eq)),
    ("complex.exp", ComplexOp(ComplexFn::Exp)),
    ("complex.im", ComplexOp(ComplexFn::Im)),
    ("complex.log", ComplexOp(ComplexFn::Log)),
    ("complex.mul", ComplexOp(ComplexFn::Mul)),
    ("complex.neg", ComplexOp(ComplexFn::Neg)),
    ("complex.neq", ComplexOp(ComplexFn::Ne)),
    ("complex.re", ComplexOp(ComplexFn::Re)),
    ("complex.sin", ComplexOp(ComplexFn::Sin)),
    ("complex.sqrt", ComplexOp(ComplexFn::Sqrt)),
    ("complex.sub", ComplexOp(ComplexFn::Sub)),
];

/// The function of complex numbers that the op called `name` is.
pub fn function(name: &str) -> Option<ComplexFn> {
    FUNCTIONS.iter().find(|(op, _)| *op == name).map(|(_, hook)| hook.0)
}

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    for (name, hook) in FUNCTIONS {
        attach(d, name, hook);
    }
    attach(d, "complex.constant", &ConstantOp);
}
