"""The truth bench: programs, and what it takes to record them twice. benches/truth.py runs it."""
