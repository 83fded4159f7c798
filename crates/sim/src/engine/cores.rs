//! Who runs where. Every thread of a program has a core of its own; threads of the kernel run on cores
//! that are spare, and where none is, they take time from programs. An interrupt does the same to
//! every core of a tenant.

/// What a thread runs for before another one has its turn, ns: Linux's `base_slice_ns` on eight cores or
/// more. A page of a machine that is scaled down stands for many, and the work on it for as much.
const SLICE_NS: f64 = 3e6;

/// A core with a program's thread on it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seat {
    /// Time that was taken from its thread so far, ns.
    pub(crate) stolen_ns: f64,
    /// Its thread does not go on before.
    pub(super) until_ns: f64,
}

/// The cores of a machine.
#[derive(Clone, Debug, Default)]
pub struct Cores {
    seats: Vec<Seat>,
    /// By tenant, the numbers of its cores.
    of_tenant: Vec<Vec<usize>>,
    /// By tenant, how often all its translations were flushed.
    flushes: Vec<u64>,
    /// By spare core, from when on nothing runs on it.
    spare: Vec<f64>,
    /// Whose turn it is to lose time.
    turn: usize,
    /// Memory and times are so many times smaller than what is modelled; 0: they are not.
    scale: f64,
    kernel_ns: f64,
    stolen_ns: f64,
}

impl Cores {
    /// A core for one more thread of a tenant; its number.
    pub fn seat(&mut self, tenant: usize) -> usize {
        let core = self.seats.len();
        self.seats.push(Seat::default());
        if self.of_tenant.len() <= tenant {
            self.of_tenant.resize(tenant + 1, Vec::new());
            self.flushes.resize(tenant + 1, 0);
        }
        self.of_tenant[tenant].push(core);
        core
    }

    /// Cores of a tenant.
    #[must_use]
    pub fn count(&self, tenant: usize) -> usize {
        self.of_tenant.get(tenant).map_or(0, Vec::len)
    }

    /// So many cores have no thread of a program.
    pub fn set_spare(&mut self, cores: usize) {
        self.spare = vec![0.0; cores];
    }

    /// Memory and times are so many times smaller than what is modelled.
    pub fn set_scale(&mut self, scale: f64) {
        self.scale = scale;
    }

    #[inline]
    pub(crate) fn at(&self, core: usize) -> Seat {
        self.seats[core]
    }

    /// The kernel works for so long from `now_ns` on: on a spare core, or on one of a program, whose
    /// thread waits meanwhile; for more than a time slice on as many of these as it is
    /// slices, in equal parts.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cores")]
    pub fn kernel(&mut self, now_ns: f64, for_ns: f64) {
        self.kernel_ns += for_ns;
        if let Some(free) = self.spare.iter_mut().find(|free| **free <= now_ns) {
            *free = now_ns + for_ns;
        } else if !self.seats.is_empty() {
            let slices = (for_ns * self.scale.max(1.0) / SLICE_NS).ceil();
            let slices = slices.clamp(1.0, self.seats.len() as f64);
            for _ in 0..slices as usize {
                self.turn = self.turn.wrapping_add(1);
                let core = self.turn % self.seats.len();
                self.seats[core].stolen_ns += for_ns / slices;
            }
            self.stolen_ns += for_ns;
        }
    }

    /// So many threads of a tenant, and one at least, share what one of them does in a fault: on a machine
    /// that is scaled down a page stands for many, on which all of them fault.
    #[must_use]
    pub fn faulting(&self, tenant: usize) -> f64 {
        (self.count(tenant) as f64).min(self.scale).max(1.0)
    }

    /// All threads of a tenant alike work in faults of their own, for so many ns in all.
    pub fn spread(&mut self, tenant: usize, for_ns: f64) {
        let cores = self.of_tenant.get(tenant).map_or(&[][..], Vec::as_slice);
        for core in cores {
            self.seats[*core].stolen_ns += for_ns / cores.len() as f64;
        }
    }

    /// Every core of a tenant handles an interrupt, as for a flush of translations.
    pub fn interrupt(&mut self, tenant: usize, for_ns: f64) {
        for core in self.of_tenant.get(tenant).into_iter().flatten() {
            self.seats[*core].stolen_ns += for_ns;
            self.stolen_ns += for_ns;
        }
    }

    /// A thread of a tenant, each in turn, works for the kernel for so long, as Linux has it do on its
    /// way back from the kernel (`task_work`).
    pub fn task_work(&mut self, tenant: usize, for_ns: f64) {
        let Some(cores) = self.of_tenant.get(tenant).filter(|cores| !cores.is_empty()) else {
            return;
        };
        self.turn = self.turn.wrapping_add(1);
        self.seats[cores[self.turn % cores.len()]].stolen_ns += for_ns;
        self.stolen_ns += for_ns;
    }

