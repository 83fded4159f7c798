//! What else on the machine uses accessed bits or moves pages while a program is recorded.

use super::{Finding, Status};
use crate::Features;
use pagetide_types::Bytes;

pub(super) fn findings(features: &Features) -> Vec<Finding> {
    vec![
        damon(features),
        lru_gen(features),
        balancing(features),
        demotion(features),
        swap(features),
        merging(features),
    ]
}

fn damon(features: &Features) -> Finding {
    if features.damon.is_empty() {
        let meaning = "Nobody else clears accessed bits on purpose.";
        return Finding::new("damon", "not running", Status::Ok, meaning);
    }
    Finding::new(
        "damon",
        features.damon.join(", "),
        Status::Note,
        "It clears accessed bits too, so pages used rarely may look colder than they are; rates \
         from short gaps are hardly touched. Leave it alone if you do not know whose it is.",
    )
}

fn lru_gen(features: &Features) -> Finding {
    let (value, status, meaning) = match features.lru_gen {
        None => ("not built", Status::Ok, "Reclaim does not walk page tables."),
        Some(0) => ("off", Status::Ok, "Reclaim does not walk page tables."),
        Some(_) => (
            "on",
            Status::Note,
            "Under memory pressure the kernel clears accessed bits itself; record while memory is \
             free.",
        ),
    };
    Finding::new("lru-gen", value, status, meaning)
}

fn balancing(features: &Features) -> Finding {
    let (value, status, meaning) = match features.numa_balancing {
        None => ("not built", Status::Ok, "The kernel does not move pages between nodes."),
        Some(0) => ("off", Status::Ok, "The kernel does not move pages between nodes."),
        Some(2 | 3) => (
            "tiering",
            Status::Note,
            "The kernel promotes pages itself while you record; what is accessed is seen, where \
             it lies changes.",
        ),
        Some(_) => (
            "on",
            Status::Note,
            "The kernel moves pages between nodes while you record, and faults for it slow the \
             program.",
        ),
    };
    Finding::new("numa-balancing", value, status, meaning)
}

fn demotion(features: &Features) -> Finding {
    let (value, status, meaning) = match features.demotion {
        None => ("not built", Status::Ok, "The kernel does not demote pages."),
        Some(false) => ("off", Status::Ok, "The kernel does not demote pages."),
        Some(true) => (
            "on",
            Status::Note,
            "Under memory pressure the kernel moves cold pages to slower nodes while you record.",
        ),
    };
    Finding::new("demotion", value, status, meaning)
}

fn swap(features: &Features) -> Finding {
    if features.swaps.is_empty() {
        let meaning = "All memory of a program stays resident, so all of it is seen.";
        return Finding::new("swap", "none", Status::Ok, meaning);
    }
    let total: Bytes = features.swaps.iter().map(|(_, size)| *size).sum();
    let names: Vec<&str> = features.swaps.iter().map(|(name, _)| name.as_str()).collect();
    Finding::new(
        "swap",
        format!("{total} on {}", names.join(", ")),
        Status::Note,
        "Pages that are swapped out are not in a recording; record while memory is free.",
    )
}

fn merging(features: &Features) -> Finding {
    if features.merging {
        return Finding::new(
            "page-merging",
            "on",
            Status::Note,
            "Merged pages belong to several processes, so their accessed bits cannot be cleared: \
             their heat stays unknown.",
        );
    }
    Finding::new("page-merging", "off", Status::Ok, "Pages are not merged behind our back.")
}
