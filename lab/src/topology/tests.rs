//! Topologies: those that are built in, and what is wrong with others.

use super::*;

#[test]
fn every_file_is_registered_and_parses() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/topologies");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|file| file.strip_suffix(".toml").unwrap().to_owned())
        .collect();
    files.sort();
    let mut names: Vec<&str> = Topology::names().collect();
    names.sort_unstable();
    assert_eq!(files, names);
    for name in names {
        let topology = Topology::load(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(topology.name, name);
        let path = format!("{folder}/{name}.toml");
        assert_eq!(Topology::load(&path).unwrap(), topology);
    }
}

#[test]
fn unknown_keys_and_senseless_values_are_named() {
    let good = include_str!("../../topologies/two-pairs.toml");
    for (from, to, part) in [
        ("hop_ns", "hops_ns", "did you mean 'hop_ns'?"),
        ("latency_ns", "latencyns", "unknown key 'node.latencyns'"),
        ("near = 0", "near = 3", "'near' is node 3, which has no CPUs"),
        ("near = 0", "near = 9", "'near' is node 9, which has no CPUs"),
        ("cpus = 1", "cpus = 1\nnear = 0", "CPUs of its own"),
        ("cpus = 1", "", "the first [[node]] needs cpus and memory"),
        ("\"768M\"", "\"700M\"", "multiple of 128 MiB"),
        ("\"768M\"", "\"much\"", "not an amount of memory"),
        ("latency_ns = 80", "latency_ns = 0", "latency_ns must be 1 to 60000"),
        ("hop_ns = 70", "guests = 9", "guests must be 1 to 8"),
        ("[[node]]", "[[nvdim]]\n[[node]]", "did you mean 'nvdimm'?"),
        ("hop_ns = 70", "hop_ns = -1", "hop_ns"),
        ("[[10, 21, 17, 28], ", "[", "4 rows of 4 numbers"),
        ("[[10, ", "[[11, ", "from node 0 to itself it is 10, not 11"),
        ("[[10, 21", "[[10, 5", "from node 0 to 1: 11 to 254, not 5"),
        ("[[10, 21", "[[10, 22", "from node 0 to 1 it is not the same as back"),
    ] {
        assert!(good.contains(from), "{from}");
        let text = good.replacen(from, to, 1);
        let error = model::parse::<Topology>(&text, "x.toml").unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("x.toml"), "{error}");
    }
    let nvdimm = include_str!("../../topologies/nvdimm.toml");
    for (from, to, part) in [
        ("node = 1", "node = 2", "on node 2, of 2"),
        ("size = \"1G\"", "size = \"1000M\"", "no multiple of 128 MiB"),
        ("size = \"1G\"", "sise = \"1G\"", "did you mean 'size'?"),
    ] {
        let text = nvdimm.replacen(from, to, 1);
        let error = model::parse::<Topology>(&text, "x.toml").unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let cxl = include_str!("../../topologies/shift-cxl.toml");
    let fifth = "[[cxl]]\nsize = \"256M\"\n".repeat(3) + "[[cxl]]";
    for (from, to, part) in [
        ("size = \"512M\"", "size = \"128M\"", "no multiple of 256 MiB"),
        ("size = \"512M\"", "size = \"512M\"\nnode = 1", "unknown key 'cxl.node'"),
        ("[[cxl]]", fifth.as_str(), "5 [[cxl]]"),
    ] {
        let text = cxl.replacen(from, to, 1);
        let error = model::parse::<Topology>(&text, "x.toml").unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let error = Topology::load("two-teirs").unwrap_err().to_string();
    assert!(error.contains("did you mean 'two-tiers'?"), "{error}");
}

#[test]
fn the_topology_that_the_documentation_adds_is_one() {
    let page = include_str!("../../../docs/extending.md");
    let (_, from) = page.split_once("```toml\nname = \"switched\"").unwrap();
    let text = format!("name = \"switched\"{}", from.split("```").next().unwrap());
    let topology = model::parse::<Topology>(&text, "docs/extending.md").unwrap();
    assert_eq!((topology.name.as_str(), topology.nodes.len()), ("switched", 2));
}

#[test]
fn memory_near_another_socket_is_one_hop_farther() {
    let pairs = Topology::load("two-pairs").unwrap();
    assert_eq!((pairs.socket(2), pairs.socket(3)), (0, 1));
    assert_eq!((pairs.latency_ns(0, 2), pairs.latency_ns(0, 3)), (300, 370));
    assert_eq!((pairs.latency_ns(1, 0), pairs.latency_ns(1, 1)), (150, 80));
    assert_eq!((pairs.cpus(), pairs.memory()), (2, Bytes::mib(3584)));
}
