//! What the misses of the five programs look like, measured: serial builds under QEMU's user mode, counted
//! by a plugin that has the caches of Table 1 (32 KiB, 256 KiB and 16 MiB, LRU), in a window of the main
//! loop that begins 0.2 G instructions after it. Patterns are held against this, and against nothing
//! published.

/// One program.
pub(super) struct Measured {
    pub(super) name: &'static str,
    /// What was run.
    pub(super) arguments: &'static str,
    /// Instructions of the window.
    pub(super) window: u64,
    /// Misses of the last cache for 1,000 instructions, and lines that it gave back.
    pub(super) misses: f64,
    pub(super) write_backs: f64,
    /// The share of misses that were writes.
    pub(super) writes: f64,
    /// For epochs of 0.1, 1, 10 and 100 M instructions.
    pub(super) epochs: [Epoch; 4],
}

/// Epochs of one length.
pub(super) struct Epoch {
    /// Pages with a miss, median.
    pub(super) pages: f64,
    /// Pages with more than 10 and 50 misses, median.
    pub(super) over: [f64; 2],
    /// The share of misses on the 50 pages with most, median.
    pub(super) top: f64,
    /// The share of these pages that is among the 50 of the next epoch, mean.
    pub(super) persist: f64,
}

const fn epoch(pages: f64, over: [f64; 2], top: f64, persist: f64) -> Epoch {
    Epoch { pages, over, top, persist }
}

pub(super) static MEASURED: [Measured; 5] = [
    Measured {
        name: "lulesh",
        arguments: "-s 120 -i 4",
        window: 11_250_000_000,
        misses: 9.556,
        write_backs: 3.57,
        writes: 0.3141,
        epochs: [
            epoch(23.0, [15.0, 1.0], 1.0, 0.5516),
            epoch(97.0, [90.0, 73.0], 0.6093, 0.0935),
            epoch(837.0, [831.0, 812.0], 0.0609, 0.0016),
            epoch(8231.5, [8224.0, 8205.0], 0.0097, 0.0407),
        ],
    },
    Measured {
        name: "pennant",
        arguments: "leblancbig.pnt (160 x 1440 zones)",
        window: 1_486_000_000,
        misses: 7.687,
        write_backs: 4.043,
        writes: 0.5202,
        epochs: [
            epoch(28.0, [17.0, 6.0], 1.0, 0.1638),
            epoch(108.0, [88.0, 55.0], 0.696, 0.0),
            epoch(757.0, [735.0, 705.0], 0.0697, 0.0),
            epoch(7196.5, [7174.5, 7142.5], 0.007, 0.0),
        ],
    },
    Measured {
        name: "simplemoc",
        arguments: "-t 1 -s",
        window: 1_000_000_000,
        misses: 2.498,
        write_backs: 0.671,
        writes: 0.0,
        epochs: [
            epoch(39.0, [6.0, 0.0], 1.0, 0.017),
            epoch(369.0, [64.0, 0.0], 0.3813, 0.0069),
            epoch(2821.0, [764.0, 0.0], 0.0631, 0.0026),
            epoch(10374.0, [8549.0, 492.5], 0.0147, 0.0111),
        ],
    },
    Measured {
        name: "minife",
        arguments: "-nx 140 -ny 140 -nz 140",
        window: 1_000_000_000,
        misses: 26.845,
        write_backs: 1.608,
        writes: 0.0,
        epochs: [
            epoch(47.0, [45.0, 39.0], 1.0, 0.0971),
            epoch(421.0, [419.0, 413.0], 0.1203, 0.0),
            epoch(4162.0, [4161.0, 4155.0], 0.012, 0.0),
            epoch(41579.0, [41577.5, 41570.0], 0.0012, 0.0),
        ],
    },
    Measured {
        name: "is",
        arguments: "class C, USE_BUCKETS",
        window: 3_268_000_000,
        misses: 10.35,
        write_backs: 2.728,
        writes: 0.2636,
        epochs: [
            epoch(22.0, [13.0, 11.0], 1.0, 0.0605),
            epoch(197.0, [196.0, 138.0], 0.3072, 0.0),
            epoch(1924.0, [1922.0, 1322.0], 0.0307, 0.0),
            epoch(17197.0, [16847.0, 15782.5], 0.0031, 0.0),
        ],
    },
];
