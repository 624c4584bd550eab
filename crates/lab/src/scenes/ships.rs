//! Ships in formation and drones around stations. They move on closed curves, without a physics engine, floor or
//! gravity.
//!
//! The x axis points up. Frames are the same on every platform.

mod course;

use std::borrow::Cow;

use cubewire_codec::schema::{Field, FieldForm, Kind, Shape};
use glam::DVec3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use self::course::{Course, Waypoint};
use super::frame::{Scene, SceneBody, SceneFrame, TICKS_PER_SECOND, field};
use super::heading::{HEADING, Heading};
use super::slots::Slots;

/// Number of slots.
pub(super) const SLOTS: usize = 40;

const FIGHTER: u8 = 0;
const FREIGHTER: u8 = 1;
const STATION: u8 = 2;
const DRONE: u8 = 3;

/// Kinds in the schema. Neutral names and unknown shapes, so that the schema gives the codec no hints.
pub(super) const KINDS: [Kind; 4] = [
    kind("kind-0"),
    kind("kind-1"),
    kind("kind-2"),
    kind("kind-3"),
];

const fn kind(name: &'static str) -> Kind {
    Kind {
        name: Cow::Borrowed(name),
        shape: Shape::Unknown,
    }
}

/// Slots that are filled for the whole run: first the leaders, then the stations.
const LEADERS: usize = 5;
const STATIONS: usize = 3;
const PERMANENT: usize = LEADERS + STATIONS;

/// Ships that join and leave: number at the start, minimum and maximum.
const TRAFFIC: usize = 26;
const LEAST_TRAFFIC: usize = 20;
const MOST_TRAFFIC: usize = 30;

/// Mean number of ticks between two ships that join, and between two that leave.
const TRAFFIC_TICKS: u32 = 45;

/// Mean number of ticks between two pursuits of a leader.
const PURSUIT_TICKS: u32 = 240;

/// Mean number of ticks between two switches of a shield, and between two missiles. Missiles of a full ship.
const SHIELD_TICKS: u32 = 180;
const MISSILE_TICKS: u32 = 300;

const MISSILES: i32 = 12;

/// Fuel of a full tank, fuel burnt per tick, and quantization step of the field.
const FUEL: f32 = 100.0;
const BURNT: f32 = 0.0625;
const FUEL_STEP: f32 = 0.25;

/// Value of the field `bank` for a bank of 90°.
const FULL_BANK: i32 = 60;

/// Maximum rotation of a turret in a tick, in 1/4096 of a turn.
const TURRET_SPEED: i16 = 16;

/// Half of the extent of the volume that holds the centres of the courses, metres.
const SPACE: DVec3 = DVec3::new(100.0, 400.0, 400.0);

/// Fields of a ship, in the order of [`Ship::values`].
pub(super) const FIELDS: [Field; 7] = [
    field("thrusting", FieldForm::Flag),
    field("shielded", FieldForm::Flag),
    field("target", FieldForm::Body),
    field("turret", HEADING),
    field(
        "fuel",
        FieldForm::Float {
            min: 0.0,
            max: FUEL,
            step: FUEL_STEP,
        },
    ),
    field(
        "missiles",
        FieldForm::Int {
            min: 0,
            max: MISSILES,
        },
    ),
    field(
        "bank",
        FieldForm::Int {
            min: -FULL_BANK,
            max: FULL_BANK,
        },
    ),
];

/// A ship, drone or station.
struct Ship {
    kind: u8,
    course: Course,
    /// Distance behind the course's position, seconds, and to the right of it, metres.
    delay: f64,
    offset: f64,
    /// Slot of the leader that a follower follows, of the station that a drone circles, or of the ship that a leader
    /// pursues.
    target: Option<usize>,
    turret: Heading,
    is_shielded: bool,
    fuel: f32,
    missiles: i32,
}

pub(crate) struct Ships {
    random: ChaCha8Rng,
    ships: Slots<Ship>,
    tick: u64,
    frame: SceneFrame,
}

