//! Where a process dies: at one of the points at which it meets database, gateway or shop.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before anything is done there.
    Before,
    /// It was done (committed, charged, delivered), and the answer is lost.
    Unanswered,
    /// The database fails there, and says so: nothing was written, and the process lives on.
    Failed,
    /// The database says so, and all was written.
    Unclear,
}

#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub at: usize,
    pub when: When,
}

/// The life of one process.
#[derive(Clone)]
pub struct Life {
    passed: Arc<AtomicUsize>,
    dead: Arc<AtomicBool>,
    plan: Option<Plan>,
}

impl Life {
    pub fn new(plan: Option<Plan>) -> Self {
        Self { passed: Arc::default(), dead: Arc::default(), plan }
    }

    /// How many points it has passed.
    pub fn passed(&self) -> usize {
        self.passed.load(Ordering::SeqCst)
    }

    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    pub fn kill(&self) {
        self.dead.store(true, Ordering::SeqCst);
    }

    /// A point: whether the process dies after what is done there; it never returns where it dies before.
    pub async fn point(&self) -> bool {
        self.plan_at_point().await == Some(When::Unanswered)
    }

    /// The same with what the database does there.
    pub async fn plan_at_point(&self) -> Option<When> {
        let at = self.passed.fetch_add(1, Ordering::SeqCst);
        let when = self.plan.filter(|plan| plan.at == at).map(|plan| plan.when);
        if when == Some(When::Before) || self.is_dead() {
            self.die().await;
        }
        when
    }

    pub async fn die(&self) {
        self.kill();
        std::future::pending::<()>().await;
    }
}
