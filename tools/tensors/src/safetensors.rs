//! `.safetensors`: eight bytes with the length of a header, the header in JSON, the elements of all tensors without gaps.

use std::collections::HashSet;
use std::fmt;
use std::io::{Read, Seek, SeekFrom, Write};

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use sutura_runtime::abi::MAX_RANK;
use sutura_runtime::{ElementType, Tensor};

use crate::error::{Problem, short};
use crate::pb::no_such_type;
use crate::{check_booleans, little_endian, packed};

/// Bytes of the header's length.
const LENGTH: u64 = 8;

/// The longest header that the format allows.
const MAX_HEADER: u64 = 100_000_000;

/// A key of the header that names no tensor.
const METADATA: &str = "__metadata__";

/// What the format calls each type.
const TYPES: [(ElementType, &str); 20] = [
    (ElementType::Bool, "BOOL"),
    (ElementType::I8, "I8"),
    (ElementType::U8, "U8"),
    (ElementType::I16, "I16"),
    (ElementType::U16, "U16"),
    (ElementType::I32, "I32"),
    (ElementType::U32, "U32"),
    (ElementType::I64, "I64"),
    (ElementType::U64, "U64"),
    (ElementType::F8E4M3FN, "F8_E4M3"),
    (ElementType::F8E5M2, "F8_E5M2"),
    (ElementType::F16, "F16"),
    (ElementType::BF16, "BF16"),
    (ElementType::F32, "F32"),
    (ElementType::F64, "F64"),
    (ElementType::F8E4M3FNUZ, "F8_E4M3FNUZ"),
    (ElementType::F8E5M2FNUZ, "F8_E5M2FNUZ"),
    (ElementType::F8E8M0FNU, "F8_E8M0"),
    (ElementType::F4E2M1FN, "F4"),
    (ElementType::C64, "C64"),
];

/// Whether the format has a type for such elements.
pub(crate) fn has(element_type: ElementType) -> bool {
    TYPES.iter().any(|(ty, _)| *ty == element_type)
}

/// A file whose header was read.
pub(crate) struct Safetensors<R> {
    file: R,
    /// Where the elements begin.
    data: u64,
    tensors: Vec<(String, Info)>,
}

