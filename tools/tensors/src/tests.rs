use std::path::Path;

use allocation_counter::measure;
use sutura_runtime::{ElementType, Tensor};

use super::*;

/// A tensor whose bytes all differ from their neighbours, and are 0 or 1 for booleans.
fn tensor(element_type: ElementType, dims: &[i64]) -> Tensor {
    let mut tensor = Tensor::zeros(element_type, dims).unwrap();
    let modulus = if element_type == ElementType::Bool { 2 } else { 251 };
    for (i, byte) in tensor.bytes_mut().iter_mut().enumerate() {
        *byte = ((i * 37 + 5) % modulus) as u8;
    }
    if element_type.bits() < 8 {
        let packed = packed::of(&tensor).into_owned();
        let elements = packed::unpack(element_type, &packed, tensor.len());
        tensor.bytes_mut().copy_from_slice(&elements);
    }
    tensor
}

fn bytes_of(format: Format, tensors: &[(&str, &Tensor)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write::contents(format, tensors, &mut bytes).unwrap();
    bytes
}

fn path_of(format: Format) -> PathBuf {
    format!("x{}", format.name()).into()
}

fn all(format: Format, bytes: Vec<u8>, limit: Option<u64>) -> Result<Vec<(String, Tensor)>> {
    let mut file = TensorFile::from_bytes(&path_of(format), bytes, limit)?;
    let names = file.names().to_vec();
    names.into_iter().enumerate().map(|(i, name)| Ok((name, file.read(i)?))).collect()
}

fn reason(format: Format, bytes: Vec<u8>) -> String {
    all(format, bytes, None).unwrap_err().to_string()
}

fn same(left: &Tensor, right: &Tensor) -> bool {
    (left.element_type(), left.dims(), left.bytes()) == (right.element_type(), right.dims(), right.bytes())
}

#[test]
fn every_format_keeps_every_type_that_it_has() {
    for format in Format::ALL {
        for element_type in ElementType::ALL {
            for dims in [&[][..], &[3], &[2, 0, 3], &[2, 3, 1]] {
                let tensor = tensor(element_type, dims);
                let writable = check_writable(&path_of(format), &[("t", element_type)]);
                let is_short = element_type.bits() < 8;
                let has = match format {
                    Format::Safetensors => {
                        element_type != ElementType::C128 && (!is_short || element_type == ElementType::F4E2M1FN)
                    }
                    Format::Pb => true,
                    _ => !(is_short || element_type.is_byte_float() || element_type == ElementType::BF16),
                };
                assert_eq!(writable.is_ok(), has, "{format:?} {element_type}");
                if !has || format == Format::Safetensors && is_short && tensor.len() % 2 == 1 {
                    continue;
                }
                let bytes = bytes_of(format, &[("t", &tensor)]);
                let mut file = TensorFile::from_bytes(&path_of(format), bytes.clone(), None).unwrap();
                assert_eq!(file.signature(0).unwrap(), (element_type, dims.to_vec()));
                let read = all(format, bytes, None).unwrap();
                let name = if format == Format::Npy { "" } else { "t" };
                assert!(read.len() == 1 && read[0].0 == name && same(&read[0].1, &tensor), "{format:?} {element_type}");
            }
        }
    }
}

/// Elements of less than a byte are packed from the low end of each byte; what lies above them in memory is not written.
#[test]
fn short_elements_are_packed() {
    let [a, b, c] =
        [(ElementType::I4, [0xff, 7, 0x18]), (ElementType::U4, [15, 0xf7, 8]), (ElementType::F4E2M1FN, [15, 7, 8])]
            .map(|(ty, bytes)| Tensor::from_bytes(ty, &[3], &bytes).unwrap());
    for (tensor, read) in [(&a, [0xff, 7, 0xf8]), (&b, [15, 7, 8]), (&c, [15, 7, 8])] {
        let bytes = bytes_of(Format::Pb, &[("t", tensor)]);
        assert_eq!(bytes[bytes.len() - 2..], [0x7f, 0x08]);
        assert_eq!(all(Format::Pb, bytes, None).unwrap()[0].1.bytes(), read);
    }
    let two = Tensor::from_bytes(ElementType::I2, &[5], &[0xfe, 0xff, 0, 1, 0xff]).unwrap();
    let bytes = bytes_of(Format::Pb, &[("t", &two)]);
    assert_eq!(bytes[bytes.len() - 2..], [0b0100_1110, 0b11]);
    assert!(same(&all(Format::Pb, bytes, None).unwrap()[0].1, &two));
    let odd = write::contents(Format::Safetensors, &[("t", &c)], &mut Vec::new()).unwrap_err().to_string();
    assert!(odd.contains("the elements of `t`, 3 of f4E2M1FN, do not fill whole bytes"), "{odd}");
    let file =
        bytes_of(Format::Safetensors, &[("t", &Tensor::from_bytes(ElementType::F4E2M1FN, &[2], &[1, 0xf2]).unwrap())]);
    assert_eq!(file.last(), Some(&0x21));
    let text = String::from_utf8_lossy(&file).replace("[2]", "[3]");
    assert!(reason(Format::Safetensors, text.into_bytes()).contains("which does not fill its 1 bytes"));
}

#[test]
fn several_tensors_of_any_names_are_kept() {
    let (a, b, c) = (tensor(ElementType::U8, &[3]), tensor(ElementType::F64, &[2]), tensor(ElementType::I16, &[0]));
    let tensors = [("/layer/a", &a), ("../\"b\"\n", &b), ("ü:0", &c)];
    for format in [Format::Npz, Format::Safetensors] {
        let read = all(format, bytes_of(format, &tensors), None).unwrap();
        assert_eq!(read.len(), 3);
        for (name, tensor) in tensors {
            assert!(same(&read.iter().find(|(n, _)| n == name).unwrap().1, tensor), "{format:?} {name}");
        }
        assert_eq!(all(format, bytes_of(format, &[]), None).unwrap().len(), 0);
    }
}

#[test]
fn a_tensor_is_found_by_name_or_because_it_is_the_only_one() {
    let (one, two) = (tensor(ElementType::U8, &[1]), tensor(ElementType::U8, &[2]));
    let open = |tensors: &[(&str, &Tensor)]| {
        TensorFile::from_bytes(Path::new("x.npz"), bytes_of(Format::Npz, tensors), None).unwrap()
    };
    let both = open(&[("alpha", &one), ("beta", &two)]);
    assert_eq!(both.find("beta").unwrap(), 1);
    assert_eq!(both.find("bet").unwrap_err().to_string(), "`x.npz` has no tensor `bet` (did you mean `beta`?)");
    assert_eq!(both.find("x").unwrap_err().to_string(), "`x.npz` has no tensor `x`; it has `alpha`, `beta`");
    assert_eq!(both.find_for("x").unwrap_err().to_string(), "`x.npz` has several tensors: `alpha`, `beta`");
    assert_eq!(open(&[("alpha", &one)]).find_for("x").unwrap(), 0);
    assert!(open(&[]).find_for("x").unwrap_err().to_string().contains("it is empty"));
}

#[test]
fn files_of_other_programs_are_read() {
    let mut npz = open_data("numpy.npz");
    assert_eq!(npz.names(), ["x", "/layer/mask"]);
    assert_eq!(npz.read(0).unwrap().as_slice::<f32>(), Some(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0][..]));
    assert_eq!(npz.read(1).unwrap().as_slice::<i64>(), Some(&[1, -2, 3][..]));
    let mut packed = open_data("numpy_compressed.npz");
    assert_eq!(packed.signature(0).unwrap(), (ElementType::F32, vec![40, 40]));
    assert!(packed.read(0).unwrap().bytes().iter().all(|&b| b == 0));
    // Column by column in the file.
    assert_eq!(packed.read(1).unwrap().as_slice::<f32>(), Some(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0][..]));
    for name in ["raw.pb", "float_data.pb"] {
        let mut pb = open_data(name);
        assert_eq!(pb.names(), ["x"]);
        let tensor = pb.read(0).unwrap();
        assert_eq!((tensor.dims(), tensor.as_slice::<f32>().unwrap()[4]), (&[2, 3][..], 4.0));
    }
    let half = open_data("bfloat16_data.pb").read(0).unwrap();
    assert_eq!((half.element_type(), half.bytes()), (ElementType::BF16, &[0x80, 0x3f, 0x20, 0xc0][..]));
}

