//! The truth as JSON and text, until the recording's own writer is connected.

use pagetide_trace::{EpochRecord, Header};
use std::{
    fs,
    io::{self, BufWriter, Write},
    path::Path,
};

/// A folder with `recording.json` and `heat.txt` (epoch, unit index, rate, touched, pages).
pub(crate) struct RecordingWriter {
    heat: BufWriter<fs::File>,
    units: Vec<u64>,
}

impl RecordingWriter {
    pub(crate) fn create(path: &Path, header: Header) -> io::Result<Self> {
        fs::create_dir(path)?;
        fs::write(path.join("recording.json"), format!("{header:#?}\n"))?;
        let heat = BufWriter::new(fs::File::create(path.join("heat.txt"))?);
        Ok(Self { heat, units: vec![] })
    }
    pub(crate) fn append(&mut self, record: EpochRecord) -> io::Result<()> {
        self.units.extend(record.new_units.iter().map(|unit| unit.index));
        for row in record.heat.rows() {
            let unit = self.units[row.unit.index()];
            let epoch = record.epoch.epoch;
            writeln!(self.heat, "{epoch} {unit} {} {} {}", row.rate, row.touched, row.pages)?;
        }
        self.heat.flush()
    }
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.heat.flush()
    }
}
