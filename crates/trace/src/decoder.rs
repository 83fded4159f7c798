//! Panics of the Parquet library, which a damaged file can provoke.

use crate::{Error, Result};
use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Once,
};

/// Where the code of this crate lies, as places of panics have it.
const OURS: &str = "crates/trace/src/";

thread_local! {
    /// Whether this thread is in [`guard`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Turns a panic of the library into an error, and says nothing else of it; what we ourselves panic with is still told.
/// What `work` was filling when it panicked must not be used.
pub(crate) fn guard<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let tell = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let ours = panic.location().is_none_or(|place| place.file().contains(OURS));
            if ours || !GUARDED.get() {
                tell(panic);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    done.unwrap_or_else(|_| Err(Error::damaged(path, "its decoder failed")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::{
        file::metadata::ColumnChunkMetaData,
        schema::types::{ColumnDescriptor, ColumnPath, Type},
    };
    use std::{process::Command, sync::Arc};

    /// Where a column lies that claims to begin before the file.
    fn before_the_file() -> (u64, u64) {
        let column = Type::primitive_type_builder("rate", parquet::basic::Type::FLOAT).build();
        let descriptor =
            ColumnDescriptor::new(Arc::new(column.unwrap()), 0, 0, ColumnPath::from("rate"));
        let column = ColumnChunkMetaData::builder(Arc::new(descriptor));
        column.set_data_page_offset(-1).build().unwrap().byte_range()
    }

    #[test]
    fn a_panic_of_the_library_is_an_error_and_told_once_and_one_of_ours_is_told() {
        const INNER: &str = "PAGETIDE_TEST_OF_GUARD";
        if std::env::var_os(INNER).is_some() {
            let file = Path::new("heat-00000.parquet");
            let failed = guard(file, || Ok(before_the_file())).unwrap_err().to_string();
            assert!(
                failed.contains("heat-00000.parquet") && failed.contains("decoder"),
                "{failed}"
            );
            guard::<()>(file, || panic!("told inside")).unwrap_err();
            catch_unwind(|| panic!("told outside")).unwrap_err();
            catch_unwind(before_the_file).unwrap_err();
            return;
        }
        let name = "decoder::tests::a_panic_of_the_library_is_an_error_and_told_once_and_one_of_ours_is_told";
        let inner = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(INNER, "1")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&inner.stderr);
        assert!(inner.status.success(), "{told}");
        assert!(String::from_utf8_lossy(&inner.stdout).contains("1 passed"));
        assert!(told.contains("told inside") && told.contains("told outside"), "{told}");
        assert_eq!(told.matches("should not be negative").count(), 1, "{told}");
    }
}
