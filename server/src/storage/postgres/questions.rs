//! Transactions about following: what time does, what is asked, what was answered.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::{
    books::{self, Of, With, unless_damaged},
    clock,
    horizon::{Found, Look},
    problem::Problem,
    pruning::prune,
    rows,
    saving::{forget_due, save},
    session::{NOT_ON_DISK, Session, first},
};
use crate::{
    storage::{
        book::{
            Kept, ending,
            questions::{self, Heard},
        },
        error::StorageError,
        inputs::{Answered, Sweep},
        outputs::{Question, SettledMany},
    },
    values::{
        Millis,
        ids::{CheckoutId, PaymentId},
    },
};

/// One server sweeps at a time: what one does, the others would only wait for.
const TRY_SWEEP: &str = "SELECT pg_try_advisory_xact_lock(hashtextextended('kassa sweep', 0)), now_ms()";
const OVERDUE: &str = "SELECT id, until FROM payments
    WHERE state IN ('prepared', 'sending') AND until <= $1 AND until >= $2 ORDER BY until LIMIT $3";
const EXPIRING: &str = "SELECT id, expiry_due_at FROM checkouts
    WHERE state = 'open' AND expiry_due_at <= $1 AND expiry_due_at >= $2 ORDER BY expiry_due_at LIMIT $3";

/// What a part of a sweep did, and where it came to; nothing where another server sweeps.
pub(super) type PartSwept = Option<(Vec<CheckoutId>, Found<1>)>;

async fn is_mine(db: &Session) -> Result<Option<Millis>, Problem> {
    Ok(match db.row(TRY_SWEEP, &[]).await? {
        Some(row) if row.try_get(0)? => Some(row.try_get(1)?),
        _ => None,
    })
}

/// What time does to payments that are being sent. It is a transaction of its own, as the next ones are: each locks the books of
/// many checkouts, in their order.
pub(super) async fn sweep_sending(db: &Session, look: &Look<1>, most: u32) -> Result<PartSwept, Problem> {
    let Some(now) = is_mine(db).await? else { return Ok(None) };
    clock::compensate(db, now).await?;
    let rows = db.rows(OVERDUE, &[&now, &look.since[0], &i64::from(most)]).await?;
    let overdue = rows.iter().map(|row| rows::id(row, "payment")).collect::<Result<Vec<PaymentId>, _>>()?;
    Ok(Some((give_up_sending(db, &overdue).await?, found(now, &rows, most)?)))
}

/// The same to checkouts.
pub(super) async fn sweep_checkouts(db: &Session, look: &Look<1>, most: u32) -> Result<PartSwept, Problem> {
    let Some(now) = is_mine(db).await? else { return Ok(None) };
    let rows = db.rows(EXPIRING, &[&now, &look.since[0], &i64::from(most)]).await?;
    let expiring = rows.iter().map(|row| rows::id(row, "checkout")).collect::<Result<Vec<CheckoutId>, _>>()?;
    Ok(Some((expire(db, &expiring).await?, found(now, &rows, most)?)))
}

fn found(now: Millis, rows: &[Row], most: u32) -> Result<Found<1>, Problem> {
    let last = rows.last().map(|row| row.try_get(1)).transpose()?;
    Ok(Found { now, last: [last], is_full: rows.len() >= most as usize })
}

/// The same to what is kept no longer. Whether there may be more.
pub(super) async fn sweep_kept(db: &Session, sweep: Sweep) -> Result<bool, Problem> {
    let Some(now) = is_mine(db).await? else { return Ok(false) };
    let pruned = prune(db, now, now.saturating_sub(sweep.keep_for_ms), sweep.most).await?;
    Ok(pruned >= sweep.most as usize)
}

/// The checkouts that changed.
async fn give_up_sending(db: &Session, overdue: &[PaymentId]) -> Result<Vec<CheckoutId>, Problem> {
    if overdue.is_empty() {
        return Ok(Vec::new());
    }
    let mut opened = books::open(db, Of::Payments(overdue), With::default()).await?;
    let mut changed = Vec::new();
    for id in overdue {
        // Nobody reads what is damaged.
        let Ok((changes, book, at)) = opened.at(id) else { continue };
        if questions::give_up_sending(changes, book, at)? {
            changed.push(book.head.id.clone());
        }
    }
    save(db, &opened.changes, &opened.books);
    Ok(changed)
}

