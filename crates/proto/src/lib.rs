//! The generated protobuf messages of peers and operators, checked in.
//!
//! Made by `cargo run -p lockstep-proto --example gen` from the files below `proto/`.

/// What the replicas of one cluster say to each other.
pub mod peer {
    /// Version 1.
    #[allow(
        missing_docs,
        unreachable_pub,
        clippy::all,
        clippy::pedantic,
        clippy::allow_attributes_without_reason,
        reason = "generated"
    )]
    pub mod v1 {
        include!("gen/lockstep.peer.v1.rs");
    }
}

/// What operators and tools ask a replica.
pub mod admin {
    /// Version 1.
    #[allow(
        missing_docs,
        unreachable_pub,
        clippy::all,
        clippy::pedantic,
        clippy::allow_attributes_without_reason,
        reason = "generated"
    )]
    pub mod v1 {
        include!("gen/lockstep.admin.v1.rs");
    }
}

/// What replicas say of themselves beside consensus.
pub mod replica {
    /// Version 1.
    #[allow(
        missing_docs,
        unreachable_pub,
        clippy::all,
        clippy::pedantic,
        clippy::allow_attributes_without_reason,
        reason = "generated"
    )]
    pub mod v1 {
        include!("gen/lockstep.replica.v1.rs");
    }
}

/// All of the above as an encoded `google.protobuf.FileDescriptorSet`, for reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!("gen/descriptor.bin");