fn open_data(name: &str) -> TensorFile {
    TensorFile::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name), None).unwrap()
}

#[test]
fn other_programs_read_what_is_written() {
    let (a, b) = (tensor(ElementType::U8, &[3]), tensor(ElementType::F64, &[2]));
    let bytes = bytes_of(Format::Safetensors, &[("a", &a), ("b", &b)]);
    let read = ::safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(read.tensor("a").unwrap().data(), a.bytes());
    assert_eq!((read.tensor("b").unwrap().data(), read.tensor("b").unwrap().shape()), (b.bytes(), &[2][..]));
    let bytes = bytes_of(Format::Npz, &[("a", &a), ("b/c", &b)]);
    let mut archive = ::zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut array = Vec::new();
    archive.by_name("b/c.npy").unwrap().read_to_end(&mut array).unwrap();
    assert_eq!(array, npy::to_bytes(&b).unwrap());
}

#[test]
fn what_is_unpacked_has_a_limit_too() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/numpy_compressed.npz");
    let error = TensorFile::open(&path, Some(1000)).unwrap_err();
    assert!(
        error.to_string().ends_with("numpy_compressed.npz:x`: it has 6528 bytes, more than the limit of 1000 bytes"),
        "{error}"
    );
    assert!(matches!(error, Error::Read { source: InputError::TooLarge { .. }, .. }));
}

