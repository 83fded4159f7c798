//! What is kept of points: after the end, a kill in the middle of a line, a full disk, an error.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

fn key(number: u32) -> Key {
    Key::new("test", 1, 1).with("number", number)
}

/// Asks for points; whose value is a third of their number, and which of them were computed.
fn ask(store: &Store, numbers: &[u32]) -> (Vec<f64>, Vec<u32>) {
    let computed = Mutex::new(Vec::new());
    let points: Vec<(Key, u32)> = numbers.iter().map(|number| (key(*number), *number)).collect();
    let values = store.points(&points, |(_, number)| {
        lock(&computed).push(*number);
        Ok([("third".to_owned(), f64::from(*number) / 3.0)].into())
    });
    let values = values.unwrap().iter().map(|values| values["third"]).collect();
    let mut computed = computed.into_inner().unwrap();
    computed.sort_unstable();
    (values, computed)
}

fn thirds(numbers: &[u32]) -> Vec<f64> {
    numbers.iter().map(|number| f64::from(*number) / 3.0).collect()
}

#[test]
fn no_point_is_computed_twice_and_their_order_is_that_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(ask(&store, &[3, 1, 2, 1]), (thirds(&[3, 1, 2, 1]), vec![1, 2, 3]));
    assert_eq!(ask(&store, &[2, 4]), (thirds(&[2, 4]), vec![4]));
    // Another run.
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.notes(), [""; 0]);
    assert_eq!(ask(&store, &[5, 4, 3]), (thirds(&[5, 4, 3]), vec![5]));
    let in_memory = Store::in_memory();
    assert_eq!(ask(&in_memory, &[7, 7]), (thirds(&[7, 7]), vec![7]));
    assert_eq!(ask(&in_memory, &[7]).1, [0; 0]);
}

#[test]
fn what_is_finished_when_it_is_stopped_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let computed = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&computed);
    let store = Store::open(folder.path()).unwrap();
    let store = store.stop_when(move || seen.load(Ordering::Relaxed) >= 2);
    let one_by_one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let stopped = one_by_one.install(|| {
        store.points(&[key(1), key(2), key(3)], |_| {
            computed.fetch_add(1, Ordering::Relaxed);
            Ok([("third".to_owned(), 1.0)].into())
        })
    });
    assert!(matches!(stopped, Err(ReproduceError::Stopped)), "{stopped:?}");
    let kept = fs::read_to_string(folder.path().join("points.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 2);
}

#[test]
fn a_torn_line_is_skipped_and_said_and_spoils_no_other() {
    let folder = tempfile::tempdir().unwrap();
    ask(&Store::open(folder.path()).unwrap(), &[1, 2, 3]);
    let path = folder.path().join("points.jsonl");
    let whole = fs::read(&path).unwrap();
    let before_last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for end in before_last..=whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        // A line that lacks its end alone is whole.
        let kept = if end + 1 >= whole.len() { 3 } else { 2 };
        let torn = usize::from(kept == 2 && end > before_last);
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.notes().len(), torn, "{end}: {:?}", store.notes());
        assert!(store.notes().iter().all(|note| note.contains("points.jsonl: line 3")));
        assert_eq!(ask(&store, &[1, 2, 3, 4]).1.len(), 3 - kept + 1, "{end}");
        let again = Store::open(folder.path()).unwrap();
        assert_eq!(again.notes().len(), torn);
        assert_eq!(ask(&again, &[1, 2, 3, 4]), (thirds(&[1, 2, 3, 4]), vec![]));
    }
}

#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    symlink("/dev/full", folder.path().join("points.jsonl")).unwrap();
    let store = Store::open(folder.path()).unwrap();
    let error = store.points(&[key(1)], |_| Ok(Values::new())).unwrap_err().to_string();
    assert!(error.contains("points.jsonl: No space left"), "{error}");
    // A folder that cannot be made.
    let error = Store::open(&folder.path().join("points.jsonl/x")).unwrap_err().to_string();
    assert!(error.contains("points.jsonl/x: "), "{error}");
}

#[test]
fn what_was_finished_before_an_error_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    ask(&store, &[1]);
    let fails = |wanted: &Key| match wanted == &key(2) {
        true => Err(ReproduceError::Other("it broke".to_owned())),
        false => Ok(Values::new()),
    };
    let error = store.points(&[key(1), key(2)], fails).unwrap_err();
    assert_eq!(error.to_string(), "it broke");
    let none = |_: &Key| Ok([("share".to_owned(), f64::NAN)].into());
    let error = store.points(&[key(2)], none).unwrap_err();
    assert_eq!(
        error.to_string(),
        "test model=1 scale=1 number=2: share is NaN, which is no result"
    );
    assert_eq!(ask(&Store::open(folder.path()).unwrap(), &[1, 2]).1, [2]);
}

#[test]
fn progress_counts_what_was_there() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&told);
    let store = Store::in_memory().on_progress(move |progress| {
        lock(&listener).push((progress.done, progress.total, progress.kept));
    });
    ask(&store, &[1]);
    ask(&store, &[1, 2, 1]);
    assert_eq!(*lock(&told), [(0, 1, 0), (1, 1, 0), (1, 2, 1), (2, 2, 1)]);
}

#[test]
fn values_are_the_same_as_when_they_are_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let numbers: Vec<u32> = (0..2000).map(|number| number * 104_729).collect();
    let fresh = ask(&Store::open(folder.path()).unwrap(), &numbers).0;
    let read = ask(&Store::open(folder.path()).unwrap(), &numbers).0;
    assert_eq!(fresh, read, "to the last bit");
}
