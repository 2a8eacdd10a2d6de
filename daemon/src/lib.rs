//! `abided`: owns the tasks. This is the composition root; the flow is
//! ipc → service → session → engine → store → events → ipc, and the runner acts on what the store has committed.
//!
//! * [`ipc`]: the socket and its connections; [`service`]: callers, their subscriptions, one handler a method
//! * [`launch`]: everything that a new task's first record freezes
//! * [`session`]: one actor a conversation; [`runner`]: model calls and tools
//! * [`events`]: who is told what; [`notify`]: the desktop
//! * [`config`], [`settings`]: what the user has decided; [`keys`], [`providers`], [`catalog`]: which models there are
//! * [`doctor`]: what is well and what is not
//! * `replace_file`: how files that hold what the user has decided are written
//! * [`allocator`], [`instance`], [`logging`], [`supervisor`], [`clock`]: the process

pub mod allocator;
pub mod catalog;
pub mod clock;
pub mod config;
pub mod daemon;
pub mod doctor;
pub mod events;
pub mod instance;
pub mod ipc;
pub mod keys;
pub mod launch;
pub mod logging;
pub mod notify;
pub mod providers;
mod replace_file;
pub mod runner;
pub mod service;
pub mod session;
pub mod settings;
pub mod supervisor;
