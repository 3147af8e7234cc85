//! The wire: paths, parameters and bodies in; statuses, lists and streams out.

mod answer;
mod discovery;
mod exchange;
mod feed;
mod parameters;
mod query;
mod reads;
mod render;
mod route;
mod verb;
mod writes;

pub use answer::SimBody;
pub use verb::Verb;

pub(crate) use exchange::exchange;
