//! Models on tensors that lie on the device: no transfers, and graphs for what comes again.

use std::sync::OnceLock;

use sutura_runtime::device::{Device, DeviceError};
use sutura_runtime::manifest;
use sutura_runtime::{
    Artifact, DeviceTensor, ElementType, Error, ErrorKind, Model, Options, Result, Session, Stats, Tensor,
};

use super::common;
use super::fake::{Clean, Cuda, Family, Hip, affine, calls, fail, open, ramp, set_version};

/// `chain_model.c` as a shared object, with this macro if any.
fn host(define: Option<&str>) -> Vec<u8> {
    common::host_of("chain_model.c", define.as_slice())
}

fn usual_host() -> &'static [u8] {
    static HOST: OnceLock<Vec<u8>> = OnceLock::new();
    HOST.get_or_init(|| host(None))
}

fn load_with(family: Family, host: &[u8], options: Options) -> Result<Model> {
    load_with_constant(family, host, options, None)
}

fn load_with_constant(family: Family, host: &[u8], options: Options, constant: Option<&[f32]>) -> Result<Model> {
    let device = match family {
        Cuda => manifest::Device { backend: "cuda".into(), chip: Some("sm_80".into()), subgroup: 32 },
        Hip => manifest::Device { backend: "rocm".into(), chip: Some("gfx942".into()), subgroup: 64 },
    };
    let bytes = common::chain(device, host, family.kernels(), constant);
    Model::from_artifact(Artifact::from_bytes("test.sutura", &bytes)?, options)
}

fn load(family: Family, device: &Device) -> Model {
    load_with(family, usual_host(), Options::new().on(device)).unwrap()
}

fn upload(session: &mut Session, values: &[f32]) -> DeviceTensor {
    session.upload(&Tensor::from_slice(&[values.len() as i64], values).unwrap().view()).unwrap()
}

/// The outputs of `n` elements.
fn outputs(session: &mut Session, n: i64) -> [DeviceTensor; 2] {
    [(); 2].map(|()| session.tensor(ElementType::F32, &[n]).unwrap())
}

fn run_into(session: &mut Session, model: &Model, x: &DeviceTensor, [y, z]: &mut [DeviceTensor; 2]) -> Result<()> {
    session.run_into(model, &[x], &mut [y, z])
}

fn floats(session: &mut Session, tensor: &DeviceTensor) -> Vec<f32> {
    session.download(tensor).unwrap().as_slice::<f32>().unwrap().to_vec()
}

/// Launches that were enqueued, captures, failed captures, replays.
fn counts(model: &Model) -> (u64, u64, u64, u64) {
    let Stats { launches, captures, failed_captures, replays, .. } = model.stats();
    (launches, captures, failed_captures, replays)
}

#[test]
fn tensors_stay_on_the_device() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let model = load(family, &device);
        let mut session = Session::new(&device).unwrap();
        let transfers = |to: bool| {
            let name = if to {
                family.either("cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync")
            } else {
                family.either("cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync")
            };
            calls(name)
        };
        let x = upload(&mut session, &ramp(300));
        assert!(transfers(true) > 0, "the name of the function is right");
        let before = (transfers(true), transfers(false));
        let start = session.record().unwrap();
        let outputs = session.run(&model, &[&x]).unwrap();
        // What one run makes is the next one's input.
        let again = session.run(&model, &[&outputs[0]]).unwrap();
        let end = session.record().unwrap();
        assert_eq!((transfers(true), transfers(false)), before);
        assert_eq!(end.since(&start), None, "nothing waited yet");
        let expected = affine(&affine(&ramp(300)));
        assert_eq!(floats(&mut session, &outputs[1]), expected);
        assert_eq!(floats(&mut session, &again[0]), affine(&affine(&expected)));
        assert!(end.since(&start).is_some_and(|time| !time.is_zero()));
        assert_eq!((again[0].dims(), again[0].element_type(), again[0].bytes()), (&[300][..], ElementType::F32, 1200));
        assert_eq!(model.stats().runs, 2);
    }
}

