//! Extension methods of `App` that register components, inputs and messages.

use std::any::TypeId;

use bevy_app::App;
use bevy_ecs::entity::MapEntities;
use bevy_ecs::prelude::*;
use cubewire_codec::schema::{self, FieldForm};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::body::write;
use crate::components::{ComponentAccess, Mapper};
use crate::forms::{Field, Pose, Shape};
use crate::messages::{FromClient, FromServer, MessageEntry, NetMessage, ToClient, ToServer};
use crate::predicted::{PredictTick, TickInputEntry};
use crate::protocol::FieldEntry;
use crate::registry::registry;
use crate::wire::short_name;

/// Registers components, inputs and messages. Register the same items at both ends, in any order, after adding
/// [`CubewirePlugin`](crate::CubewirePlugin).
///
/// # Panics
/// All methods panic if the app has no [`CubewirePlugin`](crate::CubewirePlugin) yet.
pub trait CubewireAppExt {
    #[doc(hidden)]
    fn app(&mut self) -> &mut App;

    /// Sets the bounds and precision of poses.
    fn replicate_pose(&mut self, pose: Pose) -> &mut Self {
        registry(self.app()).pose = pose;
        self
    }

    /// Lets bodies [teleport](crate::Teleport). This adds a field. It takes 8 bits when a body appears, at most about
    /// 10 bits for each teleport, and otherwise less than 0.1 bit per body in a packet.
    fn replicate_teleports(&mut self) -> &mut Self {
        registry(self.app()).items.has_teleports = true;
        self
    }

    /// Registers a kind of body, at most 64.
    fn body_kind(&mut self, name: &'static str, shape: Shape) -> &mut Self {
        registry(self.app()).items.kinds.push((name, shape));
        self
    }

    /// Registers a component that is sent as a number, with the pose and within the byte budget. There are at most 32
    /// fields. [Reliable components](Self::replicate) together take one of them, and
    /// [teleports](Self::replicate_teleports) another.
    ///
    /// A body without the component is sent with the number 0. At a client, all bodies get the component, except those
    /// of kinds excluded by [`field_kinds`](Self::field_kinds). A protocol is illegal if two fields, or a field and a
    /// [reliable component](Self::replicate), have the same type.
    fn replicate_field<C: Component>(
        &mut self,
        name: &'static str,
        field: Field,
        to: impl Fn(&C) -> f64 + Send + Sync + 'static,
        from: impl Fn(f64) -> C + Send + Sync + 'static,
    ) -> &mut Self {
        registry(self.app()).items.fields.push(FieldEntry {
            id: TypeId::of::<C>(),
            schema: field.schema(name),
            read: Box::new(move |body, _| body.get::<C>().map_or(0.0, &to)),
            write: Box::new(move |world, body, value, _| write(world, body, from(value))),
            kinds: &[],
        });
        self
    }

    /// Registers a component that refers to another body or to no body, such as a turret's target. It is sent with the
    /// pose and takes one of the fields. A client gets `None` if it does not see the other body, or if the entity is not a
    /// replicated body.
    fn replicate_reference<C: Component>(
        &mut self,
        name: &'static str,
        to: impl Fn(&C) -> Option<Entity> + Send + Sync + 'static,
        from: impl Fn(Option<Entity>) -> C + Send + Sync + 'static,
    ) -> &mut Self {
        registry(self.app()).items.fields.push(FieldEntry {
            id: TypeId::of::<C>(),
            schema: schema::Field { name: name.into(), form: FieldForm::Body },
            read: Box::new(move |body, id_of| {
                let id = body.get::<C>().and_then(&to).and_then(id_of);
                id.map_or(NO_BODY, |id| id.number().into())
            }),
            write: Box::new(move |world, body, _, target| write(world, body, from(target))),
            kinds: &[],
        });
        self
    }

