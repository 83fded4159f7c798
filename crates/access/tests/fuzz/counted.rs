//! Counts what is allocated, by thread. What zstd takes for itself is C's and not seen here: its windows
//! are bounded by `open`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

struct Counted;

#[global_allocator]
static COUNTED: Counted = Counted;

/// Bytes that came, and bytes that went. What one thread takes and another gives back counts for neither.
fn count(more: usize, less: usize) {
    // A thread that ends may have no counters any more.
    let _ = LIVE.try_with(|live| {
        let now = live.get().saturating_add(more).saturating_sub(less);
        live.set(now);
        PEAK.with(|peak| peak.set(peak.get().max(now)));
    });
}

// SAFETY: every call is passed on to the system's allocator as it came; counting allocates nothing, for
// the counters are constants at first and need not be dropped.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promises are those that this asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, 0);
        // SAFETY: as above.
        let memory = unsafe { System.realloc(memory, layout, size) };
        count(0, layout.size());
        memory
    }
}

/// What came out, and how many bytes this thread held meanwhile at most, beside those before.
pub(crate) fn peak<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let out = run();
    (out, PEAK.get().saturating_sub(before))
}

#[test]
fn what_is_held_at_once_is_counted() {
    let ((), twice) = peak(|| {
        for _ in 0..2 {
            let mut held = vec![1u8; 1000];
            held.reserve_exact(4000);
        }
    });
    assert!((5000..8000).contains(&twice), "{twice}: both while it is made longer");
}
