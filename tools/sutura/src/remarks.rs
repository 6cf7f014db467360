//! `--remarks`: what passes did, left and found out, on stderr or in a file.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use sutura_ir::Context;
use sutura_ir::diagnostics::{Diagnostic, Severity};
use sutura_opt::remarks::{json, text};

use crate::failure::Failure;
use crate::files;
use crate::talk::Talk;

/// Where remarks go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sink {
    Stderr,
    File(PathBuf),
}

impl Sink {
    /// What `--remarks` and `--remarks=FILE` mean.
    pub(crate) fn of(option: Option<&Option<PathBuf>>) -> Option<Self> {
        option.map(|file| file.clone().map_or(Self::Stderr, Self::File))
    }

    /// Writes remarks: in a file called `*.json` a JSON object per line, elsewhere a line of text each.
    pub(crate) fn write(&self, cx: &Context, remarks: &[Diagnostic], talk: &Talk) -> Result<(), Failure> {
        match self {
            Self::Stderr => {
                remarks.iter().for_each(|r| talk.remark(&text(cx, r), json(cx, r)));
                Ok(())
            }
            Self::File(path) => files::write(path, lines(cx, remarks, path).as_bytes()),
        }
    }
}

fn lines(cx: &Context, remarks: &[Diagnostic], path: &Path) -> String {
    let as_json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let line = |r: &Diagnostic| {
        if as_json {
            format!("{}\n", sutura_visible::json(&json(cx, r).to_string()))
        } else {
            format!("{}\n", text(cx, r))
        }
    };
    remarks.iter().map(line).collect()
}

/// Remarks, in order, if somebody wants them.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) listening: bool,
    kept: RefCell<Vec<Diagnostic>>,
}

impl Heard {
    /// Remarks are wanted.
    pub(crate) fn listening() -> Self {
        Self { listening: true, ..Self::default() }
    }

    /// Keeps a remark; other diagnostics pass by.
    pub(crate) fn hear(&self, diagnostic: &Diagnostic) {
        if self.listening && diagnostic.severity == Severity::Remark {
            self.kept.borrow_mut().push(diagnostic.clone());
        }
    }

    /// What was heard so far.
    pub(crate) fn all(&self) -> Vec<Diagnostic> {
        self.kept.borrow().clone()
    }
}
