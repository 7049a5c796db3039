//! Shared parts of the sandbox's pages: templates, their document, static files, and security headers.
//!
//! A page is an [askama](https://docs.rs/askama) template in `templates/` and a struct with
//! `#[derive(Template)]`. Askama checks the template when the sandbox is built, and escapes inserted values.
//!
//! * `templates/document.html` is the document around all pages. It needs a field `document`: [`Document`], which knows
//!   the language and how to get from the page's path to the sandbox's root, so that all links work behind a proxy's
//!   path, too.
//! * `templates/staff/layout.html` extends it with the header and the navigation of the merchant's side. It needs a
//!   field `staff`: [`Staff`](crate::staff::layout::Staff), and fills the block `content`.
//! * Static files are in `assets/` and in a table of [`document`]. A template links one by `{{
//!   document.asset("base.css") }}`.
//! * `base.css`, of the crate `kassa-pages`, has the design tokens (colours, spaces, both themes) and what all pages share;
//!   `frame.css`, from there, what the staff's pages of sandbox and server share. Colours anywhere else are tokens.
//! * [`page`] renders a template into a response with the headers of a [`Policy`]. Nothing inline runs under them:
//!   no `<style>`, no `style=`, no `<script>` without `src`, no `on...=`.

pub(crate) mod access;
pub(crate) mod document;
pub(crate) mod request;

pub(crate) use access::{Access, LoginRejection};
pub(crate) use document::{Document, Policy, page, see_other};
pub(crate) use request::{
    BODY_DEADLINE, BodyError, PageRequest, log_request, page_method_not_allowed, read_body, read_page_request,
    respond_blocking,
};
