//! Divisions of integers: a divisor of 0 fails the run where, and only where, something is divided by it.

use sutura_dialects::graph::Combiner;
use sutura_interp::Interpreter;
use sutura_interp::Value as Data;
use sutura_ir::{Context, Module, Type};

use super::agree_on_all_levels;
use crate::testing::{any, context, copy, function, run, tensor, text};

const PIPELINE: &str = "builtin.module(propagate-shapes,func.func(canonicalize,stitch),convert-graph-to-gir)";

fn lowered(cx: &Context, module: &Module) -> Module {
    let mut after = copy(cx, module);
    run(cx, &mut after, PIPELINE).unwrap_or_else(|e| panic!("{e:?}\n{}", text(cx, &after)));
    after
}

fn ints(values: &[i64], shape: &[usize]) -> Data {
    let scalars = values.iter().map(|v| sutura_interp::Scalar::int(*v, sutura_interp::DType::I32));
    Data::Tensor(sutura_interp::Tensor::from_scalars(sutura_interp::DType::I32, shape, scalars).unwrap())
}

/// The results on both levels, or the words of both, which are the same but for `place`.
fn both(cx: &Context, module: &Module, inputs: &[Data]) -> Result<Vec<Data>, String> {
    let after = lowered(cx, module);
    let call = |module| Interpreter::new(cx, module).call("main", inputs);
    match (call(module), call(&after)) {
        (Ok(a), Ok(b)) => {
            assert_eq!(format!("{a:?}"), format!("{b:?}"));
            Ok(a.to_vec())
        }
        (Err(a), Err(b)) => {
            let words = |e: sutura_interp::InterpError| {
                let text = e.to_string();
                text[text.rfind("graph.compute").unwrap_or_else(|| panic!("{text}"))..].to_owned()
            };
            let (a, b) = (words(a), words(b));
            assert_eq!(a, b);
            Err(a)
        }
        (a, b) => panic!("{a:?} but {b:?}\n{}", text(cx, &after)),
    }
}

/// The quotient of two tensors, and of a tensor and a number for each row.
#[test]
fn the_lowest_element_is_told() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::I32);
    let symbols = [("M", any()), ("N", any())];
    let module = function(&cx, &symbols, &[x, x], |g, args| Ok(vec![g.zip(args[0], args[1], |s, a, b| s.div(a, b))?]));
    let (m, n) = (3, 21);
    let dividend = ints(&vec![7; m * n], &[m, n]);
    for zeros in [vec![], vec![0], vec![m * n - 1], vec![50, 22, 40]] {
        let divisor: Vec<i64> = (0..m * n).map(|i| if zeros.contains(&i) { 0 } else { 2 }).collect();
        let result = both(&cx, &module, &[dividend.clone(), ints(&divisor, &[m, n])]);
        match zeros.iter().min() {
            Some(at) => assert!(result.as_ref().is_err_and(|m| m.ends_with(&format!("at element {at}"))), "{result:?}"),
            None => assert!(result.is_ok(), "{result:?}"),
        }
    }
}

/// A number for each row divides what the row has, which may be nothing.
#[test]
fn what_divides_nothing_is_not_told() {
    let cx = context();
    let (x, d) = (tensor(&cx, &["M", "N"], Type::I32), tensor(&cx, &["M", "1"], Type::I32));
    let symbols = [("M", any()), ("N", any())];
    let module = function(&cx, &symbols, &[x, d], |g, args| Ok(vec![g.zip(args[0], args[1], |s, a, b| s.rem(a, b))?]));
    both(&cx, &module, &[ints(&[], &[2, 0]), ints(&[0, 0], &[2, 1])]).unwrap();
    let said = both(&cx, &module, &[ints(&[1, 2, 3, 4], &[2, 2]), ints(&[1, 0], &[2, 1])]).unwrap_err();
    assert!(said.ends_with("divides by zero at element 2"), "{said}");
}

/// The quotient that does not fit is the least number.
#[test]
fn the_least_number_by_minus_one() {
    let cx = context();
    let x = tensor(&cx, &["N"], Type::I32);
    let module = function(&cx, &[("N", any())], &[x, x], |g, args| {
        Ok(vec![
            g.zip(args[0], args[1], |s, a, b| s.div(a, b))?,
            g.zip(args[0], args[1], |s, a, b| s.rem(a, b))?,
            g.zip(args[0], args[1], |s, a, b| s.floor_div(a, b))?,
        ])
    });
    let least = i64::from(i32::MIN);
    let inputs = [ints(&[least, 7, -7], &[3]), ints(&[-1, -1, 2], &[3])];
    let results = both(&cx, &module, &inputs).unwrap();
    for (result, wanted) in results.iter().zip([[least, -7, -3], [0, 0, -1], [least, -7, -4]]) {
        assert_eq!(format!("{result:?}"), format!("{:?}", ints(&wanted, &[3])));
    }
}

/// What a concatenation reads beyond the end of a part is divided by nothing, and so is the padding of a tile.
#[test]
fn nothing_is_divided_beyond_the_end() {
    let cx = context();
    let x = tensor(&cx, &["1", "3"], Type::I32);
    let module = function(&cx, &[], &[x, x], |g, args| {
        let quotient = g.zip(args[0], args[1], |s, a, b| {
            let one = s.int(1, Type::I32);
            // Of the 1 that is read where nobody looks, this makes 0.
            let less = s.sub(b, one);
            s.div(a, less)
        })?;
        Ok(vec![g.concat(&[quotient, args[0]], 1)?])
    });
    both(&cx, &module, &[ints(&[6, 7, 8], &[1, 3]), ints(&[3, 4, -1], &[1, 3])]).unwrap();
    // A loop: tiles in registers reach beyond the last column.
    let (x, d) = (tensor(&cx, &["3", "N"], Type::I32), tensor(&cx, &["3", "N"], Type::I32));
    let sum = function(&cx, &[("N", any())], &[x, d], |g, args| {
        let quotient = g.zip(args[0], args[1], |s, a, b| s.div(a, b))?;
        Ok(vec![g.reduce(quotient, &[0], false, Combiner::Add, Type::I32, |_, x| x)])
    });
    for n in [0, 1, 5, 17] {
        let (data, ones) = (vec![9; 3 * n], vec![2; 3 * n]);
        both(&cx, &sum, &[ints(&data, &[3, n]), ints(&ones, &[3, n])]).unwrap();
    }
    let said = both(&cx, &sum, &[ints(&[1, 2, 3], &[3, 1]), ints(&[1, 0, 3], &[3, 1])]).unwrap_err();
    assert!(said.contains("divides by zero"), "{said}");
    agree_on_all_levels(&cx, &sum, &lowered(&cx, &sum), &[&[("N", 0)]]);
}