#[test]
fn parts_of_tensors_are_copied() {
    let _clean = Clean;
    let device = open(Cuda);
    let mut session = Session::new(&device).unwrap();
    let from = upload(&mut session, &ramp(10));
    let mut to = upload(&mut session, &[0.0; 6]);
    session.copy_range((&from, 8), (&mut to, 4), 12).unwrap();
    assert_eq!(floats(&mut session, &to), [0.0, ramp(10)[2], ramp(10)[3], ramp(10)[4], 0.0, 0.0]);
    let mut part = [0u8; 4];
    session.download_range(&to, 4, &mut part).unwrap();
    assert_eq!(part, ramp(10)[2].to_ne_bytes());
    assert!(session.download_range(&to, 24, &mut part).is_err());
    assert!(session.copy_range((&from, 32), (&mut to, 0), 12).is_err());
    assert!(session.copy(&from, &mut to).unwrap_err().to_string().contains("f32[10] on a device is copied to f32[6]"));
}

#[test]
fn sizes_of_zero_and_one() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let model = load(family, &device);
        let mut session = Session::new(&device).unwrap();
        for n in [0, 1, 0, 1] {
            let x = upload(&mut session, &ramp(n));
            let outputs = session.run(&model, &[&x]).unwrap();
            let mut copy = session.tensor(ElementType::F32, &[n as i64]).unwrap();
            session.copy(&outputs[1], &mut copy).unwrap();
            assert_eq!(floats(&mut session, &copy), affine(&ramp(n)));
        }
        // A run of one launch is as quick as a graph.
        assert_eq!(counts(&model), (2, 0, 0, 0));
    }
}

#[test]
fn the_third_run_is_a_replay() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let model = load(family, &device);
        let mut session = Session::new(&device).unwrap();
        let mut x = upload(&mut session, &ramp(100));
        let mut to = outputs(&mut session, 100);
        let launch = family.either("cuLaunchKernel", "hipModuleLaunchKernel");
        // Enqueued; captured and replayed; replayed.
        let driver_launches = [2, 2, 0, 0, 0].map(|expected| (expected, ramp(100)));
        for (round, (expected, values)) in driver_launches.iter().enumerate() {
            // Another content of the same memory.
            let values: Vec<f32> = values.iter().map(|value| value + round as f32).collect();
            let new = upload(&mut session, &values);
            session.copy(&new, &mut x).unwrap();
            let before = calls(launch);
            run_into(&mut session, &model, &x, &mut to).unwrap();
            assert_eq!(calls(launch) - before, *expected, "round {round}");
            assert_eq!(floats(&mut session, &to[0]), affine(&affine(&values)), "round {round}");
            assert_eq!(floats(&mut session, &to[1]), affine(&affine(&values)), "round {round}");
        }
        assert_eq!(counts(&model), (10, 1, 0, 4));
        // Another shape and other buffers are other runs.
        let mut other = outputs(&mut session, 100);
        run_into(&mut session, &model, &x, &mut other).unwrap();
        assert_eq!(counts(&model), (12, 1, 0, 4));
        let small = upload(&mut session, &ramp(99));
        let mut small_to = outputs(&mut session, 99);
        run_into(&mut session, &model, &small, &mut small_to).unwrap();
        assert_eq!(counts(&model), (14, 1, 0, 4));
        assert_eq!(floats(&mut session, &small_to[0]), affine(&affine(&ramp(99))));
        // The first is still known.
        run_into(&mut session, &model, &x, &mut to).unwrap();
        assert_eq!(counts(&model), (16, 1, 0, 5));
    }
}

#[test]
fn another_model_is_another_run() {
    let _clean = Clean;
    let device = open(Cuda);
    let (first, second) = (load(Cuda, &device), load(Cuda, &device));
    let mut session = Session::new(&device).unwrap();
    let x = upload(&mut session, &ramp(10));
    let mut to = outputs(&mut session, 10);
    for _ in 0..3 {
        run_into(&mut session, &first, &x, &mut to).unwrap();
    }
    run_into(&mut session, &second, &x, &mut to).unwrap();
    assert_eq!((counts(&first), counts(&second)), ((6, 1, 0, 2), (2, 0, 0, 0)));
    // Its graph may outlive a model, and is not used for another one.
    drop(first);
    let third = load(Cuda, &device);
    run_into(&mut session, &third, &x, &mut to).unwrap();
    assert_eq!(counts(&third), (2, 0, 0, 0));
}

