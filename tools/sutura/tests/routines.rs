//! Models that call the runtime's routines: compiled, run, looked at, and refused where a target or a runtime has them not.

mod compiled;

use std::path::{Path, PathBuf};

use sutura_runtime::{Artifact, Error, Model, Options, Tensor};

use compiled::{data, sutura};

/// The model of all routines, compiled for this machine.
fn compiled(folder: &Path) -> PathBuf {
    compiled::compiled(folder, "routines.mlir", &[])
}

/// Numbers without a pattern, from -1 to 1.
fn random(count: usize) -> Vec<f32> {
    let mut state = 0x1234_5678_9abc_def1u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(next).collect()
}

/// Powers of the lower half of the spectrum, by the definition.
fn powers(line: &[f32]) -> Vec<f64> {
    let size = line.len();
    let power = |bin: usize| {
        let turn = |n: usize| std::f64::consts::TAU * ((bin * n % size) as f64 / size as f64);
        let sum =
            |part: fn(f64) -> f64| line.iter().enumerate().map(|(n, x)| f64::from(*x) * part(turn(n))).sum::<f64>();
        let (re, im) = (sum(f64::cos), sum(f64::sin));
        re * re + im * im
    };
    (0..size / 2 + 1).map(power).collect()
}

#[test]
fn a_model_of_all_routines_runs_at_every_size() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = compiled(folder.path());
    let one = Model::load_with(&artifact, Options::new().threads(1)).unwrap();
    let many = Model::load_with(&artifact, Options::new().threads(5)).unwrap();
    for (lines, size) in [(1, 4), (3, 5), (2, 30), (40, 17), (0, 9), (1, 40_000)] {
        let input = random(lines * size);
        let x = Tensor::from_slice(&[lines as i64, size as i64], &input).unwrap();
        let outputs = one.run(std::slice::from_ref(&x)).unwrap();
        for (a, b) in outputs.iter().zip(&many.run(&[x]).unwrap()) {
            assert_eq!(a.bytes(), b.bytes(), "{lines} lines of {size}");
        }
        let (sorted, best) = (outputs[0].as_slice::<f32>().unwrap(), outputs[1].as_slice::<f32>().unwrap());
        let places = outputs[2].as_slice::<i64>().unwrap();
        for line in 0..lines {
            let mut wanted = input[line * size..][..size].to_vec();
            wanted.sort_by(f32::total_cmp);
            assert_eq!(sorted[line * size..][..size], wanted);
            // The definition takes the square of the size.
            if size > 1000 {
                continue;
            }
            let powers = powers(&wanted);
            let norm = powers.iter().sum::<f64>();
            for (i, place) in places[3 * line..][..3].iter().enumerate() {
                let (power, found) = (powers[*place as usize], f64::from(best[3 * line + i]));
                assert!((power - found).abs() <= 1e-5 * norm, "{power} {found}");
                let above = powers.iter().filter(|p| **p > power + 1e-5 * norm).count();
                assert!(above <= i, "number {i} of the best has {above} above it");
            }
        }
    }
}

#[test]
fn a_profile_names_routines() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::load_with(compiled(folder.path()), Options::new().profile(true)).unwrap();
    model.run(&[Tensor::from_slice(&[2, 9], &random(18)).unwrap()]).unwrap();
    let profile = model.profile();
    let names: Vec<&str> = profile.iter().filter_map(|launch| launch.kernel.as_deref()).collect();
    assert_eq!(names, ["sort/1", "fft/1", "main_row0", "top_k/1"]);
    assert!(profile.iter().enumerate().all(|(i, launch)| launch.position == i && launch.calls == 1));
}

#[test]
fn too_few_elements_are_told_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::load(compiled(folder.path())).unwrap();
    let error = model.run(&[Tensor::from_slice(&[1, 3], &[1.0f32; 3]).unwrap()]).unwrap_err();
    let words = "graph.top_k '%v': the size along the axis less the elements that are taken is -1";
    assert!(
        error.to_string().contains("the size along the axis less the elements that are taken"),
        "{error} / {words}"
    );
    assert_eq!(error.exit_code(), 1);
}

#[test]
fn an_artifact_lists_its_routines_and_is_refused_where_one_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = compiled(folder.path());
    let said = sutura(&["inspect", artifact.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&said.stdout);
    for routine in ["sort/1", "fft/1", "top_k/1"] {
        assert!(text.lines().any(|line| line == format!("routine    {routine}")), "{text}");
    }
    // The same model, as a newer compiler would have made it.
    let newer = folder.path().join("newer.sutura");
    let (artifact, mut manifest) = {
        let artifact = Artifact::open(&artifact).unwrap();
        let manifest = artifact.manifest().clone();
        (artifact, manifest)
    };
    manifest.routines = vec!["sort/2".to_owned(), "top_k/1".to_owned(), "fft/1".to_owned(), "unsort/1".to_owned()];
    let constants: Vec<&[u8]> = artifact.constants().collect();
    let contents = sutura_runtime::artifact::Contents {
        manifest: &manifest,
        host: artifact.host(),
        device: None,
        constants: &constants,
    };
    sutura_runtime::artifact::write(&newer, &contents).unwrap();
    let error = Model::load(&newer).unwrap_err();
    assert!(matches!(&error, Error::MissingRoutine { names, .. } if names == &["sort/2", "unsort/1"]));
    let words = "the model calls a routine that this runtime does not have: `sort/2`, `unsort/1`; it has `sort/1`: compile the \
                 model for this version, or run it with a newer runtime";
    assert_eq!(error.to_string(), words);
    let done = sutura(&["run", newer.to_str().unwrap(), "-i", "x=1x4xf32=1,2,3,4"]);
    assert_eq!(done.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&done.stderr).contains("`sort/2`, `unsort/1`"));
}

#[test]
fn targets_without_routines_refuse_them_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (model, artifact) = (data("routines.mlir"), folder.path().join("x.sutura"));
    for target in ["sm_80", "gfx90a", "vulkan", "cpu_fibers"] {
        let args = ["compile", "-q", model.to_str().unwrap(), "--target", target, "-o", artifact.to_str().unwrap()];
        let done = sutura(&args);
        let text = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{target}: {text}");
        let words = "calls the routine 'sort' of the runtime, which works on memory of the host only";
        assert!(text.contains(words) && text.contains("compile for a processor"), "{target}: {text}");
        assert!(!artifact.exists());
    }
}