    /// The cores of a tenant forget all their translations, in no time; what an interrupt takes is
    /// [`Self::interrupt`]'s. Without a TLB nothing happens. A page that moves or is split need not
    /// be flushed: the page tables see to that.
    pub fn flush(&mut self, tenant: usize) {
        if let Some(flushes) = self.flushes.get_mut(tenant) {
            *flushes += 1;
        }
    }

    /// How often that was.
    #[inline]
    pub(super) fn flushes(&self, tenant: usize) -> u64 {
        self.flushes[tenant]
    }

    /// No thread of a tenant goes on before `until_ns`.
    pub fn hold(&mut self, tenant: usize, until_ns: f64) {
        for core in self.of_tenant.get(tenant).into_iter().flatten() {
            let seat = &mut self.seats[*core];
            seat.until_ns = seat.until_ns.max(until_ns);
        }
    }

    /// CPU time of the kernel's threads so far, ns.
    #[must_use]
    pub fn kernel_ns(&self) -> f64 {
        self.kernel_ns
    }

    /// CPU time that programs lost to the kernel so far, of all cores, ns.
    #[must_use]
    pub fn stolen_ns(&self) -> f64 {
        self.stolen_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_takes_spare_cores_first_and_then_time_from_programs() {
        let mut cores = Cores::default();
        for _ in 0..3 {
            cores.seat(0);
        }
        cores.set_spare(2);
        for _ in 0..2 {
            cores.kernel(0.0, 100.0);
        }
        assert_eq!(cores.stolen_ns(), 0.0);
        for _ in 0..3 {
            cores.kernel(50.0, 10.0);
        }
        assert_eq!((cores.stolen_ns(), cores.kernel_ns()), (30.0, 230.0));
        assert!((0..3).all(|core| cores.at(core).stolen_ns == 10.0), "in turn");
        cores.kernel(100.0, 10.0);
        assert_eq!(cores.stolen_ns(), 30.0, "the spare cores are free again");
    }

    #[test]
    fn scaled_down_work_for_more_than_a_time_slice_is_several_cores() {
        for (scale, cores_of_work) in [(0.0, 1), (10.0, 1), (100.0, 2), (1e6, 3)] {
            let mut cores = Cores::default();
            (0..3).for_each(|_| _ = cores.seat(0));
            cores.set_scale(scale);
            cores.kernel(0.0, 50_000.0);
            let hit: Vec<f64> = (0..3)
                .map(|core| cores.at(core).stolen_ns)
                .filter(|stolen| *stolen > 0.0)
                .collect();
            assert_eq!(hit.len(), cores_of_work, "{scale}");
            assert_eq!((hit.iter().sum::<f64>(), cores.stolen_ns()), (50_000.0, 50_000.0));
        }
    }

    #[test]
    fn faults_on_a_scaled_page_are_those_of_all_threads() {
        let mut cores = Cores::default();
        (0..4).for_each(|_| _ = cores.seat(0));
        cores.seat(1);
        assert_eq!(cores.faulting(0), 1.0, "a page is a page");
        for (scale, right) in [(3.0, 3.0), (1000.0, 4.0)] {
            cores.set_scale(scale);
            assert_eq!(
                (cores.faulting(0), cores.faulting(1), cores.faulting(7)),
                (right, 1.0, 1.0)
            );
        }
        cores.spread(0, 400.0);
        cores.spread(7, 400.0);
        let stolen: Vec<f64> = (0..5).map(|core| cores.at(core).stolen_ns).collect();
        assert_eq!((stolen, cores.stolen_ns()), (vec![100.0, 100.0, 100.0, 100.0, 0.0], 0.0));
    }

    #[test]
    fn an_interrupt_hits_the_cores_of_its_tenant() {
        let mut cores = Cores::default();
        let (a, b) = (cores.seat(0), cores.seat(1));
        cores.interrupt(1, 500.0);
        cores.interrupt(7, 500.0);
        cores.task_work(7, 500.0);
        cores.hold(0, 9.0);
        assert_eq!((cores.at(a).stolen_ns, cores.at(b).stolen_ns), (0.0, 500.0));
        assert_eq!((cores.at(a).until_ns, cores.at(b).until_ns), (9.0, 0.0));
    }

    #[test]
    fn what_the_kernel_has_a_program_do_takes_time_from_its_threads_in_turn() {
        let mut cores = Cores::default();
        let (a, b, other) = (cores.seat(0), cores.seat(0), cores.seat(1));
        cores.set_spare(1);
        for _ in 0..6 {
            cores.task_work(0, 10.0);
        }
        assert!([a, b].iter().all(|core| cores.at(*core).stolen_ns == 30.0));
        assert_eq!((cores.at(other).stolen_ns, cores.stolen_ns()), (0.0, 60.0));
    }
}
