//! Rust text as code only: comments and literals blanked, test modules counted apart.

/// Replaces every comment, string and character literal by blanks, keeping the lines.
///
/// A lexer of the few states that matter; it is not a parser, and on text that does not compile
/// it may blank too much.
pub fn without_comments_and_literals(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&char) = chars.get(at) {
        let rest = chars.get(at..).unwrap_or_default();
        let length = skipped_length(rest, chars.get(at.wrapping_sub(1)).copied());
        if length == 0 {
            code.push(char);
            at += 1;
        } else {
            let skipped = rest.iter().take(length);
            code.extend(skipped.map(|&char| if char == '\n' { '\n' } else { ' ' }));
            at += length;
        }
    }
    code
}

/// The words of a code text that could be identifiers or keywords, in order.
pub fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|char: char| !(char.is_alphanumeric() || char == '_'))
        .filter(|word| !word.is_empty())
}

/// Counts the lines of a file without its inline `#[cfg(test)] mod`s.
pub fn lines_without_tests(text: &str) -> usize {
    let code = without_comments_and_literals(text);
    let mut lines = 0;
    let mut in_tests: Option<usize> = None;
    let mut pending = false;
    for line in code.lines() {
        let opened = line.matches('{').count();
        let closed = line.matches('}').count();
        if let Some(depth) = in_tests {
            let depth = (depth + opened).saturating_sub(closed);
            in_tests = (depth > 0).then_some(depth);
            continue;
        }
        let starts = pending && words(line).any(|word| word == "mod") && opened > closed;
        if starts {
            in_tests = Some(opened - closed);
            continue;
        }
        pending = line.contains("#[cfg(test)]") || (pending && line.trim_start().starts_with('#'));
        lines += 1;
    }
    lines
}

/// How many characters from here belong to a comment or a literal; zero if this is code.
fn skipped_length(rest: &[char], before: Option<char>) -> usize {
    match rest {
        ['/', '/', ..] => rest.iter().take_while(|&&char| char != '\n').count(),
        ['/', '*', ..] => block_comment_length(rest),
        ['"', ..] => string_length(rest),
        ['\'', '\\', _, tail @ ..] => 4 + tail.iter().take_while(|&&char| char != '\'').count(),
        ['\'', _, '\'', ..] => 3,
        ['r', ..] if !is_word(before) || before == Some('b') => raw_string_length(rest),
        _ => 0,
    }
}

fn is_word(char: Option<char>) -> bool {
    char.is_some_and(|char| char.is_alphanumeric() || char == '_')
}

fn block_comment_length(rest: &[char]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        match tail {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth.saturating_sub(1), at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn string_length(rest: &[char]) -> usize {
    let mut at = 1;
    while let Some(char) = rest.get(at) {
        match char {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of `r"..."` or `r#"..."#`; zero if this `r` only begins a word or a raw identifier.
fn raw_string_length(rest: &[char]) -> usize {
    let hashes = rest.iter().skip(1).take_while(|&&char| char == '#').count();
    if rest.get(hashes + 1) != Some(&'"') {
        return 0;
    }
    let close: Vec<char> = std::iter::once('"')
        .chain(std::iter::repeat_n('#', hashes))
        .collect();
    let body = rest.get(hashes + 2..).unwrap_or_default();
    let end = body
        .windows(close.len())
        .position(|window| window == close.as_slice());
    end.map_or(rest.len(), |end| hashes + 2 + end + close.len())
}

#[cfg(test)]
mod tests {
    use super::{lines_without_tests, without_comments_and_literals, words};

    fn code_words(text: &str) -> Vec<String> {
        words(&without_comments_and_literals(text))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn comments_and_literals_are_no_code() {
        let text = "a // HashMap\nb /* x /* y */ z */ c \"Instant \\\" d\" e 'f' g";
        assert_eq!(code_words(text), ["a", "b", "c", "e", "g"]);
    }

    #[test]
    fn raw_strings_end_at_their_own_hashes() {
        assert_eq!(
            code_words("a r#\"x \" y\"# b br\"z\" r#type for"),
            ["a", "b", "b", "r", "type", "for"]
        );
    }

    #[test]
    fn lifetimes_and_quoted_quotes_do_not_open_a_literal() {
        assert_eq!(
            code_words("fn f<'a>(x: &'a u8) { '\"'; '\\''; '\\u{1F}'; y }"),
            ["fn", "f", "a", "x", "a", "u8", "y"]
        );
    }

    #[test]
    fn blanked_text_keeps_its_lines() {
        assert_eq!(
            without_comments_and_literals("\"a\nb\"\n/*\n*/")
                .lines()
                .count(),
            4
        );
    }

    #[test]
    fn inline_test_modules_are_not_counted() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n";
        assert_eq!(lines_without_tests(text), 4);
    }

    #[test]
    fn a_test_module_in_its_own_file_counts_as_its_declaration() {
        assert_eq!(
            lines_without_tests("#[cfg(test)]\nmod tests;\nfn a() {\n}\n"),
            4
        );
    }
}
