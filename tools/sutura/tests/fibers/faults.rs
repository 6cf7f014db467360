//! Small kernels: what a thread is told, and that each kind of mistake is found.

use std::sync::OnceLock;

use sutura_runtime::device::{Buffer, Device, DeviceError, FaultKind, KernelOptions, Module, Stream};

use crate::build::{compile, compile_text, open};

/// `tests/data/fibers.mlir` for subgroups of 32.
fn small_kernels() -> &'static [u8] {
    static LIBRARY: OnceLock<Vec<u8>> = OnceLock::new();
    LIBRARY.get_or_init(|| compile("tools/sutura/tests/data/fibers.mlir", "convert-gpu-to-fibers"))
}

/// A device with the small kernels.
struct Small {
    device: Device,
    module: Module,
}

impl Small {
    fn new() -> Self {
        let device = open();
        let module = device.load(small_kernels()).unwrap();
        Self { device, module }
    }

    /// A buffer of these values.
    fn floats(&self, values: &[f32]) -> Buffer {
        let buffer = self.device.allocate(4 * values.len() as u64).unwrap();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.device.stream().unwrap().upload(&buffer, 0, &bytes).unwrap();
        buffer
    }

    fn launch(&self, stream: &mut Stream, name: &str, groups: u64, arguments: &[u64]) -> Result<(), DeviceError> {
        let kernel = self.module.kernel(name).unwrap();
        // SAFETY: a wrong access is found before it is made, and what the streams use is alive.
        unsafe { stream.launch(&kernel, groups, 0, arguments) }
    }

    /// Launches a kernel on a stream of its own.
    fn run(&self, name: &str, groups: u64, arguments: &[u64]) -> Result<(), DeviceError> {
        self.launch(&mut self.device.stream().unwrap(), name, groups, arguments)
    }

    /// Launches a kernel with a mistake; what is said of it, without device and kernel.
    #[track_caller]
    fn fault(&self, name: &str, groups: u64, arguments: &[u64], expected: FaultKind) -> String {
        let error = self.run(name, groups, arguments).unwrap_err();
        let prefix = format!("kernel `{name}` was stopped on device `cpu-fibers`: ");
        let text = error.to_string().strip_prefix(&prefix).expect(&prefix).to_owned();
        let DeviceError::Fault { kind, .. } = error else { panic!("{error}") };
        assert_eq!(kind, expected, "{text}");
        text
    }

