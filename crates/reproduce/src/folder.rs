//! Folders that results are written into.

use crate::ReproduceError;
use std::fs;
use std::path::Path;

/// Makes a folder, and those above it, if it is not there.
///
/// # Errors
/// It cannot be made.
pub fn make_folder(folder: &Path) -> Result<(), ReproduceError> {
    let failed = |source| ReproduceError::Folder { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(failed)
}