impl<R: Read + Seek> Safetensors<R> {
    pub(crate) fn new(mut file: R, length: u64) -> Result<Self, Problem> {
        let mut size = [0; LENGTH as usize];
        if length < LENGTH {
            return Err("it is too short".into());
        }
        file.read_exact(&mut size)?;
        let size = u64::from_le_bytes(size);
        let room = length - LENGTH;
        if size > MAX_HEADER || size > room {
            return Err(format!("its header claims {size} bytes, and {room} follow").into());
        }
        let mut text = vec![0; size as usize];
        file.read_exact(&mut text)?;
        if text.first() != Some(&b'{') {
            return Err("its header does not begin as JSON".into());
        }
        let Header(tensors) = serde_json::from_slice(&text).map_err(|e| format!("its header is wrong: {e}"))?;
        check_places(&tensors, room - size)?;
        Ok(Self { file, data: LENGTH + size, tensors })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.tensors.iter().map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn signature(&self, index: usize) -> Result<(ElementType, Vec<i64>), Problem> {
        let (name, info) = &self.tensors[index];
        let found = TYPES.iter().find(|(_, has)| *has == info.dtype);
        let (element_type, _) = *found.ok_or_else(|| format!("`{}`: {}", short(name), no_such_type(&info.dtype)))?;
        if info.shape.len() > MAX_RANK {
            return Err(format!("`{}` has rank {}, above {MAX_RANK}", short(name), info.shape.len()).into());
        }
        let bits = info.elements().and_then(|n| n.checked_mul(element_type.bits().into()));
        let [begin, end] = info.data_offsets;
        // The format has no place for a byte that is not full.
        if bits != (end - begin).checked_mul(8) {
            let (dtype, shape, name) = (&info.dtype, &info.shape, short(name));
            return Err(format!("`{name}` is {dtype}{shape:?}, which does not fill its {} bytes", end - begin).into());
        }
        let dims: Result<Vec<i64>, _> = info.shape.iter().map(|&dim| i64::try_from(dim)).collect();
        Ok((element_type, dims.map_err(|_| format!("`{}` has a dimension that is too large", short(name)))?))
    }

    pub(crate) fn read(&mut self, index: usize) -> Result<Tensor, Problem> {
        let (element_type, dims) = self.signature(index)?;
        let mut tensor = Tensor::zeros(element_type, &dims)?;
        let [begin, end] = self.tensors[index].1.data_offsets;
        self.file.seek(SeekFrom::Start(self.data + begin))?;
        if element_type.bits() < 8 {
            // No more than the file has, which was compared above.
            let mut bytes = vec![0; usize::try_from(end - begin).map_err(|_| "it is too large for this machine")?];
            self.file.read_exact(&mut bytes)?;
            let elements = packed::unpack(element_type, &bytes, tensor.len());
            tensor.bytes_mut().copy_from_slice(&elements);
            return Ok(tensor);
        }
        self.file.read_exact(tensor.bytes_mut())?;
        little_endian(tensor.bytes_mut(), element_type.word_bytes());
        check_booleans(&tensor)?;
        Ok(tensor)
    }
}

/// Tensors fill the data: no hole, no overlap, nothing behind them.
fn check_places(tensors: &[(String, Info)], room: u64) -> Result<(), Problem> {
    let mut order: Vec<&(String, Info)> = tensors.iter().collect();
    order.sort_by_key(|(_, info)| info.data_offsets);
    let mut at = 0;
    for (name, info) in order {
        let ([begin, end], name) = (info.data_offsets, short(name));
        if begin > end {
            return Err(format!("`{name}` ends at byte {end}, before its beginning at {begin}").into());
        }
        if begin < at {
            return Err(format!("`{name}` begins at byte {begin}, inside another tensor, which ends at {at}").into());
        }
        if begin > at {
            return Err(format!("bytes {at} to {begin}, before `{name}`, are of no tensor").into());
        }
        at = end;
    }
    match at == room {
        true => Ok(()),
        false => Err(format!("its tensors have {at} bytes, and the file holds {room}").into()),
    }
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Info {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

impl Info {
    fn elements(&self) -> Option<u64> {
        if self.shape.contains(&0) {
            return Some(0);
        }
        self.shape.iter().try_fold(1u64, |n, &dim| n.checked_mul(dim))
    }
}

/// The tensors of a header in its order. A name that stands there twice is an error, which a map would hide.
struct Header(Vec<(String, Info)>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Header;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of tensors")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Header, M::Error> {
                let (mut tensors, mut seen) = (Vec::new(), HashSet::new());
                while let Some(name) = map.next_key::<String>()? {
                    if !seen.insert(name.clone()) {
                        return Err(M::Error::custom(format!("`{}` is there twice", short(&name))));
                    }
                    match name == METADATA {
                        true => drop(map.next_value::<IgnoredAny>()?),
                        false => tensors.push((name, map.next_value()?)),
                    }
                }
                Ok(Header(tensors))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// Whether a tensor can have the name.
pub(crate) fn allows(name: &str) -> Result<(), String> {
    match name == METADATA {
        true => Err("the format has another use for this name".to_owned()),
        false => Ok(()),
    }
}

/// Writes tensors. Those of the widest elements come first, so that each lies where its elements are aligned.
pub(crate) fn write(tensors: &[(&str, &Tensor)], out: &mut dyn Write) -> std::io::Result<()> {
    let mut order: Vec<&(&str, &Tensor)> = tensors.iter().collect();
    order.sort_by_key(|(_, tensor)| std::cmp::Reverse(tensor.element_type().bits()));
    let mut header = String::from("{");
    let mut at = 0;
    for (name, tensor) in &order {
        let (begin, dims) = (at, tensor.dims());
        if !(tensor.len() * tensor.element_type().bits() as usize).is_multiple_of(8) {
            let ty = tensor.element_type();
            return Err(std::io::Error::other(format!(
                "the elements of `{}`, {} of {ty}, do not fill whole bytes, as safetensors wants; write .pb",
                short(name),
                tensor.len()
            )));
        }
        at += packed::of(tensor).len();
        let dtype = TYPES.iter().find(|(ty, _)| *ty == tensor.element_type()).map_or("", |(_, name)| *name);
        let comma = if begin == 0 && header.len() == 1 { "" } else { "," };
        let name = serde_json::Value::from(*name);
        header.push_str(&format!(
            r#"{comma}{name}:{{"dtype":"{dtype}","shape":{},"data_offsets":[{begin},{at}]}}"#,
            serde_json::Value::from(dims)
        ));
    }
    header.push('}');
    // The elements begin at a multiple of 8 bytes.
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for (_, tensor) in order {
        let mut bytes = packed::of(tensor);
        if cfg!(target_endian = "big") {
            little_endian(bytes.to_mut(), tensor.element_type().word_bytes());
        }
        out.write_all(&bytes)?;
    }
    Ok(())
}
