//! Recordings that will be too short for a plan: said at the start, not after minutes.

use crate::args::RecordOptions;
use pagetide_replay::LEAST_EPOCHS;
use std::time::Duration;

/// That no plan can come of so few epochs, and what would help.
pub(crate) fn too_short(options: &RecordOptions) -> Option<String> {
    let (limit, epoch) = (options.limit?, options.epoch);
    let fit = limit.as_secs_f64() / epoch.as_secs_f64();
    let least = f64::from(LEAST_EPOCHS);
    // A last epoch that is nearly as long as the others counts as one.
    if fit + 0.2 >= least {
        return None;
    }
    // Two more than needed: a plan leaves out the epoch in which a program fills its memory, and the next one.
    let longer = epoch.mul_f64(least + 2.0);
    let most = limit.as_secs_f64() / (least + 2.0);
    let shorter = (-3..=6)
        .rev()
        .flat_map(|power| [5.0, 2.0, 1.0].map(|digit| digit * 10f64.powi(power)))
        .find(|length| *length <= most);
    let shorter = shorter.map_or_else(String::new, |length| {
        format!(", or --epoch {}", time(Duration::from_secs_f64(length)))
    });
    Some(format!(
        "--for {} is {} of {}, and a plan needs at least {LEAST_EPOCHS} after the program has \
         filled its memory: --for {}{shorter}",
        time(limit),
        match fit.floor() {
            n if n < 1.0 => "less than one epoch".to_owned(),
            n if n < 2.0 => "1 epoch".to_owned(),
            n => format!("{n} epochs"),
        },
        time(epoch),
        time(longer)
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
mod tests {
    use super::*;

    fn note(limit_ms: Option<u64>, epoch_ms: u64) -> Option<String> {
        let of = Duration::from_millis;
        too_short(&RecordOptions {
            epoch: of(epoch_ms),
            unit: pagetide_types::UnitSize::default(),
            limit: limit_ms.map(of),
            budget: 0.01,
            clear_shared: false,
            range: None,
            quiet: true,
            exact: crate::exact_args::ExactOptions::default(),
        })
    }

    #[test]
    fn too_few_epochs_for_a_plan_are_said_with_what_helps() {
        assert_eq!((note(None, 5000), note(Some(15_000), 5000)), (None, None));
        assert_eq!(note(Some(14_500), 5000), None, "the last one is nearly as long");
        let text = note(Some(12_000), 5000).unwrap();
        assert_eq!(
            text,
            "--for 12s is 2 epochs of 5s, and a plan needs at least 3 after the program has filled \
             its memory: --for 25s, or --epoch 2s"
        );
        let text = note(Some(2_000), 5000).unwrap();
        assert!(text.contains("less than one epoch of 5s") && text.contains("--epoch 200ms"));
    }
}
