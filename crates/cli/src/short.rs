//! Recordings that will be too short for a plan: said at the start, not after minutes.

use crate::args::RecordOptions;
use pagetide_replay::{LEAST_EPOCHS, LEAST_SECONDS, Plan};
use std::time::Duration;

/// Epochs that a plan needs beside those that it leaves out. Samples take their time, however short
/// the epochs.
pub(crate) fn needed(options: &RecordOptions) -> u32 {
    let by_time = LEAST_SECONDS / options.epoch.as_secs_f64();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let by_time = if options.exact.exact { 0 } else { by_time.ceil() as u32 };
    by_time.max(LEAST_EPOCHS)
}

/// The same in words.
pub(crate) fn needed_in_words(needed: u32) -> String {
    match needed {
        LEAST_EPOCHS => LEAST_EPOCHS.to_string(),
        _ => format!("{needed}, for {LEAST_SECONDS} s at least,"),
    }
}

/// The time in which these epochs, and those that a plan leaves out, are over.
pub(crate) fn enough(options: &RecordOptions) -> Duration {
    options.epoch * (needed(options) + Plan::LEFT_OUT)
}

/// That no plan can come of so few epochs, and what would help.
pub(crate) fn too_short(options: &RecordOptions) -> Option<String> {
    let (limit, epoch) = (options.limit?, options.epoch);
    let fit = limit.as_secs_f64() / epoch.as_secs_f64();
    let needed = needed(options);
    let least = f64::from(needed);
    // A last epoch that is nearly as long as the others counts as one.
    if fit + 0.2 >= least {
        return None;
    }
    let left_out = f64::from(Plan::LEFT_OUT);
    // Shorter epochs leave out less, but as much time must remain.
    let by_time = if options.exact.exact { 0.0 } else { LEAST_SECONDS };
    let limit_s = limit.as_secs_f64();
    let most = (limit_s / (f64::from(LEAST_EPOCHS) + left_out)).min((limit_s - by_time) / left_out);
    let shorter = (-3..=6)
        .rev()
        .flat_map(|power| [5.0, 2.0, 1.0].map(|digit| digit * 10f64.powi(power)))
        .find(|length| *length <= most);
    let shorter = shorter.map_or_else(String::new, |length| {
        format!(", or --epoch {}", time(Duration::from_secs_f64(length)))
    });
    Some(format!(
        "--for {} is {} of {}, and a plan needs at least {} after the program has filled its \
         memory: --for {}{shorter}",
        time(limit),
        match fit.floor() {
            n if n < 1.0 => "less than one epoch".to_owned(),
            n if n < 2.0 => "1 epoch".to_owned(),
            n => format!("{n} epochs"),
        },
        time(epoch),
        needed_in_words(needed),
        time(enough(options))
    ))
}

/// A time as one writes it on the command line: `5s`, `200ms`.
pub(crate) fn time(time: Duration) -> String {
    match time.as_millis() {
        ms if ms.is_multiple_of(1000) => format!("{}s", ms / 1000),
        ms if ms < 10_000 => format!("{ms}ms"),
        _ => format!("{:.1}s", time.as_secs_f64()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::exact_args::ExactOptions;

    fn note(limit_ms: Option<u64>, epoch_ms: u64) -> Option<String> {
        too_short(&options(limit_ms, epoch_ms))
    }

    pub(crate) fn options(limit_ms: Option<u64>, epoch_ms: u64) -> RecordOptions {
        let of = Duration::from_millis;
        RecordOptions {
            epoch: of(epoch_ms),
            unit: pagetide_types::UnitSize::default(),
            limit: limit_ms.map(of),
            budget: 0.01,
            clear_shared: false,
            range: None,
            quiet: true,
            exact: ExactOptions::default(),
        }
    }

    #[test]
    fn too_few_epochs_for_a_plan_are_said_with_what_helps() {
        assert_eq!((note(None, 5000), note(Some(15_000), 5000)), (None, None));
        assert_eq!(note(Some(14_500), 5000), None, "the last one is nearly as long");
        let text = note(Some(12_000), 5000).unwrap();
        assert_eq!(
            text,
            "--for 12s is 2 epochs of 5s, and a plan needs at least 3 after the program has filled \
             its memory: --for 30s, or --epoch 500ms"
        );
        // However short the epochs: in so little time nothing can be told.
        let text = note(Some(2_000), 5000).unwrap();
        assert!(text.contains("less than one epoch of 5s"), "{text}");
        assert!(text.ends_with(": --for 30s"), "{text}");
        assert_eq!(
            note(Some(7_000), 1000).unwrap(),
            "--for 7s is 7 epochs of 1s, and a plan needs at least 10, for 10 s at least, after \
             the program has filled its memory: --for 13s"
        );
        let exact = ExactOptions { exact: true, ..ExactOptions::default() };
        let counted = RecordOptions { exact, ..options(Some(2_000), 500) };
        assert_eq!(too_short(&counted), None, "counts need no time");
    }
}
