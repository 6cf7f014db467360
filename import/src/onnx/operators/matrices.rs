//! Square matrices: determinants, and ones on a diagonal.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::{Reason, unsupported};
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::super::tensor::ElementType;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("Det", det)];

/// Determinants of the matrices in the last two dims.
#[derive(Debug)]
struct Det<'m> {
    x: &'m str,
}

fn det<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    Ok(Conversion::op(Det { x: r.input(0)? }))
}

impl<'m> Convert<'m> for Det<'m> {
    fn operators(&self) -> &'static [&'static str] {
        &["determinant"]
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let (elem, shape) = (importer.g.elem(x), importer.g.shape(x));
        if !elem.is_float(importer.cx()) {
            return wrong(format!("takes matrices of {}, which must be floats", importer.name_of(elem)));
        }
        let Some(first) = shape.len().checked_sub(2) else {
            return wrong(format!("takes matrices from a tensor of rank {}", shape.len()));
        };
        let size = importer.g.unify(&shape[first], &shape[first + 1], || "rows and columns of the matrices".into())?;
        let (Some(samples), Some(size)) = (shape[..first].iter().cloned().collect::<Option<Vec<Poly>>>(), size) else {
            return fail("takes matrices whose sizes depend on data");
        };
        let wide = accumulator_type(importer.cx(), elem);
        let x = importer.g.cast(x, wide)?;
        let x = importer.g.reshape_to(x, &[Poly::product(&samples), size.clone(), size].map(Some))?;
        let made = importer.applied("determinant", &[x], &[])?;
        let made = importer.g.reshape_to(made, &shape[..first])?;
        Ok(vec![importer.g.cast(made, elem)?])
    }
}

/// A matrix of the sizes of another one, of elements of a type: ones on the diagonal that begins in column `k`.
#[derive(Debug)]
struct Diagonal<'m> {
    x: &'m str,
    k: i64,
    to: ElementType,
}

/// `EyeLike` that says its element type; others are declared in the library.
pub(super) fn eye_like<'m>(r: &NodeReader<'m, '_>) -> Option<Result<Op<'m>, Reason>> {
    let code = r.optional_int("dtype")?;
    let of = |to: ElementType| -> Result<Op<'m>, Reason> {
        if !to.is_numeric() {
            return Err(unsupported(format!("makes elements of {to}, which is not supported")));
        }
        Ok(Conversion::op(Diagonal { x: r.input(0)?, k: r.int("k")?, to }))
    };
    Some(match ElementType::from_code(code) {
        Some(to) => of(to),
        None => Err(format!("has the unknown element type {code} as `dtype`").into()),
    })
}

impl<'m> Convert<'m> for Diagonal<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, elem) = (importer.value(self.x)?, importer.element(self.to)?);
        let shape = importer.g.shape(x);
        if shape.len() != 2 {
            return wrong(format!("takes a tensor of rank {}, it must have 2", shape.len()));
        }
        Ok(vec![importer.g.generate(&shape, elem, |s| {
            let (row, column) = (s.index(0), s.index(1));
            let (row, column) = (s.cast(row, Type::I64), s.cast(column, Type::I64));
            let (ahead, k) = (s.sub(column, row), s.int(self.k, Type::I64));
            let here = s.compare(Comparison::Equal, ahead, k);
            let (one, zero) = (s.number(1.0, elem), s.number(0.0, elem));
            s.select(here, one, zero)
        })?])
    }
}
