//! Where a profile sends traffic instead.

use lockstep_model::DstOverride;

use crate::convert::{
    Skipped,
    field::{Fault, Field, NumberOrText},
    quantity::{Quantity, quantity},
};

/// Ten-thousandths in a thousandth.
const SHARES_PER_MILLI: u64 = 10;

/// The destinations, in the order of the object.
pub(super) fn read(
    list: &Field<'_>,
    skipped: &mut Vec<Skipped>,
) -> Result<Vec<DstOverride>, Fault> {
    let mut overrides = Vec::new();
    for each in list.items()? {
        let authority = each.member("authority")?.text()?.into();
        let weight = weight(&each.member("weight")?, skipped)?;
        overrides.extend(weight.map(|weight| DstOverride { authority, weight }));
    }
    Ok(overrides)
}

/// The share; `None` if it is below zero, which leaves nothing to send.
fn weight(field: &Field<'_>, skipped: &mut Vec<Skipped>) -> Result<Option<u32>, Fault> {
    let text = match field.number_or_text()? {
        Some(NumberOrText::Number(number)) => number.to_string(),
        Some(NumberOrText::Text(text)) => text.to_owned(),
        None => return Ok(Some(0)),
    };
    let (place, not) = (
        field.place(),
        "must be a quantity such as `500m`, `2` or `1k`",
    );
    match quantity(text.trim()).ok_or_else(|| field.fault(not))? {
        Quantity::Negative => {
            skipped.push(Skipped::NegativeWeight { place, text });
            Ok(None)
        }
        Quantity::Milli(milli) => {
            let weight = u32::try_from(milli.saturating_mul(SHARES_PER_MILLI));
            if weight.is_err() {
                skipped.push(Skipped::LargeWeight { place, text });
            }
            Ok(Some(weight.unwrap_or(u32::MAX)))
        }
    }
}
