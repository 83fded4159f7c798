//! Takes the accesses out of the threads' rings and writes them as a stream, in a thread of its
//! own: the program waits when a ring is full.

use crate::{
    error::ExactError,
    objects::Objects,
    shared::{CpuFile, RingFile},
};
use pagetide_access::{Access, Kind, MAX_BLOCK, Page, StreamWriter};
use pagetide_host::{Area, Host, Maps};
use pagetide_types::{ObjectId, Pid};
use std::{
    collections::HashMap,
    io::Write,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Where a stream goes.
pub type Out = Box<dyn Write + Send>;

/// When all rings are empty.
const PAUSE: Duration = Duration::from_millis(1);
/// A memory map older than this is read again when a page is met for the first time; one that
/// does not have the page, whenever it is older than the access.
const STALE: Duration = Duration::from_millis(50);
const UNKNOWN: u32 = u32::MAX;

/// A thread whose accesses are to be written.
pub(crate) struct NewRing {
    pub(crate) pid: Pid,
    pub(crate) space: u64,
    pub(crate) ring: Arc<RingFile>,
    /// Its table: what the places of pages stand for.
    pub(crate) cpu: CpuFile,
}

/// The thread that writes.
pub(crate) struct Streaming {
    rings: Sender<NewRing>,
    over: Arc<AtomicBool>,
    /// Microseconds of the program's own time.
    time_us: Arc<AtomicU64>,
    thread: JoinHandle<Result<(), ExactError>>,
}

impl Streaming {
    pub(crate) fn start(writer: StreamWriter<Out>, objects: Arc<Mutex<Objects>>) -> Self {
        let (rings, receiver) = channel();
        let (over, time_us) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let drain = Drain {
            receiver,
            over: Arc::clone(&over),
            time_us: Arc::clone(&time_us),
            host: Host::live(),
            objects,
            rings: Vec::new(),
            maps: HashMap::new(),
            pages: HashMap::new(),
            new_pages: Vec::new(),
            taken: Instant::now(),
        };
        Self { rings, over, time_us, thread: thread::spawn(move || drain.run(writer)) }
    }

    pub(crate) fn add(&self, ring: NewRing) {
        // A thread that is gone has failed, which `finish` tells.
        let _ = self.rings.send(ring);
    }

    pub(crate) fn set_time(&self, seconds: f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
        self.time_us.store((seconds * 1e6) as u64, Ordering::Relaxed);
    }

    /// Writes what is left.
    pub(crate) fn finish(self) -> Result<(), ExactError> {
        self.over.store(true, Ordering::Release);
        let failed = || ExactError::Command("the thread that writes the stream failed".to_owned());
        self.thread.join().map_err(|_| failed())?
    }
}

/// A thread of the program, as the writing thread knows it.
struct Source {
    of: NewRing,
    /// By the page's place in its table: the number in the stream.
    numbers: Vec<u32>,
    /// Instructions of records that are only a gap.
    gap: u64,
}

struct Drain {
    receiver: Receiver<NewRing>,
    over: Arc<AtomicBool>,
    time_us: Arc<AtomicU64>,
    host: Host,
    objects: Arc<Mutex<Objects>>,
    rings: Vec<Source>,
    /// By address space.
    maps: HashMap<u64, (Maps, Option<Instant>)>,
    pages: HashMap<(ObjectId, u64), u32>,
    new_pages: Vec<Page>,
    /// When the records under way were taken out of their ring.
    taken: Instant,
}

impl Drain {
    fn run(mut self, writer: StreamWriter<Out>) -> Result<(), ExactError> {
        let (mut writer, mut failed) = (Some(writer), None);
        let (mut records, mut accesses) = (Vec::new(), Vec::new());
        loop {
            let over = self.over.load(Ordering::Acquire);
            while let Ok(of) = self.receiver.try_recv() {
                self.rings.push(Source { of, numbers: Vec::new(), gap: 0 });
            }
            let mut any = false;
            for thread in 0..self.rings.len() {
                records.clear();
                self.rings[thread].of.ring.take(MAX_BLOCK, &mut records);
                if records.is_empty() {
                    continue;
                }
                any = true;
                self.taken = Instant::now();
                // What cannot be written is still taken: the program is not to wait for ever.
                let Some(out) = &mut writer else { continue };
                self.convert(thread, &records, &mut accesses);
                let number = u32::try_from(thread).unwrap_or(u32::MAX);
                let time_us = self.time_us.load(Ordering::Relaxed);
                let written = out
                    .pages(&self.new_pages)
                    .and_then(|()| out.accesses(number, time_us, &accesses));
                self.new_pages.clear();
                if let Err(error) = written {
                    failed = Some(error);
                    writer = None;
                }
            }
            if !any && over {
                break;
            }
            if !any {
                thread::sleep(PAUSE);
            }
        }
        match (writer, failed) {
            (_, Some(error)) => Err(error.into()),
            (Some(writer), None) => Ok(writer.finish().map(drop)?),
            (None, None) => Ok(()),
        }
    }

    /// Records of a thread as accesses.
    fn convert(&mut self, thread: usize, records: &[u64], accesses: &mut Vec<Access>) {
        accesses.clear();
        for record in records {
            let source = &mut self.rings[thread];
            let kind = match record & 3 {
                0 => Kind::Read,
                1 => Kind::Write,
                2 => Kind::WriteBack,
                _ => {
                    source.gap += record >> 2;
                    continue;
                }
            };
            let place = usize::try_from(record >> 8 & ((1 << 26) - 1)).unwrap_or(0);
            let known = source.numbers.get(place).copied().filter(|number| *number != UNKNOWN);
            let page = known.unwrap_or_else(|| self.number(thread, place));
            let source = &mut self.rings[thread];
            accesses.push(Access {
                page,
                line: u8::try_from(record >> 2 & 63).unwrap_or(0),
                kind,
                gap: std::mem::take(&mut source.gap) + (record >> 34),
            });
        }
    }

    /// The number in the stream of a page of a thread's table.
    fn number(&mut self, thread: usize, place: usize) -> u32 {
        let source = &mut self.rings[thread];
        let page = source.of.cpu.number(place);
        let mapping = {
            let address = page << 12;
            let (maps, read) = self.maps.entry(source.of.space).or_default();
            let too_old = |read: Instant| {
                read.elapsed() > STALE || read < self.taken && area_of(maps, address).is_none()
            };
            if read.is_none_or(too_old) {
                // A process that is gone keeps its last map.
                let mut now = Maps::new();
                if self.host.read_maps(source.of.pid, &mut now).is_ok() && !now.areas().is_empty() {
                    *maps = now;
                }
                *read = Some(Instant::now());
            }
            let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
            match area_of(maps, address) {
                Some(area) => objects.mapping(source.of.space, area),
                None => objects.private(source.of.space),
            }
        };
        let number = page.wrapping_add(mapping.shift);
        let next = u32::try_from(self.pages.len()).unwrap_or(UNKNOWN);
        let id = *self.pages.entry((mapping.object, number)).or_insert(next);
        if id == next {
            self.new_pages.push(Page { object: mapping.object, number });
        }
        if source.numbers.len() <= place {
            source.numbers.resize(place + 1, UNKNOWN);
        }
        source.numbers[place] = id;
        id
    }
}

/// The area of an address, if the map has one.
fn area_of(maps: &Maps, address: u64) -> Option<&Area> {
    let areas = maps.areas();
    let area = areas.get(areas.partition_point(|area| area.end.0 <= address));
    area.filter(|area| area.start.0 <= address)
}
