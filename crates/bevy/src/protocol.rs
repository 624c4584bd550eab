//! The compiled registration, which both ends work with.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use cubewire_codec::schema::{self, FieldForm};
use cubewire_codec::{Plan, Stages};
use cubewire_protocol::Contract;
#[cfg(feature = "server")]
use cubewire_protocol::MAX_OWN_BYTES;

use crate::components::ComponentAccess;
#[cfg(feature = "server")]
use crate::components::Mapper;
use crate::forms::Shape;
use crate::messages::MessageEntry;
use crate::predicted::TickInputEntry;
use crate::wire::BodyId;

/// Reads a field of a body. The second argument identifies a referenced body.
type ReadField = dyn Fn(EntityRef<'_>, &dyn Fn(Entity) -> Option<BodyId>) -> f64 + Send + Sync;

/// Writes a field of a body, unless the body was despawned. The last argument is the referenced entity, if the field is a
/// reference.
type WriteField = dyn Fn(&mut World, Entity, f64, Option<Entity>) + Send + Sync;

pub(crate) struct FieldEntry {
    /// Type of the component.
    pub(crate) id: TypeId,
    pub(crate) schema: schema::Field,
    pub(crate) read: Box<ReadField>,
    pub(crate) write: Box<WriteField>,
    /// Kinds of bodies that have the field; empty for all kinds.
    pub(crate) kinds: &'static [&'static str],
}

/// The registered items. Complete and sorted by name once they are [`Compiled`].
#[derive(Default)]
pub(crate) struct Items {
    pub(crate) kinds: Vec<(&'static str, Shape)>,
    /// In the schema's order. The schema has one more field before them if there are reliable components
    /// ([`HAS_COMPONENTS`](Protocol::HAS_COMPONENTS)), and one after them if there are teleports
    /// ([`TELEPORTS`](Protocol::TELEPORTS)).
    pub(crate) fields: Vec<FieldEntry>,
    pub(crate) has_teleports: bool,
    pub(crate) components: Vec<ComponentAccess>,
    pub(crate) inputs: Vec<MessageEntry>,
    pub(crate) to_server: Vec<MessageEntry>,
    pub(crate) to_client: Vec<MessageEntry>,
    pub(crate) tick_input: Option<TickInputEntry>,
    /// Components of a controlled body that its client is sent with each snapshot.
    pub(crate) predicted: Vec<ComponentAccess>,
}

/// The complete registration. Exists after [`Plugin::finish`](bevy_app::Plugin::finish).
#[derive(Resource, Clone, Debug)]
pub struct Protocol(pub(crate) Arc<Compiled>);

pub(crate) struct Compiled {
    pub(crate) plan: Arc<Plan>,
    pub(crate) contract: Arc<Contract>,
    pub(crate) stages: Stages,
    pub(crate) items: Items,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.contract.text())
    }
}

/// Panic message of an app that has no protocol when it starts.
pub(crate) const NO_PROTOCOL: &str =
    "`ServerPlugin` and `ClientPlugin` need a `CubewirePlugin` and a call of `App::finish`";

/// What a client is told of the body that it controls, with each snapshot.
#[derive(Debug)]
pub(crate) struct OwnBody<'a> {
    pub(crate) body: BodyId,
    /// By index of the predicted component: its bytes, or `None` if the body lacks it.
    pub(crate) components: Vec<Option<&'a [u8]>>,
}

/// Stands for a component that the body lacks, in place of its length.
const LACKS: u8 = u8::MAX;

impl<'a> OwnBody<'a> {
    /// Encodes the body, as slot (16 bits, little endian), generation, and for each component its length and bytes. A component that
    /// has no room or cannot be sent counts as one that the body lacks.
    #[cfg(feature = "server")]
    pub(crate) fn encode(protocol: &Compiled, at: BodyId, body: EntityRef<'_>) -> Vec<u8> {
        let [low, high] = at.slot.to_le_bytes();
        let mut bytes = vec![low, high, at.generation];
        let components = &protocol.items.predicted;
        for (index, component) in components.iter().enumerate() {
            let left = MAX_OWN_BYTES - bytes.len() - (components.len() - index);
            let value = (component.read)(body, &mut Mapper::new(&|_| None));
            let value = value.and_then(|value| match value {
                Ok(value) if value.len() <= left => Some(value),
                _ => {
                    let name = component.name;
                    component.unsent.warn(format_args!("predicted component too long: `{name}`"));
                    None
                }
            });
            bytes.push(value.as_ref().map_or(LACKS, |value| value.len() as u8));
            bytes.extend(value.unwrap_or_default());
        }
        bytes
    }

