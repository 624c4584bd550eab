//! Registration of a protocol, which both ends do in the same `fn(&mut App)`.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Time};
use bevy_transform::components::Transform;
use cubewire_codec::schema::{
    Axis, FieldForm, Kind, Levels, MAX_TICKS_PER_SECOND, Schema, Slots, Support, World as Scene,
};
use cubewire_codec::{Plan, ladder};
use cubewire_protocol::renet_guard::MAX_RELIABLE_BYTES;
use cubewire_protocol::{ClientMessage, Contract};

use crate::body::BodyKind;
use crate::forms::{Field, Pose};
use crate::messages::{MapMessage, MessageEntry};
use crate::protocol::{Compiled, FieldEntry, Items, Protocol};
use crate::transport::FlushInterval;
use crate::wire::LoggedOnce;

/// Name, tick rate and physics of a protocol. Add it before registering anything.
///
/// Defaults: 60 ticks/s, gravity 9.81, no floor, speeds up to 50 units/s, 1024 bodies. y points up.
#[derive(Clone, Debug)]
pub struct CubewirePlugin {
    name: &'static str,
    ticks_per_second: u16,
    scene: Scene,
    max_bodies: u32,
}

impl CubewirePlugin {
    /// Creates a protocol with this name. All names (also of kinds and fields) have 1 to 32 characters of a-z, 0-9, `-`
    /// and `_`. Types are compared only by their names. If the contents of a type change, change the protocol's name
    /// (`arena-2`), so that older clients are refused.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            ticks_per_second: 60,
            scene: Scene { gravity: 9.81, floor: None, max_speed: 50.0, linear: None },
            max_bodies: 1024,
        }
    }

    /// Sets the tick rate, `1..=240`, rounded to an integer. It is the rate of packets, and of `FixedUpdate` at both
    /// ends.
    ///
    /// The limit is 240 because a packet names its baseline by age, up to 255 ticks. At 240 Hz that is 1.06 s, enough
    /// for a satellite round trip with jitter. With a longer round trip, all packets are relative to the empty scene
    /// and many times larger.
    ///
    /// # Panics
    /// If the rounded rate is not in `1..=240`.
    #[must_use]
    pub const fn hz(mut self, hz: f64) -> Self {
        let ticks = hz.round() as u16;
        assert!(
            1 <= ticks && ticks <= MAX_TICKS_PER_SECOND,
            "`hz` must be 1 to 240: an ack must arrive within 255 ticks, and takes up to a second"
        );
        self.ticks_per_second = ticks;
        self
    }

    /// Sets the downward acceleration, in units/s². Correct values of gravity and floor make packets smaller; wrong
    /// ones have no other effect.
    #[must_use]
    pub const fn gravity(mut self, units: f32) -> Self {
        self.scene.gravity = units;
        self
    }

    /// Sets the height of the floor, in units.
    #[must_use]
    pub const fn floor(mut self, height: f32) -> Self {
        self.scene.floor = Some(height);
        self
    }

    /// Sets the speed that bodies rarely exceed, in units/s.
    #[must_use]
    pub const fn max_speed(mut self, units: f32) -> Self {
        self.scene.max_speed = units;
        self
    }

    /// Sets the maximum number of bodies at a time, `1..=65_536`. Each slot, used or not, takes time in each tick, and
    /// 12 bytes (52 in stages with floats) plus its fields in each kept snapshot: up to 256 per client at the server, and
    /// 512 at a client. If the first snapshot exceeds 256 datagrams (about 25 000 bodies), it is sent in parts, and
    /// appears a second later at clients without a [`ByteBudget`](crate::ByteBudget).
    #[must_use]
    pub const fn max_bodies(mut self, bodies: u32) -> Self {
        self.max_bodies = bodies;
        self
    }
}