async fn expire(db: &Session, expiring: &[CheckoutId]) -> Result<Vec<CheckoutId>, Problem> {
    if expiring.is_empty() {
        return Ok(Vec::new());
    }
    let mut opened = books::open(db, Of::Checkouts(expiring), With::default()).await?;
    let mut changed = Vec::new();
    for book in &mut opened.books {
        if ending::expire(&mut opened.changes, book)? {
            changed.push(book.head.id.clone());
        }
    }
    save(db, &opened.changes, &opened.books);
    Ok(changed)
}

/// How many are due, as far as somebody wants them, and when the next one is.
const DUE: &str = "SELECT
        (SELECT COUNT(*) FROM (SELECT 1 FROM due WHERE class = 0 AND at <= now AND at >= $1 LIMIT $4) AS hinted)
        + (SELECT COUNT(*) FROM (SELECT 1 FROM due WHERE class = 1 AND at <= now AND at >= $2 LIMIT $4) AS fresh)
        + (SELECT COUNT(*) FROM (SELECT 1 FROM due WHERE class = 2 AND at <= now AND at >= $3 LIMIT $4) AS old), now
    FROM (SELECT now_ms() AS now OFFSET 0) AS moment";
/// The most urgent first; what somebody else takes at the same moment is left to them. The inner query reads each class by
/// its index, and no more of it than is taken.
const LEASE: &str = "WITH taken AS MATERIALIZED (
        SELECT found.payment_id, classes.class, found.at
        FROM (VALUES (0::smallint, $3::bigint), (1::smallint, $4::bigint), (2::smallint, $5::bigint))
            AS classes (class, since)
        CROSS JOIN LATERAL (
            SELECT due.payment_id, due.at FROM due
            WHERE due.class = classes.class AND due.at <= $1 AND due.at >= classes.since
            ORDER BY due.at LIMIT $2 FOR UPDATE SKIP LOCKED
        ) AS found
        LIMIT $2
    ), leased AS (
        UPDATE due SET at = $6 FROM taken WHERE due.payment_id = taken.payment_id
    )
    SELECT payment_id, class, at FROM taken ORDER BY class, at";
const NEXT: &str = "SELECT MIN(at) FROM (
        (SELECT at FROM due WHERE class = 0 AND at >= $1 ORDER BY at LIMIT 1) UNION ALL
        (SELECT at FROM due WHERE class = 1 AND at >= $2 ORDER BY at LIMIT 1) UNION ALL
        (SELECT at FROM due WHERE class = 2 AND at >= $3 ORDER BY at LIMIT 1)) AS next";
const ASKED: &str = rows::payments!("id = ANY($1)");

/// Classes of questions, each a queue.
pub(super) const CLASSES: usize = 3;

/// What is due.
pub(super) struct Due {
    /// How many, up to what is wanted.
    pub(super) count: u32,
    pub(super) now: Millis,
    pub(super) next_in_ms: Option<Millis>,
}

/// Looks what is due, and locks nothing: a server that has nothing to ask keeps nobody waiting.
pub(super) async fn due(db: &Session, look: &Look<CLASSES>, most: u32) -> Result<Due, Problem> {
    let ([hinted, fresh, old], most_of_each) = (look.since, i64::from(most));
    let found = db
        .together(vec![(DUE, vec![&hinted, &fresh, &old, &most_of_each]), (NEXT, vec![&hinted, &fresh, &old])])
        .await?;
    let row = found[0].first().ok_or_else(|| StorageError::failed("a row is missing"))?;
    let (count, now): (i64, Millis) = (row.try_get(0)?, row.try_get(1)?);
    let next: Option<Millis> = first(found.get(1))?;
    let count = u32::try_from(count).unwrap_or(u32::MAX).min(most);
    Ok(Due { count, now, next_in_ms: next.map(|at| (at - now).max(0)) })
}

/// What is leased, and how many of them at most.
pub(super) struct Lease {
    pub(super) look: Look<CLASSES>,
    pub(super) now: Millis,
    pub(super) most: u32,
    pub(super) lease_ms: Millis,
}