/// Its constants are there until the runs are done, and no longer than until the session has waited for them.
#[test]
fn a_model_may_go_before_its_runs_are_done() {
    let host = host(Some("TEST_CONSTANT"));
    for family in Family::BOTH {
        for graphs in [false, true] {
            let _clean = Clean;
            let device = open(family);
            let options = Options::new().on(&device).graphs(graphs);
            let model = load_with_constant(family, &host, options, Some(&ramp(100))).unwrap();
            let mut session = Session::new(&device).unwrap();
            let x = upload(&mut session, &[0.0; 100]);
            let mut to = outputs(&mut session, 100);
            for _ in 0..3 {
                run_into(&mut session, &model, &x, &mut to).unwrap();
            }
            drop(model);
            assert_eq!(floats(&mut session, &to[1]), affine(&affine(&ramp(100))));
            let held = device.allocated_bytes();
            session.release_memory().unwrap();
            assert!(device.allocated_bytes() < held);
            let model = load_with_constant(family, &host, Options::new().on(&device), Some(&ramp(100))).unwrap();
            run_into(&mut session, &model, &x, &mut to).unwrap();
            drop((model, session));
        }
    }
}

#[test]
fn graphs_can_be_switched_off() {
    for (family, version) in [(Cuda, 12_040), (Cuda, 11_030), (Hip, 50_400_000)] {
        let _clean = Clean;
        set_version(family, version);
        let device = open(family);
        // Drivers that have none are not asked.
        let options = Options::new().on(&device).graphs(version != 12_040);
        let model = load_with(family, usual_host(), options).unwrap();
        let mut session = Session::new(&device).unwrap();
        let x = upload(&mut session, &ramp(10));
        let mut to = outputs(&mut session, 10);
        for _ in 0..5 {
            run_into(&mut session, &model, &x, &mut to).unwrap();
        }
        assert_eq!(counts(&model), (10, 0, 0, 0));
        assert_eq!(floats(&mut session, &to[1]), affine(&affine(&ramp(10))));
    }
}

#[test]
fn a_graph_that_did_not_come_for_long_is_forgotten() {
    let _clean = Clean;
    let device = open(Cuda);
    let model = load(Cuda, &device);
    let mut session = Session::new(&device).unwrap();
    let x = upload(&mut session, &ramp(10));
    // The workspace is large enough for all, so nothing is forgotten for that.
    let mut to = outputs(&mut session, 10);
    let executables = || calls("cuGraphInstantiateWithFlags") - calls("cuGraphExecDestroy");
    for _ in 0..3 {
        run_into(&mut session, &model, &x, &mut to).unwrap();
    }
    assert_eq!(executables(), 1);
    let mut others: Vec<_> = (0..32).map(|_| outputs(&mut session, 10)).collect();
    for other in &mut others {
        run_into(&mut session, &model, &x, other).unwrap();
    }
    session.synchronize().unwrap();
    assert_eq!(executables(), 0);
    run_into(&mut session, &model, &x, &mut to).unwrap();
    assert_eq!(counts(&model).3, 2, "it is new again");
    // A larger workspace is another address.
    for _ in 0..2 {
        run_into(&mut session, &model, &x, &mut to).unwrap();
    }
    assert_eq!(executables(), 1);
    let large = upload(&mut session, &ramp(5000));
    let _ = session.run(&model, &[&large]).unwrap();
    session.synchronize().unwrap();
    assert_eq!(executables(), 0);
    run_into(&mut session, &model, &x, &mut to).unwrap();
    assert_eq!(floats(&mut session, &to[1]), affine(&affine(&ramp(10))));
}