impl Ships {
    pub(crate) fn new(seed: u64) -> Self {
        let mut ships = Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            ships: Slots::new(SLOTS),
            tick: 0,
            frame: SceneFrame::default(),
        };
        for index in 0..PERMANENT {
            let random = &mut ships.random;
            let middle =
                SPACE * DVec3::from_array([(); 3].map(|()| random.random_range(-1.0..1.0)));
            let (kind, course) = if index >= LEADERS {
                (STATION, Course::still(middle, random))
            } else {
                let (reach, speed) = (
                    random.random_range(300.0..600.0),
                    random.random_range(40.0..80.0),
                );
                let kind = [FIGHTER, FREIGHTER][index % 2];
                (kind, Course::around(middle, reach, speed, random))
            };
            ships.arrive(Ship::new(kind, course));
        }
        for _ in 0..TRAFFIC {
            ships.join();
        }
        ships
    }

    fn arrive(&mut self, ship: Ship) {
        if let Some(index) = self.ships.vacant(self.tick) {
            self.ships.fill(index, ship);
        }
    }

    /// Adds a follower of a leader, or a drone of a station.
    fn join(&mut self) {
        let random = &mut self.random;
        let target = random.random_range(0..PERMANENT);
        let permanent = self
            .ships
            .get(target)
            .expect("leaders and stations are permanent");
        let (delay, offset) = (
            random.random_range(0.4..2.0),
            random.random_range(-40.0..40.0),
        );
        let ship = match permanent.course {
            Course::Still { position, .. } => {
                let reach = random.random_range(15.0..60.0);
                Ship::new(DRONE, Course::around(position, reach, reach * 0.4, random))
            }
            course => Ship {
                delay,
                offset,
                ..Ship::new(permanent.kind, course)
            },
        };
        self.arrive(Ship {
            target: Some(target),
            ..ship
        });
    }

    /// Removes a ship that is not permanent, and clears it as a target.
    fn leave(&mut self) {
        let index = self.random.random_range(PERMANENT..SLOTS);
        self.ships.empty(index, self.tick);
        for (_, ship) in self.ships.iter_mut() {
            ship.target = ship.target.filter(|&target| target != index);
        }
    }

    /// Sets the target of a leader to another ship.
    fn pursue(&mut self) {
        let leader = self.random.random_range(0..LEADERS);
        let target = self.random.random_range(LEADERS..SLOTS);
        let target = self.ships.get(target).map(|_| target);
        self.ships.get_mut(leader).expect("leaders stay").target = target;
    }

    fn advance(&mut self) {
        let traffic = self.ships.living() - PERMANENT;
        if traffic < MOST_TRAFFIC && self.random.random_ratio(1, TRAFFIC_TICKS) {
            self.join();
        }
        if traffic > LEAST_TRAFFIC && self.random.random_ratio(1, TRAFFIC_TICKS) {
            self.leave();
        }
        if self.random.random_ratio(LEADERS as u32, PURSUIT_TICKS) {
            self.pursue();
        }
        self.tick += 1;
        let time = self.tick as f64 / f64::from(TICKS_PER_SECOND);
        let waypoints = self.ships.iter().map(|ship| Some(ship?.1.waypoint(time)));
        let waypoints: Vec<_> = waypoints.collect();
        for (index, ship) in self.ships.iter_mut() {
            let here = waypoints[index]
                .as_ref()
                .expect("every ship has a waypoint");
            let target = ship.target.and_then(|target| waypoints[target].as_ref());
            ship.live(here, target, &mut self.random);
        }
        let bodies = self.ships.iter().zip(&waypoints);
        let bodies = bodies.map(|(ship, waypoint)| Some((ship?, waypoint.as_ref()?)));
        let body = |(&(generation, ref ship), waypoint): (&(u8, Ship), &Waypoint)| SceneBody {
            kind: ship.kind,
            generation,
            position: waypoint.beside(ship.offset).as_vec3(),
            orientation: waypoint.orientation().as_quat(),
            values: ship.values(waypoint),
        };
        self.frame.slots.clear();
        self.frame.slots.extend(bodies.map(|ship| ship.map(body)));
    }
}

impl Ship {
    const fn new(kind: u8, course: Course) -> Self {
        Self {
            kind,
            course,
            delay: 0.0,
            offset: 0.0,
            target: None,
            turret: Heading::from_bits(0),
            is_shielded: false,
            fuel: FUEL,
            missiles: MISSILES,
        }
    }

    fn waypoint(&self, time: f64) -> Waypoint {
        self.course.at(time - self.delay)
    }

    /// Updates turret, shield, missiles and fuel for a tick.
    fn live(&mut self, here: &Waypoint, target: Option<&Waypoint>, random: &mut ChaCha8Rng) {
        if let Some(target) = target {
            let way = (target.position - here.position).as_vec3();
            let wanted = Heading::of(way.y, way.z);
            self.turret = self.turret.turned_towards(wanted, TURRET_SPEED);
        }
        self.is_shielded ^= random.random_ratio(1, SHIELD_TICKS);
        if random.random_ratio(1, MISSILE_TICKS) {
            self.missiles = (self.missiles + MISSILES) % (MISSILES + 1);
        }
        if here.is_thrusting {
            self.fuel -= BURNT;
            if self.fuel < 0.0 {
                self.fuel = FUEL;
            }
        }
    }

    /// Returns the values of [`FIELDS`].
    fn values(&self, here: &Waypoint) -> Vec<f64> {
        vec![
            u8::from(here.is_thrusting).into(),
            u8::from(self.is_shielded).into(),
            self.target.map_or(-1.0, |target| target as f64),
            self.turret.turns(),
            self.fuel.into(),
            self.missiles.into(),
            libm::round(here.bank * f64::from(FULL_BANK)),
        ]
    }
}

impl Scene for Ships {
    fn step(&mut self) -> &SceneFrame {
        self.advance();
        &self.frame
    }
}
