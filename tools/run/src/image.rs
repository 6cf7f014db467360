//! Images as inputs: `x=@cat.png:nchw,size=224x224,scale=1/255,mean=0.485/0.456/0.406,std=0.229/0.224/0.225`.

use std::io::Cursor;
use std::path::Path;
use std::str::FromStr;

use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageReader, Limits};
use sutura_input::{regular, rest_of};
use sutura_runtime::manifest::{Dim, Value};
use sutura_runtime::{ElementType, Tensor};

use crate::failure::{Failure, Kind};
use crate::random::store;
use crate::tensors::small_float;

/// Bytes of an image's file, and of its pixels, at most, where the command gives no limit.
const LIMIT: u64 = 512 << 20;

/// What becomes of an image: an element is `(pixel * scale - mean) / std`, where a pixel has values from 0 to 255.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The order of dims, of `n`, `c`, `h`, `w`.
    layout: Vec<char>,
    /// Height and width that it is resampled to.
    size: Option<(u32, u32)>,
    scale: f64,
    mean: Vec<f64>,
    std: Vec<f64>,
    /// Blue before green before red.
    bgr: bool,
}

/// The end of a path's name that says that it is an image.
pub fn format(path: &Path) -> Option<ImageFormat> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "png" => Some(ImageFormat::Png),
        "jpg" | "jpeg" => Some(ImageFormat::Jpeg),
        _ => None,
    }
}

impl FromStr for Recipe {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',');
        let layout = layout(parts.next().unwrap_or_default())?;
        let mut recipe = Self { layout, size: None, scale: 1.0, mean: vec![], std: vec![], bgr: false };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            match key {
                "size" => recipe.size = Some(size(value)?),
                "scale" => recipe.scale = fraction(value)?,
                "mean" => recipe.mean = value.split('/').map(number).collect::<Result<_, _>>()?,
                "std" => recipe.std = value.split('/').map(number).collect::<Result<_, _>>()?,
                "bgr" if value.is_empty() => recipe.bgr = true,
                _ => return Err(format!("`{part}` is none of size=HxW, scale=X, mean=A/B/C, std=A/B/C, bgr")),
            }
        }
        if recipe.std.contains(&0.0) {
            return Err("a standard deviation of 0 divides".to_owned());
        }
        Ok(recipe)
    }
}

fn layout(text: &str) -> Result<Vec<char>, String> {
    let letters: Vec<char> = text.to_ascii_lowercase().chars().collect();
    let once = |letter: char| letters.iter().filter(|c| **c == letter).count();
    let known = letters.iter().all(|c| "nchw".contains(*c) && once(*c) == 1);
    if known && once('h') == 1 && once('w') == 1 {
        return Ok(letters);
    }
    Err(format!(
        "`{text}` is no layout: letters of n, c, h and w in the order of the input's dims, as nchw, nhwc or hw"
    ))
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let side = |text: &str| text.parse::<u32>().ok().filter(|side| (1..=1 << 15).contains(side));
    let parts = text.split_once('x').and_then(|(h, w)| Some((side(h)?, side(w)?)));
    parts.ok_or_else(|| format!("`{text}` is no size: height and width, as 224x224, of at most 32768"))
}

fn number(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|v| v.is_finite());
    value.ok_or_else(|| format!("`{text}` is no number"))
}

/// A number or a fraction, as `1/255`.
fn fraction(text: &str) -> Result<f64, String> {
    let Some((a, b)) = text.split_once('/') else { return number(text) };
    let value = number(a)? / number(b)?;
    if value.is_finite() { Ok(value) } else { Err(format!("`{text}` is no number")) }
}

