//! Compares a client's bodies with the server's history in each frame.

use std::collections::BTreeSet;

use super::history::{Moment, Sight};
use super::*;

/// Kind and description.
pub(super) type Fault = (String, String);

/// State of a remote body. Other bodies are given by number.
#[derive(Clone, Debug)]
struct Shown {
    at: Vec3,
    health: u8,
    name: Option<String>,
    target: Option<u16>,
    /// Inner `None`: the placeholder.
    follows: Option<Option<u16>>,
}

/// A remote body of the client, from its birth on.
#[derive(Debug)]
struct Track {
    number: u16,
    /// By aspect: the earliest tick of the server that can be shown. It never decreases.
    since: [u64; ASPECTS],
    /// By aspect: whether the client has shown a value.
    has_value: [bool; ASPECTS],
    /// By aspect: whether the last frame had a fault, which is reported once.
    is_wrong: [bool; ASPECTS],
}

/// Position, health, name, target and followed body.
const ASPECTS: usize = 5;

/// Aspects that are sent in snapshots. The others take effect on arrival, ahead of playout.
const IN_SNAPSHOTS: [usize; 2] = [0, 1];

/// A client as seen by the test, from the start of its connection.
#[derive(Debug, Default)]
pub(super) struct Watch {
    client: usize,
    /// The server's tick at the start of the connection.
    since: u64,
    is_connected: bool,
    tracks: BTreeMap<Entity, Track>,
    /// By number: the server's tick that the client has shown at least, before the body vanished.
    ended: BTreeMap<u16, u64>,
    /// Numbers of the bodies that the client has despawned, until they appear again.
    despawned: BTreeSet<u16>,
    /// Entities that the client has despawned.
    own_despawns: BTreeSet<Entity>,
    /// By number, in the last frame.
    shown: BTreeMap<u16, Shown>,
    /// The first fault of each kind.
    pub(super) faults: BTreeMap<String, String>,
}

impl Moment {
    /// Returns whether a client may show this aspect of the moment. A reference to a body that it does not show may be empty.
    fn allows(&self, aspect: usize, shown: &Shown) -> bool {
        match aspect {
            0 => self.at.distance(shown.at) < 0.5 / 128.0,
            1 => self.health == shown.health,
            2 => self.name == shown.name,
            3 => shown.target.is_none() || self.target == shown.target,
            _ => match (self.follows, shown.follows) {
                (Some(_), Some(None)) => true,
                (had, shown) => had == shown,
            },
        }
    }
}

const NAMES: [&str; ASPECTS] = ["position", "health", "name", "target", "follows"];

impl Watch {
    pub(super) fn new(client: usize, since: u64) -> Self {
        Self { client, since, ..Self::default() }
    }

    /// Begins again after a reconnection. Keeps the faults.
    pub(super) fn on_reconnection(&mut self, tick: u64) {
        let faults = std::mem::take(&mut self.faults);
        *self = Self { faults, ..Self::new(self.client, tick) };
    }

    pub(super) fn on_own_despawn(&mut self, body: Entity) {
        self.despawned.extend(self.tracks.get(&body).map(|track| track.number));
        self.own_despawns.insert(body);
    }

    fn fault(&mut self, kind: impl Into<String>, text: String) {
        self.faults.entry(kind.into()).or_insert(text);
    }

    /// Compares a client's bodies with the history.
    pub(super) fn look(&mut self, world: &mut World, history: &History) {
        let (client, now) = (self.client, history.tick());
        let mut connections = world.query_filtered::<Has<Connected>, With<Server>>();
        let is_connected = connections.single(world).is_ok_and(|is_connected| is_connected);
        if std::mem::replace(&mut self.is_connected, is_connected) && !is_connected {
            self.fault("connection ended", format!("client {client}, tick {now}"));
        }
        let mut bodies = world.query_filtered::<(Entity, &Number, &BodyKind), With<Remote>>();
        let mut numbers = BTreeMap::new();
        for (body, &Number(number), kind) in bodies.iter(world) {
            numbers.insert(body, number);
            if kind.name() != KINDS[usize::from(number % 2)] {
                self.fault("wrong kind", format!("client {client}, body {number}, tick {now}"));
            }
        }
        for (_, track) in self.tracks.extract_if(.., |body, _| !numbers.contains_key(body)) {
            let shown = IN_SNAPSHOTS.map(|aspect| track.since[aspect]).into_iter().max();
            self.ended.insert(track.number, shown.unwrap_or(0));
        }
        self.shown.clear();
        for (&body, &number) in &numbers {
            let about = format!("client {client}, body {number}, tick {now}");
            let shown = self.read(world.entity(body), &numbers, &about);
            if let Some(other) = self.shown.insert(number, shown.clone()) {
                self.fault("two entities of a body", format!("{about}: {other:?}, {shown:?}"));
            }
            let is_birth = self.begin(body, number, history, &about);
            self.check(body, &shown, is_birth, history, &about);
        }
    }