/// A driver that refuses costs the graph and nothing else; what is wrong with the run itself is told.
#[test]
fn errors_while_a_run_is_captured() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let model = load(family, &device);
        let mut session = Session::new(&device).unwrap();
        for (cuda, hip) in [
            ("cuStreamBeginCapture_v2", "hipStreamBeginCapture"),
            ("cuGraphInstantiateWithFlags", "hipGraphInstantiateWithFlags"),
        ] {
            let call = family.either(cuda, hip);
            let x = upload(&mut session, &ramp(10));
            let mut to = outputs(&mut session, 10);
            let before = counts(&model);
            run_into(&mut session, &model, &x, &mut to).unwrap();
            fail(call, 1);
            for _ in 0..3 {
                run_into(&mut session, &model, &x, &mut to).unwrap();
            }
            assert_eq!(counts(&model), (before.0 + 8, 0, before.2 + 1, 0));
            let told = session.capture_error().expect("it was refused");
            assert!(matches!(told, DeviceError::Driver { call: failed, .. } if failed == call), "{told}");
            assert_eq!(floats(&mut session, &to[1]), affine(&affine(&ramp(10))));
        }
        let failing = load_with(family, &host(Some("TEST_FAIL_AT=1")), Options::new().on(&device)).unwrap();
        let x = upload(&mut session, &ramp(10));
        let mut to = outputs(&mut session, 10);
        run_into(&mut session, &failing, &x, &mut to).unwrap();
        let error = run_into(&mut session, &failing, &x, &mut to).unwrap_err();
        assert!(matches!(error, Error::Contract(_)), "{error}");
        // The stream captures no longer.
        run_into(&mut session, &failing, &x, &mut to).unwrap();
        assert_eq!(floats(&mut session, &to[1]), affine(&affine(&ramp(10))));
        assert_eq!(counts(&failing), (4, 0, 0, 0));
    }
}

/// Tensors of the host get the same memory again, so their runs are replayed as well.
#[test]
fn runs_with_tensors_of_the_host_are_replayed() {
    let _clean = Clean;
    let device = open(Cuda);
    let model = load(Cuda, &device);
    let mut held = 0;
    for round in 0..20 {
        let x = Tensor::from_slice(&[64], &ramp(64 + round)[round..]).unwrap();
        let outputs = model.run(&[x]).unwrap();
        assert_eq!(outputs[1].as_slice::<f32>().unwrap(), affine(&affine(&ramp(64 + round)[round..])));
        if round == 0 {
            held = device.allocated_bytes();
        }
    }
    // The two outputs are as large, and change places with each run.
    assert_eq!(counts(&model), (40, 2, 0, 18));
    assert_eq!(device.allocated_bytes(), held, "graphs keep no tensors");
    model.release_memory();
    assert_eq!(device.allocated_bytes(), 0);
}

/// As many blocks as the whole device runs at a time, four times over, and no more.
#[test]
fn a_launch_fills_the_device() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let model = load_with(family, usual_host(), Options::new().on(&device).profile(true)).unwrap();
        let at_once = device.load(family.kernels()).unwrap().kernel("affine").unwrap().resident_groups(0).unwrap();
        let units = device.info().limits.units.unwrap();
        let most = 4 * at_once.unwrap() as usize * units as usize;
        assert!(units > 100 && most > 2000, "{units} multiprocessors, {most} blocks");
        let mut session = Session::new(&device).unwrap();
        for blocks in [most - 1, most, most + 1, 2 * most] {
            let x = session.tensor(ElementType::F32, &[64 * blocks as i64]).unwrap();
            let y = session.run(&model, &[&x]).unwrap();
            session.synchronize().unwrap();
            drop((x, y));
            assert_eq!(model.profile()[0].chunks, blocks.min(most));
            model.clear_profile();
            session.release_memory().unwrap();
        }
    }
}

/// By events around each; nothing is captured then.
#[test]
fn launches_are_timed_where_that_is_asked_for() {
    for family in Family::BOTH {
        let _clean = Clean;
        let device = open(family);
        let model = load_with(family, usual_host(), Options::new().on(&device).profile(true)).unwrap();
        let mut session = Session::new(&device).unwrap();
        let x = upload(&mut session, &ramp(100));
        let mut to = outputs(&mut session, 100);
        for _ in 0..3 {
            run_into(&mut session, &model, &x, &mut to).unwrap();
        }
        assert_eq!(model.profile(), [], "nothing waited yet");
        session.synchronize().unwrap();
        let seen = |model: &Model| -> Vec<_> {
            let all = model.profile();
            assert!(all.iter().all(|l| !l.least.is_zero() && l.least * l.calls as u32 <= l.total), "{all:?}");
            assert!(all.iter().all(|l| l.kernel.as_deref() == Some("affine")), "{all:?}");
            all.iter().map(|l| (l.position, l.groups, l.chunks, l.calls)).collect()
        };
        assert_eq!(seen(&model), [(0, 100, 2, 3), (1, 100, 2, 3)]);
        assert_eq!(counts(&model), (6, 0, 0, 0));
        model.clear_profile();
        // Tensors of the host.
        model.run(&[Tensor::from_slice(&[1], &[4.0f32]).unwrap()]).unwrap();
        assert_eq!(seen(&model), [(0, 1, 1, 1)]);
    }
}

