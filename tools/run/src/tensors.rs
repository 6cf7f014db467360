//! Tensors on the command line: `name=@x.npy`, `name=@x.npz:a`, `name=@x.png:nchw`, `name=2x3xf32=1,2,3,4,5,6`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use sutura_ir::float;
use sutura_ir::types::FloatKind;
use sutura_runtime::manifest::Value;
use sutura_runtime::{ElementType, Tensor};
use sutura_tensors::{Format, TensorFile};

use crate::failure::Failure;
use crate::image::{self, Recipe};

/// A tensor argument.
#[derive(Debug, PartialEq)]
pub struct Spec {
    /// The value that it is for; without a name the next one in order.
    pub name: Option<String>,
    pub source: Source,
}

/// Where the elements come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A file, and which of its tensors; without a name the one that is called as the value is, or the only one.
    File { path: PathBuf, tensor: Option<String> },
    /// A file with an image, and what becomes of it.
    Image { path: PathBuf, recipe: Recipe },
    /// Numbers as written.
    Literal { element_type: ElementType, dims: Vec<i64>, values: String },
}

/// Reads `name=@file`, `name=TYPE=VALUES`, or either without a name.
pub fn parse(text: &str) -> Result<Spec, Failure> {
    let wrong = || {
        Failure::usage(format!("`{text}` is no tensor"))
            .hint("write `name=@file.npy`, or `name=2x3xf32=1,2,3,4,5,6` (one value fills the tensor)")
    };
    if let Some(source) = source(text)? {
        return Ok(Spec { name: None, source });
    }
    let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
    let source = source(rest)?.ok_or_else(wrong)?;
    Ok(Spec { name: Some(name.to_owned()), source })
}

fn source(text: &str) -> Result<Option<Source>, Failure> {
    if let Some(path) = text.strip_prefix('@') {
        if path.is_empty() {
            return Err(Failure::usage("`@` stands before the name of a file, and none is given"));
        }
        let (path, tensor) = split(path);
        if image::format(path.as_ref()).is_some() {
            return picture(path, tensor).map(Some);
        }
        return Ok(Some(Source::File { path: path.into(), tensor: tensor.map(str::to_owned) }));
    }
    let Some((ty, values)) = text.split_once('=') else { return Ok(None) };
    let Some((element_type, dims)) = tensor_type(ty)? else { return Ok(None) };
    Ok(Some(Source::Literal { element_type, dims, values: values.to_owned() }))
}

/// An image, which says its layout.
fn picture(path: &str, recipe: Option<&str>) -> Result<Source, Failure> {
    let Some(recipe) = recipe else {
        let failure = Failure::usage(format!("the image `{path}` has no layout"));
        return Err(failure.hint(format!("write `@{path}:nchw`, and what is to be done behind it: docs/inputs.md")));
    };
    let recipe = recipe.parse().map_err(|why| Failure::usage(format!("`{path}:{recipe}`: {why}")))?;
    Ok(Source::Image { path: path.into(), recipe })
}

/// A path and what is said behind it: the first `.npz:`, `.safetensors:`, `.png:`, `.jpg:` or `.jpeg:` ends the path.
fn split(text: &str) -> (&str, Option<&str>) {
    let formats = Format::ALL.into_iter().filter(|format| format.holds_many()).map(Format::name);
    let ends = formats.chain([".png", ".jpg", ".jpeg"]);
    let ends = ends.filter_map(|end| Some(text.find(&format!("{end}:"))? + end.len()));
    ends.min().map_or((text, None), |end| (&text[..end], Some(&text[end + 1..])))
}

/// `2x3xf32`; `None` for what does not look like one.
fn tensor_type(text: &str) -> Result<Option<(ElementType, Vec<i64>)>, Failure> {
    // The name of a complex type has an `x` of its own.
    let name = text.find("complex").or_else(|| Some(text.rfind('x')? + 1)).unwrap_or_default();
    let (dims, name) = text.split_at(name);
    let Some(element_type) = ElementType::from_name(name) else { return Ok(None) };
    let mut parts: Vec<&str> = dims.split('x').collect();
    if parts.pop().is_some_and(|behind| !behind.is_empty()) {
        return Ok(None);
    }
    if parts.iter().any(|p| p.is_empty() || !p.bytes().all(|b| b.is_ascii_digit())) {
        return Ok(None);
    }
    let dims: Result<Vec<i64>, _> = parts.iter().map(|p| p.parse::<i64>()).collect();
    let dims = dims.map_err(|_| Failure::usage(format!("a dimension of `{text}` is too large")))?;
    Ok(Some((element_type, dims)))
}

