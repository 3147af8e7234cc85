//! All that decides what is wanted.

use lockstep_model::Settings;

use crate::{facts::Facts, references::References};

/// The current facts, read forwards and backwards, and the settings of who leads.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Known<'a> {
    pub(crate) facts: &'a Facts,
    /// Of these facts.
    pub(crate) references: &'a References,
    pub(crate) settings: &'a Settings,
}
