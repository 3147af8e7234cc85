//! The sample application, in the binary, for people without a cluster.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Where the sample lies in the project.
const IN_PROJECT: &str = "examples/shop";

macro_rules! sample_files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../examples/shop/", $name)))),*]
    };
}

const FILES: &[(&str, &str)] = sample_files![
    "00-namespace-nodes.yaml",
    "10-web.yaml",
    "20-cart-checkout-payments.yaml",
    "30-catalog-search-inventory.yaml",
    "40-orders-users-email.yaml",
    "50-recommendations-promo.yaml",
    "60-redis-postgres.yaml",
    "70-warehouse-db.yaml"
];

/// A folder with the sample: the project's own if we are in it, so that its
/// files can be edited where they are read, else a copy below `data`.
pub(crate) fn folder(data: &Path) -> io::Result<PathBuf> {
    let in_project = Path::new(IN_PROJECT);
    let is_ours = |(name, _): &(&str, &str)| in_project.join(name).is_file();
    if FILES.iter().any(is_ours) {
        return Ok(in_project.to_owned());
    }
    let folder = data.join("shop");
    if !folder.is_dir() {
        std::fs::create_dir_all(&folder)?;
        for (name, text) in FILES {
            std::fs::write(folder.join(name), text)?;
        }
    }
    Ok(folder)
}
