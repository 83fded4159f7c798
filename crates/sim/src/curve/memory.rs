//! Large arrays that are accessed at random: prefetching, and huge pages where the kernel gives them on
//! request. The only unsafe code of this crate.

/// How far ahead of its use what stands of a page is fetched, accesses.
pub(super) const AHEAD: usize = 64;
/// From here on an array is worth huge pages, bytes.
const LARGE: usize = 4 << 20;

/// Begins to fetch an element; there need not be one.
#[inline]
pub(super) fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads and writes nothing, whatever the address; it was computed
        // without overflow checks and is not dereferenced.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// So many zeros, in huge pages if they are many. The kernel clears what is touched, and nobody else.
pub(super) fn zeros<T: Copy + Default>(length: usize) -> Vec<T> {
    let mut zeros = vec![T::default(); length];
    advise(&mut zeros);
    zeros
}

/// Makes an array longer, if it is shorter than this.
pub(super) fn lengthen<T: Copy>(array: &mut Vec<T>, length: usize, with: T) {
    if length > array.capacity() {
        let mut longer = Vec::with_capacity(length.next_power_of_two());
        advise(longer.spare_capacity_mut());
        longer.extend_from_slice(array);
        *array = longer;
    }
    if length > array.len() {
        array.resize(length, with);
    }
}

/// Asks for huge pages. Without them all works, more slowly.
fn advise<T>(memory: &mut [T]) {
    let range = memory.as_mut_ptr_range();
    let (start, length) = (range.start.cast::<u8>(), std::mem::size_of_val(memory));
    let to_page = start.align_offset(4096);
    if length < LARGE {
        return;
    }
    // SAFETY: the pages lie within memory that is borrowed mutably; the advice changes how they are
    // backed, not what they hold.
    unsafe {
        libc::madvise(start.wrapping_add(to_page).cast(), length - to_page, libc::MADV_HUGEPAGE)
    };
}
