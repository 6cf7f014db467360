//! Every kind of thing that a name may stand for, and streams without an end.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use sutura_input::{InputError, Kind, regular, regular_bytes, text, text_of, utf8};

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        path
    }
}

fn soon<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    assert!(start.elapsed() < Duration::from_secs(8), "it waited");
    result
}

#[test]
fn only_regular_files_are_models() {
    let place = Place::new();
    let file = place.file("m", b"abc");
    assert_eq!(regular_bytes(&file, 3).unwrap(), b"abc");
    let too_large = regular_bytes(&file, 2).unwrap_err();
    assert!(matches!(too_large, InputError::TooLarge { limit: 2, size: Some(3) }), "{too_large}");
    assert_eq!((too_large.code(), too_large.is_system()), ("E0425", false));
    let socket = place.folder.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    let link = place.folder.path().join("link");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    let refused = [
        (place.pipe("pipe"), Kind::Pipe),
        (socket, Kind::Socket),
        (PathBuf::from("/dev/zero"), Kind::CharDevice),
        (link, Kind::CharDevice),
        (place.folder.path().to_owned(), Kind::Folder),
    ];
    for (path, kind) in refused {
        match soon(|| regular(&path)) {
            Err(error @ InputError::NotAFile { kind: found }) => {
                assert_eq!(found, kind);
                assert_eq!(error.code(), "E0427");
            }
            other => panic!("{}: {other:?}", path.display()),
        }
    }
    assert!(regular(&place.folder.path().join("none")).unwrap_err().is_system());
}

#[test]
fn texts_come_from_files_pipes_and_devices() {
    let place = Place::new();
    assert_eq!(text(&place.file("m", b"abc"), 3).unwrap(), b"abc");
    assert_eq!(text(Path::new("/dev/null"), 3).unwrap(), b"");
    let named = place.pipe("named");
    let writer = named.clone();
    let writing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        let mut pipe = OpenOptions::new().write(true).open(writer).unwrap();
        // In two pieces: between them there is nothing to read.
        pipe.write_all(b"first ").unwrap();
        std::thread::sleep(Duration::from_millis(100));
        pipe.write_all(b"second").unwrap();
    });
    assert_eq!(soon(|| text(&named, 100)).unwrap(), b"first second");
    writing.join().unwrap();
    assert!(matches!(soon(|| text(&named, 100)), Err(InputError::NoWriter)));
    assert!(matches!(text(place.folder.path(), 100), Err(InputError::NotAText { kind: Kind::Folder })));
}

#[test]
fn a_process_substitution_is_a_text() {
    let (reader, mut writer) = io::pipe().unwrap();
    writer.write_all(b"text").unwrap();
    drop(writer);
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
    assert_eq!(soon(|| text(Path::new(&path), 100)).unwrap(), b"text");
    assert!(matches!(regular(Path::new(&path)), Err(InputError::NotAFile { kind: Kind::Pipe })));
}

#[test]
fn what_has_no_end_is_read_to_the_limit() {
    struct Counted<R>(R, u64);
    impl<R: Read> Read for Counted<R> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read(to)?;
            self.1 += read as u64;
            Ok(read)
        }
    }
    for limit in [1, 1000, 1 << 20, 5_000_000] {
        let mut stream = Counted(io::repeat(b'x'), 0);
        let error = text_of(&mut stream, limit).unwrap_err();
        assert!(matches!(error, InputError::TooLarge { size: None, .. }));
        assert_eq!(stream.1, limit + 1);
    }
    let mut child = Command::new("yes").stdout(std::process::Stdio::piped()).spawn().unwrap();
    let error = text_of(child.stdout.take().unwrap(), 1 << 20).unwrap_err();
    assert!(matches!(error, InputError::TooLarge { .. }));
    child.wait().unwrap();
}

#[test]
fn a_nul_byte_ends_the_reading_and_is_placed() {
    let place = Place::new();
    match text(Path::new("/dev/zero"), u64::MAX).unwrap_err() {
        InputError::Nul { offset: 0, line: 1 } => {}
        other => panic!("{other}"),
    }
    let mut long = b"line\n".repeat(300_000);
    long[1_400_003] = 0;
    let error = text(&place.file("m", &long), u64::MAX).unwrap_err();
    assert!(matches!(error, InputError::Nul { offset: 1_400_003, line: 280_001 }), "{error}");
    assert!(matches!(utf8(b"a\nb\xff".to_vec()), Err(InputError::NotUtf8 { offset: 3, line: 2 })));
}

#[test]
fn a_file_without_blocks_costs_no_memory_before_it_is_refused() {
    let place = Place::new();
    let path = place.file("m", b"");
    OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(matches!(regular_bytes(&path, 1 << 30), Err(InputError::TooLarge { .. })));
    assert!(matches!(text(&path, 1 << 30), Err(InputError::TooLarge { .. })));
}
