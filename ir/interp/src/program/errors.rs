//! Errors of the numbers that a program computes; see `num/errors.rs`.

use super::{Lanes, Program};
use crate::num::rounding;
use crate::scalar::Scalar;

impl Program {
    /// Errors of all registers, one list each; those of arguments are filled in, and the others are computed from the numbers in
    /// `lanes`, which the program has run on.
    pub(crate) fn errors(&self, lanes: &Lanes, errors: &mut [Vec<f64>], n: usize) {
        for step in &self.steps {
            let mut made = std::mem::take(&mut errors[step.out]);
            let result = step.kernel.result();
            // A number compared with itself is what it is, however uncertain: so NaN is asked for.
            if step.kernel.is_comparison() && step.args[0] == step.args[1] {
                made.fill(0.0);
                errors[step.out] = made;
                continue;
            }
            let unit = rounding(result);
            let (mut at, mut error) = ([0.0; 3], [0.0; 3]);
            for (k, made) in made.iter_mut().enumerate().take(n) {
                for (i, &reg) in step.args.iter().enumerate() {
                    at[i] = Scalar::from_bits(self.types[reg], lanes.regs[reg][k]).to_f64_lossy();
                    error[i] = errors[reg][k];
                }
                let r = Scalar::from_bits(result, lanes.regs[step.out][k]).to_f64_lossy();
                *made = step.kernel.error(at, error, r, unit);
            }
            errors[step.out] = made;
        }
    }

    /// A list of zeros for each register.
    pub(crate) fn no_errors(&self, width: usize) -> Vec<Vec<f64>> {
        vec![vec![0.0; width]; self.types.len()]
    }

    /// The register of a value that is handed back.
    pub(crate) fn result_register(&self, index: usize) -> usize {
        self.results[index]
    }
}
