//! Behaviour of the app, through its real plugins, on a manual clock.

#![allow(clippy::disallowed_methods, reason = "no browser runs these tests")]

mod acks;
mod budget;
mod command_line;
mod common;
mod controls;
mod decode;
mod documents;
mod export;
mod fallback;
mod film;
mod films;
mod first_minute;
mod fuzz;
mod history;
mod hostile;
mod layers;
mod mistakes;
mod mutated;
mod network;
mod pictures;
mod play;
mod play_at;
mod processes;
mod program;
mod replays;
mod replica;
mod requests;
mod rogue;
mod schedules;
mod series;
mod shadow;
mod shadow_ablation;
mod stale;
mod stop;
mod sync;
mod sync_walk;
mod text_files;
mod tour_page;
mod udp;
mod udp_abuse;
mod udp_budget;
mod udp_hostile;
mod video;
mod window;
