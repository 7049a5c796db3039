//! Transactions about following: what time does, what is asked, what was answered.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::{
    books::{self, NOW, Of, With, unless_damaged},
    horizon::{Horizons, Queue, Since},
    limit,
    problem::Problem,
    pruning::prune,
    rows,
    saving::{forget_due, save},
    session::{NOT_ON_DISK, Session, first},
};
use crate::{
    pace::limit::Bucket,
    storage::{
        book::{Kept, ending, questions},
        inputs::{Answered, ClaimQuestions, Sweep},
        outputs::{Question, Questions, SettledMany, Swept},
    },
    values::{
        Millis,
        ids::{CheckoutId, PaymentId},
    },
};

/// One server sweeps at a time: what one does, the others would only wait for.
const TRY_SWEEP: &str = "SELECT pg_try_advisory_xact_lock(hashtextextended('kassa sweep', 0)), now_ms()";
const OVERDUE: &str = "SELECT id FROM payments
    WHERE state IN ('prepared', 'sending') AND until <= $1 ORDER BY until LIMIT $2";
const EXPIRING: &str = "SELECT id FROM checkouts
    WHERE state = 'open' AND expiry_due_at <= $1 ORDER BY expiry_due_at LIMIT $2";

pub(super) async fn sweep(db: &Session, sweep: Sweep) -> Result<Swept, Problem> {
    let (is_mine, now): (bool, Millis) = match db.row(TRY_SWEEP, &[]).await? {
        Some(row) => (row.try_get(0)?, row.try_get(1)?),
        None => (false, 0),
    };
    if !is_mine {
        return Ok(Swept::default());
    }
    let most = i64::from(sweep.most);
    let found = db.together(vec![(OVERDUE, vec![&now, &most]), (EXPIRING, vec![&now, &most])]).await?;
    let [overdue, expiring] = <[_; 2]>::try_from(found).unwrap_or_default();
    let overdue = overdue.iter().map(|row| rows::id(row, "payment")).collect::<Result<Vec<PaymentId>, _>>()?;
    let expiring = expiring.iter().map(|row| rows::id(row, "checkout")).collect::<Result<Vec<CheckoutId>, _>>()?;
    let mut changed = give_up_sending(db, &overdue).await?;
    // What was given up may be of a checkout that expires.
    db.flush().await?;
    changed.extend(expire(db, &expiring).await?);
    let pruned = prune(db, now, now.saturating_sub(sweep.keep_for_ms), sweep.most).await?;
    let is_more = overdue.len().max(expiring.len()).max(pruned) >= sweep.most as usize;
    Ok(Swept { changed, is_more })
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
const CLAIMS: &str = "SELECT payment_id, number, provider FROM claims
    WHERE payment_id = ANY($1) AND state <> 'taken' ORDER BY at DESC";

/// The lease is the schedule: a question that nobody settles is asked again at its end. So the commit need not wait for the
/// disk: a lease that a power cut takes away is taken again.
pub(super) async fn claim(db: &Session, horizons: &Horizons, claim: &ClaimQuestions) -> Result<Questions, Problem> {
    let found = db.together(vec![(NOT_ON_DISK, vec![]), (limit::BUCKET, vec![]), (NOW, vec![])]).await?;
    let now: Millis = first(found.get(2))?;
    let before = limit::bucket(found.get(1).map_or(&[], Vec::as_slice))?;
    let (bucket, granted) = before.take(claim.most, claim.per_second, now);
    let since = horizons.since(now);
    let leased_until = now.saturating_add(claim.lease_ms);
    let leased = match granted {
        0 => Vec::new(),
        _ => lease(db, horizons, now, (granted, leased_until), &since).await?,
    };
    let ids: Vec<&str> = leased.iter().map(String::as_str).collect();
    let [hinted, fresh, old] = since.classes();
    let next = (NEXT, vec![&hinted as _, &fresh as _, &old as _]);
    let (next, questions) = if ids.is_empty() {
        (db.together(vec![next]).await?, Vec::new())
    } else {
        let mut found = db.together(vec![next, (ASKED, vec![&ids]), (CLAIMS, vec![&ids])]).await?;
        let claims = found.pop().unwrap_or_default();
        let questions = questions_of(db, &leased, leased_until, &found.pop().unwrap_or_default(), &claims)?;
        (found, questions)
    };
    let used = questions.iter().map(|question: &Question| question.ask.len() as i64).sum();
    let limited = note_used(db, (before, bucket), granted, used, now);
    let next: Option<Millis> = first(next.first())?;
    let next_in_ms = next.map(|at| (at - now).max(limited.unwrap_or(0)).max(0));
    Ok(Questions { questions, next_in_ms })
}

/// Takes so many.
async fn lease(
    db: &Session,
    horizons: &Horizons,
    now: Millis,
    (most, leased_until): (u32, Millis),
    since: &Since,
) -> Result<Vec<String>, Problem> {
    let [hinted, fresh, old] = since.classes();
    let rows = db.rows(LEASE, &[&now, &i64::from(most), &hinted, &fresh, &old, &leased_until]).await?;
    for row in &rows {
        horizons.taken(Queue::of_class(row.try_get(1)?), row.try_get(2)?);
    }
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// What to ask, in the order of the leases. Where there is nothing to ask, it is not asked again.
fn questions_of(
    db: &Session,
    leased: &[String],
    leased_until: Millis,
    payments: &[Row],
    claims: &[Row],
) -> Result<Vec<Question>, Problem> {
    let mut kept: HashMap<&str, Kept> = HashMap::new();
    for row in payments {
        let id = row.try_get(0)?;
        kept.extend(unless_damaged(id, rows::kept(row))?.map(|one| (id, one)));
    }
    let mut claimed: HashMap<&str, Vec<(String, Option<String>)>> = HashMap::new();
    for row in claims {
        claimed.entry(row.try_get(0)?).or_default().push((row.try_get(1)?, row.try_get(2)?));
    }
    let (mut questions, mut nothing) = (Vec::new(), Vec::new());
    for id in leased {
        let Some(kept) = kept.remove(id.as_str()) else { continue };
        let payment = kept.payment.id.clone();
        let ask = questions::what_to_ask(kept.payment, claimed.remove(id.as_str()).unwrap_or_default());
        if ask.is_empty() {
            nothing.push(id.as_str());
        } else {
            questions.push(Question { payment, leased_until, ask });
        }
    }
    forget_due(db, &nothing);
    Ok(questions)
}

/// How long everybody waits, where nothing was granted. Where none was used, nothing is written: the bucket fills from when it
/// was written last. A clock that was put back is noted.
fn note_used(db: &Session, (before, bucket): (Bucket, Bucket), granted: u32, used: i64, now: Millis) -> Option<Millis> {
    let bucket = bucket.corrected(i64::from(granted) - used);
    if used > 0 || before.filled_at > now {
        limit::write(db, &bucket);
    }
    (granted == 0).then(|| bucket.next_at(now) - now)
}

/// All answers are one batch: so many statements, however many they are.
pub(super) async fn settle(db: &Session, answers: &[Answered]) -> Result<SettledMany, Problem> {
    let ids: Vec<PaymentId> = answers.iter().map(|answered| answered.payment.clone()).collect();
    let numbers = answers.iter().flat_map(questions::numbers_of_answered).collect();
    let mut opened = books::open(db, Of::Payments(&ids), With { numbers, key: None, due: &ids }).await?;
    let mut changed = Vec::new();
    for answered in answers {
        let Ok((changes, book, at)) = opened.at(&answered.payment) else { continue };
        if questions::settle(changes, book, at, answered)? {
            changed.push(book.head.id.clone());
        }
    }
    save(db, &opened.changes, &opened.books);
    limit::note_troubles(db, &opened.changes).await?;
    Ok(SettledMany { changed })
}
