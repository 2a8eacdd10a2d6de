//! The pure fold from what a [`crate::Live`] hands out to what a person sees. No I/O, no clock.