/// Dims of the input that an image becomes, without its pixels.
///
/// # Errors
/// When the file is no image, or does not fit the input.
pub fn dims(path: &Path, recipe: &Recipe, value: &Value, limit: Option<u64>) -> Result<Vec<i64>, Failure> {
    let bytes = read(path, limit)?;
    let (width, height) = reader(path, &bytes, limit)?.into_dimensions().map_err(|e| undecoded(path, &e))?;
    let (height, width) = recipe.size.unwrap_or((height, width));
    let (pixels, most) = (u64::from(height) * u64::from(width), limit.unwrap_or(LIMIT) / 4);
    if pixels > most {
        let message = format!("`{}` becomes {height}x{width} pixels, more than {most}", path.display());
        return Err(Failure::input(message).hint("`--max-input` sets the limit, at 4 bytes of it for a pixel"));
    }
    recipe.dims(path, value, (height, width))
}

/// The input that an image becomes.
///
/// # Errors
/// When the file is no image, or does not fit the input.
pub fn tensor(path: &Path, recipe: &Recipe, value: &Value, limit: Option<u64>) -> Result<Tensor, Failure> {
    let bytes = read(path, limit)?;
    let image = reader(path, &bytes, limit)?.decode().map_err(|e| undecoded(path, &e))?;
    let image = match recipe.size {
        Some((height, width)) if (width, height) != (image.width(), image.height()) => {
            image.resize_exact(width, height, FilterType::Triangle)
        }
        _ => image,
    };
    let dims = recipe.dims(path, value, (image.height(), image.width()))?;
    let channels = recipe.channels(path, value)?;
    recipe.fill(path, value.element_type, &dims, &pixels(&image, channels), channels)
}

fn read(path: &Path, limit: Option<u64>) -> Result<Vec<u8>, Failure> {
    let read = regular(path).and_then(|(file, meta)| rest_of(file, meta.len(), limit.unwrap_or(LIMIT)));
    read.map_err(|error| Failure::reading(path, &error))
}

fn reader<'b>(path: &Path, bytes: &'b [u8], limit: Option<u64>) -> Result<ImageReader<Cursor<&'b [u8]>>, Failure> {
    let Some(format) = format(path) else { return Err(Failure::internal("an image without a format")) };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(limit.unwrap_or(LIMIT));
    reader.limits(limits);
    Ok(reader)
}

fn undecoded(path: &Path, error: &image::ImageError) -> Failure {
    Failure::input(format!("`{}` is not decoded: {error}", path.display()))
}

/// The values of pixels, row by row, channels last.
fn pixels(image: &DynamicImage, channels: usize) -> Vec<u8> {
    match channels {
        1 => image.to_luma8().into_raw(),
        4 => image.to_rgba8().into_raw(),
        _ => image.to_rgb8().into_raw(),
    }
}

impl Recipe {
    /// Channels that the input has: as its dim says, 3 where that is open, 1 without such a dim.
    fn channels(&self, path: &Path, value: &Value) -> Result<usize, Failure> {
        let Some(at) = self.layout.iter().position(|c| *c == 'c') else { return Ok(1) };
        match value.dims.get(at) {
            Some(Dim::Const(channels @ (1 | 3 | 4))) => Ok(*channels as usize),
            Some(Dim::Const(other)) => {
                Err(self.misfit(path, value, format!("images have 1, 3 or 4 channels, and the input has {other}")))
            }
            _ => Ok(3),
        }
    }

    fn dims(&self, path: &Path, value: &Value, (height, width): (u32, u32)) -> Result<Vec<i64>, Failure> {
        if value.dims.len() != self.layout.len() {
            let (own, wanted) = (self.layout.len(), value.dims.len());
            return Err(self.misfit(path, value, format!("the layout has {own} dims, and the input {wanted}")));
        }
        let channels = self.channels(path, value)?;
        let made = self.layout.iter().map(|letter| match letter {
            'n' => 1,
            'c' => channels as i64,
            'h' => i64::from(height),
            _ => i64::from(width),
        });
        let made: Vec<i64> = made.collect();
        let mut wrong = made.iter().zip(&value.dims).zip(&self.layout);
        match wrong.find(|((made, dim), _)| matches!(dim, Dim::Const(size) if size != *made)) {
            Some(((made, Dim::Const(size)), letter)) => {
                let failure = self.misfit(path, value, format!("its `{letter}` is {made}, and the input's {size}"));
                Err(if "hw".contains(*letter) { failure.hint("`size=HxW` resamples the image") } else { failure })
            }
            _ => Ok(made),
        }
    }

