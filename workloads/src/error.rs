//! What can go wrong in a workload; each message names the thing and the remedy.

use pagetide_access::parameter::ParameterError;
use std::{fmt::Display, io};

/// Why a workload could not run, or could not finish.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// An argument, or two together, make no sense.
    #[error("--{argument} {value}: {remedy}")]
    Argument {
        /// The argument at fault, without dashes.
        argument: &'static str,
        /// What was given.
        value: String,
        /// What is wrong and what to give instead.
        remedy: String,
    },
    /// The memory to be measured could not be had.
    #[error("cannot map {bytes} of memory ({source}); give a smaller --size")]
    Memory {
        /// How much was asked for.
        bytes: pagetide_types::Bytes,
        /// Why.
        source: io::Error,
    },
    /// The system refused something else.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The truth could not be written.
    #[error("cannot write the truth: {source}")]
    Truth {
        /// What the recording's writer said, with the path and the remedy.
        source: pagetide_trace::Error,
    },
    /// A redis server answered with an error, or not as a redis server does.
    #[error("redis at {address}: {reason}")]
    Redis {
        /// The server.
        address: String,
        /// What it said, and the remedy where there is one.
        reason: String,
    },
    /// A program that the workload needs is not installed.
    #[error("{program} is not in PATH; install it with: apt install {package}")]
    Missing {
        /// The program.
        program: &'static str,
        /// The Debian and Ubuntu package that holds it.
        package: &'static str,
    },
}

/// A parameter is an argument here, and so are those that its remedy names.
impl From<ParameterError> for WorkloadError {
    fn from(error: ParameterError) -> Self {
        let ParameterError { parameter, value, remedy } = error;
        let named = |(i, part)| if i % 2 == 1 { format!("--{part}") } else { String::from(part) };
        let remedy = remedy.split('`').enumerate().map(named).collect();
        Self::Argument { argument: parameter, value, remedy }
    }
}

/// The result of anything in this crate.
pub type Result<T> = std::result::Result<T, WorkloadError>;

/// An [`WorkloadError::Argument`] in one line.
pub(crate) fn bad<T>(
    argument: &'static str,
    value: &dyn Display,
    remedy: impl Into<String>,
) -> Result<T> {
    Err(WorkloadError::Argument { argument, value: value.to_string(), remedy: remedy.into() })
}

/// Turns an I/O error into [`WorkloadError::System`], saying what was tried.
pub(crate) fn system<S: Into<String>>(what: S) -> impl FnOnce(io::Error) -> WorkloadError {
    move |source| WorkloadError::System { what: what.into(), source }
}
