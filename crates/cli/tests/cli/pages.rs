//! Plans as pages: alone, side by side, and what stands in the way of one.

use crate::run::{command, finish, pagetide, scratch};
use crate::truths::{hot_cold, uniform};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_plan_is_written_as_a_page_that_only_its_owner_reads() {
    let scratch = scratch();
    let (recording, page) = (hot_cold(&scratch), scratch.path().join("plan.html"));
    fs::write(&page, "an older one").unwrap();
    let line = format!("plan {} --report {}", recording.display(), page.display());
    let outcome = pagetide(&line).succeeds();
    assert!(outcome.out.contains("of fast memory") && outcome.err.contains("plan.html"));
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!doctype html>") && text.contains("How much fast memory"));
    assert_eq!(fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(scratch.path().read_dir().unwrap().count(), 2);
}

#[test]
fn two_recordings_or_two_machines_stand_side_by_side() {
    let scratch = scratch();
    let (a, b) = (hot_cold(&scratch), uniform(&scratch));
    let page = scratch.path().join("two.html");
    let report = |subjects: &str| {
        pagetide(&format!("report {subjects} -o {}", page.display())).succeeds();
        fs::read_to_string(&page).unwrap()
    };
    let text = report(&format!("{} {}", a.display(), b.display()));
    assert!(text.contains(">hot-cold.heat</th>") && text.contains(">uniform.heat</th>"));
    // Of different programs: said, and not compared.
    assert!(text.contains("How the recordings agree") && text.contains("of the memory matched"));
    assert!(!text.contains("Order of rates"));
    let text = report(&format!("{0} {0}", a.display()));
    assert!(text.contains("Order of rates") && !text.contains("of the memory matched"));
    let text = report(&format!("{} --machine cxl --machine pmshifter-optane", a.display()));
    assert!(text.contains(">cxl</th>") && text.contains(">pmshifter-optane</th>"));
    assert!(!text.contains("How the recordings agree"));
    let text = report(&format!(
        "{} {} --machine cxl --machine pmshifter-optane",
        a.display(),
        b.display()
    ));
    for recording in ["hot-cold.heat", "uniform.heat"] {
        for machine in ["cxl", "pmshifter"] {
            let name = format!(">{recording} on {machine}");
            assert!(text.contains(&name), "no '{name}'");
        }
    }
    let alone = report(&a.display().to_string());
    assert!(!alone.contains("compared"));
}

#[test]
fn a_page_that_nobody_named_replaces_none() {
    let scratch = scratch();
    hot_cold(&scratch);
    let page = scratch.path().join("hot-cold.html");
    fs::write(&page, "precious").unwrap();
    let report = |more: &[&str]| {
        let mut report = command(["report", "hot-cold.heat"]);
        report.args(more).current_dir(scratch.path());
        finish(report)
    };
    report(&[]).fails(1, &["hot-cold.html already exists", "-o hot-cold.html replaces it"]);
    assert_eq!(fs::read_to_string(&page).unwrap(), "precious");
    // A link is replaced, and not followed.
    let link = scratch.path().join("link.html");
    std::os::unix::fs::symlink(&page, &link).unwrap();
    report(&["-o", "link.html"]).succeeds();
    assert!(!link.is_symlink());
    assert_eq!(fs::read_to_string(&page).unwrap(), "precious");
    report(&["-o", "hot-cold.html"]).succeeds();
    assert!(fs::read_to_string(&page).unwrap().starts_with("<!doctype html>"));
    fs::remove_file(&page).unwrap();
    report(&[]).succeeds();
    assert!(page.exists());
}

#[test]
fn what_stands_in_the_way_of_a_page_is_said_in_words() {
    let scratch = scratch();
    let (a, newer) = (hot_cold(&scratch), uniform(&scratch));
    let header = newer.join("recording.json");
    let text = fs::read_to_string(&header).unwrap();
    let future = text.replacen("\"schema_version\": 2", "\"schema_version\": 99", 1);
    assert_ne!(future, text);
    fs::write(&header, future).unwrap();
    let page = scratch.path().join("x.html");
    let (a, newer, out) = (a.display(), newer.display(), page.display());
    pagetide(&format!("report {a} {newer} -o {out}"))
        .fails(1, &["uniform.heat", "newer version", "schema 99", "update pagetide"]);
    pagetide(&format!("report {a} {a} {a} {a} {a} -o {out}"))
        .fails(1, &["5 plans", "side by side"]);
    pagetide(&format!("report {a} -o {}/no/x.html", scratch.path().display()))
        .fails(1, &["does not exist", "make it"]);
    let folder = scratch.path().display();
    pagetide(&format!("plan {a} --report {folder}")).fails(1, &["is a directory", "name a file"]);
    pagetide("report").fails(2, &["RECORDING", "Usage: pagetide report"]);
    pagetide(&format!("report {a} -o /dev/null")).fails(1, &["/dev/null is no ordinary file"]);
    assert!(!page.exists());
}
