//! Reads the files of a folder.

use std::{fs, io, path::Path};

use crate::folder::{Contents, is_manifest};

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Reads every manifest of a folder, but of none below it.
///
/// # Errors
///
/// The folder itself cannot be read; that a file cannot is part of the contents.
pub(crate) fn contents(folder: &Path) -> io::Result<Contents> {
    let mut contents = Contents::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let Some(name) = name.to_str().filter(|name| is_manifest(name)) else {
            continue;
        };
        match text(&folder.join(name)) {
            Ok(Some(text)) => contents.insert(name.to_owned(), Ok(text)),
            // Something else than a file, or gone since the folder was read.
            Ok(None) => None,
            Err(reason) => contents.insert(name.to_owned(), Err(reason)),
        };
    }
    Ok(contents)
}

fn text(path: &Path) -> Result<Option<String>, String> {
    let unread = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(None),
        io::ErrorKind::InvalidData => Err("this is no text: it is not UTF-8".to_owned()),
        _ => Err(format!("this cannot be read: {error}")),
    };
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Ok(None),
        Ok(metadata) if metadata.len() > FILE_BYTES_MAX => Err(format!(
            "this is too large: {} bytes, of at most {FILE_BYTES_MAX}",
            metadata.len()
        )),
        Ok(_) => fs::read_to_string(path).map(Some).or_else(unread),
        Err(error) => unread(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_read_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "b.yaml",
            "a.yml",
            "c.json",
            "README.md",
            ".d.yaml",
            "e.yaml~",
        ] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        fs::create_dir(folder.path().join("f.yaml")).unwrap();
        fs::write(folder.path().join("f.yaml").join("g.yaml"), "").unwrap();
        let read = contents(folder.path()).unwrap();
        let good = |name: &str| (name.to_owned(), Ok(name.to_owned()));
        assert_eq!(read, [good("a.yml"), good("b.yaml"), good("c.json")].into());
    }

    #[test]
    fn files_that_cannot_be_read_are_named_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.yaml"), [0xff, 0xfe, 0x00]).unwrap();
        let large = fs::File::create(folder.path().join("b.yaml")).unwrap();
        large.set_len(FILE_BYTES_MAX + 1).unwrap();
        let read = contents(folder.path()).unwrap();
        let bad = |name: &str, reason: &str| (name.to_owned(), Err(reason.to_owned()));
        let expected = [
            bad("a.yaml", "this is no text: it is not UTF-8"),
            bad(
                "b.yaml",
                "this is too large: 33554433 bytes, of at most 33554432",
            ),
        ];
        assert_eq!(read, expected.into());
    }
}