    fn words(&self, buffer: &Buffer) -> Vec<i32> {
        let mut bytes = vec![0; buffer.bytes() as usize];
        self.device.stream().unwrap().download(buffer, 0, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    fn values(&self, buffer: &Buffer) -> Vec<f32> {
        self.words(buffer).into_iter().map(|word| f32::from_bits(word.cast_unsigned())).collect()
    }
}

fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

#[test]
fn a_kernel_that_waits_is_right() {
    let small = Small::new();
    let (x, y) = (small.floats(&ramp(64)), small.device.allocate(256).unwrap());
    small.run("rotate", 1, &[x.address(), y.address()]).unwrap();
    let mut expected = ramp(64);
    expected.rotate_left(1);
    assert_eq!(small.values(&y), expected);
}

#[test]
fn threads_know_where_they_are() {
    let small = Small::new();
    let y = small.device.allocate(3 * 24 * 11 * 4).unwrap();
    let numbers = [(-5_i16).cast_unsigned().into(), 7.5_f64.to_bits(), 9];
    small.run("standing", 3, &[y.address(), numbers[0], numbers[1], numbers[2]]).unwrap();
    let found = small.words(&y);
    for (at, words) in found.chunks_exact(11).enumerate() {
        let (block, thread) = ((at / 24) as i32, (at % 24) as i32);
        let place = [thread % 4, thread / 4 % 3, thread / 12, block, 3, thread % 32, 0, 32, -5, 7, 9];
        assert_eq!(words, place, "thread {thread} of block {block}");
    }
}

#[test]
fn races_in_the_memory_of_a_block_are_found() {
    let small = Small::new();
    let y = small.device.allocate(256).unwrap();
    let text = small.fault("shared_race", 1, &[y.address()], FaultKind::Race);
    assert_eq!(
        text,
        "block 0: thread 1 reads bytes 0..4 of array `tile` by 'llvm.load' 1 at \
         tools/sutura/tests/data/fibers.mlir:43:12, and thread 0 wrote there by 'llvm.store' 1 at \
         tools/sutura/tests/data/fibers.mlir:36:5 since the last barrier; put a 'gpu.barrier' between the two"
    );
}

#[test]
fn races_in_buffers_are_found() {
    let small = Small::new();
    let x = small.floats(&ramp(64));
    let text = small.fault("overwrite", 1, &[x.address()], FaultKind::Race);
    assert!(text.starts_with("block 0: thread 1 writes bytes 4..8 of the buffer of 256 bytes of argument 0"), "{text}");
    assert!(text.contains("thread 0 read there by 'llvm.load' 1"), "{text}");
    // Bytes are told apart.
    small.run("bytes", 1, &[x.address(), 1]).unwrap();
    let text = small.fault("bytes", 1, &[x.address(), 0], FaultKind::Race);
    assert!(text.contains("thread 1 writes bytes 0..1") && text.contains("thread 0 wrote there"), "{text}");
}

#[test]
fn races_between_blocks_are_found() {
    let small = Small::new();
    let x = small.floats(&ramp(64));
    let (at, one) = (x.address(), u64::from(1_f32.to_bits()));
    small.run("blocks", 8, &[at, 2, 0, one]).unwrap();
    assert_eq!(small.values(&x)[..5], [1.0, 1.0, 1.0, 3.0, 1.0]);
    let text = small.fault("blocks", 8, &[at, 0, 0, one], FaultKind::BlockRace);
    assert!(text.starts_with("block 1: thread 0 writes bytes 0..4 of the buffer"), "{text}");
    assert!(text.contains("thread 0 of block 0 wrote there by 'llvm.store' 1"), "{text}");
    let text = small.fault("blocks", 8, &[at, 1, 1, one], FaultKind::BlockRace);
    assert!(text.starts_with("block 1: thread 0 reads"), "{text}");
    // A launch of its own is no race.
    small.run("late_write", 1, &[at]).unwrap();
    let text = small.fault("late_write", 5, &[at], FaultKind::BlockRace);
    assert!(text.contains("block 4: thread 0 writes") && text.contains("thread 0 of block 0 read there"), "{text}");
}

#[test]
fn barriers_that_not_all_reach_are_found() {
    let small = Small::new();
    let text = small.fault("two_barriers", 1, &[], FaultKind::DivergentBarrier);
    assert!(text.starts_with("block 0: thread (0, 0, 0) waits at 'gpu.barrier' 1 at "), "{text}");
    assert!(
        text.contains("and threads (0, 2, 0), (1, 2, 0), (2, 2, 0), (3, 2, 0) and 28 more wait at 'gpu.barrier' 2"),
        "{text}"
    );
    small.run("some_wait", 2, &[64]).unwrap();
    small.run("some_wait", 2, &[0]).unwrap();
    let text = small.fault("some_wait", 2, &[63], FaultKind::DivergentBarrier);
    assert!(text.contains("and thread 63 ended; move the barrier"), "{text}");
}

#[test]
fn shuffles_that_not_all_reach_are_found() {
    let small = Small::new();
    small.run("some_shuffle", 1, &[64]).unwrap();
    let text = small.fault("some_shuffle", 1, &[33], FaultKind::DivergentShuffle);
    assert!(text.starts_with("block 0: thread 32 waits at 'gpu.shuffle' 1 at "), "{text}");
    assert!(text.contains("of its subgroup threads 33, 34, 35, 36 and 27 more wait at 'gpu.barrier' 1"), "{text}");
    // A whole subgroup may skip the shuffle; then the barrier is what not all reach.
    small.fault("some_shuffle", 1, &[32], FaultKind::DivergentBarrier);
}

#[test]
fn lanes_that_are_no_threads_are_found() {
    let small = Small::new();
    let y = small.device.allocate(160).unwrap();
    small.run("xor20", 1, &[y.address(), 2, 4]).unwrap();
    let expected: Vec<i32> = (0..20).flat_map(|t| [t ^ 2, 1]).collect();
    assert_eq!(small.words(&y), expected);
    // Out of the part: the own value, marked.
    small.run("xor20", 1, &[y.address(), 4, 4]).unwrap();
    assert_eq!(small.words(&y)[..4], [0, 0, 1, 0]);
    let text = small.fault("xor20", 1, &[y.address(), 16, 32], FaultKind::InactiveLane);
    assert!(text.contains("thread 4 takes a value by 'gpu.shuffle' 1") && text.contains("from lane 20"), "{text}");
    for width in [0, 3, 64, -4] {
        let width = u64::from(i32::cast_unsigned(width));
        let text = small.fault("xor20", 1, &[y.address(), 1, width], FaultKind::InactiveLane);
        assert!(text.contains("with a width of"), "{text}");
    }
}

#[test]
fn lanes_hand_over_values_of_every_type() {
    let small = Small::new();
    let y = small.device.allocate(64 * 20).unwrap();
    for (offset, width) in [(1, 32), (3, 8), (0, 1), (31, 32), (40, 32)] {
        small.run("modes", 1, &[y.address(), offset as u64, width as u64]).unwrap();
        for (t, words) in small.words(&y).chunks_exact(5).enumerate() {
            let (t, part) = (t as i32, t as i32 % width);
            let up = if part >= offset { [t - offset, 1] } else { [t, 0] };
            let down = if part + offset < width { [t + offset, 1] } else { [t, 0] };
            let idx = if offset < width { t - part + offset } else { t };
            assert_eq!(words, [up[0], up[1], down[0], down[1], idx & 1], "thread {t}, offset {offset}, width {width}");
        }
    }
}

#[test]
fn accesses_outside_are_found_and_not_made() {
    let small = Small::new();
    let (x, y) = (small.floats(&ramp(4)), small.floats(&ramp(4)));
    let copy = |from: i64, to: i64| [x.address(), y.address(), from.cast_unsigned(), to.cast_unsigned()];
    small.run("copy", 1, &copy(12, 0)).unwrap();
    assert_eq!(small.values(&y), [3.0, 1.0, 2.0, 3.0]);
    for (arguments, words) in [
        (copy(16, 0), "reads bytes 16..20 of the buffer of 16 bytes of argument 0 by 'llvm.load' 1"),
        (copy(14, 0), "reads bytes 14..18 of the buffer of 16 bytes of argument 0"),
        (copy(-4, 0), "reads bytes -4..0 of the buffer of 16 bytes of argument 0"),
        (copy(0, 16), "writes bytes 16..20 of the buffer of 16 bytes of argument 1 by 'llvm.store' 1"),
        (copy(0, 4000), "writes bytes 4000..4004 of the buffer of 16 bytes of argument 1"),
        ([0, y.address(), 0, 0], "reads 4 bytes at 0x0, where no buffer is,"),
        ([u64::MAX - 1, y.address(), 0, 0], "reads 4 bytes at 0xfffffffffffffffe, where no buffer is,"),
    ] {
        let text = small.fault("copy", 1, &arguments, FaultKind::OutOfBounds);
        assert!(text.starts_with("block 0: thread 0 ") && text.contains(words), "{text}");
    }
    assert_eq!(small.values(&y), [3.0, 1.0, 2.0, 3.0]);
    // A buffer of no bytes, and one that is gone.
    let empty = small.device.allocate(0).unwrap();
    small.fault("copy", 1, &[empty.address(), y.address(), 0, 0], FaultKind::OutOfBounds);
    let gone = small.floats(&ramp(4));
    let address = gone.address();
    drop(gone);
    small.fault("copy", 1, &[address, y.address(), 0, 0], FaultKind::OutOfBounds);
}

#[test]
fn accesses_outside_of_arrays_are_found() {
    let small = Small::new();
    small.run("arrays", 1, &[63, 0]).unwrap();
    let text = small.fault("arrays", 1, &[64, 0], FaultKind::OutOfBounds);
    assert!(text.contains("writes bytes 256..260 of array `tile`, which has 256 bytes, by 'llvm.store' 1"), "{text}");
    let text = small.fault("arrays", 1, &[u64::MAX, 0], FaultKind::OutOfBounds);
    assert!(text.contains("writes bytes -4..0 of array `tile`"), "{text}");
    // Not the memory of the next array either; through an address that may be of any kind.
    let text = small.fault("arrays", 1, &[0, (-2_i64).cast_unsigned()], FaultKind::OutOfBounds);
    assert!(text.contains("reads bytes -8..-4 of array `more`"), "{text}");
    small.fault("arrays", 1, &[1 << 40, 0], FaultKind::OutOfBounds);
}

#[test]
fn misaligned_accesses_are_found() {
    let small = Small::new();
    let (x, y) = (small.floats(&ramp(4)), small.floats(&ramp(4)));
    let text = small.fault("copy", 1, &[x.address(), y.address(), 2, 0], FaultKind::Misaligned);
    assert!(text.contains("reads bytes 2..6 of the buffer") && text.contains("at a multiple of 4"), "{text}");
    small.fault("copy", 1, &[x.address(), y.address(), 4, 7], FaultKind::Misaligned);
}

#[test]
fn reads_of_what_nobody_wrote_are_found() {
    let small = Small::new();
    let y = small.floats(&ramp(4));
    let fresh = small.device.allocate(16).unwrap();
    let text = small.fault("copy", 1, &[fresh.address(), y.address(), 8, 0], FaultKind::Uninitialised);
    assert!(text.contains("reads bytes 8..12 of the buffer of 16 bytes of argument 0"), "{text}");
    // Some of the bytes are not enough; what a kernel writes is.
    let mut stream = small.device.stream().unwrap();
    stream.upload(&fresh, 8, &[0; 3]).unwrap();
    small.fault("copy", 1, &[fresh.address(), y.address(), 8, 0], FaultKind::Uninitialised);
    small.run("copy", 1, &[y.address(), fresh.address(), 8, 8]).unwrap();
    small.run("copy", 1, &[fresh.address(), y.address(), 8, 0]).unwrap();
    // A copy takes along what is written and what is not.
    let copy = small.device.allocate(32).unwrap();
    stream.copy((&fresh, 0), (&copy, 16), 16).unwrap();
    small.run("copy", 1, &[copy.address(), y.address(), 24, 0]).unwrap();
    small.fault("copy", 1, &[copy.address(), y.address(), 20, 0], FaultKind::Uninitialised);
    stream.copy((&copy, 0), (&copy, 16), 16).unwrap();
    small.fault("copy", 1, &[copy.address(), y.address(), 24, 0], FaultKind::Uninitialised);
    let text = small.fault("arrays", 1, &[0, 1], FaultKind::Uninitialised);
    assert!(text.contains("reads bytes 4..8 of array `more`") && text.contains("since the block began"), "{text}");
    let text = small.fault("left_over", 2, &[], FaultKind::Uninitialised);
    assert!(text.starts_with("block 1: thread 0 reads bytes 0..4 of array `tile`"), "{text}");
    // Memory that a pool gives again is as it was left.
    let pool = small.device.pool();
    let first = pool.allocate(16).unwrap();
    small.fault("copy", 1, &[first.address(), y.address(), 0, 0], FaultKind::Uninitialised);
    stream.upload(&first, 0, &[0; 16]).unwrap();
    drop(first);
    let again = pool.allocate(16).unwrap();
    assert_eq!(pool.stats().reused, 1);
    small.run("copy", 1, &[again.address(), y.address(), 0, 0]).unwrap();
}

#[test]
fn a_fault_stays_with_its_stream() {
    let small = Small::new();
    let (x, y) = (small.floats(&ramp(64)), small.floats(&ramp(64)));
    let mut stream = small.device.stream().unwrap();
    let error = small.launch(&mut stream, "overwrite", 1, &[x.address()]).unwrap_err();
    let again = [
        small.launch(&mut stream, "rotate", 1, &[x.address(), y.address()]).unwrap_err(),
        stream.upload(&x, 0, &[0]).unwrap_err(),
        stream.copy((&x, 0), (&y, 0), 4).unwrap_err(),
        stream.download(&x, 0, &mut [0]).unwrap_err(),
        stream.record().unwrap_err(),
        stream.synchronize().unwrap_err(),
    ];
    assert!(again.iter().all(|later| *later == error));
    // Others go on.
    small.run("rotate", 1, &[x.address(), y.address()]).unwrap();
}

/// Threads that stopped in the middle leave nothing behind that matters.
#[test]
fn threads_that_are_left_are_gone() {
    let small = Small::new();
    let (x, y) = (small.floats(&ramp(64)), small.device.allocate(256).unwrap());
    for round in 0..200 {
        // At a barrier, at a shuffle, at an access, and not yet begun.
        small.fault("some_wait", 2, &[round % 63 + 1], FaultKind::DivergentBarrier);
        small.fault("some_shuffle", 1, &[round % 31 + 1], FaultKind::DivergentShuffle);
        small.fault("rotate", 1, &[x.address(), 0], FaultKind::OutOfBounds);
        small.fault("rotate", 1, &[0, y.address()], FaultKind::OutOfBounds);
        let mut stream = small.device.stream().unwrap();
        // The stacks of a stream are used again.
        for _ in 0..3 {
            small.launch(&mut stream, "rotate", 1, &[x.address(), y.address()]).unwrap();
        }
    }
    assert_eq!(small.values(&y)[62..], [63.0, 0.0]);
}

#[test]
fn threads_of_the_host_share_the_device() {
    let small = Small::new();
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let small = &small;
            scope.spawn(move || {
                let mut values = ramp(64);
                values.iter_mut().for_each(|value| *value += seed as f32);
                for _ in 0..50 {
                    let (x, y) = (small.floats(&values), small.device.allocate(256).unwrap());
                    small.run("rotate", 1, &[x.address(), y.address()]).unwrap();
                    small.fault("overwrite", 1, &[x.address()], FaultKind::Race);
                    let mut expected = values.clone();
                    expected.rotate_left(1);
                    assert_eq!(small.values(&y), expected);
                }
            });
        }
    });
    assert_eq!(small.device.allocated_bytes(), 0);
}