/// Small files of all formats, with what the format has of special cases.
fn samples() -> Vec<(Format, Vec<u8>)> {
    let (a, b) = (tensor(ElementType::I16, &[3]), tensor(ElementType::Bool, &[2, 2]));
    let data = |name: &str| std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)).unwrap();
    vec![
        (Format::Npy, bytes_of(Format::Npy, &[("a", &a)])),
        (Format::Npz, bytes_of(Format::Npz, &[("a", &a), ("b", &b)])),
        (Format::Npz, data("numpy.npz")),
        (Format::Npz, data("numpy_compressed.npz")),
        (Format::Safetensors, bytes_of(Format::Safetensors, &[("a", &a), ("b", &b)])),
        (Format::Pb, bytes_of(Format::Pb, &[("a", &a)])),
        (Format::Pb, data("float_data.pb")),
    ]
}

/// Reads what may be damaged: no panic, and no more memory than the file justifies.
fn read_damaged(format: Format, bytes: &[u8]) -> bool {
    let owned = bytes.to_vec();
    let mut fine = false;
    let used = measure(|| fine = all(format, owned, None).is_ok());
    // Deflate makes no more than 1032 bytes of one; a decoder has its tables and buffers.
    let most = 2 * 1032 * bytes.len() as u64 + (1 << 18);
    assert!(used.bytes_max <= most, "{format:?}: {} bytes of memory for {} of the file", used.bytes_max, bytes.len());
    fine
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    for (format, bytes) in samples() {
        for cut in 0..bytes.len() {
            let fine = read_damaged(format, &bytes[..cut]);
            // A protobuf without its last field is one; ONNX writes the name behind the elements.
            assert!(!fine || format == Format::Pb, "{format:?} cut at {cut} of {}", bytes.len());
        }
    }
}

#[test]
fn a_file_with_any_byte_changed_is_refused_or_read() {
    for (format, bytes) in samples() {
        for at in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff, bytes[at]].into_iter().filter(|&change| change != 0) {
                let mut damaged = bytes.clone();
                damaged[at] ^= change;
                let fine = read_damaged(format, &damaged);
                // Checksum and sizes of the first entry stand twice.
                let twice = format == Format::Npz && (14..26).contains(&at);
                assert!(!fine || !twice, "a change by {change:#x} at {at} is not noticed");
            }
        }
    }
}

