//! A request for a page of the staff's: what a handler gets of it.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, request::Parts},
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

/// A request that was let through. The router admits it and reads its form; handlers extract it.
#[derive(Clone)]
pub(super) struct RequestContext {
    pub(super) admin: Arc<AdminState>,
    pub(super) from: IpAddr,
    /// Nobody only where anybody may come.
    pub(super) user: Option<StaffUser>,
    pub(super) headers: HeaderMap,
    /// The checkout and the payment that the path names, where it names some that can be.
    pub(super) checkout: Option<CheckoutId>,
    pub(super) payment: Option<PaymentId>,
    pub(super) query: FormFields,
    pub(super) form: FormFields,
}

impl RequestContext {
    /// The checkout that the path names.
    pub(super) fn checkout(&self) -> Result<CheckoutId, ErrorPage> {
        self.checkout.clone().ok_or_else(ErrorPage::not_found)
    }

    /// The payment that the path names.
    pub(super) fn payment(&self) -> Result<PaymentId, ErrorPage> {
        self.payment.clone().ok_or_else(ErrorPage::not_found)
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

impl<S: Sync> FromRequestParts<S> for RequestContext {
    type Rejection = ErrorPage;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorPage> {
        parts.extensions.remove().ok_or_else(ErrorPage::failed)
    }
}
