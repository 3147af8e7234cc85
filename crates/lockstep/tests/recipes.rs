//! The open recipes for trouble: services that empty, slices that outlive their pods, ports
//! and addresses that change in place, endpoints in two slices, objects that arrive in any
//! order, deletions that nobody saw, replicas that start alone, snapshots under open streams,
//! and leaders that die, lag or are paused.
//!
//! Each runs against three replicas, on a client of the leader and one of a follower, which
//! must end equal; against the simulated API server, and with `LOCKSTEP_KUBE=1` against the
//! real one where the fault allows it. Clients fold as proxies do, and no message may be one
//! that a proxy would ignore.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod harness;
mod recipe;

use harness::api::Api;
use lockstep_model::Settings;
use recipe::{
    alone, crowd, emptied, installed, lagging, missed, orders, orphan, port, replaced,
    stage::Stage, twice,
};

/// O3 to O8 on one fleet.
async fn one_after_the_other(api: Api) {
    let fleet = Stage::on(api).await;
    let stage = &fleet;
    emptied::a_client_that_returns_is_told_that_nothing_is_left(stage).await;
    emptied::a_client_of_a_deleted_service_is_refused_until_it_is_back(stage).await;
    emptied::a_client_of_a_service_that_never_existed_is_refused_until_it_does(stage).await;
    orphan::a_slice_that_goes_after_its_pod_leaves_nothing_behind(stage).await;
    port::a_target_port_that_changes_moves_all_endpoints_and_never_none_is_left(stage).await;
    replaced::a_pod_that_comes_back_under_its_name_is_another_pod(stage).await;
    twice::an_endpoint_that_leaves_one_of_its_slices_stays_without_a_word(stage).await;
    twice::an_endpoint_stays_without_a_word_when_one_of_its_slices_is_deleted(stage).await;
    twice::an_endpoint_that_leaves_both_its_slices_is_removed_once(stage).await;
    twice::the_newer_of_two_slices_decides_whether_a_pod_serves(stage).await;
    orders::the_answer_is_the_same_in_whatever_order_its_parts_arrive(stage).await;
    if stage.api.simapi().is_some() {
        orders::a_kind_that_lags_behind_is_made_good_when_it_arrives(stage).await;
    }
    fleet.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_end_right_after_each_recipe_on_the_simulated_api_server() {
    one_after_the_other(Api::simulated().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_end_right_after_each_recipe_on_the_real_api_server() {
    if let Some(api) = Api::real("the recipes on the real API server") {
        one_after_the_other(api).await;
    }
}

async fn absent_services_answered(api: Api) {
    let settings = Settings {
        answer_absent: true,
        ..Settings::default()
    };
    let fleet = Stage::with(api, settings).await;
    emptied::a_client_of_an_absent_service_is_told_that_nothing_is_left(&fleet).await;
    fleet.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn absent_services_are_empty_with_the_flag_on_the_simulated_api_server() {
    absent_services_answered(Api::simulated().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn absent_services_are_empty_with_the_flag_on_the_real_api_server() {
    if let Some(api) = Api::real("absent services on the real API server") {
        absent_services_answered(api).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deletions_that_nobody_saw_are_made_good_on_the_simulated_api_server() {
    missed::exactly_what_was_missed_is_told(Api::simulated().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deletions_that_nobody_saw_are_made_good_on_the_real_api_server() {
    if let Some(api) = Api::real("missed deletions on the real API server") {
        missed::exactly_what_was_missed_is_told(api).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_starts_alone_serves_what_it_had_and_says_so() {
    alone::a_follower_that_starts_alone_serves_what_it_had_and_says_so().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_starts_alone_and_empty_refuses_until_it_is_back() {
    alone::a_follower_that_starts_alone_and_empty_refuses_until_it_is_back().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_install_tells_live_streams_the_difference_and_nothing_else() {
    installed::an_install_tells_live_streams_the_difference_and_nothing_else().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_shown_the_past_takes_nobody_back() {
    lagging::a_leader_that_is_shown_the_past_takes_nobody_back().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_stops_reading_delays_no_other_and_returns_to_the_newest() {
    crowd::a_client_that_stops_reading_delays_no_other_and_returns_to_the_newest().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_thousand_streams_of_one_connection_and_a_few_of_another_all_hear() {
    crowd::five_thousand_streams_of_one_connection_and_a_few_of_another_all_hear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_thousand_endpoints_in_fifty_slices_are_told_whole() {
    crowd::five_thousand_endpoints_in_fifty_slices_are_told_whole().await;
}