#[test]
fn memory_is_counted_and_bounded() {
    let device = open();
    let limit = device.info().limits.memory_bytes;
    let error = device.allocate(limit + 1).unwrap_err();
    assert!(matches!(error, DeviceError::TooLarge { .. }), "{error}");
    let kept = device.allocate(1 << 20).unwrap();
    let error = device.allocate(limit).unwrap_err();
    assert!(matches!(error, DeviceError::OutOfMemory { allocated, .. } if allocated == 1 << 20), "{error}");
    drop(kept);
    assert_eq!(device.allocated_bytes(), 0);
}

#[test]
fn events_measure_launches() {
    let small = Small::new();
    let (x, y) = (small.floats(&ramp(64)), small.device.allocate(256).unwrap());
    let mut stream = small.device.stream().unwrap();
    let begin = stream.record().unwrap();
    small.launch(&mut stream, "rotate", 1, &[x.address(), y.address()]).unwrap();
    let end = stream.record().unwrap();
    stream.synchronize().unwrap();
    assert!(end.since(&begin).unwrap() > std::time::Duration::ZERO);
}

#[test]
fn runs_are_alike() {
    let texts: Vec<String> = (0..3)
        .map(|_| {
            let small = Small::new();
            let x = small.floats(&ramp(64));
            small.fault("overwrite", 4, &[x.address()], FaultKind::Race)
        })
        .collect();
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
}