impl Plugin for CubewirePlugin {
    fn build(&self, app: &mut App) {
        crate::transport::add(app);
        app.insert_resource(Registry {
            settings: self.clone(),
            pose: Pose::within(-512.0..512.0, -512.0..512.0, -512.0..512.0),
            items: Items::default(),
            field_kinds: Vec::new(),
            mapped: Vec::new(),
        })
        .insert_resource(Time::<Fixed>::from_hz(self.ticks_per_second.into()))
        .insert_resource(FlushInterval(Duration::from_secs(1) / u32::from(self.ticks_per_second)));
    }

    /// # Panics
    /// If the registration is not a legal schema. The message names the error.
    fn finish(&self, app: &mut App) {
        let registry = app.world_mut().remove_resource::<Registry>();
        let registry = registry.expect("it was inserted by `build`");
        app.insert_resource(registry.compile());
        #[cfg(feature = "server")]
        if !app.is_plugin_added::<crate::server::ServerPlugin>() {
            warn_of_first::<crate::transport::Client>(
                app,
                "no data is sent to clients: this app has no `ServerPlugin`",
            );
        }
        #[cfg(feature = "client")]
        if !app.is_plugin_added::<crate::client::ClientPlugin>() {
            warn_of_first::<crate::transport::Server>(
                app,
                "no bodies are shown: this app has no `ClientPlugin`",
            );
        }
    }
}

fn warn_of_first<C: Component>(app: &mut App, line: &'static str) {
    let warned = LoggedOnce::default();
    app.add_observer(move |_: On<Add, C>| {
        if warned.is_first() {
            log::warn!("{line}");
        }
    });
}

pub(crate) fn registry(app: &mut App) -> Mut<'_, Registry> {
    let registry = app.world_mut().get_resource_mut::<Registry>();
    registry.expect("add `CubewirePlugin` first, and register everything before plugins finish")
}

