//! What a terminal shows of the stage that its user waits for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is done sooner is not shown.
const PATIENCE: Duration = Duration::from_millis(120);

/// A line that goes when the stage is done.
#[derive(Clone, Default)]
pub(crate) struct Progress(Arc<Mutex<Option<ProgressBar>>>);

impl Progress {
    /// Shows a stage and how long it takes, in the place of the one before.
    pub(crate) fn begin(&self, name: &str) {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {msg:<10} {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
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
