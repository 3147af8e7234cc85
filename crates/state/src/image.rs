//! The state as bytes, for snapshots.
//!
//! An image is a version byte, then items, each a length (u32, big-endian) and
//! its encoding. The first item is the position, the last one the end mark
//! with the count of items. What is read back is put into an empty state item
//! by item and must come to the same digest: an image that does not is damaged.

use lockstep_model::{
    Cursor, ExternalWorkloadId, ExternalWorkloadRecord, Fact, FactKey, FactKind, NodeName, PodId,
    PodRecord, ServiceId, ServiceProfileId, ServiceProfileRecord, ServiceRecord, Settings, SliceId,
    SliceRecord, Text,
};
use lockstep_position::{Position, Term};
use serde::{Deserialize, Serialize};
use std::{
    io::{self, Read, Write},
    sync::Arc,
};

use crate::{Changed, Command, Part, State, codec, state::Staged};

/// The version of images that this program writes.
const IMAGE_VERSION: u8 = 2;

/// No item is larger: a longer length means damage, not memory to be taken.
pub(crate) const ITEM_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A frozen state that can be written while the live one goes on.
#[derive(Clone, Debug)]
pub struct StateImage(State);

/// Why bytes are no image of a state.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The bytes could not be read.
    #[error("the image could not be read")]
    Read(#[from] io::Error),
    /// Written by a program that this one does not know.
    #[error("version {found} of the image, this program reads version {IMAGE_VERSION}")]
    Version {
        /// The version found.
        found: u8,
    },
    /// The bytes do not spell a state.
    #[error("the image is damaged: {0}")]
    Damaged(String),
}

/// One item of an image. New variants go last.
#[derive(Serialize, Deserialize)]
enum Item {
    Position(Position),
    Settings(Arc<Settings>),
    Service(ServiceId, Arc<ServiceRecord>),
    Slice(SliceId, Arc<SliceRecord>),
    Pod(PodId, Arc<PodRecord>),
    Node(NodeName, Text),
    Fact(FactKey, Arc<Fact>),
    Cursor(FactKind, Cursor),
    Staged(Term, Part),
    StagedCommand(Command),
    End(u64),
    ServiceProfile(ServiceProfileId, Arc<ServiceProfileRecord>),
    ExternalWorkload(ExternalWorkloadId, Arc<ExternalWorkloadRecord>),
}

impl State {
    /// Freezes this state.
    #[must_use]
    pub fn image(&self) -> StateImage {
        StateImage(self.clone())
    }

    /// Reads an image back.
    ///
    /// # Errors
    ///
    /// [`ImageError`] for bytes that do not spell a state whose digest is the
    /// one that the image claims.
    pub fn from_image(input: &mut dyn Read) -> Result<Self, ImageError> {
        let mut version = [0];
        input.read_exact(&mut version)?;
        let [found] = version;
        if found != IMAGE_VERSION {
            return Err(ImageError::Version { found });
        }
        let mut state = Self::default();
        let mut count: u64 = 0;
        loop {
            let item = read_item(input)?;
            if let Item::End(expected) = item {
                whole(count, expected)?;
                return state.verified();
            }
            state.put_item(item);
            count = count.saturating_add(1);
        }
    }

    fn put_item(&mut self, item: Item) {
        let changed = &mut Changed::default();
        let content = &mut self.content;
        match item {
            Item::Position(position) => self.position = position,
            Item::Settings(settings) => content.put_settings(settings, changed),
            Item::Service(id, record) => content.put_service(id, record, changed),
            Item::Slice(id, record) => content.put_slice(id, record, changed),
            Item::Pod(id, record) => content.put_pod(id, record, changed),
            Item::Node(node, zone) => content.put_node(node, zone, changed),
            Item::ServiceProfile(id, record) => {
                content.put_service_profile(id, record, changed);
            }
            Item::ExternalWorkload(id, record) => {
                content.put_external_workload(id, record, changed);
            }
            Item::Fact(key, fact) => self.memory.remember(key, fact),
            Item::Cursor(kind, cursor) => self.memory.advance(kind, cursor),
            Item::Staged(term, next) => {
                self.staged = Some(Staged {
                    term,
                    next,
                    commands: Vec::new(),
                });
            }
            Item::StagedCommand(command) => {
                if let Some(staged) = &mut self.staged {
                    staged.commands.push(command);
                }
            }
            // The end is not an item of the state.
            Item::End(_) => {}
        }
    }

    fn verified(self) -> Result<Self, ImageError> {
        let (claimed, found) = (self.position.state_digest, self.content.digest());
        if claimed == found {
            return Ok(self);
        }
        let text = format!("its content has digest {found}, it claims {claimed}");
        Err(ImageError::Damaged(text))
    }
}

impl StateImage {
    /// Where in history the image was taken.
    #[must_use]
    pub fn position(&self) -> &Position {
        self.0.position()
    }

    /// Writes the image.
    ///
    /// # Errors
    ///
    /// Whatever `out` says.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self(state) = self;
        let content = &state.content;
        out.write_all(&[IMAGE_VERSION])?;
        let mut count: u64 = 0;
        let items = std::iter::once(Item::Position(state.position))
            .chain(content.settings().cloned().map(Item::Settings))
            .chain(
                content
                    .services()
                    .map(|(id, value)| Item::Service(id.clone(), value.clone())),
            )
            .chain(
                content
                    .slices()
                    .map(|(id, value)| Item::Slice(id.clone(), value.clone())),
            )
            .chain(
                content
                    .pods()
                    .map(|(id, value)| Item::Pod(id.clone(), value.clone())),
            )
            .chain(
                content
                    .nodes()
                    .map(|(node, zone)| Item::Node(node.clone(), zone.clone())),
            )
            .chain(
                content
                    .service_profiles()
                    .map(|(id, value)| Item::ServiceProfile(id.clone(), value.clone())),
            )
            .chain(
                content
                    .external_workloads()
                    .map(|(id, value)| Item::ExternalWorkload(id.clone(), value.clone())),
            )
            .chain(
                state
                    .memory
                    .facts()
                    .iter()
                    .map(|(k, v)| Item::Fact(k.clone(), v.clone())),
            )
            .chain(
                state
                    .memory
                    .cursors()
                    .iter()
                    .map(|(k, v)| Item::Cursor(*k, v.clone())),
            )
            .chain(state.staged.iter().flat_map(staged_items));
        for item in items {
            write_item(out, &item)?;
            count = count.saturating_add(1);
        }
        write_item(out, &Item::End(count))
    }
}

fn whole(count: u64, expected: u64) -> Result<(), ImageError> {
    if count == expected {
        return Ok(());
    }
    let text = format!("{count} items where {expected} were written");
    Err(ImageError::Damaged(text))
}

fn staged_items(staged: &Staged) -> impl Iterator<Item = Item> {
    let head = Item::Staged(staged.term, staged.next);
    let commands = staged.commands.iter().cloned().map(Item::StagedCommand);
    std::iter::once(head).chain(commands)
}

fn write_item(out: &mut dyn Write, item: &Item) -> io::Result<()> {
    let bytes = codec::canonical(item);
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    out.write_all(&length.to_be_bytes())?;
    out.write_all(&bytes)
}

fn read_item(input: &mut dyn Read) -> Result<Item, ImageError> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if length > ITEM_BYTES_MAX {
        return Err(ImageError::Damaged(format!("an item of {length} bytes")));
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes)?;
    codec::decode(&bytes, "item").map_err(|error| ImageError::Damaged(error.to_string()))
}
