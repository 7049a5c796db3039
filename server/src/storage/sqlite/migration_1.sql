CREATE TABLE checkouts (
    id TEXT PRIMARY KEY NOT NULL,
    reference TEXT NOT NULL UNIQUE,
    fingerprint BLOB NOT NULL,
    amount TEXT NOT NULL,
    currency TEXT NOT NULL,
    description TEXT NOT NULL,
    methods TEXT NOT NULL,
    return_url TEXT NOT NULL,
    metadata TEXT NOT NULL,
    callback_secret TEXT NOT NULL UNIQUE,
    -- The end of its hosted page's address. Who asks for the checkout again gets the same one, so it is no hash.
    page_secret TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 0,
    -- How many events are about the checkout alone.
    events INTEGER NOT NULL DEFAULT 0,
    opened_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- When to look whether it expires: later than it should where something of it is under way.
    expiry_due_at INTEGER NOT NULL,
    -- When it ended, as long as the idempotency keys of its payments are kept.
    keys_kept_since INTEGER,
    paid_by TEXT,
    is_overpaid INTEGER NOT NULL DEFAULT 0,
    -- How many payments too many it was paid by, of which nobody has said yet that the money was given back.
    refunds_due INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The staff's lists: the newest first, all or those of one state.
CREATE INDEX checkouts_by_opening ON checkouts (opened_at, id);
CREATE INDEX checkouts_by_state ON checkouts (state, opened_at, id);
CREATE INDEX checkouts_to_refund ON checkouts (id) WHERE refunds_due > 0;

CREATE INDEX checkouts_that_expire ON checkouts (expiry_due_at) WHERE state = 'open';

CREATE INDEX checkouts_to_prune ON checkouts (keys_kept_since) WHERE keys_kept_since IS NOT NULL;

CREATE TABLE payments (
    id TEXT PRIMARY KEY NOT NULL,
    checkout_id TEXT NOT NULL REFERENCES checkouts (id),
    number INTEGER NOT NULL,
    method TEXT NOT NULL,
    state TEXT NOT NULL,
    -- The core's PaymentRef, as text.
    reference TEXT NOT NULL,
    order_number TEXT UNIQUE,
    -- Out of the reference, for who looks a payment up by them.
    gateway_number TEXT,
    transaction_id TEXT,
    page_url TEXT,
    qr_text TEXT,
    -- Nothing else of a card is kept.
    card_last4 TEXT,
    -- Nothing else of a phone is kept.
    phone_last2 TEXT,
    failure_kind TEXT,
    failure_code TEXT,
    failure_reason TEXT,
    begun_at INTEGER NOT NULL,
    -- When it is no longer sent (prepared), or its sender has no answer (sending).
    until INTEGER NOT NULL,
    -- Who alone may send it, and say what came of it.
    sender TEXT NOT NULL,
    attempts_left INTEGER NOT NULL,
    -- Reports in a row that contradict what was asked for, or cannot be verified, and when the last one was counted.
    mismatches INTEGER NOT NULL DEFAULT 0,
    mismatch_at INTEGER NOT NULL DEFAULT 0,
    -- A hint came before the answer to the request that makes it.
    is_hinted INTEGER NOT NULL DEFAULT 0,
    is_stuck INTEGER NOT NULL DEFAULT 0,
    -- A charge was reported that cannot be believed, and no person has decided yet.
    is_in_doubt INTEGER NOT NULL DEFAULT 0,
    -- Since when nobody knows what became of it, while that is so.
    unknown_since INTEGER,
    -- A person decided what became of it; the gateway did not.
    is_resolved INTEGER NOT NULL DEFAULT 0,
    -- Its payer went another way: another payment was begun instead of it, and it takes no one-time password any more.
    is_replaced INTEGER NOT NULL DEFAULT 0,
    -- How many events are about it.
    events INTEGER NOT NULL DEFAULT 0,
    UNIQUE (checkout_id, number)
) STRICT;

-- A checkout has at most one payment that may still take money. A pay-form's page can be paid late, whatever we do, and so can
-- the QR code that its payer left for another way.
-- (OR and not IN: for a list SQLite makes a table each time that it looks whether a row belongs into the index.)
CREATE UNIQUE INDEX one_that_may_take_money ON payments (checkout_id)
    WHERE method <> 'pay_form' AND is_replaced = 0
    AND (state = 'prepared' OR state = 'sending' OR state = 'unknown' OR state = 'awaiting' OR state = 'confirming');

CREATE INDEX payments_on_their_way ON payments (until) WHERE state IN ('prepared', 'sending');

-- For counting them.
CREATE INDEX payments_that_may_take_money ON payments (state)
    WHERE (state = 'prepared' OR state = 'sending' OR state = 'unknown' OR state = 'awaiting'
        OR state = 'confirming' OR state = 'mismatch' OR state = 'unverifiable');
CREATE INDEX payments_that_are_stuck ON payments (state) WHERE is_stuck = 1;

-- What a person has to look at.
CREATE INDEX payments_unknown ON payments (unknown_since) WHERE unknown_since IS NOT NULL;
CREATE INDEX payments_mismatch ON payments (checkout_id) WHERE state = 'mismatch';
CREATE INDEX payments_in_doubt ON payments (checkout_id) WHERE is_in_doubt = 1;

CREATE INDEX payments_by_gateway_number ON payments (gateway_number) WHERE gateway_number IS NOT NULL;
CREATE INDEX payments_by_transaction ON payments (transaction_id) WHERE transaction_id IS NOT NULL;

-- What the gateway was asked about a payment, and what it answered, without secrets. A row is written down within its page.
CREATE TABLE exchanges (
    payment_id TEXT NOT NULL REFERENCES payments (id),
    number INTEGER NOT NULL,
    -- create, confirm, status, callback
    asked TEXT NOT NULL,
    -- The number that was asked by, where a callback claimed it.
    claim TEXT,
    outcome TEXT NOT NULL,
    http_status INTEGER,
    code TEXT,
    words TEXT,
    response TEXT,
    -- The same answer so many times, from the first to the last.
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    times INTEGER NOT NULL,
    -- Who sent the last of them, where it was a request that is sent once.
    sender TEXT,
    PRIMARY KEY (payment_id, number)
) STRICT, WITHOUT ROWID;

-- One payment at the gateway pays for one checkout: each number of the merchant's own, and each claimed one that paid.
CREATE TABLE taken_numbers (
    number TEXT NOT NULL,
    -- order, transaction, page
    kind TEXT NOT NULL,
    payment_id TEXT NOT NULL REFERENCES payments (id),
    PRIMARY KEY (number, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX taken_numbers_of_a_payment ON taken_numbers (payment_id);

-- Numbers that callbacks claim for a pay-form.
CREATE TABLE claims (
    payment_id TEXT NOT NULL REFERENCES payments (id),
    number TEXT NOT NULL,
    provider TEXT,
    -- asked, unknown, pending, rejected, charged, unverifiable, mismatch, other_payment
    state TEXT NOT NULL,
    -- Why a charge is in doubt.
    reason TEXT,
    -- When a callback named it last.
    at INTEGER NOT NULL,
    -- When the gateway answered about it last.
    asked_at INTEGER,
    PRIMARY KEY (payment_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX claims_by_number ON claims (number);

-- Callbacks that were dealt with, by the hash of what makes two of them the same.
CREATE TABLE callbacks (
    payment_id TEXT NOT NULL REFERENCES payments (id),
    same BLOB NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (payment_id, same)
) STRICT, WITHOUT ROWID;

CREATE INDEX callbacks_by_age ON callbacks (at);

-- What the gateway is to be asked about, and when: the lease is the schedule.
CREATE TABLE due (
    payment_id TEXT PRIMARY KEY NOT NULL REFERENCES payments (id),
    at INTEGER NOT NULL,
    -- The class (0 hinted, 1 fresh, 2 old) times four, and the method (0 pay_form, 1 qr, 2 mbank, 3 card).
    queue INTEGER NOT NULL,
    -- From when its age counts: when it was begun, or last hinted at.
    since INTEGER NOT NULL,
    asked_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX due_next ON due (queue, at);

-- The rate of questions, for all workers: of all requests (0), and of each method's (1 pay_form, 2 qr, 3 mbank, 4 card).
CREATE TABLE question_limit (
    bucket INTEGER PRIMARY KEY NOT NULL,
    tokens INTEGER NOT NULL,
    rate INTEGER NOT NULL,
    filled_at INTEGER NOT NULL,
    halved_at INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    recovers_at INTEGER NOT NULL,
    -- Of all requests: how many questions were granted, by which queues take turns.
    turn INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The latest moment that was seen, by which a clock is noticed that is put back.
CREATE TABLE clock (
    only INTEGER PRIMARY KEY NOT NULL CHECK (only = 1),
    seen_at INTEGER NOT NULL
) STRICT;

-- The gateway took no payment of a method, and asked to wait.
CREATE TABLE sending_pauses (
    method TEXT PRIMARY KEY NOT NULL,
    not_before INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    -- One writer: the order of these is the order of commits.
    seq INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    event_id TEXT NOT NULL UNIQUE,
    checkout_id TEXT NOT NULL REFERENCES checkouts (id),
    payment_id TEXT REFERENCES payments (id),
    number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    at INTEGER NOT NULL,
    UNIQUE (checkout_id, version)
) STRICT;

CREATE UNIQUE INDEX events_of_a_payment ON events (payment_id, number) WHERE payment_id IS NOT NULL;
CREATE INDEX events_of_a_stream ON events (checkout_id, seq);
-- For reconciliation and the charts of a day: when payments came to an end, or became unknown, by report or by a person.
CREATE INDEX events_of_ends ON events (at)
    WHERE kind IN ('payment.charged', 'payment.resolved', 'payment.rejected', 'payment.not_made', 'payment.unknown');

-- The delivery of a checkout's events, in order.
CREATE TABLE streams (
    checkout_id TEXT PRIMARY KEY NOT NULL REFERENCES checkouts (id),
    -- The last event that the shop took, or that was stepped over.
    delivered INTEGER NOT NULL DEFAULT 0,
    -- When to deliver the next one; nothing where all were, or where it was given up.
    due_at INTEGER,
    failures INTEGER NOT NULL DEFAULT 0,
    failing_since INTEGER,
    -- How often the shop refused the next one.
    refusals INTEGER NOT NULL DEFAULT 0,
    is_given_up INTEGER NOT NULL DEFAULT 0,
    -- The first one that the shop refused and that was stepped over.
    first_refused INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX streams_due ON streams (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX streams_failing ON streams (failing_since) WHERE failing_since IS NOT NULL AND is_given_up = 0;
CREATE INDEX streams_given_up ON streams (checkout_id) WHERE is_given_up = 1;
CREATE INDEX streams_refused ON streams (checkout_id) WHERE first_refused IS NOT NULL;

-- Events that the shop refused, and that were stepped over, until somebody delivers them again.
CREATE TABLE refused_events (
    seq INTEGER PRIMARY KEY NOT NULL REFERENCES events (seq),
    checkout_id TEXT NOT NULL REFERENCES checkouts (id),
    at INTEGER NOT NULL,
    -- What the shop said last.
    reason TEXT NOT NULL
) STRICT;

CREATE INDEX refused_events_of_a_checkout ON refused_events (checkout_id);

-- Client tokens, by their SHA-256 alone.
CREATE TABLE tokens (
    hash BLOB PRIMARY KEY NOT NULL,
    checkout_id TEXT NOT NULL REFERENCES checkouts (id),
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX tokens_of_a_checkout ON tokens (checkout_id);
CREATE INDEX tokens_by_age ON tokens (expires_at);

-- Keys of the shop's back ends, and of people of the merchant's (staff), by their SHA-256 alone.
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY NOT NULL,
    -- shop, staff
    role TEXT NOT NULL,
    -- look, decide: what a person may do on the staff's pages.
    may TEXT NOT NULL,
    name TEXT NOT NULL,
    hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- Who of the staff is logged in, by the SHA-256 of the session's token alone. Here and not in memory, as any server may answer.
CREATE TABLE staff_sessions (
    hash BLOB PRIMARY KEY NOT NULL,
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    made_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX staff_sessions_of_a_key ON staff_sessions (key_id);
CREATE INDEX staff_sessions_by_age ON staff_sessions (expires_at);

CREATE TABLE idempotency (
    checkout_id TEXT NOT NULL REFERENCES checkouts (id),
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    payment_id TEXT NOT NULL REFERENCES payments (id),
    PRIMARY KEY (checkout_id, key)
) STRICT, WITHOUT ROWID;
