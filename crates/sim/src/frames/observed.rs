//! The frames of a real zone, as `benches/frames.py` writes them down from a guest's `/proc/kpageflags`.
//!
//! A line for each pageblock: `M` where the block is for movable pages, `U` where it is not, a space, and 256
//! hexadecimal digits of two frames each, the lower one in the upper half of a digit: 0 free, 1 movable, 2 not.
//! Lines that begin with `#` say what it is.

use super::{Buddy, Frame, MAX_ORDER, PAGEBLOCK_ORDER};

const DIGITS: usize = 1 << (PAGEBLOCK_ORDER - 1);

/// Why a text is no zone.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ObservedError {
    /// A line that is none of a pageblock.
    #[error("line {0}: neither 'M' nor 'U' and {DIGITS} digits")]
    Line(usize),
    /// A digit that says something else.
    #[error("line {line}: '{digit}' is no digit of frames")]
    Digit {
        /// The line, from 1 on.
        line: usize,
        /// What stands there.
        digit: char,
    },
    /// Not whole blocks of the largest order.
    #[error("{0} pageblocks are not whole blocks of 4 MiB")]
    Odd(usize),
}

/// The zone that a text describes.
///
/// # Errors
/// It is of another form.
pub fn observed(text: &str) -> Result<Buddy, ObservedError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    let blocks: Vec<(usize, bool, &str)> = lines.map(block).collect::<Result<_, _>>()?;
    let pair = 1 << (MAX_ORDER - PAGEBLOCK_ORDER);
    if !blocks.len().is_multiple_of(pair) {
        return Err(ObservedError::Odd(blocks.len()));
    }
    let mut memory = Buddy::new(blocks.len() / pair);
    for (number, (line, movable, digits)) in blocks.into_iter().enumerate() {
        memory.set_for_movable(number, movable);
        let mut at = number << PAGEBLOCK_ORDER;
        for digit in digits.chars() {
            let wrong = || ObservedError::Digit { line, digit };
            let both = digit.to_digit(16).ok_or_else(wrong)?;
            for half in [both >> 2, both & 3] {
                match half {
                    0 => {}
                    1 => _ = memory.take(at, Frame::Movable),
                    2 => _ = memory.take(at, Frame::Unmovable),
                    _ => return Err(wrong()),
                }
                at += 1;
            }
        }
    }
    Ok(memory)
}

fn block((number, line): (usize, &str)) -> Result<(usize, bool, &str), ObservedError> {
    let wrong = ObservedError::Line(number + 1);
    let (kind, digits) = line.split_once(' ').ok_or(wrong)?;
    if digits.len() != DIGITS || !["M", "U"].contains(&kind) {
        return Err(ObservedError::Line(number + 1));
    }
    Ok((number + 1, kind == "M", digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_as_they_are_written_down() {
        let first = format!("M 16{}", "0".repeat(254));
        let second = format!("U {}", "0".repeat(256));
        let memory = observed(&format!("# a guest\n{first}\n{second}\n")).unwrap();
        // 1 is free and movable, 6 is movable and unmovable.
        let frames: Vec<Frame> = (0..5).map(|at| memory.frame(at)).collect();
        let [free, movable] = [Frame::Free, Frame::Movable];
        assert_eq!(frames, [free, movable, movable, Frame::Unmovable, free]);
        assert_eq!((memory.free_pageblocks(), memory.free_frames()), (1, 1021));
        assert!(memory.is_for_movable(0) && !memory.is_for_movable(1));
    }

    #[test]
    fn what_is_no_zone_is_refused_with_the_line() {
        let good = format!("M {}", "0".repeat(256));
        assert_eq!(observed(&good).unwrap_err(), ObservedError::Odd(1));
        assert_eq!(observed("M 00").unwrap_err(), ObservedError::Line(1));
        assert_eq!(
            observed(&format!("{good}\nX {}", "0".repeat(256))).unwrap_err().to_string(),
            "line 2: neither 'M' nor 'U' and 256 digits"
        );
        let bad = format!("{good}\nM 3{}", "0".repeat(255));
        assert_eq!(observed(&bad).unwrap_err(), ObservedError::Digit { line: 2, digit: '3' });
    }
}