    fn read(&mut self, body: EntityRef<'_>, numbers: &BTreeMap<Entity, u16>, about: &str) -> Shown {
        let mut number_of = |field: &str, entity: Option<Entity>| {
            let entity = entity.filter(|entity| *entity != Entity::PLACEHOLDER)?;
            let number = numbers.get(&entity).copied();
            if number.is_none() {
                let whose = if self.own_despawns.contains(&entity) { "client" } else { "server" };
                let kind = format!("{field}: a body that the {whose} has despawned");
                self.faults.entry(kind).or_insert(format!("{about}: {field} is {entity}"));
            }
            number
        };
        let target = body.get::<Target>().expect("a field");
        Shown {
            at: body.get::<Transform>().expect("remote").translation,
            health: body.get::<Health>().expect("a field").0,
            name: body.get::<PlayerName>().map(|name| name.0.clone()),
            target: number_of("target", target.0),
            follows: body.get::<Follows>().map(|follows| number_of("follows", Some(follows.0))),
        }
    }

    /// Begins to track a body that was born in this frame. Returns whether it was.
    fn begin(&mut self, body: Entity, number: u16, history: &History, about: &str) -> bool {
        if let Some(track) = self.tracks.get(&body) {
            if track.number != number {
                let text = format!("{about}: it was body {}", track.number);
                self.fault("an entity becomes another body", text);
            }
            return false;
        }
        let after = self.ended.get(&number).copied().unwrap_or(0).max(self.since);
        let appeared = history.life(number).and_then(|life| life.appearance(self.client, after));
        if appeared.is_none() {
            self.fault("shown but not visible", format!("{about}: not since tick {after}"));
        }
        self.despawned.remove(&number);
        let since = [appeared.unwrap_or(after); ASPECTS];
        let never = [false; ASPECTS];
        self.tracks.insert(body, Track { number, since, has_value: never, is_wrong: never });
        true
    }

    /// Finds the tick of each shown aspect.
    fn check(
        &mut self,
        body: Entity,
        shown: &Shown,
        is_birth: bool,
        history: &History,
        about: &str,
    ) {
        let Some(track) = self.tracks.get_mut(&body) else {
            return;
        };
        let Some(life) = history.life(track.number) else {
            return;
        };
        let (client, since) = (self.client, track.since);
        let mut faults = Vec::new();
        for (aspect, name) in NAMES.iter().enumerate() {
            let allows = |moment: &Moment| moment.allows(aspect, shown);
            let tick = |since: u64| life.visible(client, since).find(|(_, moment)| allows(moment));
            if let Some((tick, _)) = tick(since[aspect]) {
                // A body that has lost its components is born before the messages with their values have arrived.
                let has_value = [true, true, shown.name.is_some(), true, shown.follows.is_some()];
                track.has_value[aspect] |= has_value[aspect];
                if track.has_value[aspect] {
                    track.since[aspect] = tick;
                }
                track.is_wrong[aspect] = false;
                continue;
            }
            if std::mem::replace(&mut track.is_wrong[aspect], true) {
                continue;
            }
            let when = match tick(0) {
                Some(_) => "outdated",
                None if life.had(allows) => "of a time when the client did not see it",
                None => "it never had",
            };
            let birth = if is_birth { " at birth" } else { "" };
            let from = since[aspect];
            let had: Vec<_> = life.visible(client, from).take(3).collect();
            let text = format!("{about}: {shown:?}; possible from tick {from}: {had:?}");
            faults.push((format!("{name}: {when}{birth}"), text));
        }
        faults.into_iter().for_each(|(kind, text)| self.fault(kind, text));
    }

    /// Returns the differences between the bodies that a client should see and those of the last frame.
    pub(super) fn differences(&self, history: &History) -> Vec<Fault> {
        let (client, mut faults) = (self.client, Vec::new());
        let about = format!("client {client}, since tick {}, at last", self.since);
        if !self.is_connected {
            return vec![("end: not connected".to_owned(), about)];
        }
        let mut is_extra: BTreeSet<_> = self.shown.keys().copied().collect();
        for (number, expected, tick) in history.seen(client) {
            is_extra.remove(&number);
            let Some(shown) = self.shown.get(&number) else {
                if !self.despawned.contains(&number) {
                    let text = format!("{about}: body {number} in tick {tick}: {expected:?}");
                    faults.push(("end: missing body".to_owned(), text));
                }
                continue;
            };
            let is_shown = |other: &u16| self.shown.contains_key(other);
            // A frozen body can keep an empty reference.
            let is_kept = |other: Option<u16>| {
                let is_frozen = tick < history.tick();
                let life = other.and_then(|other| history.life(other));
                is_frozen && life.is_some_and(|life| life.sight(tick, client) == Sight::Absent)
            };
            let target = expected.target.filter(is_shown);
            let follows = expected.follows.map(|follows| follows.filter(is_shown));
            let is_equal = [
                expected.allows(0, shown),
                expected.allows(1, shown),
                expected.allows(2, shown),
                shown.target == target || shown.target.is_none() && is_kept(target),
                shown.follows == follows
                    || shown.follows == Some(None) && is_kept(follows.flatten()),
            ];
            for (name, _) in NAMES.iter().zip(is_equal).filter(|(_, is_equal)| !is_equal) {
                let text =
                    format!("{about}: body {number}: {shown:?}; in tick {tick}: {expected:?}");
                let is_none = match *name {
                    "target" => shown.target.is_none(),
                    "follows" => shown.follows == Some(None),
                    _ => false,
                };
                let what = if is_none { "none for" } else { "wrong" };
                faults.push((format!("end: {what} {name}"), text));
            }
        }
        let extra = is_extra.iter().map(|number| {
            (
                "end: extra body".to_owned(),
                format!("{about}: body {number}: {:?}", self.shown[number]),
            )
        });
        faults.extend(extra);
        faults
    }
}
