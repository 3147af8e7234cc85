use super::*;
use lockstep_model::CONDITION_DEPTH_MAX;
use prost::Message;

fn method(name: &str) -> Condition<RequestMatch> {
    Condition::Is(RequestMatch::Method(name.into()))
}

fn path(regex: &str) -> Condition<RequestMatch> {
    Condition::Is(RequestMatch::PathRegex(regex.into()))
}

fn status(min: u32, max: u32) -> Condition<StatusRange> {
    Condition::Is(StatusRange { min, max })
}

fn said(of: request_match::Match) -> api::RequestMatch {
    api::RequestMatch { r#match: Some(of) }
}

fn answered(of: response_match::Match) -> api::ResponseMatch {
    api::ResponseMatch { r#match: Some(of) }
}

fn said_method(of: Type) -> api::RequestMatch {
    said(request_match::Match::Method(HttpMethod {
        r#type: Some(of),
    }))
}

fn said_path(regex: &str) -> api::RequestMatch {
    let regex = regex.to_owned();
    said(request_match::Match::Path(api::PathMatch { regex }))
}

#[test]
fn nine_methods_are_registered_and_all_others_named() {
    let registered = [
        ("GET", Registered::Get),
        ("POST", Registered::Post),
        ("PUT", Registered::Put),
        ("DELETE", Registered::Delete),
        ("PATCH", Registered::Patch),
        ("OPTIONS", Registered::Options),
        ("CONNECT", Registered::Connect),
        ("HEAD", Registered::Head),
        ("TRACE", Registered::Trace),
    ];
    for (name, registered) in registered {
        let expected = said_method(Type::Registered(registered.into()));
        assert_eq!(request(&method(name)), expected, "{name}");
    }
    for name in ["BREW", "", "GET "] {
        let expected = said_method(Type::Unregistered(name.to_owned()));
        assert_eq!(request(&method(name)), expected, "{name}");
    }
}

#[test]
fn requests_are_joined_as_written() {
    use request_match::{Match, Seq};
    let get = || said_method(Type::Registered(Registered::Get.into()));
    let both = || vec![said_path("/a/.*"), get()];
    let conditions = || vec![path("/a/.*"), method("GET")];
    for (condition, expected) in [
        (path("/a/.*"), said_path("/a/.*")),
        (
            Condition::All(conditions()),
            said(Match::All(Seq { matches: both() })),
        ),
        (
            Condition::Any(conditions()),
            said(Match::Any(Seq { matches: both() })),
        ),
        (Condition::All(Vec::new()), said(Match::All(Seq::default()))),
        (
            Condition::Not(Box::new(Condition::Any(vec![method("GET")]))),
            said(Match::Not(Box::new(said(Match::Any(Seq {
                matches: vec![get()],
            }))))),
        ),
    ] {
        assert_eq!(request(&condition), expected);
    }
}

#[test]
fn responses_are_joined_as_written() {
    use response_match::{Match, Seq};
    let range = |min, max| answered(Match::Status(api::HttpStatusRange { min, max }));
    let not = |inner| answered(Match::Not(Box::new(inner)));
    for (condition, expected) in [
        (status(500, 599), range(500, 599)),
        (status(400, 0), range(400, 0)),
        (status(0, 0), range(0, 0)),
        (
            Condition::All(vec![
                status(400, 499),
                Condition::Not(Box::new(status(404, 404))),
            ]),
            answered(Match::All(Seq {
                matches: vec![range(400, 499), not(range(404, 404))],
            })),
        ),
        (
            Condition::Any(vec![status(500, 0)]),
            answered(Match::Any(Seq {
                matches: vec![range(500, 0)],
            })),
        ),
    ] {
        assert_eq!(response(&condition), expected);
    }
}

#[test]
fn clients_can_read_the_deepest_condition() {
    let all = |inner, _| Condition::All(vec![inner]);
    let deepest = (1..CONDITION_DEPTH_MAX).fold(method("GET"), all);
    assert_eq!(deepest.check_depth(), Ok(()));
    let profile = api::DestinationProfile {
        routes: vec![api::Route {
            condition: Some(request(&deepest)),
            ..api::Route::default()
        }],
        ..api::DestinationProfile::default()
    };
    let bytes = profile.encode_to_vec();
    assert_eq!(api::DestinationProfile::decode(&bytes[..]), Ok(profile));
}