/// Files of tensors, each opened once.
#[derive(Debug)]
pub struct Files {
    /// Bytes of each file at most, if there is a limit.
    limit: Option<u64>,
    open: BTreeMap<PathBuf, TensorFile>,
}

impl Files {
    pub fn new(limit: Option<u64>) -> Self {
        Self { limit, open: BTreeMap::new() }
    }

    fn open(&mut self, path: &Path) -> Result<&mut TensorFile, Failure> {
        if !self.open.contains_key(path) {
            self.open.insert(path.to_owned(), TensorFile::open(path, self.limit)?);
        }
        Ok(self.open.get_mut(path).expect("opened above"))
    }

    /// A source for each tensor of a file, by name.
    pub fn all(&mut self, path: &Path) -> Result<Vec<(String, Source)>, Failure> {
        let file = self.open(path)?;
        if file.names().iter().any(String::is_empty) {
            let path = path.display();
            let failure = Failure::usage(format!("`{path}` does not say what its tensor is called"));
            return Err(failure.hint(format!("write `-i NAME=@{path}`")));
        }
        let source = |name: &String| Source::File { path: path.to_owned(), tensor: Some(name.clone()) };
        Ok(file.names().iter().map(|name| (name.clone(), source(name))).collect())
    }

    /// Type and dims of a tensor for a value of the model, without the elements.
    pub fn signature(&mut self, value: &Value, source: &Source) -> Result<(ElementType, Vec<i64>), Failure> {
        match source {
            Source::File { path, tensor } => {
                let (file, index) = self.find(&value.name, path, tensor.as_deref())?;
                Ok(file.signature(index)?)
            }
            Source::Image { path, recipe } => Ok((value.element_type, image::dims(path, recipe, value, self.limit)?)),
            Source::Literal { element_type, dims, .. } => Ok((*element_type, dims.clone())),
        }
    }

    /// The tensor for a value of the model.
    pub fn load(&mut self, value: &Value, source: &Source) -> Result<Tensor, Failure> {
        match source {
            Source::File { path, tensor } => {
                let (file, index) = self.find(&value.name, path, tensor.as_deref())?;
                Ok(file.read(index)?)
            }
            Source::Image { path, recipe } => image::tensor(path, recipe, value, self.limit),
            Source::Literal { element_type, dims, values } => literal(*element_type, dims, values),
        }
    }

    fn find(&mut self, name: &str, path: &Path, tensor: Option<&str>) -> Result<(&mut TensorFile, usize), Failure> {
        let file = self.open(path)?;
        let index = match tensor {
            Some(tensor) => file.find(tensor)?,
            None => file.find_for(name)?,
        };
        Ok((file, index))
    }
}

fn literal(element_type: ElementType, dims: &[i64], values: &str) -> Result<Tensor, Failure> {
    let mut tensor = Tensor::zeros(element_type, dims)?;
    let bytes = element_type.bytes();
    let values: Vec<&str> = values.split(',').map(str::trim).collect();
    let elements = tensor.bytes().len() / bytes;
    if values.len() != elements && values.len() != 1 {
        let message =
            format!("{} values for {elements} elements; give all, or one that fills the tensor", values.len());
        return Err(Failure::usage(message));
    }
    let encoded: Vec<Vec<u8>> = values.iter().map(|v| number(element_type, v)).collect::<Result<_, _>>()?;
    for (i, element) in tensor.bytes_mut().chunks_exact_mut(bytes).enumerate() {
        element.copy_from_slice(&encoded[if encoded.len() == 1 { 0 } else { i }]);
    }
    Ok(tensor)
}

