//! Functions that run the groups of several kernels as those of one.

use sutura_dialects::rt::LaunchOp;
use sutura_ir::{OpView, Type, Value};

use super::emit::{Emit, Pred, ptr_type};
use super::program::{Action, Kernels, Launch};

/// A kernel with the numbers of buffers and of sizes that it takes.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Part {
    kernel: String,
    buffers: usize,
    dims: usize,
}

/// Such a function. It is called as a kernel is; its sizes are, for each part, the groups of all parts up to it, and then
/// the sizes of all parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Dispatcher {
    pub(super) name: String,
    parts: Vec<Part>,
}

fn parts(launches: &[Launch<'_>]) -> Vec<Part> {
    let part = |launch: &Launch<'_>| {
        let op: &LaunchOp<'_> = &launch.op;
        Part { kernel: op.callee().to_owned(), buffers: op.op_ref().num_operands(), dims: launch.dims.len() }
    };
    launches.iter().map(part).collect()
}

/// The functions that `actions` of the program of this number need, under names that `taken` has not.
pub(super) fn collect(actions: &[Action<'_>], taken: &Kernels<'_>, program: usize) -> Vec<Dispatcher> {
    let mut found = Vec::new();
    let prefix = if program == 0 { "sutura_packed".to_owned() } else { format!("sutura_packed_of{program}_") };
    add(actions, taken, &prefix, &mut found);
    found
}

fn add(actions: &[Action<'_>], taken: &Kernels<'_>, prefix: &str, found: &mut Vec<Dispatcher>) {
    for action in actions {
        match action {
            Action::Packed(launches) => {
                let parts = parts(launches);
                if !found.iter().any(|known| known.parts == parts) {
                    let used = |name: &String| {
                        taken.contains_key(name.as_str()) || found.iter().any(|known| known.name == *name)
                    };
                    let mut names = (found.len()..).map(|n| format!("{prefix}{n}"));
                    let name = names.find(|name| !used(name)).expect("there are more names");
                    found.push(Dispatcher { name, parts });
                }
            }
            _ => action.inside().into_iter().for_each(|inside| add(inside, taken, prefix, found)),
        }
    }
}

/// The function for these launches.
pub(super) fn find<'d>(dispatchers: &'d [Dispatcher], launches: &[Launch<'_>]) -> Option<&'d Dispatcher> {
    let parts = parts(launches);
    dispatchers.iter().find(|known| known.parts == parts)
}

impl Dispatcher {
    /// Types of the arguments, those of a kernel.
    pub(super) fn inputs(ptr: Type) -> [Type; 4] {
        [ptr, ptr, Type::I64, Type::I64]
    }

    /// Fills the function: each part runs what of the groups `begin..end` is its own.
    pub(super) fn emit(&self, e: &mut Emit<'_, '_>, args: &[Value]) -> Result<(), String> {
        let &[bufs, dims, begin, end] = args else { return Err("a kernel has four arguments".to_owned()) };
        let (cx, ptr) = (e.cx(), ptr_type(e.cx()));
        let number = |n: usize| i32::try_from(n).map_err(|_| "a launch has too many arguments".to_owned());
        let (mut buffer, mut dim) = (0, self.parts.len());
        let mut first = e.i64(0);
        for (i, part) in self.parts.iter().enumerate() {
            let last = e.load(dims, Type::I64, number(i)?);
            let low = e.int("arith.maxsi", begin, first);
            let high = e.int("arith.minsi", end, last);
            let (low, high) = (e.int("arith.subi", low, first), e.int("arith.subi", high, first));
            let some = e.compare(Pred::Slt, low, high);
            let conditional = e.begin_if(some);
            let own_buffers = e.element(bufs, ptr, number(buffer)?);
            let own_dims = e.element(dims, Type::I64, number(dim)?);
            let callee = cx.symbol_ref(&part.kernel);
            e.op("func.call", &[own_buffers, own_dims, low, high], &[], &[("callee", callee)]);
            e.otherwise(conditional);
            e.end_if(conditional);
            first = last;
            buffer += part.buffers;
            dim += part.dims;
        }
        e.ret(&[]);
        Ok(())
    }
}
