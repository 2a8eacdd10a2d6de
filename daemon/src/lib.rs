//! `abided`, the daemon that owns the tasks. This crate puts the parts together. Requests flow ipc → service
//! → session → engine → store → events → ipc; the runner acts on what the store has committed.
//!
//! * [`ipc`]: the socket and its connections; [`service`]: requests, subscriptions, one handler for each
//!   method
//! * [`http`]: the HTTP interface, for other programs and devices
//! * [`launch`]: everything that a new task's first record freezes; [`persona`]: its personas
//! * `recall`: what a task is given of earlier conversations; [`embedder`]: what these mean
//! * [`session`]: one actor for each conversation; [`runner`]: model calls and tool calls
//! * [`events`]: notifications to clients; [`notify`]: desktop notifications
//! * [`config`], [`settings`]: the user's configuration; [`keys`], [`providers`], [`catalog`]: the available
//!   models
//! * [`doctor`]: diagnosis and repair; [`update`]: goes over to a new program
//! * `text_file`: reads the user's prompts; `private_file`: reads keys and tokens; `inherited_processes`:
//!   processes that the program before has started
//! * [`allocator`], [`instance`], [`logging`], [`started_by`], [`supervisor`], [`clock`]: the process

pub mod allocator;
pub mod catalog;
pub mod clock;
pub mod config;
pub mod daemon;
pub mod doctor;
pub mod embedder;
pub mod events;
pub mod http;
mod inherited_processes;
pub mod instance;
pub mod ipc;
pub mod keys;
pub mod launch;
pub mod logging;
pub mod notify;
pub mod persona;
mod private_file;
pub mod providers;
mod recall;
mod rule_book;
pub mod runner;
pub mod service;
pub mod session;
pub mod settings;
pub mod started_by;
pub mod supervisor;
mod text_file;
pub mod update;
