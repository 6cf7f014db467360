//! The text of what primitives name. Each kind of name has one, which is read as the same.

use sutura_ir::Context;
use sutura_ir::asm::parse::ParamParser;

use super::names::{
    Again, Asynchronous, Count, DimLoop, Fused, Guard, Input, Layout, LoopName, LoopNames, Parts, SpaceName, Spot,
    What, When,
};
use crate::r#dyn::Poly;
use crate::r#dyn::attr::parse_poly;
use crate::schedule::text::{self, Parsed, name_text, tile_text};
use crate::schedule::{Dim, Prefetch, Runs, Split, StageName, Tile, stage_text};

/// A part of a primitive's text.
pub(super) trait Piece: Sized {
    /// Reads it.
    fn read(p: &mut dyn ParamParser) -> Parsed<Self>;

    /// What is read as the same; nothing for what is absent.
    fn text(&self, cx: &Context) -> String;
}

fn kernel(p: &mut dyn ParamParser) -> Parsed<Option<usize>> {
    match p.opt_keyword("kernel") {
        true => Ok(Some(text::number(p, "the number of a kernel")?)),
        false => Ok(None),
    }
}

impl Piece for Spot {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        let (mut what, stage) = match p.opt_keyword("join") {
            // A stage may have the word as its name.
            true if p.opt_punct(":") => {
                let number = text::number(p, "the number of a stage")?;
                (What::Place, StageName { number, name: "join".to_owned() })
            }
            true => (What::Join, text::stage(p)?),
            false => (What::Place, text::stage(p)?),
        };
        if what == What::Place && p.opt_punct(".") {
            what = What::Input(text::number(p, "the number of an input")?);
        }
        Ok(Self { what, stage, kernel: kernel(p)? })
    }

    fn text(&self, cx: &Context) -> String {
        let stage = stage_text(cx, &self.stage);
        let text = match self.what {
            What::Place => stage,
            What::Join => format!("join {stage}"),
            What::Input(input) => format!("{stage}.{input}"),
        };
        self.kernel.map_or_else(|| text.clone(), |kernel| format!("{text} kernel {kernel}"))
    }
}

impl Piece for Input {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        let stage = text::stage(p)?;
        p.punct(".")?;
        Ok(Self { stage, input: text::number(p, "the number of an input")?, kernel: kernel(p)? })
    }

    fn text(&self, cx: &Context) -> String {
        self.spot().text(cx)
    }
}

impl Piece for DimLoop {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        let loc = p.loc();
        let word = p.opt_any_keyword().unwrap_or_default();
        let (dim, number) = word.split_once('.').unwrap_or((&word, "0"));
        let number_of = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| digits.parse::<usize>().ok()).flatten()
        };
        match (dim.strip_prefix('d').and_then(number_of), number_of(number)) {
            (Some(dim), Some(number)) => Ok(Self { dim: Dim(dim), number }),
            _ => Err(p.error_at(loc, "expected a loop, such as 'd0' or 'd0.1'")),
        }
    }

    fn text(&self, _: &Context) -> String {
        match self.number {
            0 => self.dim.to_string(),
            number => format!("{}.{number}", self.dim),
        }
    }
}

impl Piece for LoopName {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        let own = DimLoop::read(p)?;
        p.keyword("of")?;
        Ok(Self { own, spot: Spot::read(p)? })
    }

    fn text(&self, cx: &Context) -> String {
        format!("{} of {}", self.own.text(cx), self.spot.text(cx))
    }
}

impl Piece for LoopNames {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        let mut own = vec![DimLoop::read(p)?];
        while !p.opt_keyword("of") {
            own.push(DimLoop::read(p)?);
        }
        Ok(Self { own, spot: Spot::read(p)? })
    }

    fn text(&self, cx: &Context) -> String {
        let own: Vec<String> = self.own.iter().map(|own| own.text(cx)).collect();
        format!("{} of {}", own.join(" "), self.spot.text(cx))
    }
}

impl Piece for Fused {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        let [outer, inner] = [DimLoop::read(p)?, DimLoop::read(p)?];
        match (outer.number, inner.number) {
            _ if p.opt_keyword("of") => Ok(Self::Loops([outer, inner], Spot::read(p)?)),
            (0, 0) => Ok(Self::Dims(outer.dim, inner.dim)),
            _ => Err(p.error("expected 'of'")),
        }
    }

    fn text(&self, cx: &Context) -> String {
        match self {
            Self::Dims(outer, inner) => format!("{outer} {inner}"),
            Self::Loops([outer, inner], spot) => {
                format!("{} {} of {}", outer.text(cx), inner.text(cx), spot.text(cx))
            }
        }
    }
}

