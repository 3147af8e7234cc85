//! What can happen to the files of a stopped replica.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use fastrand::Rng;

/// Bytes of a tail that are zeroed: less than a block, as a torn write leaves.
const TORN: u64 = 400;
/// The most bytes that are cut off a file.
const CUT_MAX: u64 = 1024;

/// One sort of damage to a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Damage {
    /// Some bytes are missing at its end.
    Cut,
    /// Half of it is missing.
    Half,
    /// Its end is zero.
    Torn,
    /// One bit is another.
    Flip,
    /// About one bit in each ten thousand bytes is another, at least one.
    Rot,
    /// It is gone.
    Gone,
}

// === impl Damage ===

impl Damage {
    /// All of them.
    pub(super) const ALL: [Self; 6] = [
        Self::Cut,
        Self::Half,
        Self::Torn,
        Self::Flip,
        Self::Rot,
        Self::Gone,
    ];

    /// Does it, and says what exactly was done.
    ///
    /// # Errors
    ///
    /// When the file cannot be changed.
    pub(super) fn inflict(self, path: &Path, dice: &mut Rng) -> anyhow::Result<String> {
        if self == Self::Gone {
            fs::remove_file(path)?;
            return Ok("is gone".to_owned());
        }
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let size = file.metadata()?.len();
        if size == 0 {
            return Ok("is empty, and stays so".to_owned());
        }
        match self {
            Self::Cut => cut(&file, size - dice.u64(1..=CUT_MAX.min(size))),
            Self::Half => cut(&file, size / 2),
            Self::Torn => {
                let bytes = TORN.min(size);
                let zeros = vec![0; usize::try_from(bytes)?];
                file.write_all_at(&zeros, size - bytes)?;
                Ok(format!("has {bytes} zeros at its end"))
            }
            Self::Flip => flip(&file, (size, 1), dice),
            Self::Rot => flip(&file, (size, size.div_ceil(10_000)), dice),
            // Dealt with above.
            Self::Gone => Ok(String::new()),
        }
    }
}

fn cut(file: &File, size: u64) -> anyhow::Result<String> {
    file.set_len(size)?;
    Ok(format!("is cut to {size} bytes"))
}

fn flip(file: &File, (size, count): (u64, u64), dice: &mut Rng) -> anyhow::Result<String> {
    let mut places = Vec::new();
    for _ in 0..count {
        let (place, bit) = (dice.u64(0..size), dice.u8(0..8));
        let mut byte = [0];
        file.read_exact_at(&mut byte, place)?;
        file.write_all_at(&byte.map(|byte| byte ^ (1 << bit)), place)?;
        places.push(format!("{place}.{bit}"));
    }
    places.truncate(5);
    let places = places.join(", ");
    Ok(format!("has {count} bits flipped, at {places}"))
}

/// Every file below a folder, relative to it, in order.
///
/// # Errors
///
/// When a folder cannot be read.
pub(super) fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(folder)?.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Copies a folder with everything in it.
///
/// # Errors
///
/// When something cannot be copied.
pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    for file in files(from)? {
        let target = to.join(&file);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(from.join(&file), target)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a thousand ones.
    fn damaged(damage: Damage) -> Option<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, [1; 1000]).unwrap();
        damage.inflict(&path, &mut Rng::with_seed(5)).unwrap();
        fs::read(path).ok()
    }

    #[test]
    fn each_damage_does_what_it_says() {
        assert!(damaged(Damage::Cut).unwrap().len() < 1000);
        assert_eq!(damaged(Damage::Half), Some(vec![1; 500]));
        let torn = [vec![1; 600], vec![0; 400]].concat();
        assert_eq!(damaged(Damage::Torn), Some(torn));
        for damage in [Damage::Flip, Damage::Rot] {
            let bytes = damaged(damage).unwrap();
            let bits: u32 = bytes.iter().map(|byte| (byte ^ 1).count_ones()).sum();
            assert_eq!((bytes.len(), bits), (1000, 1), "{damage:?}");
        }
        assert_eq!(damaged(Damage::Gone), None);
    }

    #[test]
    fn a_copy_has_the_files_of_all_folders() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a"), folder.path().join("b"));
        fs::create_dir_all(from.join("c")).unwrap();
        fs::write(from.join("c/d"), "e").unwrap();
        fs::write(from.join("f"), "g").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(files(&to).unwrap(), [PathBuf::from("c/d"), "f".into()]);
        assert_eq!(fs::read_to_string(to.join("c/d")).unwrap(), "e");
    }
}