/// The bytes of a number.
fn number(element_type: ElementType, text: &str) -> Result<Vec<u8>, Failure> {
    fn parse<T: FromStr>(text: &str, ty: ElementType) -> Result<T, Failure> {
        text.parse().map_err(|_| Failure::usage(format!("`{text}` is no number of type {ty}")))
    }
    use ElementType::*;
    let ty = element_type;
    Ok(match ty {
        Bool => match text {
            "0" | "false" => vec![0],
            "1" | "true" => vec![1],
            _ => return Err(Failure::usage(format!("`{text}` is neither true nor false"))),
        },
        I8 => parse::<i8>(text, ty)?.to_ne_bytes().to_vec(),
        U8 => parse::<u8>(text, ty)?.to_ne_bytes().to_vec(),
        I16 => parse::<i16>(text, ty)?.to_ne_bytes().to_vec(),
        U16 => parse::<u16>(text, ty)?.to_ne_bytes().to_vec(),
        I32 => parse::<i32>(text, ty)?.to_ne_bytes().to_vec(),
        U32 => parse::<u32>(text, ty)?.to_ne_bytes().to_vec(),
        I64 => parse::<i64>(text, ty)?.to_ne_bytes().to_vec(),
        U64 => parse::<u64>(text, ty)?.to_ne_bytes().to_vec(),
        F32 => parse::<f32>(text, ty)?.to_ne_bytes().to_vec(),
        F64 => parse::<f64>(text, ty)?.to_ne_bytes().to_vec(),
        I2 | I4 | U2 | U4 => {
            let (bits, signed) = short_integer(ty).expect("one of them");
            let fits = if signed { -(1 << (bits - 1))..1 << (bits - 1) } else { 0..1 << bits };
            let value = parse::<i8>(text, ty)?;
            if !fits.contains(&value) {
                return Err(Failure::usage(format!("`{text}` is no number of type {ty}")));
            }
            value.to_ne_bytes().to_vec()
        }
        C64 | C128 => {
            let part = ty.part().expect("a complex type");
            let (re, im) = complex(text).ok_or_else(|| {
                Failure::usage(format!("`{text}` is no number of type {ty}; write 1.5, 2i or 1.5-2i"))
            })?;
            [number(part, re)?, number(part, im)?].concat()
        }
        F16 | BF16 | F8E4M3FN | F8E5M2 | F8E4M3FNUZ | F8E5M2FNUZ | F8E8M0FNU | F4E2M1FN => {
            let kind = small_float(ty).expect("one of them");
            let value = parse::<f64>(text, ty)?;
            let bits = float::from_f64(kind, value);
            let made = float::to_f64(kind, bits);
            let clamped = kind == FloatKind::F4E2M1FN && value.abs() > float::largest(kind);
            if value.is_nan() != made.is_nan() || value.is_finite() != made.is_finite() || clamped {
                return Err(Failure::usage(format!("`{text}` does not fit the type {ty}")));
            }
            match ty.bytes() {
                1 => vec![bits as u8],
                _ => (bits as u16).to_ne_bytes().to_vec(),
            }
        }
    })
}

/// Bits of an integer of less than a byte, and whether it has a sign.
pub fn short_integer(ty: ElementType) -> Option<(u32, bool)> {
    let signed = matches!(ty, ElementType::I2 | ElementType::I4);
    (signed || matches!(ty, ElementType::U2 | ElementType::U4)).then_some((ty.bits(), signed))
}

/// Real and imaginary part of a complex number, which is written `1.5`, `2i` or `1.5-2i`.
fn complex(text: &str) -> Option<(&str, &str)> {
    let Some(parts) = text.strip_suffix(['i', 'j']) else { return Some((text, "0")) };
    let signs = parts.char_indices().filter(|(at, c)| *at > 0 && matches!(c, '+' | '-'));
    let between = signs.rev().find(|(at, _)| !parts[..*at].ends_with(['e', 'E']));
    match between {
        Some((at, _)) => Some((&parts[..at], &parts[at..])),
        None => (!parts.is_empty()).then_some(("0", parts)),
    }
}

/// The format of a float of less than 32 bits.
pub fn small_float(ty: ElementType) -> Option<FloatKind> {
    Some(match ty {
        ElementType::F16 => FloatKind::F16,
        ElementType::BF16 => FloatKind::BF16,
        ElementType::F8E4M3FN => FloatKind::F8E4M3FN,
        ElementType::F8E5M2 => FloatKind::F8E5M2,
        ElementType::F8E4M3FNUZ => FloatKind::F8E4M3FNUZ,
        ElementType::F8E5M2FNUZ => FloatKind::F8E5M2FNUZ,
        ElementType::F8E8M0FNU => FloatKind::F8E8M0FNU,
        ElementType::F4E2M1FN => FloatKind::F4E2M1FN,
        _ => return None,
    })
}

