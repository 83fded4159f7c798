//! How far apart the hint faults on a page are, in movements of its node's lists: what comes back sooner
//! than the time before is going to be used (Adaptive, section 4.5 and its Figure 6; after the refault
//! distance of Linux's mm/workingset.c).
//!
//! The slow node's lists have an age, which a page advances by its base pages when it arrives there,
//! when it becomes active or hinted, and when it is promoted. The age is read before the page advances
//! it [I].

/// What is known of a page, since it came to the slow node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    /// The age at its last fault, or when it came.
    age: u64,
    /// From the fault before, or from its arrival, to the last fault; none before the first.
    distance: Option<u64>,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct RefaultDistances {
    age: u64,
    /// By page, the first one of a huge page.
    entries: Vec<Entry>,
}

impl RefaultDistances {
    /// For so many pages of which none has come.
    #[must_use]
    pub fn new(pages: usize) -> Self {
        Self { age: 0, entries: vec![Entry::default(); pages] }
    }

    /// Movements so far, base pages.
    #[must_use]
    pub fn age(&self) -> u64 {
        self.age
    }

    /// Base pages came to the slow node, by demotion or new.
    pub fn arrive(&mut self, first: usize, pages: u64) {
        self.entries[first] = Entry { age: self.age, distance: None };
        self.advance(pages);
    }

    /// Base pages moved within the lists or left them.
    pub fn advance(&mut self, pages: u64) {
        self.age += pages;
    }

    /// The page faulted; whether it did so at a shorter distance than the time before.
    pub fn fault(&mut self, first: usize) -> bool {
        let entry = &mut self.entries[first];
        let distance = self.age - entry.age;
        let shorter = entry.distance.is_some_and(|before| distance < before);
        *entry = Entry { age: self.age, distance: Some(distance) };
        shorter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a page that came at age 0 is promoted by each of its faults at some ages.
    fn shorter(ages: &[u64]) -> Vec<bool> {
        let mut distances = RefaultDistances::new(2);
        distances.arrive(0, 0);
        ages.iter()
            .map(|age| {
                distances.advance(age - distances.age);
                distances.fault(0)
            })
            .collect()
    }

    #[test]
    fn of_two_pages_the_one_whose_faults_come_closer_is_preferred_to_the_one_with_more() {
        // Figure 1: A is accessed more often, B at shorter and shorter intervals.
        assert_eq!(shorter(&[2, 4, 6, 8, 10]), [false; 5], "A");
        assert_eq!(shorter(&[5, 8, 10]), [false, true, true], "B");
    }

    #[test]
    fn a_distance_that_is_not_shorter_is_what_the_next_one_is_held_against() {
        assert_eq!(shorter(&[3, 9, 14]), [false, false, true], "3, 6, 5");
        assert_eq!(shorter(&[3, 6]), [false, false], "3, 3");
    }

    #[test]
    fn who_comes_again_begins_again() {
        let mut distances = RefaultDistances::new(2);
        distances.arrive(0, 1);
        distances.advance(10);
        assert!(!distances.fault(0), "11 after it came");
        distances.arrive(0, 1);
        distances.advance(2);
        assert!(!distances.fault(0), "3 after it came again: a first distance");
        distances.arrive(1, 1);
        assert!(distances.fault(0), "1, for another page came");
    }
}