    /// Decodes the body. `None` if the bytes are malformed, or there are none.
    #[cfg(feature = "client")]
    pub(crate) fn decode(protocol: &Compiled, bytes: &'a [u8]) -> Option<Self> {
        let (&[low, high, generation], mut rest) = bytes.split_first_chunk()?;
        let body = BodyId { slot: u16::from_le_bytes([low, high]), generation };
        let mut components = Vec::new();
        for _ in &protocol.items.predicted {
            let (&length, after) = rest.split_first()?;
            let length = if length == LACKS { None } else { Some(usize::from(length)) };
            let (value, after) = after.split_at_checked(length.unwrap_or(0))?;
            components.push(length.map(|_| value));
            rest = after;
        }
        rest.is_empty().then_some(Self { body, components })
    }
}

impl Protocol {
    /// Name of the field that says whether a body has reliable components
    /// ([`replicate`](crate::CubewireAppExt::replicate)). A client shows such a body only after its components have
    /// arrived. The field is a flag, and comes first. It exists if such components are registered.
    pub const HAS_COMPONENTS: &str = "has_cold";

    /// Name of the field that counts a body's [teleports](crate::Teleport), at most one per tick, modulo 256. It comes
    /// last. It exists if [teleports are replicated](crate::CubewireAppExt::replicate_teleports).
    pub const TELEPORTS: &str = "teleports";

    /// Returns the registration as text for people, one item per line, beginning with the
    /// [schema](schema::Schema::text). Two ends connect only if their registrations are equal.
    pub fn text(&self) -> String {
        self.0.contract.text()
    }

    /// Returns the compiled schema.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.0.plan
    }
}

impl Compiled {
    /// Returns whether the first field on the wire is [`HAS_COMPONENTS`](Protocol::HAS_COMPONENTS).
    pub(crate) const fn has_components(&self) -> bool {
        !self.items.components.is_empty()
    }

    /// Returns the number of fields on the wire before the registered ones.
    pub(crate) fn hidden_fields(&self) -> usize {
        self.has_components().into()
    }

    /// Returns the wire indices of the fields that refer to bodies.
    pub(crate) fn references(&self) -> impl Iterator<Item = usize> {
        let fields = self.items.fields.iter().enumerate();
        let references = fields.filter(|(_, field)| field.schema.form == FieldForm::Body);
        references.map(|(index, _)| index + self.hidden_fields())
    }

    pub(crate) fn kind(&self, name: &str) -> Option<u8> {
        self.items.kinds.iter().position(|&(kind, _)| kind == name).map(|kind| kind as u8)
    }

    #[cfg(feature = "client")]
    pub(crate) fn kind_name(&self, kind: u8) -> Option<&'static str> {
        self.items.kinds.get(usize::from(kind)).map(|&(name, _)| name)
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use bevy_app::App;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::prelude::*;

    #[derive(bevy_ecs::component::Component, Clone, Copy, Serialize, Deserialize)]
    struct Speed([f32; 2]);

    #[derive(bevy_ecs::component::Component, Clone, Serialize, Deserialize)]
    struct Name(String);

    #[test]
    fn no_bytes_of_an_own_body_are_read_beyond_their_end() {
        let mut app = App::empty();
        app.add_plugins(CubewirePlugin::new("arena").floor(0.0))
            .body_kind("hero", Shape::capsule(0.6, 0.4))
            .predict_component::<Speed>()
            .predict_component::<Name>();
        app.finish();
        let protocol = &app.world().resource::<Protocol>().0;
        let whole = [7, 1, 3, 1, b'a', LACKS];
        let own = OwnBody::decode(protocol, &whole).unwrap();
        assert_eq!(own.body, BodyId { slot: 263, generation: 3 });
        assert_eq!(own.components, [Some(&b"a"[..]), None]);
        for length in 0..whole.len() {
            assert!(OwnBody::decode(protocol, &whole[..length]).is_none(), "{length} bytes");
        }
        let mut decoded = 0;
        for number in 0..5_usize.pow(6) {
            let digits = (0..6).map(|place| number / 5_usize.pow(place) % 5);
            let rest: Vec<u8> = digits.map(|digit| [0, 1, 2, 3, LACKS][digit]).collect();
            for length in 0..=rest.len() {
                let bytes = [&[7, 1, 3], &rest[..length]].concat();
                let Some(own) = OwnBody::decode(protocol, &bytes) else { continue };
                let values: usize = own.components.iter().flatten().map(|value| value.len()).sum();
                assert_eq!(values + 2, length);
                decoded += 1;
            }
        }
        assert!(decoded > 1000);
    }
}
