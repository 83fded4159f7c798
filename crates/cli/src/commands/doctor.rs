//! `pagetide doctor`: what this machine offers, what it means, and whether heat can be read.

use crate::args::DoctorArgs;
use crate::commands::{out, print_json};
use crate::progress::Progress;
use anyhow::Result;
use pagetide_host::{Host, Status};
use pagetide_report::{FindingRow, Mark, Style};
use serde::Serialize;
use std::process::ExitCode;

#[derive(Serialize)]
struct Answer {
    findings: Vec<pagetide_host::Finding>,
    self_test: Vec<pagetide_scan::Finding>,
    /// Why the self test could not run or did not pass; none if all is well.
    problem: Option<String>,
    can_record: bool,
}

pub(crate) fn run(arguments: &DoctorArgs) -> Result<ExitCode> {
    let host = Host::live();
    let features = host.features();
    let findings = features.findings();
    let tested = if arguments.no_self_test {
        Ok(Vec::new())
    } else {
        let doing = vec!["whether accesses are seen; it takes up to a minute".to_owned()];
        let progress = Progress::new("testing", None, arguments.json.json, doing);
        let tested = pagetide_scan::self_test(&host, &features);
        progress.finish();
        tested
    };
    let (self_test, problem) = match tested {
        Ok(tests) => {
            let bad = tests.iter().find(|test| !test.passed()).map(ToString::to_string);
            (tests, bad)
        }
        Err(error) => {
            let grant = crate::exit::grant_for(&error, &features).unwrap_or_default();
            (Vec::new(), Some(format!("{error}{grant}")))
        }
    };
    let missing = findings.iter().any(|finding| finding.status == Status::Missing);
    let answer = Answer { can_record: problem.is_none() && !missing, findings, self_test, problem };
    if arguments.json.json {
        print_json(&answer)?;
    } else {
        out(&text(&answer, arguments.verbose, Style::of_stdout()))?;
    }
    Ok(if answer.can_record { ExitCode::SUCCESS } else { ExitCode::from(crate::exit::UNSUPPORTED) })
}

fn text(answer: &Answer, verbose: bool, style: Style) -> String {
    let found = answer.findings.iter().map(|finding| FindingRow {
        mark: match finding.status {
            Status::Ok => Mark::Ok,
            Status::Note => Mark::Note,
            Status::Missing => Mark::Missing,
        },
        name: finding.name.to_owned(),
        value: finding.value.clone(),
        meaning: finding.meaning.clone(),
    });
    let tested = if verbose {
        answer.self_test.iter().map(one_test).collect()
    } else {
        summary(&answer.self_test)
    };
    let rows: Vec<FindingRow> = found.chain(tested).collect();
    let conclusion = match (&answer.problem, answer.can_record) {
        (None, true) => "This machine can record. Next: sudo pagetide plan -- COMMAND".to_owned(),
        (Some(problem), _) => format!("This machine cannot record: {problem}"),
        (None, false) => "This machine cannot record: see what is MISSING.".to_owned(),
    };
    pagetide_report::doctor(&rows, &conclusion, style)
}

const SELF_TEST: &str = "self-test";

fn one_test(test: &pagetide_scan::Finding) -> FindingRow {
    FindingRow {
        mark: match (&test.skipped, test.passed()) {
            (Some(_), _) => Mark::Note,
            (None, true) => Mark::Ok,
            (None, false) => Mark::Missing,
        },
        name: SELF_TEST.to_owned(),
        value: test.to_string(),
        meaning: String::new(),
    }
}

/// All tests in a line, those that failed one by one.
fn summary(tests: &[pagetide_scan::Finding]) -> Vec<FindingRow> {
    let run: Vec<_> = tests.iter().filter(|test| test.skipped.is_none()).collect();
    let passed: Vec<_> = run.iter().copied().filter(|test| test.passed()).collect();
    let left_out: Vec<&str> = tests.iter().filter_map(|test| test.skipped.as_deref()).collect();
    let mut rows: Vec<FindingRow> =
        run.iter().filter(|test| !test.passed()).map(|test| one_test(test)).collect();
    if tests.is_empty() {
        return rows;
    }
    let mut value = format!("{} of {} tests passed", passed.len(), run.len());
    if let Some(why) = left_out.first() {
        value += &format!(", {} left out ({why})", left_out.len());
    }
    let least = |share: fn(&pagetide_scan::Finding) -> Option<f64>| {
        passed.iter().filter_map(|test| share(test)).fold(1.0, f64::min) * 100.0
    };
    let again = passed.iter().filter(|test| test.tries > 1).count();
    let mut meaning = format!(
        "Known 4 KiB and 2 MiB pages were touched, few and many, in sequence and at random: at \
         least {:.1} % of those touched were seen, {:.1} % of those seen were touched (--verbose \
         lists the tests).",
        least(|test| test.recall),
        least(|test| test.precision)
    );
    if again > 0 {
        meaning += &format!(
            " {again} of them not at the first try: something else clears accessed bits, too."
        );
    }
    let mark = if passed.is_empty() || !left_out.is_empty() { Mark::Note } else { Mark::Ok };
    let meaning = if passed.is_empty() { String::new() } else { meaning };
    rows.insert(0, FindingRow { mark, name: SELF_TEST.to_owned(), value, meaning });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::PageSize;

    fn test(recall: Option<f64>, skipped: Option<&str>) -> pagetide_scan::Finding {
        pagetide_scan::Finding {
            page: PageSize::Base,
            spinning: 16,
            random: false,
            recall,
            precision: recall,
            tries: 1,
            skipped: skipped.map(str::to_owned),
        }
    }

    #[test]
    fn the_self_test_is_one_line_and_what_failed_is_told_one_by_one() {
        let good = vec![test(Some(0.998), None); 12];
        let rows = summary(&good);
        assert_eq!((rows.len(), rows[0].mark), (1, Mark::Ok));
        assert_eq!(rows[0].value, "12 of 12 tests passed");
        assert!(rows[0].meaning.contains("at least 99.8 % of those touched were seen"));
        let mut mixed = good;
        mixed[3] = test(None, Some("too little memory is free"));
        mixed[5] = test(Some(0.5), None);
        let rows = summary(&mixed);
        assert_eq!(rows[0].value, "10 of 11 tests passed, 1 left out (too little memory is free)");
        assert_eq!((rows[1].mark, rows.len()), (Mark::Missing, 2));
        assert!(rows[1].value.contains("50.0 %"), "{}", rows[1].value);
        assert!(summary(&[]).is_empty());
    }

    #[test]
    fn tests_that_had_to_be_tried_again_are_told() {
        let mut tests = vec![test(Some(1.0), None); 12];
        assert!(!summary(&tests)[0].meaning.contains("first try"));
        tests[4].tries = 2;
        let said = &summary(&tests)[0];
        assert_eq!(said.mark, Mark::Ok);
        assert!(said.meaning.contains("1 of them not at the first try"), "{}", said.meaning);
    }

    #[test]
    fn all_tests_are_listed_on_request() {
        let self_test = vec![test(Some(1.0), None); 12];
        let answer = Answer { findings: Vec::new(), self_test, problem: None, can_record: true };
        let lines = |verbose| {
            let text = text(&answer, verbose, Style::new(80, false));
            text.lines().filter(|line| line.contains(" self-test ")).count()
        };
        assert_eq!((lines(false), lines(true)), (1, 12));
    }
}
