//! Tools against real files and real processes.