#[derive(Resource)]
pub(crate) struct Registry {
    settings: CubewirePlugin,
    pub(crate) pose: Pose,
    pub(crate) items: Items,
    /// Names of fields, and the only kinds of bodies that have them.
    pub(crate) field_kinds: Vec<(&'static str, &'static [&'static str])>,
    /// Types and names of messages with mapped entities.
    pub(crate) mapped: Vec<(TypeId, &'static str, MapMessage)>,
}

impl Registry {
    /// # Panics
    /// If the registration is not a legal schema.
    fn compile(mut self) -> Protocol {
        self.limit_fields();
        self.map_messages();
        self.check_types();
        let flags_first = |field: &FieldEntry| field.schema.form != FieldForm::Flag;
        // Sorted, so that the order of registration does not matter. Flags come first: the codec stores a flag in the first
        // field with the position.
        let items = &mut self.items;
        items.kinds.sort_by_key(|&(name, _)| name);
        items.fields.sort_by(|a, b| {
            let name = a.schema.name.cmp(&b.schema.name);
            flags_first(a).cmp(&flags_first(b)).then(name)
        });
        items.components.sort_by_key(|entry| entry.name);
        items.predicted.sort_by_key(|entry| entry.name);
        let schema = self.schema();
        let plan = Plan::new(schema).unwrap_or_else(|error| panic!("illegal protocol: {error}"));
        let stages = plan.legal(*ladder::PREDICTED.stages);
        let mut registered = String::new();
        let mut lines = |word: &str, names: &mut dyn Iterator<Item = &'static str>| {
            let names: Vec<_> = names.collect();
            let is_ascending = names.is_sorted_by(|a, b| a < b);
            assert!(is_ascending, "two {word} types have the same name: {names:?}");
            assert!(names.len() <= 255, "there are more than 255 {word} types");
            for name in names {
                registered.extend([word, " ", name, "\n"]);
            }
        };
        let items = &mut self.items;
        lines("component", &mut items.components.iter().map(|entry| entry.name));
        lines("predicted-component", &mut items.predicted.iter().map(|entry| entry.name));
        lines("predicted-input", &mut items.tick_input.iter().map(|entry| entry.name));
        for (word, entries) in [
            ("input", &mut items.inputs),
            ("message-to-server", &mut items.to_server),
            ("message-to-client", &mut items.to_client),
        ] {
            entries.sort_by_key(|entry| entry.name);
            lines(word, &mut entries.iter().map(|entry| entry.name));
        }
        let contract = Contract::new(Arc::clone(&plan), registered);
        let mut contract = contract.with_input_channels(items.inputs.len());
        if items.tick_input.is_some() {
            contract = contract.with_tick_inputs();
        }
        if items.has_teleports {
            contract = contract.with_teleports(plan.schema().fields.len() - 1);
        }
        let bytes = ClientMessage::Hello(contract.hello()).encode().len();
        assert!(
            bytes <= MAX_RELIABLE_BYTES,
            "illegal protocol: the hello with all registered names has {bytes} bytes, limit {MAX_RELIABLE_BYTES}"
        );
        let is_input =
            |message: &MessageEntry| items.inputs.iter().any(|input| input.name == message.name);
        assert!(
            !items.to_server.iter().any(is_input),
            "a type is registered as an input and as a message to the server"
        );
        Protocol(Arc::new(Compiled {
            stages: stages.unwrap_or_else(|error| panic!("illegal protocol: {error}")),
            plan,
            contract: Arc::new(contract),
            items: self.items,
        }))
    }

    /// # Panics
    /// If a field or kind was not registered.
    fn limit_fields(&mut self) {
        for &(name, kinds) in &self.field_kinds {
            for kind in kinds {
                let is_there = self.items.kinds.iter().any(|(there, _)| there == kind);
                assert!(is_there, "field `{name}` is of kind `{kind}`, which is not registered");
            }
            let field = self.items.fields.iter_mut().find(|field| field.schema.name == name);
            field.unwrap_or_else(|| panic!("there is no field `{name}`")).kinds = kinds;
        }
    }

    /// # Panics
    /// If two items write the same component of a remote body.
    fn check_types(&self) {
        let Items { fields, components, .. } = &self.items;
        let fields = fields.iter().map(|field| (field.id, &*field.schema.name));
        let components = components.iter().map(|component| (component.id, component.name));
        let pose = (TypeId::of::<Transform>(), "pose");
        let mut names = HashMap::from([pose, (TypeId::of::<BodyKind>(), "kind")]);
        for (id, name) in fields.chain(components) {
            if let Some(other) = names.insert(id, name) {
                panic!("illegal protocol: `{other}` and `{name}` are the same component");
            }
        }
    }

    /// # Panics
    /// If a message type was not registered.
    fn map_messages(&mut self) {
        let Items { inputs, to_server, to_client, .. } = &mut self.items;
        for &(id, name, map) in &self.mapped {
            let mut is_there = false;
            for entry in inputs.iter_mut().chain(&mut *to_server).chain(&mut *to_client) {
                if entry.id == id {
                    entry.map = map;
                    is_there = true;
                }
            }
            assert!(is_there, "`{name}` is not registered as an input or message");
        }
    }

    fn schema(&self) -> Schema {
        let (items, settings) = (&self.items, &self.settings);
        let kinds = items.kinds.iter();
        let kinds = kinds.map(|&(name, shape)| Kind { name: name.into(), shape: shape.0 });
        let has_components = !items.components.is_empty();
        let components = has_components.then(|| Field::flag().schema(Protocol::HAS_COMPONENTS));
        let fields = items.fields.iter().map(|field| field.schema.clone());
        let teleports = Field::int(0..=u8::MAX.into()).schema(Protocol::TELEPORTS);
        let teleports = items.has_teleports.then_some(teleports);
        Schema {
            name: settings.name.into(),
            ticks_per_second: settings.ticks_per_second,
            up: Axis::Y,
            position: self.pose.ranges(),
            component_bits: self.pose.component_bits(),
            levels: Levels::Odd,
            anchor: None,
            kinds: kinds.collect(),
            fields: components.into_iter().chain(fields).chain(teleports).collect(),
            world: settings.scene,
            slots: Slots::Living { max: settings.max_bodies },
            support: Support { floats: true, ..Support::NONE },
            seats: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy_ecs::entity::{EntityMapper, MapEntities};

    use super::*;
    use crate::forms::Shape;
    use crate::register::CubewireAppExt;

    fn text(register: impl FnOnce(&mut App)) -> String {
        let mut app = App::empty();
        app.add_plugins(CubewirePlugin::new("arena").hz(30.0).floor(0.0));
        register(&mut app);
        app.finish();
        app.world().resource::<Protocol>().text()
    }

    #[derive(Component)]
    struct Health(u8);

    fn health(app: &mut App) -> &mut App {
        app.replicate_field(
            "health",
            Field::int(0..=100),
            |health: &Health| health.0.into(),
            |value| Health(value as u8),
        )
    }

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Named;

    impl MapEntities for Named {
        fn map_entities<M: EntityMapper>(&mut self, _: &mut M) {}
    }

    #[test]
    fn the_order_of_registration_does_not_matter() {
        let forth = text(|app| {
            health(app.body_kind("crate", Shape::cuboid(bevy_math::Vec3::ONE)))
                .body_kind("ball", Shape::ball(0.5))
                .add_input::<u8>()
                .add_message_to_client::<String>();
        });
        let back = text(|app| {
            app.add_message_to_client::<String>()
                .add_input::<u8>()
                .body_kind("ball", Shape::ball(0.5));
            health(app).body_kind("crate", Shape::cuboid(bevy_math::Vec3::ONE));
        });
        assert_eq!(forth, back);
        assert!(forth.starts_with("scene: arena\nticks: 30\nup: Y\n"), "{forth}");
        assert!(forth.contains("field health: Int { min: 0, max: 100 }\n"), "{forth}");
        let end = "input u8\nmessage-to-client String\ninput channels: 1\n";
        assert!(forth.ends_with(end), "{forth}");
    }

    #[test]
    fn illegal_registrations_are_refused_when_plugins_finish() {
        /// Names of types can have any length.
        type Four<T> = ((T, T), (T, T));
        type Long = Four<Four<Four<Four<Four<Four<Four<u8>>>>>>>;
        type Register = fn(&mut App) -> &mut App;
        let refused: [(Register, &str); 6] = [
            (|app| app.body_kind("ball", Shape::ball(0.0)), "kind ball"),
            (|app| app.add_input::<Long>(), "illegal protocol: the hello"),
            (
                |app| health(app).field_kinds("health", &["giant"]),
                "field `health` is of kind `giant`, which is not registered",
            ),
            (|app| app.map_entities::<Named>(), "`Named` is not registered as an input or message"),
            (
                |app| health(app).replicate_field("armour", Field::flag(), |_| 0.0, |_| Health(0)),
                "illegal protocol: `health` and `armour` are the same component",
            ),
            (
                |app| app.replicate_reference("at", |_| None, |_| Transform::IDENTITY),
                "illegal protocol: `pose` and `at` are the same component",
            ),
        ];
        for (register, expected) in refused {
            let refused = std::panic::catch_unwind(|| {
                text(|app| _ = register(app.body_kind("crate", Shape::ball(1.0))));
            });
            let why = refused.unwrap_err().downcast::<String>().unwrap();
            assert!(why.contains(expected), "{why}");
        }
    }

    #[test]
    fn a_tick_rate_at_which_acks_would_be_too_late_is_refused() {
        for hz in [0.0, 0.4, 241.0, 1000.0, -1.0, f64::NAN] {
            let refused = std::panic::catch_unwind(|| CubewirePlugin::new("arena").hz(hz));
            assert!(refused.is_err(), "{hz}");
        }
        for hz in [1.0, 30.0, 240.0] {
            let _ = CubewirePlugin::new("arena").hz(hz);
        }
        // Baseline ages cover a round trip of a second.
        let oldest = u32::from(cubewire_protocol::MAX_BASELINE_AGE_TICKS);
        assert!(oldest > u32::from(MAX_TICKS_PER_SECOND));
    }
}