    /// Limits a field to these kinds of bodies: at a client, bodies of other kinds do not get the component. By default
    /// all kinds have it.
    fn field_kinds(&mut self, field: &'static str, kinds: &'static [&'static str]) -> &mut Self {
        registry(self.app()).field_kinds.push((field, kinds));
        self
    }

    /// Registers a component that is sent reliably whenever it changes while its body is visible. Entities in it (see
    /// [`Component::map_entities`]) are mapped to the client's, or to [`Entity::PLACEHOLDER`] while it has no such
    /// entity. If the connection cannot carry every change, older values are skipped and the newest is sent. A component
    /// that is removed and inserted again in one tick is replaced at the client, without a `Remove` and an `Add`.
    ///
    /// A component larger than [`MAX_TO_CLIENT_BYTES`](crate::MAX_TO_CLIENT_BYTES), or that cannot be sent for another
    /// reason (see [`NetMessage`]), is not sent: clients keep the last value, and a warning names the first such component.
    ///
    /// The encoding is postcard, which does not support `#[serde(flatten)]`, `tag`, `untagged` or `skip_serializing_if`.
    fn replicate<C: Component + Clone + Serialize + DeserializeOwned>(&mut self) -> &mut Self {
        registry(self.app()).items.components.push(ComponentAccess::of::<C>());
        self
    }

    /// Registers an input, which a client writes as [`ToServer`], once per tick in `FixedUpdate`. The server receives
    /// it as [`FromClient`], at most once. Inputs are repeated: one is lost only if eight datagrams in a row are lost.
    /// There are fewer repeats if a client writes several inputs per tick, or if eight inputs exceed 1200 bytes. An
    /// input above that size is sent once, with a warning.
    fn add_input<M: NetMessage>(&mut self) -> &mut Self {
        let entry = to_server::<M>(self.app());
        registry(self.app()).items.inputs.push(entry);
        self
    }

    /// Registers an input for each tick, at most one type. A client sends its [`NextInput`](crate::NextInput), of at most 64 bytes in
    /// postcard, and the server hands out one per tick to the body that it [controls](crate::ControlledBy), as
    /// [`TickInput`](crate::TickInput). A client [predicts](crate::Predicted) its body from the inputs that no snapshot contains.
    ///
    /// # Panics
    /// If there is one already.
    fn add_predicted_input<I: NetMessage + Clone + Default>(&mut self) -> &mut Self {
        self.app().init_schedule(PredictTick);
        let before = registry(self.app()).items.tick_input.replace(TickInputEntry::of::<I>());
        assert!(before.is_none(), "a protocol has one predicted input");
        self
    }

    /// Registers a component that decides how a predicted body moves on, such as its velocity. The client that controls a body is
    /// sent it with each snapshot. All these components of a body together take at most 61 bytes in postcard, with one more for
    /// each. For other bodies that a client predicts, it is the client's own.
    fn predict_component<C: Component + Clone + Serialize + DeserializeOwned>(
        &mut self,
    ) -> &mut Self {
        registry(self.app()).items.predicted.push(ComponentAccess::of::<C>());
        self
    }

    /// Registers a reliable, ordered message, which a client writes as [`ToServer`] and the server reads as
    /// [`FromClient`].
    fn add_message_to_server<M: NetMessage>(&mut self) -> &mut Self {
        let entry = to_server::<M>(self.app());
        registry(self.app()).items.to_server.push(entry);
        self
    }

    /// Registers a reliable, ordered message, which the server writes as [`ToClient`] and a client reads as
    /// [`FromServer`]. It can be read on arrival, so it is ahead of poses and fields by the playout delay.
    fn add_message_to_client<M: NetMessage>(&mut self) -> &mut Self {
        registry(self.app()).items.to_client.push(MessageEntry::to_client::<M>());
        self.app().add_message::<ToClient<M>>().add_message::<FromServer<M>>();
        self
    }

    /// Maps the entities in an input or message (see [`MapEntities`]), which must be bodies, to the other end's
    /// entities, or to [`Entity::PLACEHOLDER`] if it has no such body. A client also gets the placeholder for a body
    /// that it does not show yet. A server can still refer to a body that it has despawned since the last tick. A
    /// client can name any body in an input; the server does not check whether that client sees it.
    fn map_entities<M: NetMessage + MapEntities>(&mut self) -> &mut Self {
        registry(self.app()).mapped.push((TypeId::of::<M>(), short_name::<M>(), |message, map| {
            if let Some(message) = message.downcast_mut::<M>() {
                message.map_entities(&mut Mapper::new(map));
            }
        }));
        self
    }
}

impl CubewireAppExt for App {
    fn app(&mut self) -> &mut App {
        self
    }
}

/// Registers the message types of the direction from client to server.
fn to_server<M: NetMessage>(app: &mut App) -> MessageEntry {
    app.add_message::<ToServer<M>>().add_message::<FromClient<M>>();
    MessageEntry::to_server::<M>()
}

/// The codec's value of a reference to no body.
const NO_BODY: f64 = -1.0;
