#![allow(missing_docs, clippy::all, clippy::pedantic)]
use pagetide_machine::PoolMachine;
use pagetide_sim::pool::scenario::ProgramSpec;
use pagetide_sim::pool::{Engine, Filtering, Migration, Misses, NodeCaches, Placement, Program, filter};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let name = &args[1];
    let spec = match name.as_str() {
        "lulesh" => ProgramSpec::Lulesh { edge: 120 },
        "simplemoc" => ProgramSpec::Simplemoc { regions: 15_000 },
        "pennant" => ProgramSpec::Pennant { zones: 160 * 1440 },
        "minife" => ProgramSpec::Minife { edge: 140 },
        _ => ProgramSpec::Is { keys: 27, largest: 23 },
    };
    let (warm, len): (u64, u64) = (args[2].parse().unwrap(), args[3].parse().unwrap());
    let of = Migration::default();
    let migration = match args[4].as_str() {
        "0" => Migration { most: 0, ..of },
        "1" => Migration { epoch_cycles: 100_000, ..of },
        "3" => Migration { epoch_cycles: 10_000, ..of },
        _ => Migration { threshold: 30, most: 500, ..of },
    };
    let seed: u64 = args[5].parse().unwrap();
    let nodes: u32 = args[6].parse().unwrap();
    let which = &args[7];
    let machine = PoolMachine { nodes, ..PoolMachine::load("pcm-2019").unwrap() };
    let threads = || spec.threads(2, seed).unwrap();
    let pages = threads().pages;
    let filtering = Filtering { warm_up: warm, instructions: len, pages, seed };
    let show = |what: &str, out: pagetide_sim::pool::PoolOutcome, secs: f64| {
        let n = &out.nodes[0];
        println!("{name} {} {what} ipc {:.4} lf {} pf {} lw {} pw {} in {} delay {:.0}/{:.0} hot {} stalls {} t {secs:.1}", args[4], out.ipc, n.local_fetches, n.pool_fetches, n.local_write_backs, n.pool_write_backs, n.moved_in, n.delay_ns, n.pool_delay_ns, n.most_hot, n.stalls);
    };
    if which.contains('k') {
        let t = std::time::Instant::now();
        let kept = filter(threads().sources, &machine.caches, None, filtering).unwrap();
        eprintln!("filter {:.1}", t.elapsed().as_secs_f64());
        let t = std::time::Instant::now();
        let programs = vec![Program { misses: &kept.misses, pages }; nodes as usize];
        let out = Engine::new(&machine, &programs, (Placement::Pool, seed), Some(&migration)).unwrap();
        let out = if which.contains('s') { out.sharing(&vec![&kept; nodes as usize]) } else { out };
        let out = out.run(&mut |_| true).unwrap();
        show(if which.contains('s') {"shared"} else {"kept"}, out, t.elapsed().as_secs_f64());
    }
    if which.contains('f') {
        let t = std::time::Instant::now();
        let nothing = vec![Misses::default(); 2];
        let programs = vec![Program { misses: &nothing, pages }; nodes as usize];
        let caches = (0..nodes).map(|_| NodeCaches::new(threads().sources, &machine.caches, None, filtering).unwrap()).collect();
        let out = Engine::new(&machine, &programs, (Placement::Pool, seed), Some(&migration)).unwrap().behind(caches).run(&mut |_| true).unwrap();
        show(&format!("full {}", std::env::var("MODE").unwrap_or_default()), out, t.elapsed().as_secs_f64());
    }
}
