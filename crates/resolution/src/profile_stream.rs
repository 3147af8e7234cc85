//! The messages of one `GetProfile` stream: a profile whenever it is another
//! one than the proxy was told.

use lockstep_model::PodId;
use lockstep_state::State;

use crate::{
    EndpointProfile, Profile, Question, Refusal, ServiceProfile, chosen::chosen, profile,
    question::settings,
};

/// What the proxy of one stream asked, and was told.
///
/// An open stream is never refused. What is asked about may go away: then a
/// service keeps its name and loses its own opaque ports, and an address is
/// bare. Whatever else a new stream would be refused for leaves the last
/// profile in force, since a proxy that is told nothing keeps what it has:
/// an address claimed by two pods, or a service turned into an alias.
#[derive(Clone, Debug)]
pub struct ProfileStream {
    question: Question,
    told: Option<Profile>,
}

impl ProfileStream {
    /// Begins a stream, with its first message if there is one.
    ///
    /// # Errors
    ///
    /// Whatever [`profile`] refuses.
    pub fn open(state: &State, question: Question) -> Result<(Self, Option<Profile>), Refusal> {
        let mut stream = Self {
            question,
            told: None,
        };
        let first = profile(state, &stream.question, None)?;
        let message = stream.tell(first);
        Ok((stream, message))
    }

    /// What the proxy asked.
    #[must_use]
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// The next message, if the state calls for one.
    #[must_use]
    pub fn advance(&mut self, state: &State) -> Option<Profile> {
        match profile(state, &self.question, self.pod()) {
            Ok(profile) => self.tell(profile),
            Err(Refusal::ServiceNotFound { .. } | Refusal::HostnameNotFound { .. }) => {
                let left = self.left(state)?;
                self.tell(left)
            }
            Err(
                Refusal::InvalidAuthority { .. }
                | Refusal::IpNotSupported { .. }
                | Refusal::ExternalName { .. }
                | Refusal::Federated { .. }
                | Refusal::RemoteServiceUnnamed { .. }
                | Refusal::ClusterNotFound { .. }
                | Refusal::AmbiguousAddress { .. }
                | Refusal::NotSynced,
            ) => None,
        }
    }

    /// What is left of the profile when what it is about has gone.
    fn left(&self, state: &State) -> Option<Profile> {
        let settings = settings(state).ok()?;
        Some(match self.told.as_ref()? {
            // Its own opaque ports have gone with the service; what a ServiceProfile says
            // of its traffic has not.
            Profile::Service(told) => Profile::Service(ServiceProfile {
                opaque: settings.default_opaque_ports.contains(told.port),
                chosen: chosen(state.content(), settings, &self.question, &told.service),
                ..told.clone()
            }),
            Profile::Endpoint(told) => {
                Profile::Endpoint(EndpointProfile::bare(settings, told.address))
            }
            Profile::Undeclared => Profile::Undeclared,
        })
    }

    fn pod(&self) -> Option<&PodId> {
        match self.told.as_ref()? {
            Profile::Endpoint(endpoint) => endpoint.pod.as_ref(),
            Profile::Service(_) | Profile::Undeclared => None,
        }
    }

    fn tell(&mut self, profile: Profile) -> Option<Profile> {
        if self.told.as_ref() == Some(&profile) {
            return None;
        }
        self.told = Some(profile.clone());
        Some(profile)
    }
}
