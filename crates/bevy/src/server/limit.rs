//! Encodes packets in parallel, within a limit of processor time.

use bevy_ecs::prelude::*;
use bevy_platform::time::Instant;
use bevy_tasks::{ComputeTaskPool, TaskPool, available_parallelism};
use cubewire_protocol::{EncodeBudget, SendJob, encode_jobs};

/// Limit of the processor time for snapshots. Default: a third of a tick at 60 Hz on each thread of the task pool.
///
/// Above the limit, clients get the newest baseline instead of the smallest, and then only every second, third, … snapshot. Clients that
/// have [requested](crate::client::SettingsRequest) settings are told. A server without this resource has no limit: remove it, or
/// replace it, if runs must be the same on every machine.
#[derive(Resource, Debug)]
pub struct EncodeLimit(pub EncodeBudget);

impl Default for EncodeLimit {
    fn default() -> Self {
        let pool = ComputeTaskPool::try_get().map_or(0, |pool| pool.thread_num());
        // The main thread helps while it waits.
        Self(EncodeBudget::of_threads((pool + 1).min(available_parallelism())))
    }
}

/// Encodes the packets of a tick in parallel. Skips packets if no time is left.
#[allow(clippy::disallowed_methods, reason = "Bevy's clock works in a browser, too")]
pub fn encode(tick: u64, jobs: &mut [SendJob<'_>], limit: Option<&EncodeLimit>) {
    encode_jobs(jobs, |mut due| {
        let run = |job: &mut SendJob<'_>| {
            if !job.must_send() && limit.is_some_and(|limit| !limit.0.has_time()) {
                return job.skip();
            }
            let started = Instant::now();
            job.encode();
            let took = started.elapsed();
            job.took(took);
            if let Some(limit) = limit {
                limit.0.spend(took);
            }
        };
        // A single packet is encoded on this thread, because waking another one takes time.
        if let [job] = &mut *due {
            return run(job);
        }
        // It is not always the same client that runs out of time.
        let first = tick as usize % due.len();
        due.rotate_left(first);
        ComputeTaskPool::get_or_init(TaskPool::default).scope(|scope| {
            for job in due {
                scope.spawn(async move { run(job) });
            }
        });
    });
}