impl Piece for Dim {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        text::dim(p)
    }

    fn text(&self, _: &Context) -> String {
        self.to_string()
    }
}

impl Piece for StageName {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        text::stage(p)
    }

    fn text(&self, cx: &Context) -> String {
        stage_text(cx, self)
    }
}

impl Piece for Tile {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        text::tile(p)
    }

    fn text(&self, cx: &Context) -> String {
        tile_text(cx, self).trim_start().to_owned()
    }
}

impl Piece for Split {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        if p.opt_keyword("by") {
            return Ok(Self::By(p.int()?));
        }
        if p.opt_keyword("even") {
            return Ok(Self::Even(p.int()?));
        }
        Err(p.error("expected 'by' or 'even'"))
    }

    fn text(&self, _: &Context) -> String {
        match self {
            Self::One => String::new(),
            Self::By(number) => format!("by {number}"),
            Self::Even(number) => format!("even {number}"),
        }
    }
}

impl Piece for Count {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        Ok(Self(p.int()?))
    }

    fn text(&self, _: &Context) -> String {
        self.0.to_string()
    }
}

impl Piece for Runs {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        for (word, runs) in [("grid", Self::Grid), ("units", Self::Units), ("turn", Self::InTurn)] {
            if p.opt_keyword(word) {
                return Ok(runs);
            }
        }
        Err(p.error("expected 'grid', 'units' or 'turn'"))
    }

    fn text(&self, _: &Context) -> String {
        let word = match self {
            Self::Grid => "grid",
            Self::Units => "units",
            Self::InTurn => "turn",
        };
        word.to_owned()
    }
}

impl Piece for Parts {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        match p.opt_keyword("columnwise") {
            true => Ok(Self::Columnwise),
            false if p.opt_keyword("along") => Ok(Self::Along(text::dim(p)?, Split::read(p)?)),
            false => Err(p.error("expected 'along' or 'columnwise'")),
        }
    }

    fn text(&self, cx: &Context) -> String {
        match self {
            Self::Columnwise => "columnwise".to_owned(),
            Self::Along(dim, split) => format!("along {dim} {}", split.text(cx)),
        }
    }
}

impl Piece for Layout {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        match p.opt_keyword("padded") {
            true => Ok(Self::Padded),
            false if p.opt_keyword("unpadded") => Ok(Self::Unpadded),
            false if p.opt_keyword("pitch") => Ok(Self::Pitch(p.int()?)),
            false => Err(p.error("expected 'padded', 'unpadded' or 'pitch'")),
        }
    }

    fn text(&self, _: &Context) -> String {
        match self {
            Self::Padded => "padded".to_owned(),
            Self::Unpadded => "unpadded".to_owned(),
            Self::Pitch(pitch) => format!("pitch {pitch}"),
        }
    }
}

impl Piece for SpaceName {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        Ok(Self(text::name(p, "the name of a space")?))
    }

    fn text(&self, cx: &Context) -> String {
        name_text(cx, &self.0)
    }
}

impl Piece for Guard {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        let mut sizes = Vec::new();
        let mut size = |p: &mut dyn ParamParser| {
            sizes.push(parse_poly(p)?);
            Ok(())
        };
        p.list("[", "]", &mut size)?;
        Ok(Self(sizes))
    }

    fn text(&self, _: &Context) -> String {
        let sizes: Vec<String> = self.0.iter().map(Poly::to_string).collect();
        format!("[{}]", sizes.join(", "))
    }
}

impl Piece for When {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        Ok(Self(text::when(p)?))
    }

    fn text(&self, _: &Context) -> String {
        text::when_text(&self.0).trim_start().to_owned()
    }
}

impl Piece for Prefetch {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        text::prefetch(p)
    }

    fn text(&self, _: &Context) -> String {
        text::prefetch_text(self)
    }
}

impl Piece for Again {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        Ok(Self(p.opt_keyword("again")))
    }

    fn text(&self, _: &Context) -> String {
        if self.0 { "again".to_owned() } else { String::new() }
    }
}

impl Piece for Asynchronous {
    fn read(p: &mut dyn ParamParser) -> Parsed<Self> {
        Ok(Self(p.opt_keyword("async")))
    }

    fn text(&self, _: &Context) -> String {
        if self.0 { "async".to_owned() } else { String::new() }
    }
}