#[test]
fn tensors_that_do_not_fit_are_refused() {
    let _clean = Clean;
    let device = open(Cuda);
    let model = load(Cuda, &device);
    let mut session = Session::new(&device).unwrap();
    let x = upload(&mut session, &ramp(8));
    let mut to = outputs(&mut session, 8);
    let [y, z] = &mut to;
    let refused = |error: Error| error.to_string();
    assert_eq!(refused(session.run(&model, &[]).unwrap_err()), "the model has 1 input (`x`), but 0 were given");
    assert_eq!(
        refused(session.run_into(&model, &[&x], &mut [y]).unwrap_err()),
        "the model has 2 outputs, but 1 buffer was given"
    );
    let matrix = session.tensor(ElementType::F32, &[2, 4]).unwrap();
    assert_eq!(
        refused(session.run_into(&model, &[&matrix], &mut [y, z]).unwrap_err()),
        "input `x` has rank 2, but the model needs rank 1: [n]"
    );
    let whole = session.tensor(ElementType::I32, &[8]).unwrap();
    assert_eq!(
        refused(session.run_into(&model, &[&whole], &mut [y, z]).unwrap_err()),
        "input `x` has element type i32, but the model needs f32"
    );
    let mut short = session.tensor(ElementType::F32, &[7]).unwrap();
    assert_eq!(
        refused(session.run_into(&model, &[&x], &mut [y, &mut short]).unwrap_err()),
        "output `z` needs dims [8], but its buffer has [7]"
    );
    let mut other = Session::new(&device).unwrap();
    let foreign = upload(&mut other, &ramp(8));
    assert_eq!(
        refused(session.run_into(&model, &[&foreign], &mut [y, z]).unwrap_err()),
        "invalid tensor: input `x` is of another session; download it there and upload it"
    );
    let error = other.run_into(&model, &[&foreign], &mut [y, z]).unwrap_err();
    assert!(error.to_string().starts_with("invalid tensor: output `y` is of another session"), "{error}");
    assert!(session.download(&foreign).is_err());
    assert!(session.tensor(ElementType::F32, &[-1]).is_err());
    // The same device, opened once more.
    let twin = open(Cuda);
    let mut elsewhere = Session::new(&twin).unwrap();
    let there = upload(&mut elsewhere, &ramp(8));
    let error = elsewhere.run(&model, &[&there]).unwrap_err();
    assert!(matches!(&error, Error::Device(DeviceError::OtherDevice { .. })), "{error}");
    assert!(error.to_string().contains("load it with `Options::on` the session's device"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(counts(&model), (0, 0, 0, 0));
}

/// Memory that waits for reuse is given back before there is said to be none; what is in use stays.
#[test]
fn memory_that_runs_out() {
    let _clean = Clean;
    let device = open(Cuda);
    let model = load(Cuda, &device);
    let mut session = Session::new(&device).unwrap();
    let x = upload(&mut session, &ramp(10));
    let mut to = outputs(&mut session, 10);
    for _ in 0..3 {
        run_into(&mut session, &model, &x, &mut to).unwrap();
    }
    drop(session.tensor(ElementType::F32, &[1 << 20]).unwrap());
    let held = device.allocated_bytes();
    // The first try fails; then there is room.
    fail("cuMemAlloc_v2", 2);
    let new = session.tensor(ElementType::F32, &[1 << 21]).unwrap();
    assert_eq!(device.allocated_bytes(), held + (4 << 20));
    run_into(&mut session, &model, &x, &mut to).unwrap();
    assert_eq!(floats(&mut session, &to[1]), affine(&affine(&ramp(10))));
    drop(new);
    session.release_memory().unwrap();
    assert!(device.allocated_bytes() < 4096, "{}", device.allocated_bytes());
}
