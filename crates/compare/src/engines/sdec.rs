//! `sdec-codec`, quantized. Its packet header of 28 bytes is left out, because the four bytes of [`crate::acked`]
//! have the same content.

use sdec_codec::{
    CodecLimits, CodecScratch, ComponentSnapshot, EntityId, EntitySnapshot, FieldValue, Snapshot,
    SnapshotTick, WireLimits, apply_delta_snapshot_from_packet, decode_full_snapshot_from_packet,
    encode_delta_snapshot_with_scratch, encode_full_snapshot,
};
use sdec_schema::{ComponentDef, ComponentId, FieldCodec, FieldDef, FieldId, Schema, schema_hash};
use sdec_wire::{HEADER_SIZE, PacketHeader, WirePacket, decode_sections};

use crate::acked::{Acked, Codec};
use crate::engine::Variant;
use crate::scene::{Body, Frame, Grid};

pub const VARIANTS: &[Variant] = &[Variant {
    library: "sdec-codec",
    name: "quantized, deltas",
    start: |scene| Box::new(Acked::new(Sdec::new(&scene.grid), scene)),
}];

struct Sdec {
    schema: Schema,
    limits: CodecLimits,
    scratch: CodecScratch,
}

const COMPONENT: ComponentId = ComponentId::new(1).expect("not zero");

impl Sdec {
    fn new(grid: &Grid) -> Self {
        let fields = (1..).zip(grid.bits).map(|(id, bits)| {
            FieldDef::new(FieldId::new(id).expect("not zero"), FieldCodec::uint(bits))
        });
        let component = fields.fold(ComponentDef::new(COMPONENT), ComponentDef::field);
        Self {
            schema: Schema::new(vec![component]).expect("a legal schema"),
            limits: CodecLimits::unlimited(),
            scratch: CodecScratch::default(),
        }
    }
}

impl Codec for Sdec {
    type Snapshot = Snapshot;

    fn snapshot(&self, tick: u16, frame: &Frame, grid: &Grid) -> Snapshot {
        let entity = |(slot, body): (usize, &Option<Body>)| {
            let numbers = grid.numbers(body.as_ref()?);
            let fields = numbers.map(|number| FieldValue::UInt(number as u64)).to_vec();
            Some(EntitySnapshot {
                // A new body in a slot is a new entity.
                id: EntityId::new((slot as u32) << 8 | u32::from(body.as_ref()?.life.1)),
                components: vec![ComponentSnapshot { id: COMPONENT, fields }],
            })
        };
        let entities = frame.iter().enumerate().filter_map(entity).collect();
        Snapshot { tick: SnapshotTick::new(tick.into()), entities }
    }

    fn encode(&mut self, baseline: Option<&Snapshot>, now: &Snapshot) -> Vec<u8> {
        let mut out = vec![0; 1 << 18];
        let Self { schema, limits, scratch } = self;
        let length = match baseline {
            Some(base) => encode_delta_snapshot_with_scratch(
                schema, now.tick, base.tick, base, now, limits, scratch, &mut out,
            ),
            None => encode_full_snapshot(schema, now.tick, &now.entities, limits, &mut out),
        };
        out[HEADER_SIZE..length.expect("the buffer is large enough")].to_vec()
    }

    fn decode(&self, tick: u16, baseline: Option<&Snapshot>, bytes: &[u8]) -> Snapshot {
        let Self { schema, limits, .. } = self;
        let (hash, length) = (schema_hash(schema), bytes.len() as u32);
        let sections = decode_sections(bytes, &WireLimits::unlimited()).expect("not damaged");
        let snapshot = match baseline {
            Some(base) => {
                let header =
                    PacketHeader::delta_snapshot(hash, tick.into(), base.tick.raw(), length);
                let packet = WirePacket { header, sections };
                apply_delta_snapshot_from_packet(schema, base, &packet, limits)
            }
            None => {
                let header = PacketHeader::full_snapshot(hash, tick.into(), length);
                decode_full_snapshot_from_packet(schema, &WirePacket { header, sections }, limits)
            }
        };
        snapshot.expect("not damaged")
    }

    fn show(&self, snapshot: &Snapshot, grid: &Grid, frame: &mut Frame) {
        for entity in &snapshot.entities {
            let fields = entity.components[0].fields.iter();
            let mut numbers = fields.map(|field| match field {
                FieldValue::UInt(number) => *number as i32,
                _ => unreachable!("the schema has no other fields"),
            });
            let numbers = std::array::from_fn(|_| numbers.next().expect("eight fields"));
            frame[(entity.id.raw() >> 8) as usize] = Some(grid.body(numbers));
        }
    }
}
