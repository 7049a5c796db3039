//! What a route is, and who came to it with what.

use std::{collections::HashMap, net::IpAddr, pin::Pin, sync::Arc};

use axum::{
    http::{HeaderMap, Method},
    response::Response,
};

use super::{
    admin_state::{AdminState, StaffUser},
    fields::FormFields,
    page::{ErrorPage, Frame, Section},
};
use crate::{
    tokens::{decided_by::DecidedBy, permission::Permission, role::KeyRole},
    values::ids::{CheckoutId, PaymentId},
};

/// Who may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequiredAccess {
    /// Who is logged in, and may do this.
    Staff(Permission),
    /// Anybody.
    Public,
}

/// An answer on its way.
pub(super) type HandlerFuture = Pin<Box<dyn Future<Output = Result<Response, ErrorPage>> + Send>>;

/// Somebody who came, and what was sent.
pub(super) struct RequestContext {
    pub(super) admin: Arc<AdminState>,
    pub(super) from: IpAddr,
    /// Nobody only where anybody may come.
    pub(super) user: Option<StaffUser>,
    pub(super) headers: HeaderMap,
    pub(super) path: HashMap<String, String>,
    pub(super) query: FormFields,
    pub(super) form: FormFields,
}

impl RequestContext {
    pub(super) fn parameter(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// The checkout that the path names.
    pub(super) fn checkout(&self) -> Result<CheckoutId, ErrorPage> {
        self.parameter("checkout").parse().map_err(|_| ErrorPage::not_found())
    }

    /// The payment that the path names.
    pub(super) fn payment(&self) -> Result<PaymentId, ErrorPage> {
        self.parameter("payment").parse().map_err(|_| ErrorPage::not_found())
    }

    /// The person, through the person's key.
    pub(super) fn by(&self) -> DecidedBy {
        let by = |user: &StaffUser| DecidedBy::new(&user.name).through(KeyRole::Staff, user.key.clone());
        self.user.as_ref().map_or_else(|| DecidedBy::new(""), by)
    }

    /// Whether the person may do what changes something.
    pub(super) fn may_decide(&self) -> bool {
        self.user.as_ref().is_some_and(|user| user.may >= Permission::Decide)
    }

    /// What a page of a section shows around its content.
    pub(super) fn frame(&self, section: Section) -> Frame {
        Frame::of(&self.admin.home, self.user.as_ref(), Some(section))
    }

    /// What each form carries.
    pub(super) fn csrf(&self) -> String {
        self.user.as_ref().map(|user| user.csrf.clone()).unwrap_or_default()
    }
}

/// One method of one path.
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) access: RequiredAccess,
    /// The largest form, in bytes.
    pub(super) largest: usize,
    pub(super) answer: fn(RequestContext) -> HandlerFuture,
}
