//! What a route is, and who came to it with what.

use std::{collections::HashMap, net::IpAddr, pin::Pin, sync::Arc};

use axum::{
    http::{HeaderMap, Method},
    response::Response,
};

use super::{
    desk::{Desk, Visitor},
    fields::Fields,
    page::{Frame, Refusal, Section},
};
use crate::{
    tokens::{decided_by::DecidedBy, permission::Permission, role::KeyRole},
    values::ids::{CheckoutId, PaymentId},
};

/// Who may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Who is logged in, and may do this.
    Staff(Permission),
    /// Anybody.
    Anybody,
}

/// An answer on its way.
pub(super) type Answering = Pin<Box<dyn Future<Output = Result<Response, Refusal>> + Send>>;

/// Somebody who came, and what was sent.
pub(super) struct Visit {
    pub(super) desk: Arc<Desk>,
    pub(super) from: IpAddr,
    /// Nobody only where anybody may come.
    pub(super) visitor: Option<Visitor>,
    pub(super) headers: HeaderMap,
    pub(super) path: HashMap<String, String>,
    pub(super) query: Fields,
    pub(super) form: Fields,
}

impl Visit {
    pub(super) fn parameter(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// The checkout that the path names.
    pub(super) fn checkout(&self) -> Result<CheckoutId, Refusal> {
        self.parameter("checkout").parse().map_err(|_| Refusal::nowhere())
    }

    /// The payment that the path names.
    pub(super) fn payment(&self) -> Result<PaymentId, Refusal> {
        self.parameter("payment").parse().map_err(|_| Refusal::nowhere())
    }

    /// The person, through the person's key.
    pub(super) fn by(&self) -> DecidedBy {
        let by = |visitor: &Visitor| DecidedBy::new(&visitor.name).through(KeyRole::Staff, visitor.key.clone());
        self.visitor.as_ref().map_or_else(|| DecidedBy::new(""), by)
    }

    /// Whether the person may do what changes something.
    pub(super) fn may_decide(&self) -> bool {
        self.visitor.as_ref().is_some_and(|visitor| visitor.may >= Permission::Decide)
    }

    /// What a page of a section shows around its content.
    pub(super) fn frame(&self, section: Section) -> Frame {
        Frame::of(&self.desk.home, self.visitor.as_ref(), Some(section))
    }

    /// What each form carries.
    pub(super) fn csrf(&self) -> String {
        self.visitor.as_ref().map(|visitor| visitor.csrf.clone()).unwrap_or_default()
    }
}

/// One method of one path.
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) access: Access,
    /// The largest form, in bytes.
    pub(super) largest: usize,
    pub(super) answer: fn(Visit) -> Answering,
}
