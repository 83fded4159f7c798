//! What stands between a core and memory: nothing, or a TLB and caches. Threads are compiled for each,
//! so that who goes without pays nothing.
//!
//! Lines and translations are named by the program's addresses: what a cache holds of a page stays
//! good when the page moves, as if the kernel's copy left it there.

use super::access::Access;
use super::caches::{Caches, Level};
use super::channel::LINE;
use super::pages::{Pages, bit};
use super::translations::Translations;
use super::world::World;
use pagetide_access::parameter::Result;
use pagetide_machine::{Cache, Tlb};

/// An access that does not fault.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) access: Access,
    /// Its page, and what that's entry says.
    pub(super) page: usize,
    pub(super) entry: u8,
    /// Whose it is, and when.
    pub(super) tenant: usize,
    pub(super) now_ns: f64,
    /// What it adds to the touches of its page, see [`World::count_touches`].
    pub(super) touches: [u32; 2],
}

/// See the module.
pub(super) trait Hierarchy: Send {
    /// Makes an access; when it is there, ns.
    fn access(&mut self, asked: Asked, world: &mut World) -> f64;
}

/// Every access goes to memory.
pub(super) struct MemoryOnly;

impl Hierarchy for MemoryOnly {
    #[inline]
    fn access(&mut self, asked: Asked, world: &mut World) -> f64 {
        let Asked { access, page, entry, tenant, now_ns, touches } = asked;
        let seen = bit::ACCESSED | if access.write { bit::DIRTY } else { 0 };
        if entry & seen != seen {
            world.pages.set(page, seen);
        }
        let tier = usize::from(entry & bit::TIER);
        let done = world.memory[tier].serve(now_ns, LINE, access.write);
        world.count((tenant, page, tier), access.write, touches);
        done
    }
}

/// The TLB, if any, and the caches, if any, of one core.
#[derive(Clone, Debug)]
pub(super) struct Core {
    translations: Option<Translations>,
    caches: Option<Caches>,
}

impl Hierarchy for Core {
    fn access(&mut self, asked: Asked, world: &mut World) -> f64 {
        let Asked { access, page, entry, tenant, now_ns, touches } = asked;
        let mut seen = if access.write { bit::DIRTY } else { 0 };
        let mut takes_ns = 0.0;
        if let Some(translations) = &mut self.translations {
            let huge = entry & bit::HUGE != 0;
            let flushes = world.cores.flushes(tenant);
            let World { tables, pages, memory, .. } = world;
            let waits = || tables.walk((page, huge), now_ns, pages, memory);
            let translated = translations.translate(page, huge, (flushes, now_ns), pages, waits);
            takes_ns = translated.takes_ns;
            // Only a walk reads the entry, and so sets the bit.
            seen |= if translated.walked { bit::ACCESSED } else { 0 };
        } else {
            seen |= bit::ACCESSED;
        }
        if entry & seen != seen {
            world.pages.set(page, seen);
        }
        let tier = usize::from(entry & bit::TIER);
        // The channel is asked at once and the translation added afterwards: asked at a later time,
        // it would stand idle until then.
        let Some(caches) = &mut self.caches else {
            world.tables.came();
            world.count((tenant, page, tier), access.write, touches);
            return takes_ns + world.memory[tier].serve(now_ns, LINE, access.write);
        };
        if let Some(hit_ns) = caches.access(&mut world.shared, access.address >> 6, access.write) {
            world.count_hit(tenant, page, access.write);
            write_back(caches, now_ns, world);
            return now_ns + takes_ns + hit_ns;
        }
        world.tables.came();
        world.count((tenant, page, tier), access.write, touches);
        // Also of a write: the line is brought in, and written back later.
        let done = takes_ns + world.memory[tier].serve(now_ns, LINE, false);
        write_back(caches, now_ns, world);
        done
    }
}

/// Nobody waits for what is written back, but it occupies the channel.
#[inline]
fn write_back(caches: &Caches, now_ns: f64, world: &mut World) {
    for line in caches.written() {
        let tier = world.pages.tier(Pages::page(line << 6));
        world.memory[tier].serve(now_ns, LINE, true);
    }
}

/// The TLBs and caches of a machine, empty.
#[derive(Clone, Debug, Default)]
pub struct Hardware {
    /// Of every core; none if all accesses go to memory.
    pub(super) core: Option<Core>,
    pub(super) shared: Option<Level>,
    /// Lines of the last cache, which page tables share with data; 0: walks need no memory.
    pub(super) table_lines: u64,
}

impl Hardware {
    /// A TLB, or none, and up to three levels of caches, of which the last may be shared. Their
    /// entries and sizes are divided by `scale`, as memory is: ways change where needed, and at
    /// least one entry is left.
    ///
    /// # Errors
    /// Sizes that cannot be simulated.
    pub fn new(tlb: Option<&Tlb>, caches: &[Cache], scale: f64) -> Result<Self> {
        let translations = tlb.map(|tlb| Translations::new(tlb, scale)).transpose()?;
        let level = |cache: &Cache| Level::new(cache, scale);
        let own = caches.iter().filter(|cache| !cache.shared);
        let own = own.map(level).collect::<Result<Vec<_>>>()?;
        let shared = caches.iter().find(|cache| cache.shared).map(level).transpose()?;
        let caches = (!caches.is_empty()).then(|| Caches::new(own));
        let any = translations.is_some() || caches.is_some();
        let table_lines = tlb.map_or(0, |tlb| table_lines(tlb, scale));
        Ok(Self { core: any.then_some(Core { translations, caches }), shared, table_lines })
    }

    /// More bytes of memory than these cannot be told apart.
    #[must_use]
    pub fn limit(&self) -> u64 {
        let core = self.core.as_ref();
        let pages = core.and_then(|core| core.translations.as_ref()).map(Translations::limit);
        let own = core.and_then(|core| core.caches.as_ref()).map(Caches::limit);
        let lines = own.into_iter().chain(self.shared.as_ref().map(Level::limit)).min();
        let bytes = |count: u64, each| count.saturating_mul(each);
        let pages = pages.map(|pages| bytes(pages, 4096));
        pages.into_iter().chain(lines.map(|lines| bytes(lines, 64))).min().unwrap_or(u64::MAX)
    }
}

/// Lines of the last cache over `scale`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lines")]
fn table_lines(tlb: &Tlb, scale: f64) -> u64 {
    (tlb.last_cache.0 as f64 / LINE / scale).ceil() as u64
}
