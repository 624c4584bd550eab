//! What apps call to register what is replicated.

use bevy_app::App;
use bevy_ecs::entity::MapEntities;
use bevy_ecs::prelude::*;
use cubewire_codec::schema::{self, FieldForm};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::body::write;
use crate::cold::ColdEntry;
use crate::forms::{Field, Pose, Shape};
use crate::messages::{
    AsIs, FromClient, FromServer, Mapped, MessageEntry, NetMessage, ToClient, ToServer,
};
use crate::protocol::FieldEntry;
use crate::registry::registry;

/// Registers what is replicated, in the same way at both ends. Needs a [`CubewirePlugin`](crate::CubewirePlugin); the order does not matter.
///
/// # Panics
/// All methods do if there is no [`CubewirePlugin`](crate::CubewirePlugin) yet.
pub trait CubewireAppExt {
    /// Where bodies can be, and how exactly their poses are sent.
    fn replicate_pose(&mut self, pose: Pose) -> &mut Self;

    /// Lets bodies [teleport](crate::Teleport). It takes one of the fields: 8 bits when a body appears, about 10 bits at most with each
    /// teleport, and otherwise less than a tenth of a bit for each body in a packet.
    fn replicate_teleports(&mut self) -> &mut Self;

    /// A kind of body. There are at most 64.
    fn body_kind(&mut self, name: &'static str, shape: Shape) -> &mut Self;

    /// A component that is sent with the pose, as a number, within the byte budget. There are at most 32 fields, one of
    /// which components of [`replicate`](Self::replicate) take together, and one [teleports](Self::replicate_teleports). A body
    /// without the component is sent as if its number were 0, and the client's has the component in any case, unless its kind is
    /// none of the [`field_kinds`](Self::field_kinds).
    fn replicate_field<C: Component>(
        &mut self,
        name: &'static str,
        field: Field,
        to: impl Fn(&C) -> f64 + Send + Sync + 'static,
        from: impl Fn(f64) -> C + Send + Sync + 'static,
    ) -> &mut Self;

    /// A component that is sent with the pose and refers to another body, or to none: what a turret aims at. At a client it is
    /// none, too, while the client does not see that body, or the entity is none of its bodies. It is one of the fields.
    fn replicate_reference<C: Component>(
        &mut self,
        name: &'static str,
        to: impl Fn(&C) -> Option<Entity> + Send + Sync + 'static,
        from: impl Fn(Option<Entity>) -> C + Send + Sync + 'static,
    ) -> &mut Self;

    /// The only kinds of bodies that have a field: at a client, others do not get the component. Without this, all do.
    fn field_kinds(&mut self, field: &'static str, kinds: &'static [&'static str]) -> &mut Self;

    /// A component that is sent reliably when it changes, while its body is visible. The entities in it (see
    /// [`Component::map_entities`]) become those of the client, or [`Entity::PLACEHOLDER`] while it has none. Where there is no
    /// room for each change, the newest value is sent, and those before are left out.
    ///
    /// A component with more than [`MAX_TO_CLIENT_BYTES`](crate::MAX_TO_CLIENT_BYTES), or that a client would not read (see
    /// [`NetMessage`]), is not sent: clients keep the last value that was, and a warning names the first such component.
    ///
    /// The bytes are postcard, which has no `#[serde(flatten)]`, `untagged` or `skip_serializing_if`.
    fn replicate<C: Component + Clone + Serialize + DeserializeOwned>(&mut self) -> &mut Self;

    /// An input that a client writes as [`ToServer`], once a tick and thus in `FixedUpdate`, and the server reads once as
    /// [`FromClient`]. It is lost only with eight datagrams in a row, or with fewer where several are written in a tick, or
    /// where eight have more than 1200 bytes. One with more than that is sent once, with a warning.
    fn add_input<M: NetMessage>(&mut self) -> &mut Self;

    /// A message that a client writes as [`ToServer`], and the server reads as [`FromClient`]: reliable and in order.
    fn add_message_to_server<M: NetMessage>(&mut self) -> &mut Self;

    /// A message that the server writes as [`ToClient`], and a client reads as [`FromServer`]: reliable and in order. It is read
    /// once it has arrived, and so is ahead of poses and fields by the playout delay.
    fn add_message_to_client<M: NetMessage>(&mut self) -> &mut Self;

    /// The entities in an input or message (see [`MapEntities`]) are bodies, and become those of the other end, or
    /// [`Entity::PLACEHOLDER`] where it has none: at a client, also before that shows the body. A body that the server has despawned
    /// since the last tick still counts. A client can name any body in an input: a server does not trust it to see that.
    fn map_entities<M: NetMessage + MapEntities>(&mut self) -> &mut Self;
}

impl CubewireAppExt for App {
    fn replicate_pose(&mut self, pose: Pose) -> &mut Self {
        registry(self).pose = pose;
        self
    }

    fn replicate_teleports(&mut self) -> &mut Self {
        registry(self).has_teleports = true;
        self
    }

    fn body_kind(&mut self, name: &'static str, shape: Shape) -> &mut Self {
        registry(self).kinds.push((name, shape));
        self
    }

    fn replicate_field<C: Component>(
        &mut self,
        name: &'static str,
        field: Field,
        to: impl Fn(&C) -> f64 + Send + Sync + 'static,
        from: impl Fn(f64) -> C + Send + Sync + 'static,
    ) -> &mut Self {
        registry(self).fields.push(FieldEntry {
            schema: field.schema(name),
            read: Box::new(move |body, _| body.get::<C>().map_or(0.0, &to)),
            write: Box::new(move |world, body, value, _| write(world, body, from(value))),
            kinds: &[],
        });
        self
    }

    fn replicate_reference<C: Component>(
        &mut self,
        name: &'static str,
        to: impl Fn(&C) -> Option<Entity> + Send + Sync + 'static,
        from: impl Fn(Option<Entity>) -> C + Send + Sync + 'static,
    ) -> &mut Self {
        registry(self).fields.push(FieldEntry {
            schema: schema::Field {
                name: name.into(),
                form: FieldForm::Body,
            },
            read: Box::new(move |body, slot_of| {
                let slot = body.get::<C>().and_then(&to).and_then(slot_of);
                slot.map_or(NO_BODY, |slot| slot as f64)
            }),
            write: Box::new(move |world, body, value, body_of| {
                let slot = (value >= 0.0).then_some(value as usize);
                write(world, body, from(slot.and_then(body_of)));
            }),
            kinds: &[],
        });
        self
    }

    fn field_kinds(&mut self, field: &'static str, kinds: &'static [&'static str]) -> &mut Self {
        registry(self).field_kinds.push((field, kinds));
        self
    }

    fn replicate<C: Component + Clone + Serialize + DeserializeOwned>(&mut self) -> &mut Self {
        registry(self).cold.push(ColdEntry::of::<C>());
        self
    }

    fn add_input<M: NetMessage>(&mut self) -> &mut Self {
        let entry = to_server::<M>(self);
        registry(self).inputs.push(entry);
        self
    }

    fn add_message_to_server<M: NetMessage>(&mut self) -> &mut Self {
        let entry = to_server::<M>(self);
        registry(self).to_server.push(entry);
        self
    }

    fn add_message_to_client<M: NetMessage>(&mut self) -> &mut Self {
        registry(self)
            .to_client
            .push(MessageEntry::to_client::<M, AsIs>());
        self.add_message::<ToClient<M>>()
            .add_message::<FromServer<M>>()
    }

    fn map_entities<M: NetMessage + MapEntities>(&mut self) -> &mut Self {
        registry(self).mapped.push([
            MessageEntry::to_server::<M, Mapped>(),
            MessageEntry::to_client::<M, Mapped>(),
        ]);
        self
    }
}

/// What clients write and the server reads.
fn to_server<M: NetMessage>(app: &mut App) -> MessageEntry {
    app.add_message::<ToServer<M>>()
        .add_message::<FromClient<M>>();
    MessageEntry::to_server::<M, AsIs>()
}

/// What the codec has for a reference to no body.
const NO_BODY: f64 = -1.0;
