//! `pagetide doctor`: what this machine offers, what it means, and whether heat can be read.

use crate::args::DoctorArgs;
use crate::commands::{out, print_json};
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
        pagetide_scan::self_test(&host, &features)
    };
    let (self_test, problem) = match tested {
        Ok(tests) => {
            let bad = tests.iter().find(|test| !test.passed()).map(ToString::to_string);
            (tests, bad)
        }
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let missing = findings.iter().any(|finding| finding.status == Status::Missing);
    let answer = Answer { can_record: problem.is_none() && !missing, findings, self_test, problem };
    if arguments.json.json {
        print_json(&answer)?;
    } else {
        out(&text(&answer, Style::of_stdout()))?;
    }
    Ok(if answer.can_record { ExitCode::SUCCESS } else { ExitCode::from(crate::exit::UNSUPPORTED) })
}

fn text(answer: &Answer, style: Style) -> String {
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
    let tested = answer.self_test.iter().map(|test| FindingRow {
        mark: match (&test.skipped, test.passed()) {
            (Some(_), _) => Mark::Note,
            (None, true) => Mark::Ok,
            (None, false) => Mark::Missing,
        },
        name: "self_test".to_owned(),
        value: test.to_string(),
        meaning: String::new(),
    });
    let rows: Vec<FindingRow> = found.chain(tested).collect();
    let conclusion = match (&answer.problem, answer.can_record) {
        (None, true) => "This machine can record.".to_owned(),
        (Some(problem), _) => format!("This machine cannot record: {problem}"),
        (None, false) => "This machine cannot record: see what is MISSING.".to_owned(),
    };
    pagetide_report::doctor(&rows, &conclusion, style)
}