/// Bytes set, left out, repeated and moved, a few at a time.
#[test]
fn a_file_with_many_changes_is_refused_or_read() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for (format, bytes) in samples() {
        for _ in 0..1500 {
            let mut damaged = bytes.clone();
            for _ in 0..=random(5) {
                let (at, length) = (random(damaged.len()), 1 + random(8));
                let end = (at + length).min(damaged.len());
                match random(4) {
                    0 => damaged[at..end].fill([0, 0xff, 1, 0x7f][random(4)]),
                    1 => drop(damaged.drain(at..end)),
                    2 => damaged.extend_from_within(at..end),
                    _ => damaged.rotate_left(at),
                }
            }
            read_damaged(format, &damaged);
        }
    }
}

#[test]
fn headers_of_safetensors_are_not_believed() {
    let file = |header: &str, data: usize| {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(vec![0; data]);
        bytes
    };
    let says = |header: &str, data: usize, words: &str| {
        let reason = reason(Format::Safetensors, file(header, data));
        assert!(reason.starts_with("`x.safetensors` is not a usable .safetensors file: "), "{reason}");
        assert!(reason.contains(words) && reason.len() < 400, "{reason}");
    };
    let a = |offsets: &str| format!(r#""a":{{"dtype":"U8","shape":[2],"data_offsets":{offsets}}}"#);
    let b = |offsets: &str| format!(r#""b":{{"dtype":"U8","shape":[2],"data_offsets":{offsets}}}"#);
    assert!(all(Format::Safetensors, file(&format!("{{{},{}}}", a("[0,2]"), b("[2,4]")), 4), None).is_ok());
    let metadata = r#"{"__metadata__":{"format":"pt"}}"#;
    assert_eq!(all(Format::Safetensors, file(metadata, 0), None).unwrap().len(), 0);
    says(&format!("{{{},{}}}", a("[0,2]"), b("[1,3]")), 3, "`b` begins at byte 1, inside another tensor");
    says(&format!("{{{},{}}}", a("[0,2]"), b("[3,5]")), 5, "bytes 2 to 3, before `b`, are of no tensor");
    says(&format!("{{{},{}}}", a("[0,2]"), a("[2,4]")), 4, "`a` is there twice");
    says(&format!("{{{}}}", a("[0,2]")), 3, "its tensors have 2 bytes, and the file holds 3");
    says(&format!("{{{}}}", a("[0,2]")), 1, "its tensors have 2 bytes, and the file holds 1");
    says(&format!("{{{}}}", a("[2,0]")), 2, "before its beginning");
    says(&format!("{{{}}}", a("[0,3]")), 3, "`a` is U8[2], which does not fill its 3 bytes");
    says(&format!("{{{}}}", a("[0,-2]")), 2, "its header is wrong: invalid value: integer `-2`");
    let other = |dtype: &str| format!(r#"{{"a":{{"dtype":"{dtype}","shape":[2],"data_offsets":[0,2]}}}}"#);
    says(&other("Q9"), 2, "`a`: its element type `Q9` is none that inputs");
    says(&other("BOOL").replace("[2]", "[18446744073709551615,2]"), 2, "does not fill its 2 bytes");
    says(&other("U8").replace("\"shape\"", "\"colour\""), 2, "unknown field `colour`");
    says(&other("U8").replace("[2]", &format!("[{}1]", "1,".repeat(80_000))), 2, "has rank 80001, above 64");
    says("[1]", 0, "does not begin as JSON");
    says(&format!("{{\"a\":{}", "[".repeat(100_000)), 0, "its header is wrong");
    let mut long = u64::MAX.to_le_bytes().to_vec();
    long.extend(b"{}");
    assert!(reason(Format::Safetensors, long).contains("its header claims 18446744073709551615 bytes, and 2 follow"));
    assert!(reason(Format::Safetensors, vec![1; 7]).contains("too short"));
    let mut bools = file(&other("BOOL"), 2);
    *bools.last_mut().unwrap() = 2;
    assert!(reason(Format::Safetensors, bools).contains("a boolean is neither 0 nor 1"));
    // A type that is not known hurts nobody who wants another tensor.
    let two = format!(
        "{{{},{}}}",
        a("[0,2]"),
        other("F6_E2M3").trim_matches(['{', '}']).replace("\"a\"", "\"b\"").replace("[0,2]", "[2,4]") + "}"
    );
    let mut two = TensorFile::from_bytes(Path::new("x.safetensors"), file(&two, 4), None).unwrap();
    assert!(two.read(0).is_ok() && two.read(1).is_err());
}

#[test]
fn protobufs_of_other_kinds_are_refused() {
    let says = |bytes: &[u8], words: &str| {
        let reason = reason(Format::Pb, bytes.to_vec());
        assert!(reason.starts_with("`x.pb` is not a usable .pb file: ") && reason.contains(words), "{reason}");
    };
    says(b"", "it is empty");
    says(&bytes_of(Format::Npy, &[("a", &tensor(ElementType::U8, &[3]))]), "it looks like a NumPy array");
    says(b"\x08\x07\x12\x07pytorch", "TensorProto");
    // dims [3], U8, one byte.
    says(b"\x08\x03\x10\x02\x4a\x01\x01", "holds 1 bytes, but 3 elements of u8 take 3");
    says(b"\x08\x01\x10\x63\x4a\x01\x01", "unknown element type 99");
    says(b"\x08\x01\x10\x09\x4a\x01\x02", "a boolean is neither 0 nor 1");
    // One string, one complex number.
    says(b"\x08\x01\x10\x08\x32\x01a", "its element type `string` is none that inputs");
    says(b"\x08\x01\x10\x02\x70\x01", "external");
}

#[test]
fn what_a_file_cannot_hold_is_known_before_it_is_written() {
    let refuses = |path: &str, tensors: &[(&str, ElementType)], words: &str| {
        let reason = check_writable(Path::new(path), tensors).unwrap_err().to_string();
        assert!(reason.contains(words), "{reason}");
    };
    refuses("x.npz", &[("y", ElementType::BF16)], "`x.npz` cannot hold `y`: NumPy has no type bf16");
    refuses("x.npy", &[("y", ElementType::F8E5M2)], "NumPy has no type f8E5M2; write .safetensors or .pb");
    refuses("x.npz", &[("y", ElementType::I4)], "NumPy has no type i4; write .pb");
    refuses("x.safetensors", &[("y", ElementType::U2)], "safetensors has no type u2; write .pb");
    refuses("x.safetensors", &[("y", ElementType::C128)], "safetensors has no type complex<f64>; write .npy or .pb");
    refuses("x.npy", &[("y", ElementType::F32), ("z", ElementType::F32)], "holds one tensor");
    refuses("x.pb", &[("y", ElementType::F32), ("z", ElementType::F32)], "holds one tensor");
    refuses("x.safetensors", &[("__metadata__", ElementType::F32)], "another use for this name");
    let long = "n".repeat(70_000);
    refuses("x.npz", &[(&long, ElementType::F32)], "its name is too long");
}

#[test]
fn files_are_written_and_opened() {
    let folder = tempfile::tempdir().unwrap();
    for format in Format::ALL {
        let path = folder.path().join(path_of(format));
        let tensor = tensor(ElementType::I32, &[2, 2]);
        write(&path, &[("y", &tensor)]).unwrap();
        assert!(same(&TensorFile::open(&path, None).unwrap().read(0).unwrap(), &tensor));
        let limit = TensorFile::open(&path, Some(8)).unwrap_err().to_string();
        assert!(limit.contains("more than the limit"), "{limit}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    let reason = write(&folder.path().join("no/x.npz"), &[]).unwrap_err().to_string();
    assert!(reason.starts_with("cannot write `"), "{reason}");
    let reason = TensorFile::open(folder.path(), None).unwrap_err().to_string();
    assert!(reason.contains("it is a folder, not a file"), "{reason}");
    assert_eq!(Format::of(Path::new("a/x.NPZ")), Some(Format::Npz));
    assert_eq!(Format::of(Path::new("npz")), None);
}
