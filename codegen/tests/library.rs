//! What static libraries are made of: code joined with LLVM IR, objects of data, archives.

use std::io::{self, Write};

use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use sutura_codegen::{
    Accepted, Error, Stage, Target, accept, data_offsets, emit_object, write_archive, write_data_object,
};

/// An object of a module without anything for the processor.
fn object_for(triple: &str, features: &str) -> Vec<u8> {
    emit_object("module {}", "m", &Target::new(triple, features), &mut Vec::new()).unwrap()
}

#[test]
fn data_lie_where_they_are_looked_for() {
    let parts: [&[u8]; 4] = [&[1; 70], &[], &[2; 3], &[3; 64]];
    let (offsets, size) = data_offsets(parts.iter().map(|part| part.len()));
    assert_eq!((&offsets[..], size), (&[0, 128, 128, 192][..], 256));
    for (triple, features) in [
        ("x86_64-unknown-linux-gnu", ""),
        ("aarch64-unknown-linux-gnu", ""),
        ("riscv64-unknown-linux-gnu", "+m,+a,+f,+d,+c"),
    ] {
        let (like, mut made) = (object_for(triple, features), Vec::new());
        write_data_object(&like, "weights", &parts, &mut made).unwrap();
        let file = object::File::parse(&made[..]).unwrap();
        let code = object::File::parse(&like[..]).unwrap();
        assert_eq!((file.architecture(), file.flags()), (code.architecture(), code.flags()), "{triple}");
        let section = file.section_by_name(".rodata").unwrap();
        assert_eq!((section.align(), section.size()), (64, 256));
        for (part, offset) in parts.iter().zip(&offsets) {
            assert_eq!(&section.data().unwrap()[*offset..][..part.len()], *part);
        }
        let symbol = file.symbol_by_name("weights").unwrap();
        assert_eq!((symbol.address(), symbol.size()), (0, 256));
        assert!(symbol.is_definition() && symbol.scope() == object::SymbolScope::Linkage, "it is hidden");
        assert!(file.section_by_name(".note.GNU-stack").is_some());
    }
    assert!(matches!(write_data_object(b"no object", "d", &[], io::sink()), Err(Error::Object { .. })));
}

#[test]
fn the_same_objects_make_the_same_archive() {
    let object = object_for("x86_64-unknown-linux-gnu", "");
    let mut data = Vec::new();
    write_data_object(&object, "weights", &[&[5; 9]], &mut data).unwrap();
    let archive = || {
        let mut out = Vec::new();
        write_archive(&[("a name that is longer than others.o", &object), ("data.o", &data)], &mut out).unwrap();
        out
    };
    let made = archive();
    assert!(made.starts_with(b"!<arch>\n") && made == archive());
    assert!(made.windows(data.len()).any(|window| window == data));
    let refused = write_archive(&[("o.o", &object)], &mut Full).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
}

/// A disk without room.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const CODE: &str = "module {
  llvm.func @helper(%x: i32) -> i32 { llvm.return %x : i32 }
  llvm.func @code(%x: i32) -> i32 { %0 = llvm.call @helper(%x) : (i32) -> i32  llvm.return %0 : i32 }
}";

fn code() -> Accepted {
    accept(CODE, "m", &Target::new("x86_64-unknown-linux-gnu", ""), &mut Vec::new()).unwrap()
}

const RENAMED: [(&str, &str); 1] = [("code", "inner")];

#[test]
fn only_what_is_exported_is_seen() {
    // The text has names that the code has, too.
    let text = "declare i32 @inner(i32)
define i32 @helper(i32 %x) { ret i32 7 }
define i32 @code(i32 %x) {
  %one = call i32 @inner(i32 %x)
  %two = call i32 @helper(i32 %x)
  %sum = add i32 %one, %two
  ret i32 %sum
}";
    let mut joined = code();
    joined.join(text, &RENAMED, &["code".to_owned()]).unwrap();
    let object = joined.into_library_object(&[], &mut Vec::new()).unwrap();
    let file = object::File::parse(&object[..]).unwrap();
    let global: Vec<&str> = file.symbols().filter(|s| s.is_global()).map(|s| s.name().unwrap()).collect();
    assert_eq!(global, ["code"]);
}

#[test]
fn what_does_not_go_together_is_an_error() {
    let failed = |text: &str, renamed: &[(&str, &str)]| code().join(text, renamed, &[]).unwrap_err();
    let error = failed("define i32 @f( {", &RENAMED);
    assert!(matches!(&error, Error::Llvm { stage: Stage::Join, .. }), "{error}");
    let error = failed("", &[("absent", "inner")]);
    assert!(error.to_string().contains("no function `absent`"), "{error}");
    let error = failed("define i32 @inner(i32 %x) { ret i32 %x }", &RENAMED);
    assert!(error.to_string().contains("inner"), "{error}");
}

#[test]
fn what_nobody_provides_is_named() {
    let text = "declare i32 @inner(i32)
declare i32 @puts(ptr)
define i32 @f(ptr %x) { %y = call i32 @puts(ptr %x)  ret i32 %y }";
    let joined = || {
        let mut joined = code();
        joined.join(text, &RENAMED, &["f".to_owned()]).map(|()| joined).unwrap()
    };
    joined().into_library_object(&["puts"], &mut Vec::new()).unwrap();
    let error = joined().into_library_object(&[], &mut Vec::new()).unwrap_err();
    assert!(matches!(error, Error::Undefined { symbols } if symbols == ["puts"]));
}