/// What was leased, and where the look came to.
pub(super) struct Leased {
    pub(super) questions: Vec<Question>,
    pub(super) next_in_ms: Option<Millis>,
    pub(super) found: Found<CLASSES>,
}

/// The lease is the schedule: a question that nobody settles is asked again at its end. So the commit need not wait for the
/// disk: a lease that a power cut takes away is taken again.
pub(super) async fn lease(db: &Session, lease: &Lease) -> Result<Leased, Problem> {
    let ([hinted, fresh, old], now) = (lease.look.since, lease.now);
    let leased_until = now.saturating_add(lease.lease_ms);
    let most = i64::from(lease.most);
    let found = db
        .together(vec![
            (NOT_ON_DISK, vec![]),
            (LEASE, vec![&now, &most, &hinted, &fresh, &old, &leased_until]),
            (NEXT, vec![&hinted, &fresh, &old]),
        ])
        .await?;
    let (mut ids, mut last): (Vec<&str>, _) = (Vec::new(), [None; CLASSES]);
    for row in &found[1] {
        let class: i16 = row.try_get(1)?;
        if let Some(last) = usize::try_from(class).ok().and_then(|class| last.get_mut(class)) {
            *last = Some(row.try_get(2)?);
        }
        ids.push(row.try_get(0)?);
    }
    let next: Option<Millis> = first(found.get(2))?;
    let questions = if ids.is_empty() {
        Vec::new()
    } else {
        let asked = db.together(vec![(ASKED, vec![&ids]), (books::CLAIMS, vec![&ids])]).await?;
        questions_of(db, &ids, leased_until, &asked[0], &asked[1])?
    };
    let found = Found { now, last, is_full: ids.len() >= lease.most as usize };
    Ok(Leased { questions, next_in_ms: next.map(|at| (at - now).max(0)), found })
}

/// What to ask, in the order of the leases. Where there is nothing to ask, it is not asked again.
fn questions_of(
    db: &Session,
    leased: &[&str],
    leased_until: Millis,
    payments: &[Row],
    claims: &[Row],
) -> Result<Vec<Question>, Problem> {
    let mut kept: HashMap<&str, Kept> = HashMap::new();
    for row in payments {
        let id = row.try_get(0)?;
        kept.extend(unless_damaged(id, rows::kept(row))?.map(|one| (id, one)));
    }
    for row in claims {
        if let Some(kept) = kept.get_mut(row.try_get::<_, &str>(0)?) {
            kept.claims.push(books::claim(row)?);
        }
    }
    let (mut questions, mut nothing) = (Vec::new(), Vec::new());
    for id in leased {
        let Some(kept) = kept.remove(id) else { continue };
        let (payment, checkout) = (kept.payment.id.clone(), kept.payment.checkout.clone());
        let ask = questions::what_to_ask(kept);
        if ask.is_empty() {
            nothing.push(*id);
        } else {
            questions.push(Question { payment, checkout, leased_until, ask });
        }
    }
    forget_due(db, &nothing);
    Ok(questions)
}

/// Its row cannot be read, which was told, or is no longer with its checkout. The others are settled all the same.
fn not_there(answered: &Answered) {
    let (payment, checkout) = (answered.payment.as_str(), answered.checkout.as_str());
    tracing::error!(target: "kassa_server", payment, checkout, "an answer cannot be written down: a person has to look");
}

/// All answers are one batch: so many statements, however many they are.
pub(super) async fn settle(db: &Session, answers: &[Answered]) -> Result<(SettledMany, Heard), Problem> {
    let ids: Vec<PaymentId> = answers.iter().map(|answered| answered.payment.clone()).collect();
    let numbers = answers.iter().flat_map(questions::numbers_of_answered).collect();
    let checkouts: Vec<CheckoutId> = answers.iter().map(|answered| answered.checkout.clone()).collect();
    let mut opened = books::open(db, Of::Checkouts(&checkouts), With { numbers, key: None, due: &ids }).await?;
    let mut changed = Vec::new();
    for answered in answers {
        let Ok((changes, book, at)) = opened.at(&answered.payment) else {
            not_there(answered);
            continue;
        };
        if questions::settle(changes, book, at, answered)? {
            changed.push(book.head.id.clone());
        }
    }
    save(db, &opened.changes, &opened.books);
    Ok((SettledMany { changed }, questions::heard_of(answers)))
}
