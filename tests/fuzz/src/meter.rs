//! Checks that decoding allocates little more than the size of its input.

#![expect(unsafe_code, reason = "an allocator is unsafe to write")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

/// The most that decoding may allocate at one time, in bytes: twice the longest message.
const MAX: usize = 16 * 1024 * 1024;

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

struct Meter;

// SAFETY: every call goes on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Meter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.get().wrapping_add(layout.size());
        LIVE.set(live);
        // Memory freed by other threads is not counted here, so the number may fall below zero.
        if live < usize::MAX / 2 {
            PEAK.set(PEAK.get().max(live));
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get().wrapping_sub(layout.size()));
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static METER: Meter = Meter;

/// Runs a decoder and checks how much memory it takes.
pub(crate) fn measured<T>(read: impl FnOnce() -> T) -> T {
    LIVE.set(0);
    PEAK.set(0);
    let read = read();
    assert!(PEAK.get() <= MAX, "reading this takes {} bytes", PEAK.get());
    read
}
