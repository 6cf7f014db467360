//! What a terminal shows of the stage that its user waits for.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Work that is done sooner is not shown.
const PATIENCE: Duration = Duration::from_millis(120);

/// Parts that are done of a stage, and all that it has, if that is known.
pub(crate) type Parts = fn() -> Option<(usize, usize)>;

/// A line that goes when the stage is done.
#[derive(Clone, Default)]
pub(crate) struct Progress(Arc<Mutex<Option<ProgressBar>>>);

impl Progress {
    /// Shows a stage, how long it takes, and how far it is, in the place of the one before.
    pub(crate) fn begin(&self, name: &str, parts: Parts) {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {msg:<10} {elapsed} {parts}");
        let text = move |_: &ProgressState, out: &mut dyn fmt::Write| {
            // A line that cannot be drawn is drawn a little later.
            let _ = parts().map(|(done, total)| write!(out, "{done} of {total} functions"));
        };
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()).with_key("parts", text));
        bar.set_message(sutura_visible::line(name).into_owned());
        bar.enable_steady_tick(PATIENCE);
        if let Some(before) = self.bar().replace(bar) {
            before.finish_and_clear();
        }
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
        if let Some(bar) = self.bar().take() {
            bar.finish_and_clear();
        }
    }

    /// Writes something else to stderr.
    pub(crate) fn aside(&self, write: impl FnOnce()) {
        match &*self.bar() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    fn bar(&self) -> std::sync::MutexGuard<'_, Option<ProgressBar>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
