//! What is said of a parameter that makes no sense, whether an argument line or a scenario gave
//! it, and the checks that several have in common.

use std::fmt::Display;

/// The longest time that makes sense, in seconds: beyond ten years it is a mistake.
pub const TEN_YEARS: f64 = 3.2e8;

/// A parameter, or two together, make no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter} {value}: {remedy}")]
pub struct ParameterError {
    /// The parameter at fault.
    pub parameter: &'static str,
    /// What was given.
    pub value: String,
    /// What is wrong and what to give instead; names of parameters stand between backticks.
    pub remedy: String,
}

/// A parameter's value, or why there is none.
pub type Result<T> = std::result::Result<T, ParameterError>;

/// Refuses a value; what to give instead.
///
/// # Errors
/// Always.
pub fn refuse<T>(
    parameter: &'static str,
    value: impl Display,
    remedy: impl Into<String>,
) -> Result<T> {
    Err(ParameterError { parameter, value: value.to_string(), remedy: remedy.into() })
}

/// Insists on a number above 0 and at most `most`.
///
/// # Errors
/// If it is none.
pub fn positive(parameter: &'static str, value: f64, most: f64) -> Result<()> {
    if value > 0.0 && value <= most {
        return Ok(());
    }
    refuse(parameter, value, format!("give a number above 0 and at most {most}"))
}

/// Insists on a share from 0 to 1.
///
/// # Errors
/// If it is none.
pub fn share(parameter: &'static str, value: f64) -> Result<()> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    refuse(parameter, value, "give a share between 0 and 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_named() {
        for value in [0.0, -1.0, 11.0, f64::NAN, f64::INFINITY] {
            let refused = positive("every", value, 10.0).unwrap_err().to_string();
            assert_eq!(refused, format!("every {value}: give a number above 0 and at most 10"));
        }
        for value in [-0.1, 1.1, f64::NAN] {
            assert_eq!(share("cold", value).unwrap_err().value, value.to_string());
        }
        assert_eq!((positive("every", 10.0, 10.0), share("cold", 1.0)), (Ok(()), Ok(())));
    }
}
