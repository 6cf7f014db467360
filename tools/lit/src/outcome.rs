//! How a test ended.

use std::time::Duration;

/// The kinds of results, with lit's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// It passed.
    Pass,
    /// It passed when it was run again (`ALLOW_RETRIES:`).
    FlakyPass,
    /// It failed, as `XFAIL:` said.
    XFail,
    /// Its features are not all there, or one too many is.
    Unsupported,
    /// It failed.
    Fail,
    /// It passed though `XFAIL:` said it would not.
    XPass,
    /// It could not be run: its directives are wrong.
    Unresolved,
    /// It took too long.
    Timeout,
}

impl Code {
    /// All kinds, in the order of reports.
    pub const ALL: [Self; 8] = [
        Self::Pass,
        Self::FlakyPass,
        Self::XFail,
        Self::Unsupported,
        Self::Fail,
        Self::XPass,
        Self::Unresolved,
        Self::Timeout,
    ];

    /// lit's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::FlakyPass => "FLAKYPASS",
            Self::XFail => "XFAIL",
            Self::Unsupported => "UNSUPPORTED",
            Self::Fail => "FAIL",
            Self::XPass => "XPASS",
            Self::Unresolved => "UNRESOLVED",
            Self::Timeout => "TIMEOUT",
        }
    }

    /// What it is of a test that must fail.
    pub(crate) fn expected_to_fail(self) -> Self {
        match self {
            Self::Pass | Self::FlakyPass => Self::XPass,
            Self::Fail => Self::XFail,
            other => other,
        }
    }

    /// What it is of a test that need not fail, whatever its directives say.
    pub(crate) fn not_expected_to_fail(self) -> Self {
        match self {
            Self::XPass => Self::Pass,
            Self::XFail => Self::Fail,
            other => other,
        }
    }

    /// What the summary calls tests that ended so.
    pub fn label(self) -> &'static str {
        match self {
            Self::Pass => "Passed",
            Self::FlakyPass => "Passed With Retry",
            Self::XFail => "Expectedly Failed",
            Self::Unsupported => "Unsupported",
            Self::Fail => "Failed",
            Self::XPass => "Unexpectedly Passed",
            Self::Unresolved => "Unresolved",
            Self::Timeout => "Timed Out",
        }
    }

    /// Whether the run as a whole fails.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Fail | Self::XPass | Self::Unresolved | Self::Timeout)
    }
}

/// The result of a test.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How it ended.
    pub code: Code,
    /// What it ran and what that wrote, or why it was not run.
    pub output: String,
    /// How long it took.
    pub elapsed: Duration,
}
