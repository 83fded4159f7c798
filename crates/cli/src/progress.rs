//! What the user sees while a recording runs: a bar with the time when it is known, else a
//! spinner; nothing when nobody looks.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar over `total` seconds, or a spinner.
    pub(crate) fn new(total: Option<Duration>, quiet: bool) -> Self {
        let bar = match total {
            Some(total) => ProgressBar::new(total.as_secs().max(1)),
            None => ProgressBar::new_spinner(),
        };
        let template = match total {
            Some(_) => "recording {bar:12} {pos}/{len} s  {wide_msg}",
            None => "recording {spinner} {elapsed}  {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        if quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Self(bar)
    }

    pub(crate) fn update(&self, seconds: f64, message: String) {
        if self.0.length().is_some() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds")]
            self.0.set_position(seconds as u64);
        }
        self.0.set_message(message);
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
