"""Programs and ways of tiering that benches/compare.py compares."""
