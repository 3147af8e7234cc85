//! Conditions that hold or not, joined by all, any and not.

use serde::{Deserialize, Serialize};

/// How deep conditions may be nested. Proxies refuse a message with 100 levels, and each
/// of ours may take two, below five of their own.
pub const CONDITION_DEPTH_MAX: usize = 32;

/// A condition over what `Leaf` tells of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(
    into = "Vec<Token<Leaf>>",
    try_from = "Vec<Token<Leaf>>",
    bound(
        serialize = "Leaf: Clone + Serialize",
        deserialize = "Leaf: Deserialize<'de>"
    )
)]
pub enum Condition<Leaf> {
    /// Every one of these holds.
    All(Vec<Self>),
    /// One of these holds.
    Any(Vec<Self>),
    /// This does not hold.
    Not(Box<Self>),
    /// This is so.
    Is(Leaf),
}

/// A condition that is nested deeper than [`CONDITION_DEPTH_MAX`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("conditions are nested more than {CONDITION_DEPTH_MAX} levels deep")]
pub struct TooDeep;

impl<Leaf> Condition<Leaf> {
    /// Checks how deep it is nested.
    ///
    /// # Errors
    ///
    /// [`TooDeep`] beyond [`CONDITION_DEPTH_MAX`] levels.
    pub fn check_depth(&self) -> Result<(), TooDeep> {
        self.fits(CONDITION_DEPTH_MAX)
    }

    fn fits(&self, levels: usize) -> Result<(), TooDeep> {
        let below = levels.checked_sub(1).ok_or(TooDeep)?;
        match self {
            Self::All(each) | Self::Any(each) => each.iter().try_for_each(|it| it.fits(below)),
            Self::Not(inner) => inner.fits(below),
            Self::Is(_) => Ok(()),
        }
    }
}

/// One word of a condition that is written flat, what it is about following it: damaged
/// bytes then cannot make a decoder go deeper than it has room for.
#[derive(Serialize, Deserialize)]
enum Token<Leaf> {
    All(u32),
    Any(u32),
    Not,
    Is(Leaf),
}

impl<Leaf> From<Condition<Leaf>> for Vec<Token<Leaf>> {
    fn from(condition: Condition<Leaf>) -> Self {
        let mut tokens = Self::new();
        flatten(condition, &mut tokens);
        tokens
    }
}

fn flatten<Leaf>(condition: Condition<Leaf>, tokens: &mut Vec<Token<Leaf>>) {
    // More than an object can hold would read back as damage, not as something else.
    let count = |each: &[Condition<Leaf>]| u32::try_from(each.len()).unwrap_or(u32::MAX);
    match condition {
        Condition::All(each) => {
            tokens.push(Token::All(count(&each)));
            each.into_iter().for_each(|it| flatten(it, tokens));
        }
        Condition::Any(each) => {
            tokens.push(Token::Any(count(&each)));
            each.into_iter().for_each(|it| flatten(it, tokens));
        }
        Condition::Not(inner) => {
            tokens.push(Token::Not);
            flatten(*inner, tokens);
        }
        Condition::Is(leaf) => tokens.push(Token::Is(leaf)),
    }
}

/// Tokens that spell no condition.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Misspelt {
    #[error("a condition ends too early")]
    Short,
    #[error("a condition goes on after its end")]
    Long,
    #[error(transparent)]
    TooDeep(#[from] TooDeep),
}

impl<Leaf> TryFrom<Vec<Token<Leaf>>> for Condition<Leaf> {
    type Error = Misspelt;

    fn try_from(tokens: Vec<Token<Leaf>>) -> Result<Self, Misspelt> {
        let mut tokens = tokens.into_iter();
        let condition = read(&mut tokens, CONDITION_DEPTH_MAX)?;
        match tokens.next() {
            None => Ok(condition),
            Some(_) => Err(Misspelt::Long),
        }
    }
}

type Tokens<Leaf> = std::vec::IntoIter<Token<Leaf>>;

fn read<Leaf>(tokens: &mut Tokens<Leaf>, levels: usize) -> Result<Condition<Leaf>, Misspelt> {
    let below = levels.checked_sub(1).ok_or(TooDeep)?;
    let token = tokens.next().ok_or(Misspelt::Short)?;
    Ok(match token {
        Token::All(count) => Condition::All(read_each(tokens, count, below)?),
        Token::Any(count) => Condition::Any(read_each(tokens, count, below)?),
        Token::Not => Condition::Not(Box::new(read(tokens, below)?)),
        Token::Is(leaf) => Condition::Is(leaf),
    })
}

fn read_each<Leaf>(
    tokens: &mut Tokens<Leaf>,
    count: u32,
    levels: usize,
) -> Result<Vec<Condition<Leaf>>, Misspelt> {
    (0..count).map(|_| read(tokens, levels)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> Condition<u8> {
        let not = |inner, _| Condition::Not(Box::new(inner));
        (1..levels).fold(Condition::Is(7), not)
    }

    fn flat(condition: Condition<u8>) -> Vec<Token<u8>> {
        condition.into()
    }

    #[test]
    fn what_is_written_flat_reads_back() {
        let leaf = |it| Condition::Is(it);
        let condition = Condition::All(vec![
            Condition::Any(vec![leaf(1), leaf(2)]),
            Condition::All(Vec::new()),
            Condition::Not(Box::new(leaf(3))),
        ]);
        assert_eq!(Condition::try_from(flat(condition.clone())), Ok(condition));
    }

    #[test]
    fn depth_is_bounded_when_it_is_made_and_when_it_is_read() {
        let deepest = nested(CONDITION_DEPTH_MAX);
        assert_eq!(deepest.check_depth(), Ok(()));
        assert_eq!(Condition::try_from(flat(deepest.clone())), Ok(deepest));
        let deeper = nested(CONDITION_DEPTH_MAX + 1);
        assert_eq!(deeper.check_depth(), Err(TooDeep));
        assert_eq!(
            Condition::try_from(flat(deeper)),
            Err(Misspelt::TooDeep(TooDeep))
        );
        assert_eq!(
            TooDeep.to_string(),
            "conditions are nested more than 32 levels deep"
        );
    }

    #[test]
    fn misspelt_conditions_are_refused() {
        let read = |tokens: Vec<Token<u8>>| Condition::try_from(tokens);
        assert_eq!(read(Vec::new()), Err(Misspelt::Short));
        assert_eq!(read(vec![Token::Not]), Err(Misspelt::Short));
        assert_eq!(read(vec![Token::All(u32::MAX)]), Err(Misspelt::Short));
        assert_eq!(read(vec![Token::Is(1), Token::Is(2)]), Err(Misspelt::Long));
    }
}
