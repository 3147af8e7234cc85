//! What tests change in a running server besides objects and behaviour.

use super::{SimApi, UseError};
use crate::kind::{Kind, Origin};

// === control of SimApi ===

impl SimApi {
    /// Installs the definition of a custom kind in all its versions, or adds
    /// the versions that are missing. `kind` is a kind or its plural name.
    ///
    /// A change ends the open watches of the kind; what is installed already
    /// stays as it is.
    ///
    /// # Errors
    ///
    /// [`UseError::UnknownKind`] and [`UseError::NotCustom`].
    pub fn install_crd(&self, kind: &str) -> Result<(), UseError> {
        let versions: Vec<&str> = custom(kind)?.versions().collect();
        self.install_crd_versions(kind, &versions)
    }

    /// As [`SimApi::install_crd`], in these versions and no others, for
    /// example `["v1beta1"]`. Objects stay whatever versions are served.
    ///
    /// # Errors
    ///
    /// As [`SimApi::install_crd`], and [`UseError::UnknownVersion`].
    pub fn install_crd_versions(&self, kind: &str, versions: &[&str]) -> Result<(), UseError> {
        let found = custom(kind)?;
        if let Some(unknown) = versions
            .iter()
            .find(|v| !found.versions().any(|k| k == **v))
        {
            let known: Vec<&str> = found.versions().collect();
            return Err(UseError::UnknownVersion {
                kind: kind.to_owned(),
                version: (*unknown).to_owned(),
                known: known.join(", "),
            });
        }
        let served = found.versions().filter(|known| versions.contains(known));
        self.write(|store, _| store.install(found, served.collect()));
        self.wake_watches();
        Ok(())
    }

    /// Removes the definition of a custom kind, its objects before it: open
    /// watches are told so and end, and its paths answer 404 from then on.
    ///
    /// # Errors
    ///
    /// As [`SimApi::install_crd`].
    pub fn remove_crd(&self, kind: &str) -> Result<(), UseError> {
        let found = custom(kind)?;
        self.write(|store, _| store.uninstall(found));
        self.wake_watches();
        Ok(())
    }

    /// Tells watches of this kind nothing of what changes from now on, until
    /// [`SimApi::release_watches`]. Other kinds go on, and so do lists and
    /// the initial objects of new watches, which show what is. `kind` is a
    /// kind or its plural name.
    ///
    /// # Errors
    ///
    /// [`UseError::UnknownKind`].
    pub fn hold_watches(&self, kind: &str) -> Result<(), UseError> {
        let found = known(kind)?;
        self.write(|store, _| store.hold(found));
        Ok(())
    }

    /// Silences the watches of this kind that are open now, as if their connections led
    /// nowhere: they tell nothing more, not even that they end. Watches that are opened
    /// later are served. `kind` is a kind or its plural name.
    ///
    /// # Errors
    ///
    /// [`UseError::UnknownKind`].
    pub fn silence_watches(&self, kind: &str) -> Result<(), UseError> {
        let found = known(kind)?;
        self.write(|store, _| store.silence(found));
        self.wake_watches();
        Ok(())
    }

    /// Tells no watch anything of the next `count` changes of this kind, neither now nor
    /// later: only lists show them. `kind` is a kind or its plural name.
    ///
    /// # Errors
    ///
    /// [`UseError::UnknownKind`].
    pub fn lose_events(&self, kind: &str, count: usize) -> Result<(), UseError> {
        let found = known(kind)?;
        self.write(|store, _| store.lose(found, count));
        Ok(())
    }

    /// Shows lists and watches what was `revisions` changes ago, from now on and until told
    /// otherwise, though not what is compacted: as a server does whose copy of the store is
    /// behind. Gets and writes see what is. 0 is a healthy server.
    pub fn lag(&self, revisions: u64) {
        self.write(|store, _| store.lag(revisions));
        self.wake_watches();
    }

    /// Goes back to what was at a resource version, and gives the numbers after it once
    /// more, as a store does that was restored from a backup. Ends all open watches.
    ///
    /// # Errors
    ///
    /// [`UseError::Forgotten`] if that is not remembered.
    pub fn restore(&self, resource_version: u64) -> Result<(), UseError> {
        let restored = self.write(|store, _| store.restore(resource_version));
        self.close_watches();
        restored.ok_or(UseError::Forgotten { resource_version })
    }

    /// Tells watches of this kind what was held back, in order.
    ///
    /// # Errors
    ///
    /// [`UseError::UnknownKind`].
    pub fn release_watches(&self, kind: &str) -> Result<(), UseError> {
        let found = known(kind)?;
        self.write(|store, _| store.release(found));
        self.wake_watches();
        Ok(())
    }
}

fn known(kind: &str) -> Result<&'static Kind, UseError> {
    Kind::named(kind).ok_or_else(|| UseError::UnknownKind {
        kind: kind.to_owned(),
    })
}

fn custom(kind: &str) -> Result<&'static Kind, UseError> {
    let found = known(kind)?;
    match found.origin {
        Origin::Custom => Ok(found),
        Origin::BuiltIn => Err(UseError::NotCustom {
            kind: kind.to_owned(),
        }),
    }
}
