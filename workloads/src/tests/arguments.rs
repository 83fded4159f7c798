//! Bad arguments: every message names the argument, its value and a remedy.

use super::{Line, run};
use clap::{CommandFactory, Parser};
use std::collections::BTreeSet;

#[test]
fn nonsense_is_refused_with_a_remedy() {
    for (line, argument, remedy) in [
        ("uniform --size 0", "--size 0", "--size 1G"),
        ("strided --stride 4", "--stride 4", "at least 8"),
        ("strided --size 4K --stride 8K", "--stride 8192", "at most"),
        ("strided --size 4K --stride 1K --threads 5", "--threads 5", "fewer"),
        ("hot-cold --hot 2G --size 1G", "--hot 2.00 GiB", "at most --size, 1.00 GiB"),
        ("hot-cold --hot 0", "--hot 0 B", "more than 0"),
        ("hot-cold --hot 3M", "--hot 3145728", "4096K"),
        ("hot-cold --size 1025M --hot 2M", "--size 1074790400", "--granule"),
        ("hot-cold --ratio 0.5", "--ratio 0.5", "1 or more"),
        ("hot-cold --ratio NaN", "--ratio NaN", "above 0"),
        ("zipf --exponent=-1", "--exponent -1", "0 (uniform)"),
        ("zipf --object 12", "--object 12", "multiple of 8"),
        ("zipf --object 2G", "--object 2147483648", "at most --size"),
        ("phases --sets 0", "--sets 0", "give 1 to"),
        ("phases --set-size 2G", "--set-size 2147483648", "1.00 GiB"),
        ("phases --sizes 1M,2G", "--sizes 2147483648", "1.00 GiB"),
        ("phases --every 0", "--every 0", "above 0"),
        ("phases --elsewhere 1.5", "--elsewhere 1.5", "between 0 and 1"),
        ("amp --size 1000M", "--size 1048576000", "multiple of 64M"),
        ("amp --cold 1", "--cold 1", "between 0 and 1"),
        ("amp --each 0", "--each 0", "above 0"),
        ("pointer-chase --slot 12", "--slot 12", "multiple of 8"),
        ("graph --scale 31", "--scale 31", "1 to 30"),
        ("graph --degree 0", "--degree 0", "give 1 to"),
        ("graph --threads 2", "--threads 2", "leave the argument out"),
        ("newest --slots 0", "--slots 0", "give at least 1"),
        ("newest --slots 4 --recent 5", "--recent 5", "give 1 to 4"),
        ("newest --every 0", "--every 0", "above 0"),
        ("newest --truth x", "--truth", "dying memory"),
        ("spin --pages 0", "--pages 0", "give 1 to 512"),
        ("spin --pages 513", "--pages 513", "larger --size"),
        ("spin --list 1,512", "--list 512", "512 pages"),
        ("redis-load --keys 0", "--keys 0", "give 1 to"),
        ("redis-load --reads 2", "--reads 2", "between 0 and 1"),
        ("demo-redis --pipeline 0", "--pipeline 0", "give 1 to"),
        ("demo-redis --value-size 0", "--value-size 0", "give 1 to"),
    ] {
        let line = line.replacen(' ', " --seconds 0.01 ", 1);
        let Err(error) = run(&line) else { panic!("{line} was not refused") };
        let message = error.to_string();
        assert!(message.contains(argument) && message.contains(remedy), "{line}: {message}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_by_name() {
    for (line, named) in [
        ("uniform --size many", "'many' is not an amount of memory"),
        ("uniform --page-size 1G", "use 4K or 2M"),
        ("redis-load --server 192.0.2.1:6379", "not on this machine"),
        ("spin --pages 3 --list 4", "cannot be used with"),
        ("unknown", "unrecognized subcommand"),
    ] {
        let words = std::iter::once("workload").chain(line.split_whitespace());
        let Err(error) = Line::try_parse_from(words) else { panic!("{line} was not refused") };
        assert!(error.to_string().contains(named), "{line}: {error}");
    }
}

#[test]
fn every_workload_is_named_once_and_explained() {
    let command = Line::command();
    command.clone().debug_assert();
    let mut names = BTreeSet::new();
    for workload in command.get_subcommands() {
        assert!(names.insert(workload.get_name().to_owned()));
        let about = workload.get_about().unwrap_or_default().to_string();
        assert!(about.len() > 20, "{} has no explanation", workload.get_name());
        for argument in workload.get_arguments() {
            let help = argument.get_help().unwrap_or_default().to_string();
            assert!(!help.is_empty(), "{} {}", workload.get_name(), argument.get_id());
        }
    }
    for name in ["strided", "hot-cold", "gups", "pointer-chase", "redis-load", "demo-redis"] {
        assert!(names.contains(name), "{name} is not among {names:?}");
    }
}
