//! What the table says, and that the interpreter knows all of it.

use sutura_interp::{DType, Tensor};

use super::table::{Arguments, ROUTINES, Typed};
use super::{REFERENCES, find, interpret};
use crate::r#dyn::poly::Poly;

#[test]
fn every_routine_can_be_interpreted() {
    for routine in ROUTINES {
        assert!(REFERENCES.iter().any(|(name, _)| *name == routine.name), "{}", routine.symbol());
        let same = |other: &&super::Routine| other.symbol() == routine.symbol();
        assert_eq!(ROUTINES.iter().filter(same).count(), 1);
    }
    assert!(REFERENCES.iter().all(|(name, _)| ROUTINES.iter().any(|routine| routine.name == *name)));
}

#[test]
fn what_is_no_routine_is_told_with_what_there_is() {
    assert!(
        find("srot", 1)
            .unwrap_err()
            .starts_with("names the routine 'srot', which the table does not have; it has sort")
    );
    assert_eq!(find("sort", 2).unwrap_err(), "names version 2 of the routine 'sort', of which the table has 1");
    assert!(find("sort", -1).is_err());
}

/// Sizes as polynomials are at every value of their symbols what the runtime computes.
#[test]
fn polynomials_and_numbers_agree() {
    let value_of = |name: &str| match name {
        "B" => Some(7),
        "N" => Some(30),
        _ => None,
    };
    let symbolic = [Poly::symbol("B"), Poly::symbol("N"), Poly::constant(2)];
    let numbers: Vec<i64> = symbolic.iter().map(|size| size.eval(&value_of).unwrap()).collect();
    let size_of = |kind: super::table::ParamKind| match kind {
        super::table::ParamKind::Axis => 1,
        super::table::ParamKind::Size => 5,
        _ => 0,
    };
    for routine in ROUTINES {
        let params: Vec<Vec<i64>> = routine.params.iter().map(|param| vec![size_of(param.kind)]).collect();
        let as_sizes: Vec<Vec<Poly>> =
            params.iter().map(|values| values.iter().map(|v| Poly::constant(*v)).collect()).collect();
        let poly = [Typed { elem: (), is_float: true, dims: &symbolic[..] }];
        let number = [Typed { elem: (), is_float: true, dims: &numbers[..] }];
        let poly = Arguments { inputs: &poly, params: &as_sizes };
        let number = Arguments { inputs: &number, params: &params };
        let scratch = poly.size(routine, &routine.scratch).unwrap().eval(&value_of);
        assert_eq!(scratch, number.size(routine, &routine.scratch), "{}", routine.symbol());
        for (_, rule) in routine.outputs_of(1) {
            let sizes = poly.dims(routine, rule).unwrap().unwrap();
            let sizes: Vec<i64> = sizes.iter().map(|size| size.eval(&value_of).unwrap()).collect();
            assert_eq!(Some(Some(sizes)), number.dims(routine, rule));
        }
    }
}

#[test]
fn truth_is_greater_than_falsehood() {
    let values = Tensor::from_scalars(DType::I1, &[3], [true, false, true].map(sutura_interp::Scalar::bool)).unwrap();
    let sorted = interpret(find("sort", 1).unwrap(), &[values], &[vec![0], vec![0]], &[DType::I1]).unwrap();
    let read: Vec<bool> = (0..3).map(|i| sorted[0].data().read(i).unwrap().as_bool().unwrap()).collect();
    assert_eq!(read, [false, true, true]);
}
