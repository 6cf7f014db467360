//! What the kernels of the tests' binaries do, in the words of the processor.

use crate::state::{Device, ILLEGAL_ADDRESS, State};

/// What the driver knows of a kernel.
pub(crate) struct Facts {
    pub(crate) parameters: usize,
    pub(crate) shared: i32,
    pub(crate) most_threads: i32,
}

pub(crate) fn facts(name: &str) -> Facts {
    match name {
        "affine" => Facts { parameters: 3, shared: 0, most_threads: 1024 },
        "reverse" => Facts { parameters: 3, shared: 256, most_threads: 1024 },
        // Needs so many registers that groups are small.
        "heavy" => Facts { parameters: 0, shared: 0, most_threads: 128 },
        _ => Facts { parameters: 0, shared: 0, most_threads: 1024 },
    }
}

pub(crate) fn run(
    state: &mut State,
    device: Device,
    name: &str,
    groups: u32,
    threads: u32,
    arguments: &[u64],
) -> Result<(), i32> {
    match (name, arguments) {
        ("affine", &[x, y, n]) => {
            let values = floats(state, device, x, n)?;
            store(state, device, y, &values.iter().map(|x| 2.0 * x + 1.0).collect::<Vec<_>>())
        }
        ("reverse", &[x, y, runs]) => {
            assert_eq!(threads, 64, "a group is a run");
            let values = floats(state, device, x, runs * 64)?;
            let reversed: Vec<f32> = values.chunks(64).flat_map(|run| run.iter().rev().copied()).collect();
            store(state, device, y, &reversed)
        }
        ("crash", _) => Err(719),
        _ => {
            assert!(groups > 0 && threads > 0);
            Ok(())
        }
    }
}

fn floats(state: &mut State, device: Device, address: u64, count: u64) -> Result<Vec<f32>, i32> {
    let bytes = state.range(device, address, 4 * count as usize).ok_or(ILLEGAL_ADDRESS)?;
    Ok(bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
}

fn store(state: &mut State, device: Device, address: u64, values: &[f32]) -> Result<(), i32> {
    let bytes = state.range(device, address, 4 * values.len()).ok_or(ILLEGAL_ADDRESS)?;
    for (four, value) in bytes.chunks_exact_mut(4).zip(values) {
        four.copy_from_slice(&value.to_le_bytes());
    }
    Ok(())
}
