//! `cubewire-lab`: measures the codec on recordings.

mod cli;
mod history;
mod link;
mod pairs;
mod recording;
mod search;
mod table;
mod walkoff;

fn main() {
    let cli::Cli { command } = clap::Parser::parse();
    if let cli::Command::Search(args) = &command {
        let rs: Vec<_> = args
            .files
            .iter()
            .map(|f| recording::Recording::read(f).unwrap())
            .collect();
        let m = args
            .measure
            .as_ref()
            .map(|f| recording::Recording::read(f).unwrap());
        search::run(args.field, &rs, m.as_ref(), args.top);
    }
    if let cli::Command::Walkoff(args) = command {
        let r = recording::Recording::read(&args.file).unwrap();
        for c in args.codec.0 {
            let o = walkoff::run(
                &r,
                &c,
                link::Conditions {
                    loss: args.loss.unwrap_or(0.),
                    reorder: args.reorder.unwrap_or(0.),
                    rtt_frames: args.rtt_frames.unwrap_or(6),
                    seed: args.seed.unwrap_or(0),
                },
                || {},
            );
            println!("{}", serde_json::to_string(&o).unwrap());
        }
    }
}
