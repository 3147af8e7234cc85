//! The standard health service, worked out when it is asked: a value that was
//! set before a process was paused would be wrong when it goes on.

use futures::{Stream, StreamExt};
use std::{pin::Pin, sync::Arc, time::Duration};
use tokio::time::{MissedTickBehavior, interval};
use tonic::{Request, Response, Status};
use tonic_health::pb::{
    HealthCheckRequest, HealthCheckResponse,
    health_check_response::ServingStatus,
    health_server::{Health as HealthApi, HealthServer},
};

use crate::{Health, Operator};

/// How often one who watches is looked after.
const WATCH_INTERVAL: Duration = Duration::from_millis(250);

/// The service `grpc.health.v1.Health` of a replica.
pub type HealthService<O> = HealthServer<HealthOf<O>>;

/// Answers what the operator says at the moment of the question.
pub struct HealthOf<O>(Arc<O>);

/// Makes the health service of a replica.
pub fn health<O: Operator>(operator: Arc<O>) -> HealthService<O> {
    HealthServer::new(HealthOf(operator))
}

#[tonic::async_trait]
impl<O: Operator> HealthApi for HealthOf<O> {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<HealthCheckResponse, Status>> + Send>>;

    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        match serving(self.0.as_ref(), &request.get_ref().service) {
            ServingStatus::ServiceUnknown => Err(Status::not_found("service not registered")),
            status => Ok(Response::new(response(status))),
        }
    }

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let service = request.into_inner().service;
        let operator = Arc::clone(&self.0);
        let mut ticks = interval(WATCH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let looks = futures::stream::unfold(ticks, |mut ticks| async move {
            ticks.tick().await;
            Some(((), ticks))
        });
        let mut told = None;
        let changes = looks.filter_map(move |()| {
            let now = serving(operator.as_ref(), &service);
            let is_news = told.replace(now) != Some(now);
            std::future::ready(is_news.then(|| Ok(response(now))))
        });
        Ok(Response::new(Box::pin(changes)))
    }
}

fn serving<O: Operator>(operator: &O, service: &str) -> ServingStatus {
    match operator.health(service) {
        Health::Serving => ServingStatus::Serving,
        Health::NotServing => ServingStatus::NotServing,
        Health::Unknown => ServingStatus::ServiceUnknown,
    }
}

fn response(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse {
        status: status.into(),
    }
}
