//! Tests of what only an undisturbed machine shows: how hot memory is while a program runs at its
//! own pace, how much of it can be watched for a budget.

use crate::{Disturbance, Watch, skip};

/// Tries `attempt` until it is content, at most `attempts` times. Panics with its last complaint if
/// nothing disturbed any of them: then it complains of the program. If one was disturbed the test
/// is skipped aloud. What holds on a busy machine, too, does not belong in here.
///
/// Disturbances are looked for in this process and all its descendants (see [`Watch`]).
///
/// # Panics
/// With the last complaint, if all attempts were undisturbed.
pub fn undisturbed(test: &str, attempts: u32, mut attempt: impl FnMut() -> Result<(), String>) {
    let watched = || {
        let watch = Watch::start();
        let result = attempt();
        (result, watch.stop())
    };
    match judge(attempts, watched) {
        Verdict::Content => {}
        Verdict::Skipped(reason) => skip(test, &reason),
        Verdict::Failed(complaint) => panic!("{complaint}"),
    }
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Content,
    Skipped(String),
    Failed(String),
}

fn judge(attempts: u32, mut attempt: impl FnMut() -> (Result<(), String>, Disturbance)) -> Verdict {
    let (mut last, mut disturbed) = ("nothing was tried".to_owned(), 0);
    for _ in 0..attempts {
        let (result, disturbance) = attempt();
        let Err(complaint) = result else { return Verdict::Content };
        disturbed += u32::from(!disturbance.is_small());
        last = format!("{complaint} ({disturbance})");
    }
    if disturbed == 0 {
        return Verdict::Failed(format!("{last}, undisturbed {attempts} times"));
    }
    Verdict::Skipped(format!("the machine was disturbed {disturbed} of {attempts} times: {last}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// The verdict over attempts that end like this, and how many were made.
    fn verdict(ends: &[(Result<(), &str>, u64)]) -> (Verdict, usize) {
        let mut made = 0;
        let verdict = judge(3, || {
            let (result, waited_ms) = ends[made];
            made += 1;
            let waited = Duration::from_millis(waited_ms);
            let disturbance =
                Disturbance { wall: Duration::from_secs(1), waited, ..Disturbance::default() };
            (result.map_err(str::to_owned), disturbance)
        });
        (verdict, made)
    }

    #[test]
    fn what_undisturbed_attempts_complain_of_is_a_failure() {
        let (failed, made) = verdict(&[(Err("too cold"), 1); 3]);
        assert!(matches!(&failed, Verdict::Failed(why) if why.contains("too cold")), "{failed:?}");
        assert_eq!(made, 3);
        let once = [(Err("too cold"), 1), (Err("too cold"), 500), (Err("too cold"), 1)];
        assert!(matches!(verdict(&once).0, Verdict::Skipped(_)));
    }

    #[test]
    fn a_disturbed_attempt_is_repeated_and_at_last_skipped() {
        let disturbed = (Err("too cold"), 500);
        assert_eq!(verdict(&[disturbed, disturbed, (Ok(()), 500)]), (Verdict::Content, 3));
        let (skipped, made) = verdict(&[disturbed; 3]);
        assert!(
            matches!(&skipped, Verdict::Skipped(why) if why.contains("too cold")),
            "{skipped:?}"
        );
        assert_eq!(made, 3);
    }

    #[test]
    fn who_is_content_is_not_asked_again() {
        assert_eq!(verdict(&[(Ok(()), 0)]), (Verdict::Content, 1));
        assert_eq!(verdict(&[(Ok(()), 900)]), (Verdict::Content, 1));
    }
}
