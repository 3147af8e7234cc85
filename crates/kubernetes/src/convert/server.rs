//! Server -> which ports of which workloads are opaque.

use lockstep_model::{Fact, FactKey, ServerFact, ServerPort};
use serde_json::Value;

use super::{
    Converted, Skipped, Unusable,
    field::{Fault, Field, NumberOrText},
    selector,
};

const OPAQUE: &str = "opaque";

pub(super) fn convert(key: FactKey, object: &Value) -> Result<Converted, Unusable> {
    let mut skipped = Vec::new();
    match server(object, &mut skipped) {
        Ok(server) => Ok(Converted {
            key,
            fact: Fact::Server(server),
            skipped,
        }),
        Err(fault) => Err(Unusable::invalid(key, fault)),
    }
}

/// Of a Server that is not about opaque ports nothing else is read.
fn server(object: &Value, skipped: &mut Vec<Skipped>) -> Result<Option<ServerFact>, Fault> {
    let object = Field::root(object);
    let spec = object.member("spec")?;
    if spec.member("proxyProtocol")?.text()? != OPAQUE {
        return Ok(None);
    }
    let pods = selector::read(&spec.member("podSelector")?, skipped)?;
    let external_workloads = selector::read(&spec.member("externalWorkloadSelector")?, skipped)?;
    let port = port(&spec.member("port")?)?;
    Ok(Some(ServerFact {
        pods,
        external_workloads,
        port,
    }))
}

/// A text of digits is a name all the same.
fn port(field: &Field<'_>) -> Result<ServerPort, Fault> {
    let port = match field.number_or_text()? {
        Some(NumberOrText::Number(number)) => {
            let number = number.as_u64().and_then(|number| number.try_into().ok());
            number.filter(|number| *number != 0).map(ServerPort::Number)
        }
        Some(NumberOrText::Text("")) | None => None,
        Some(NumberOrText::Text(name)) => Some(ServerPort::Name(name.into())),
    };
    port.ok_or_else(|| field.fault("must be a port (1 to 65535) or the name of one"))
}
