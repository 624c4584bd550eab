//! The server's bodies in each tick, and how each client sees them.

use super::*;

/// Whether a client sees a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sight {
    /// The body is not there, is disabled, waits for a slot or is hidden, or the client is not connected.
    #[default]
    Absent,
    Visible,
    /// The client sees the state of the last tick when the body was visible.
    Frozen,
}

/// A body's state in a tick. Other bodies are given by number.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) at: Vec3,
    pub(super) health: u8,
    pub(super) name: Option<String>,
    pub(super) target: Option<u16>,
    /// Inner `None`: the entity is not a body.
    pub(super) follows: Option<Option<u16>>,
    /// By client.
    pub(super) sights: [Sight; CLIENTS],
}

/// A body in each tick, from its first one on.
#[derive(Debug, Default)]
pub(super) struct Life {
    first: u64,
    moments: Vec<Moment>,
}

#[derive(Debug, Default)]
pub(super) struct History {
    tick: u64,
    lives: BTreeMap<u16, Life>,
    numbers: BTreeMap<Entity, u16>,
    /// By client: the center of its interest, if it has one.
    centers: [Option<Vec3>; CLIENTS],
}

impl Life {
    pub(super) fn moment(&self, tick: u64) -> Option<&Moment> {
        self.moments.get(tick.checked_sub(self.first)? as usize)
    }

    pub(super) fn sight(&self, tick: u64, client: usize) -> Sight {
        self.moment(tick).map_or(Sight::Absent, |moment| moment.sights[client])
    }

    /// Returns the moments from a tick on when the body was visible to a client.
    pub(super) fn visible(
        &self,
        client: usize,
        since: u64,
    ) -> impl Iterator<Item = (u64, &Moment)> {
        let skipped = since.saturating_sub(self.first) as usize;
        let moments = self.moments.iter().enumerate().skip(skipped);
        moments
            .filter(move |(_, moment)| moment.sights[client] == Sight::Visible)
            .map(|(index, moment)| (self.first + index as u64, moment))
    }

    /// Returns whether the body had a state at any time, seen or not.
    pub(super) fn had(&self, is_so: impl Fn(&Moment) -> bool) -> bool {
        self.moments.iter().any(is_so)
    }

    /// Returns the first tick after `tick` when the body appeared to a client. If the client saw it in `tick`, it must have
    /// vanished in between.
    pub(super) fn appearance(&self, client: usize, tick: u64) -> Option<u64> {
        let end = self.first + self.moments.len() as u64;
        let mut ticks = tick.max(self.first)..end;
        if tick >= self.first {
            ticks.find(|&tick| self.sight(tick, client) == Sight::Absent)?;
        }
        ticks.find(|&tick| self.sight(tick, client) != Sight::Absent)
    }
}

impl History {
    /// Returns the tick of the last record.
    pub(super) const fn tick(&self) -> u64 {
        self.tick
    }

    pub(super) fn spawn(&mut self, number: u16, body: Entity) {
        self.numbers.insert(body, number);
    }

    pub(super) fn life(&self, number: u16) -> Option<&Life> {
        self.lives.get(&number)
    }

    /// Returns the bodies that a client sees now: the number, the state that it should show, and the tick of this state.
    pub(super) fn seen(&self, client: usize) -> impl Iterator<Item = (u16, &Moment, u64)> {
        let is_seen = move |life: &Life| life.sight(self.tick, client) != Sight::Absent;
        self.lives.iter().filter(move |(_, life)| is_seen(life)).map(move |(&number, life)| {
            let (tick, moment) = life.visible(client, 0).last().expect("only then it is seen");
            (number, moment, tick)
        })
    }

    /// Records the bodies of the tick that the server has just run.
    pub(super) fn record(&mut self, world: &mut World, bodies: &[(u16, Entity)]) {
        self.tick += 1;
        assert_eq!(world.resource::<ReplicationStats>().tick, self.tick, "a frame is one tick");
        let mut is_connected = [false; CLIENTS];
        let mut interests = [None; CLIENTS];
        let mut viewers = world.query_filtered::<(&Viewer, Option<&Interest>), With<Connected>>();
        for (&Viewer(client), interest) in viewers.iter(world) {
            is_connected[client] = true;
            interests[client] = interest.copied();
        }
        let centers = self.centers;
        let mut places = world.query::<&Transform>();
        self.centers = std::array::from_fn(|client| {
            let place = places.get(world, interests[client]?.center?);
            place.map(|place| place.translation).ok().or(centers[client])
        });
        for &(number, entity) in bodies {
            let body = world.entity(entity);
            let life = self.lives.entry(number).or_default();
            if life.moments.is_empty() {
                life.first = self.tick;
            }
            let before = life.moments.last().map(|moment| moment.sights).unwrap_or_default();
            let is_out = body.contains::<Disabled>() || !body.contains::<InSlot>();
            let is_hidden = body.get::<HiddenFrom>().map_or(0, |hidden| hidden.0);
            let is_frozen = body.get::<FrozenFor>().map_or(0, |frozen| frozen.0);
            let at = body.get::<Transform>().expect("all bodies have it").translation;
            let is_far = |client: usize| {
                interests[client].is_some_and(|Interest { near, far, .. }| {
                    let was_near = centers[client].is_some() && before[client] != Sight::Absent;
                    let limit = if was_near { far } else { near };
                    self.centers[client].is_none_or(|center| at.distance(center) > limit)
                })
            };
            let sight = |client: usize| {
                let is_hidden = is_hidden >> client & 1 == 1 || is_far(client);
                if is_out || !is_connected[client] || is_hidden {
                    Sight::Absent
                } else if is_frozen >> client & 1 == 0 {
                    Sight::Visible
                } else if before[client] == Sight::Absent {
                    // "A body that was never visible stays absent."
                    Sight::Absent
                } else {
                    Sight::Frozen
                }
            };
            let number_of = |entity: Entity| self.numbers.get(&entity).copied();
            life.moments.push(Moment {
                at,
                health: body.get::<Health>().expect("all bodies have it").0,
                name: body.get::<PlayerName>().map(|name| name.0.clone()),
                target: body.get::<Target>().and_then(|target| number_of(target.0?)),
                follows: body.get::<Follows>().map(|follows| number_of(follows.0)),
                sights: std::array::from_fn(sight),
            });
        }
    }
}
