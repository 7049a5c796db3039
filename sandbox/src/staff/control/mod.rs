//! The page by which people control the sandbox: what the admin interface does for programs. Guarded by the admin
//! token.

mod forms;
mod links;
mod login;
mod page;
mod posted;
mod routes;

pub(crate) use routes::routes;
