//! Behaviour of the app, through its real plugins, on a manual clock.

mod acks;
mod command_line;
mod common;
mod controls;
mod decode;
mod documents;
mod export;
mod figures;
mod first_minute;
mod history;
mod layers;
mod network;
mod play;
mod processes;
mod recording;
mod replays;
mod replica;
mod schedules;
mod shadow;
mod shadow_ablation;
mod stale;
mod udp;
mod udp_hostile;
mod video;
mod window;
