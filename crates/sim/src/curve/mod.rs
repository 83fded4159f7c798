//! Miss ratios of a cache of pages by its size, under LRU, FIFO and CLOCK.
