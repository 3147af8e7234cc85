//! Which files a Rust file brings in: `mod x;` and `include!("x.rs")`.

use crate::code::{without_comments_and_literals, words};

/// The files that `path` may bring in: for each `mod x;` both places where it could live, and
/// for each `include!` of a literal the place it names. Paths use `/`.
pub fn declared_files(path: &str, text: &str) -> Vec<String> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.trim_end_matches(".rs");
    let owns_folder = matches!(stem, "lib" | "main" | "mod") || is_target_root(folder);
    let home = if owns_folder {
        folder.to_owned()
    } else {
        format!("{folder}/{stem}")
    };
    let mut files: Vec<String> = declared_modules(text)
        .into_iter()
        .flat_map(|module| {
            [
                format!("{home}/{module}.rs"),
                format!("{home}/{module}/mod.rs"),
            ]
        })
        .collect();
    files.extend(literals_after(text, "include!(\"").map(|name| format!("{folder}/{name}")));
    files.extend(literals_after(text, "#[path = \"").map(|name| format!("{folder}/{name}")));
    files
}

/// Whether each file of this folder is a root of its own: Cargo finds it without a `mod`.
fn is_target_root(folder: &str) -> bool {
    let parts: Vec<&str> = folder.split('/').collect();
    matches!(
        parts.as_slice(),
        ["crates" | "jepsen", _, "tests" | "benches" | "examples"]
            | ["crates" | "jepsen", _, "src", "bin"]
    )
}

/// The modules declared with a semicolon, with the inline modules around them as a path.
fn declared_modules(text: &str) -> Vec<String> {
    let code = without_comments_and_literals(text);
    let spaced = code
        .replace('{', " { ")
        .replace('}', " } ")
        .replace(';', " ; ");
    let mut around: Vec<Option<&str>> = Vec::new();
    let mut declared = Vec::new();
    let mut tokens = spaced.split_whitespace();
    let mut named: Option<&str> = None;
    while let Some(token) = tokens.next() {
        match token {
            "mod" => named = tokens.next().and_then(|name| words(name).last()),
            "{" => around.push(named.take()),
            "}" => drop(around.pop()),
            ";" => declared.extend(named.take().map(|name| {
                around
                    .iter()
                    .copied()
                    .flatten()
                    .chain([name])
                    .collect::<Vec<_>>()
                    .join("/")
            })),
            _ => {}
        }
    }
    declared
}

/// The texts that follow `opening`, each up to its closing quote.
fn literals_after<'a>(text: &'a str, opening: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(opening)
        .skip(1)
        .filter_map(|tail| tail.split('"').next())
}

#[cfg(test)]
mod tests {
    use super::declared_files;

    #[test]
    fn a_root_declares_beside_itself_and_a_module_below_itself() {
        assert_eq!(
            declared_files("crates/a/src/lib.rs", "mod b; // mod c;"),
            ["crates/a/src/b.rs", "crates/a/src/b/mod.rs"]
        );
        assert_eq!(
            declared_files("crates/a/src/b.rs", "#[cfg(test)]\nmod tests;"),
            ["crates/a/src/b/tests.rs", "crates/a/src/b/tests/mod.rs"]
        );
    }

    #[test]
    fn inline_modules_are_folders() {
        let text = "pub mod log { pub mod v1 { include!(\"gen/log.v1.rs\"); } mod x; } mod y;";
        assert_eq!(
            declared_files("crates/a/src/lib.rs", text),
            [
                "crates/a/src/log/x.rs",
                "crates/a/src/log/x/mod.rs",
                "crates/a/src/y.rs",
                "crates/a/src/y/mod.rs",
                "crates/a/src/gen/log.v1.rs"
            ]
        );
    }

    #[test]
    fn an_integration_test_is_a_root() {
        assert_eq!(
            declared_files("crates/a/tests/b.rs", "mod c;"),
            ["crates/a/tests/c.rs", "crates/a/tests/c/mod.rs"]
        );
    }
}