#[test]
fn what_cannot_be_loaded_or_launched_is_refused() {
    let small = Small::new();
    let mut stream = small.device.stream().unwrap();
    let error = small.launch(&mut stream, "rotate", 1, &[0]).unwrap_err();
    assert!(error.to_string().contains("with 1 argument: it takes 2"), "{error}");
    stream.synchronize().unwrap();
    let kernel = small.module.kernel("rotate").unwrap();
    assert_eq!((kernel.info().threads_per_group, kernel.info().shared_bytes), (64, 256));
    // SAFETY: nothing is launched.
    let error = unsafe { stream.launch(&kernel, 1, 4, &[0, 0]) }.unwrap_err();
    assert!(matches!(error, DeviceError::DynamicShared { bytes: 4, .. }), "{error}");
    let with = |subgroup| small.module.kernel_with("rotate", &KernelOptions::default().subgroup(subgroup));
    with(32).unwrap();
    let error = with(64).unwrap_err();
    assert!(error.to_string().contains("it was compiled for 32; give 'convert-gpu-to-fibers' that number"), "{error}");
    let load = |bytes: &[u8]| small.device.load(bytes).unwrap_err().to_string();
    assert!(load(b"").ends_with("it is empty"));
    assert!(load(b"no library").contains("kernels.so"));
    let of = |globals: &str| load(&compile_text("other.mlir", globals, "canonicalize"));
    let text = of("llvm.mlir.global external constant @other(1 : i32) : i32");
    assert!(text.contains("it has no `sutura_fibers_abi`, so it is no library of `convert-gpu-to-fibers`"), "{text}");
    let text = of("llvm.mlir.global external constant @sutura_fibers_abi(2 : i32) : i32");
    assert!(text.contains("it keeps version 2 of the interface for fibers, and this is version 1"), "{text}");
    for (description, words) in [
        ("{", "its description is wrong"),
        (r#"{\22subgroup\22:48,\22kernels\22:[],\22sites\22:[]}"#, "it is for subgroups of 48 threads"),
        (r#"{\22subgroup\22:32,\22kernels\22:[],\22sites\22:[]}"#, "it has no kernel"),
    ] {
        let text = of(&format!(
            "llvm.mlir.global external constant @sutura_fibers_abi(1 : i32) : i32\n\
             llvm.mlir.global external constant @sutura_fibers_kernels(\"{description}\\00\")"
        ));
        assert!(text.contains(words), "{text}");
    }
}
