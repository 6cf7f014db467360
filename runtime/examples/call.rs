//! Runs the model of docs/running.md: `call mlp.sutura`.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use sutura_runtime::{Error, Model, Tensor};

fn main() {
    let path = std::env::args().nth(1).unwrap_or_default();
    if let Err(error) = call(&path) {
        eprintln!("{error}");
        std::process::exit(error.exit_code().into());
    }
}

fn call(path: &str) -> Result<(), Error> {
    let model = Model::load(path)?;
    println!("{}", model.manifest().signature());
    let x: Vec<f32> = (0..2 * 64).map(|i| i as f32 / 64.0).collect();
    let outputs = model.run(&[Tensor::from_slice(&[2, 64], &x)?])?;
    let probabilities: &[f32] = outputs[0].as_slice().unwrap_or(&[]);
    for (row, values) in probabilities.chunks(10).enumerate() {
        println!("row {row}: the probabilities add up to {:.3}", values.iter().sum::<f32>());
    }
    Ok(())
}