/// A tensor of numbers that are neither zero nor tiny, which may take other times; integers are 0, a valid index.
pub fn filled(ty: ElementType, dims: &[i64]) -> Result<Tensor, Failure> {
    let mut tensor = Tensor::zeros(ty, dims)?;
    if let Some(elements) = tensor.as_mut_slice::<f32>() {
        elements.fill(0.5);
    }
    Ok(tensor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, tensor: Option<&str>) -> Source {
        Source::File { path: path.into(), tensor: tensor.map(str::to_owned) }
    }

    fn load(text: &str) -> Result<Tensor, String> {
        let value = Value { name: "x".into(), element_type: ElementType::F32, dims: vec![] };
        parse(text).and_then(|spec| Files::new(None).load(&value, &spec.source)).map_err(|f| f.message)
    }

    #[test]
    fn complex_numbers_are_read() {
        let tensor = load("4xcomplex<f32>=1.5,2i,-1-2e1i,1e-1+0.5j").unwrap();
        assert_eq!((tensor.element_type(), tensor.dims()), (ElementType::C64, &[4][..]));
        let parts: Vec<f32> = tensor.bytes().as_chunks().0.iter().map(|part| f32::from_ne_bytes(*part)).collect();
        assert_eq!(parts, [1.5, 0.0, 0.0, 2.0, -1.0, -20.0, 0.1, 0.5]);
        assert_eq!(load("complex<f64>=-1i").unwrap().bytes()[8..], (-1f64).to_ne_bytes());
        for wrong in ["i", "1+", "1+xi", "1i2"] {
            let message = load(&format!("1xcomplex<f64>={wrong}")).unwrap_err();
            assert!(message.contains("is no number of type"), "{message}");
        }
    }

    #[test]
    fn files_and_literals_with_and_without_a_name() {
        assert_eq!(parse("x=@a=b.npy").unwrap(), Spec { name: Some("x".into()), source: file("a=b.npy", None) });
        assert_eq!(parse("@x.npy").unwrap(), Spec { name: None, source: file("x.npy", None) });
        assert_eq!(parse("x=@a:b.npy").unwrap().source, file("a:b.npy", None));
        assert_eq!(parse("x=@a.npz").unwrap().source, file("a.npz", None));
        assert_eq!(parse("x=@a.npz:b.safetensors:0").unwrap().source, file("a.npz", Some("b.safetensors:0")));
        assert_eq!(parse("x=@d/a.safetensors:/l/w").unwrap().source, file("d/a.safetensors", Some("/l/w")));
        let tensor = load("x=2x2xf32=1,2, -3.5,4e1").unwrap();
        assert_eq!((tensor.dims(), tensor.as_slice::<f32>().unwrap()), (&[2, 2][..], &[1.0, 2.0, -3.5, 40.0][..]));
        assert_eq!(load("3xi64=7").unwrap().as_slice::<i64>().unwrap(), [7, 7, 7]);
        assert_eq!(load("f64=0.5").unwrap().dims(), [0i64; 0]);
        assert_eq!(load("0x4xf32=1").unwrap().dims(), [0, 4]);
        // A name that could be a type is one only with a tensor behind it.
        assert_eq!(parse("f32=2xf32=1,2").unwrap().name, None);
    }

    #[test]
    fn malformed_tensors_are_refused() {
        assert!(load("x").unwrap_err().contains("is no tensor"));
        assert!(load("x=y").unwrap_err().contains("is no tensor"));
        assert!(load("x=2xf32=1,2,3").unwrap_err().contains("3 values for 2 elements"));
        assert!(load("x=2xf32=1,two").unwrap_err().contains("`two` is no number of type f32"));
        assert!(load("x=2xu8=1,300").unwrap_err().contains("`300`"));
        assert_eq!(load("x=2xbf16=1,-2.5").unwrap().bytes(), [0x80, 0x3f, 0x20, 0xc0]);
        assert_eq!(load("x=2xf8E4M3FN=448,nan").unwrap().bytes(), [0x7e, 0x7f]);
        assert!(load("x=f8E4M3FN=1000").unwrap_err().contains("`1000` does not fit the type f8E4M3FN"));
        assert_eq!(load("x=3xf4E2M1FN=-6,0.5,0").unwrap().bytes(), [0xf, 1, 0]);
        assert_eq!(load("x=3xf8E8M0FNU=1,0.5,nan").unwrap().bytes(), [127, 126, 255]);
        assert_eq!(load("x=4xi4=-8,-1,0,7").unwrap().bytes(), [0xf8, 0xff, 0, 7]);
        assert_eq!(load("x=2xu2=3,0").unwrap().bytes(), [3, 0]);
        for wrong in ["f4E2M1FN=7", "f4E2M1FN=nan", "f4E2M1FN=-inf", "f8E8M0FNU=-1", "f8E8M0FNU=inf", "f8E4M3FN=inf"] {
            assert!(load(&format!("x={wrong}")).unwrap_err().contains("does not fit the type"), "{wrong}");
        }
        for wrong in ["i4=8", "i4=-9", "u4=16", "u4=-1", "i2=2", "u2=4", "u2=999", "i4=1.0"] {
            assert!(load(&format!("x={wrong}")).unwrap_err().contains("is no number of type"), "{wrong}");
        }
        assert!(load("x=2xf16=1,one").unwrap_err().contains("`one` is no number of type f16"));
        assert!(load("x=99999999999999999999xf32=1").unwrap_err().contains("too large"));
    }
}
