//! The two bounds that ignore the budget: everything fast, everything slow.

use crate::{Class, Fixed, Needs, Policy, PolicyInfo};

pub(crate) const ALL_FAST: PolicyInfo = PolicyInfo {
    name: "all-fast",
    summary: "everything in fast memory, whatever its capacity",
    source: "bound",
    class: Class::Bound,
    needs: Needs::NOTHING,
    options: &[],
    figures: &[],
    build: |_| Policy::Fixed(Fixed::AllFast),
};

pub(crate) const ALL_SLOW: PolicyInfo = PolicyInfo {
    name: "all-slow",
    summary: "everything in slow memory, whatever the capacity of fast memory",
    source: "bound",
    class: Class::Bound,
    needs: Needs::NOTHING,
    options: &[],
    figures: &[],
    build: |_| Policy::Fixed(Fixed::AllSlow),
};
