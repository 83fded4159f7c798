//! A pattern's thread with instructions between its accesses, which a pattern does not know itself.

use crate::scenario::INSTRUCTION_NS;
use pagetide_access::patterns::{Source, Step};
use std::time::Duration;

/// See the module. What changes with the time goes by the instructions so far, as if the thread waited for
/// nothing: its accesses are filtered before anything is known of the time that they take.
pub(super) struct Paced<S> {
    source: S,
    gap: u32,
    executed: u64,
}

impl<S> Paced<S> {
    /// So many instructions for each access.
    pub(super) const fn new(source: S, gap: u32) -> Self {
        Self { source, gap, executed: 0 }
    }
}

impl Source for Paced<Box<dyn Source + Send>> {
    fn take(&mut self, n: u32, _: Duration, steps: &mut Vec<Step>) {
        let seconds = self.executed as f64 * f64::from(INSTRUCTION_NS) * 1e-9;
        let first = steps.len();
        self.source.take(n, Duration::from_secs_f64(seconds), steps);
        for step in &mut steps[first..] {
            step.gap = self.gap;
            self.executed += u64::from(self.gap);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_access::patterns::Op;

    /// Tells the time as an offset, in nanoseconds.
    struct Clock;

    impl Source for Clock {
        fn take(&mut self, n: u32, now: Duration, steps: &mut Vec<Step>) {
            let offset = u64::try_from(now.as_nanos()).unwrap();
            let step = Step { offset, gap: 0, op: Op::Read, dependent: false };
            steps.extend(vec![step; n as usize]);
        }
    }

    #[test]
    fn each_access_takes_its_instructions_and_time_goes_by_them() {
        let mut paced = Paced::new(Box::new(Clock) as Box<dyn Source + Send>, 8);
        let mut steps = Vec::new();
        (0..3).for_each(|_| paced.take(10, Duration::ZERO, &mut steps));
        assert!(steps.iter().all(|step| step.gap == 8));
        // Ten accesses are eighty instructions, a quarter of a nanosecond each.
        let times: Vec<u64> = steps.iter().step_by(10).map(|step| step.offset).collect();
        assert_eq!(times, [0, 20, 40]);
    }
}
