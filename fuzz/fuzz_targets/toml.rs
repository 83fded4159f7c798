//! Files in TOML that users write, or take from others: scenarios, and machines.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &str| {
    let _ = pagetide_machine::model::parse::<pagetide_machine::Machine>(data, "fuzz.toml");
    if let Ok(scenario) = pagetide_sim::scenario::parse(data, "fuzz.toml") {
        let _ = pagetide_sim::scenario::check(&scenario, "fuzz.toml");
    }
});