    fn misfit(&self, path: &Path, value: &Value, why: String) -> Failure {
        let layout: String = self.layout.iter().collect();
        let (path, name) = (path.display(), &value.name);
        Failure::input(format!("the image `{path}` as {layout} does not fit the input `{name}`: {why}"))
    }

    fn fill(
        &self,
        path: &Path,
        ty: ElementType,
        dims: &[i64],
        pixels: &[u8],
        channels: usize,
    ) -> Result<Tensor, Failure> {
        let steps = self.steps(channels)?;
        let plain = steps.iter().all(|(factor, shift)| (*factor, *shift) == (1.0, 0.0));
        let float = matches!(ty, ElementType::F32 | ElementType::F64) || small_float(ty).is_some();
        if !(float || plain && ty == ElementType::U8) {
            let message = format!("an image becomes u8, as it is, or floats; `{}` is for {ty}", path.display());
            return Err(Failure::new(Kind::Unsupported, message));
        }
        let mut tensor = Tensor::zeros(ty, dims)?;
        let strides = self.strides(dims);
        let width = dims[self.at('w')] as usize;
        let bytes = ty.bytes();
        let into = tensor.bytes_mut();
        for (at, pixel) in pixels.iter().enumerate() {
            let (place, channel) = (at / channels, at % channels);
            let to = if self.bgr && channel < 3 && channels >= 3 { 2 - channel } else { channel };
            let at = place / width * strides[0] + place % width * strides[1] + to * strides[2];
            let element = &mut into[at * bytes..(at + 1) * bytes];
            match float {
                true => store(ty, f64::from(*pixel) * steps[to].0 + steps[to].1, element),
                false => element[0] = *pixel,
            }
        }
        Ok(tensor)
    }

    /// For each channel of the input the factor and the summand of a pixel's value.
    fn steps(&self, channels: usize) -> Result<Vec<(f64, f64)>, Failure> {
        let of = |values: &[f64], what: &str, none: f64| match values.len() {
            0 => Ok(vec![none; channels]),
            1 => Ok(vec![values[0]; channels]),
            n if n == channels => Ok(values.to_vec()),
            n => Err(Failure::usage(format!("{what} has {n} numbers, and the image {channels} channels"))),
        };
        let (mean, std) = (of(&self.mean, "mean", 0.0)?, of(&self.std, "std", 1.0)?);
        Ok(mean.iter().zip(&std).map(|(mean, std)| (self.scale / std, -mean / std)).collect())
    }

    fn at(&self, letter: char) -> usize {
        self.layout.iter().position(|c| *c == letter).unwrap_or_default()
    }

