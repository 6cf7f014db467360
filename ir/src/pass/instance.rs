//! A pass with its options, as a pipeline holds it.

use super::{Pass, PassInfo, PassOptions};

/// A pass with its options.
pub struct PassInstance {
    info: &'static PassInfo,
    options: PassOptions,
    pass: Box<dyn Pass>,
    /// Index into the records of a run; given when the pipeline is complete.
    pub(super) id: usize,
}

impl PassInstance {
    /// The pass that `info` describes.
    ///
    /// # Errors
    /// Says why the options do not go together.
    pub fn new(info: &'static PassInfo, options: PassOptions) -> Result<Self, String> {
        let pass = (info.create)(&options)?;
        Ok(Self { info, options, pass, id: 0 })
    }

    /// The pass that `info` describes, with the options as they are by default.
    ///
    /// # Errors
    /// When the pass cannot do without options.
    pub fn with_defaults(info: &'static PassInfo) -> Result<Self, String> {
        Self::new(info, PassOptions::new(info.options))
    }

    /// The same pass with the same options once more.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn again(&self) -> Result<Self, String> {
        Self::new(self.info, self.options.clone())
    }

    /// What is known of the pass.
    pub fn info(&self) -> &'static PassInfo {
        self.info
    }

    pub(super) fn options(&self) -> &PassOptions {
        &self.options
    }

    /// The pass.
    pub fn pass(&self) -> &dyn Pass {
        &*self.pass
    }
}

impl std::fmt::Display for PassInstance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.info.argument, self.options.to_text())
    }
}