    /// Elements between rows, columns and channels.
    fn strides(&self, dims: &[i64]) -> [usize; 3] {
        let stride = |letter: char| match self.layout.iter().position(|c| *c == letter) {
            Some(at) => dims[at + 1..].iter().product::<i64>() as usize,
            None => 0,
        };
        ['h', 'w', 'c'].map(stride)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(ty: ElementType, dims: &[i64]) -> Value {
        let dim = |size: &i64| if *size < 0 { Dim::Symbol("s".into()) } else { Dim::Const(*size) };
        Value { name: "x".into(), element_type: ty, dims: dims.iter().map(dim).collect() }
    }

    /// One row of two pixels, red and a dark grey.
    const PIXELS: [u8; 6] = [255, 0, 0, 51, 51, 51];

    fn floats(recipe: &str, dims: &[i64], channels: usize, pixels: &[u8]) -> Vec<f32> {
        let recipe: Recipe = recipe.parse().unwrap();
        let made = recipe.fill(Path::new("a.png"), ElementType::F32, dims, pixels, channels).unwrap();
        made.as_slice::<f32>().unwrap().to_vec()
    }

    #[test]
    fn layouts_place_pixels() {
        assert_eq!(floats("nchw", &[1, 3, 1, 2], 3, &PIXELS), [255., 51., 0., 51., 0., 51.]);
        assert_eq!(floats("nhwc", &[1, 1, 2, 3], 3, &PIXELS), [255., 0., 0., 51., 51., 51.]);
        assert_eq!(floats("nhwc,bgr", &[1, 1, 2, 3], 3, &PIXELS), [0., 0., 255., 51., 51., 51.]);
        assert_eq!(floats("wh", &[2, 1], 1, &[7, 9]), [7., 9.]);
        let scaled = floats("chw,scale=1/255,mean=0.5/0/0,std=0.5/1/2", &[3, 1, 2], 3, &PIXELS);
        let expected = [1.0, -0.6, 0.0, 0.2, 0.0, 0.1];
        assert!(scaled.iter().zip(expected).all(|(a, b): (&f32, f32)| (a - b).abs() < 1e-6), "{scaled:?}");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for wrong in
            ["", "chh", "nc", "nchwx", "hw,size=0x4", "hw,size=4", "hw,scale=x", "hw,scale=1/0", "hw,std=0", "hw,gray"]
        {
            assert!(wrong.parse::<Recipe>().is_err(), "{wrong}");
        }
        let recipe: Recipe = "nchw".parse().unwrap();
        let refused = |value: &Value| recipe.dims(Path::new("a.png"), value, (4, 6)).unwrap_err();
        let f32 = ElementType::F32;
        assert!(refused(&value(f32, &[1, 3, 8, -1])).message.contains("its `h` is 4, and the input's 8"));
        assert!(refused(&value(f32, &[2, 3, -1, -1])).message.contains("its `n` is 1"));
        assert!(refused(&value(f32, &[3, -1, -1])).message.contains("has 4 dims, and the input 3"));
        assert!(refused(&value(f32, &[1, 5, -1, -1])).message.contains("the input has 5"));
        assert_eq!(recipe.dims(Path::new("a"), &value(f32, &[-1, -1, -1, 6]), (4, 6)).unwrap(), [1, 3, 4, 6]);
        let made = recipe.fill(Path::new("a"), ElementType::I32, &[1, 3, 1, 2], &PIXELS, 3);
        assert!(made.unwrap_err().message.contains("is for i32"));
    }

    #[test]
    fn files_are_decoded_and_resampled_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        image::RgbImage::from_pixel(4, 2, image::Rgb([10, 20, 30])).save(&path).unwrap();
        let input = value(ElementType::U8, &[-1, -1, 3]);
        let made = tensor(&path, &"hwc,size=1x2".parse().unwrap(), &input, None).unwrap();
        assert_eq!((made.dims(), made.bytes()), (&[1, 2, 3][..], &[10, 20, 30, 10, 20, 30][..]));
        assert_eq!(dims(&path, &"hwc".parse().unwrap(), &input, None).unwrap(), [2, 4, 3]);
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 8, 20, whole.len() / 2] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let failure = tensor(&path, &"hwc".parse().unwrap(), &input, None).unwrap_err();
            assert_eq!(failure.kind, Kind::Input, "{}", failure.message);
        }
        std::fs::write(&path, &whole).unwrap();
        assert!(tensor(&path, &"hwc".parse().unwrap(), &input, Some(10)).is_err());
        let failure = dims(&path, &"hwc,size=32768x32768".parse().unwrap(), &input, None).unwrap_err();
        assert!(failure.message.contains("32768x32768 pixels, more than 134217728"), "{}", failure.message);
    }
}
