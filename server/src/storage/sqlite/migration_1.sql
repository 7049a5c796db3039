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
    -- Last part of the hosted page's address. A repeated request gets the same address, so this is not a hash.
    page_secret TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 0,
    -- Number of events about the checkout itself.
    events INTEGER NOT NULL DEFAULT 0,
    opened_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- When to check for expiry. Later than expires_at while a payment is in flight.
    expiry_due_at INTEGER NOT NULL,
    -- When it ended. Empty once the idempotency keys of its payments are deleted.
    keys_kept_since INTEGER,
    paid_by TEXT,
    is_overpaid INTEGER NOT NULL DEFAULT 0,
    -- Number of surplus charges that staff have not yet marked as refunded.
    refunds_due INTEGER NOT NULL DEFAULT 0
) STRICT;

-- For the staff's lists: newest first, all or one state.
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
    -- From the reference, to find a payment by them.
    gateway_number TEXT,
    transaction_id TEXT,
    page_url TEXT,
    qr_text TEXT,
    -- The only card data that is stored.
    card_last4 TEXT,
    -- The last digits of the phone number. Of a mobile bank's phone, nothing else is stored.
    phone_last2 TEXT,
    -- The phone of a MegaPay wallet, which the request with its PIN repeats. Empty as soon as no PIN can be sent any more.
    payer_phone TEXT,
    -- Of a MegaPay wallet: the commission and the total in KGS, and when the PIN expires, if the gateway's response had them.
    commission TEXT,
    total TEXT,
    code_expires_at INTEGER,
    -- When the payer last said, by coming back from the gateway's page or by asking for the result, that they have paid.
    claimed_at INTEGER,
    -- When the server learned of the charge.
    charged_at INTEGER,
    failure_kind TEXT,
    failure_code TEXT,
    failure_reason TEXT,
    begun_at INTEGER NOT NULL,
    -- Deadline: in prepared, for sending it; in sending, for a response.
    until INTEGER NOT NULL,
    -- The only process that may send it and record the result.
    sender TEXT NOT NULL,
    attempts_left INTEGER NOT NULL,
    -- Consecutive reports that mismatch or cannot be verified, and when the last one was counted.
    mismatches INTEGER NOT NULL DEFAULT 0,
    mismatch_at INTEGER NOT NULL DEFAULT 0,
    -- A hint arrived before the response to the request that creates the payment.
    is_hinted INTEGER NOT NULL DEFAULT 0,
    is_stuck INTEGER NOT NULL DEFAULT 0,
    -- The gateway reported a charge that could not be verified, and staff have not decided yet.
    is_in_doubt INTEGER NOT NULL DEFAULT 0,
    -- Since when its outcome is unknown. Empty while it is known.
    unknown_since INTEGER,
    -- The outcome was decided by staff, not reported by the gateway.
    is_resolved INTEGER NOT NULL DEFAULT 0,
    -- Superseded: the payer began another payment, and this one accepts no one-time password any more.
    is_replaced INTEGER NOT NULL DEFAULT 0,
    -- Number of events about the payment.
    events INTEGER NOT NULL DEFAULT 0,
    UNIQUE (checkout_id, number)
) STRICT;

-- A checkout has at most one payment that may still be charged. Exceptions: a pay-form can be paid late at any time, and so can
-- a superseded QR code.
-- (OR instead of IN: for a list, SQLite builds a table each time that it checks whether a row belongs in the index.)
CREATE UNIQUE INDEX one_that_may_take_money ON payments (checkout_id)
    WHERE method <> 'pay_form' AND is_replaced = 0
    AND (state = 'prepared' OR state = 'sending' OR state = 'unknown' OR state = 'awaiting' OR state = 'confirming');

CREATE INDEX payments_on_their_way ON payments (until) WHERE state IN ('prepared', 'sending');

-- To count payments by state.
CREATE INDEX payments_that_may_take_money ON payments (state)
    WHERE (state = 'prepared' OR state = 'sending' OR state = 'unknown' OR state = 'awaiting'
        OR state = 'confirming' OR state = 'mismatch' OR state = 'unverifiable');
CREATE INDEX payments_that_are_stuck ON payments (state) WHERE is_stuck = 1;

-- What staff have to review.
CREATE INDEX payments_unknown ON payments (unknown_since) WHERE unknown_since IS NOT NULL;
CREATE INDEX payments_mismatch ON payments (checkout_id) WHERE state = 'mismatch';
CREATE INDEX payments_in_doubt ON payments (checkout_id) WHERE is_in_doubt = 1;

CREATE INDEX payments_by_gateway_number ON payments (gateway_number) WHERE gateway_number IS NOT NULL;
CREATE INDEX payments_by_transaction ON payments (transaction_id) WHERE transaction_id IS NOT NULL;

-- Requests to the gateway about a payment and its responses, without secrets. A row fits in its page.
CREATE TABLE exchanges (
    payment_id TEXT NOT NULL REFERENCES payments (id),
    number INTEGER NOT NULL,
    -- create, confirm, status, callback
    kind TEXT NOT NULL,
    -- The order number of the query, if a callback claimed it.
    claim TEXT,
    outcome TEXT NOT NULL,
    http_status INTEGER,
    code TEXT,
    words TEXT,
    response TEXT,
    -- How often the same response came, from first_at to last_at.
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    times INTEGER NOT NULL,
    -- The process that sent the last of them, for requests that are sent only once.
    sender TEXT,
    PRIMARY KEY (payment_id, number)
) STRICT, WITHOUT ROWID;

-- One payment at the gateway pays for one checkout. These are the numbers in use: the merchant's own, and claimed ones that were charged.
CREATE TABLE taken_numbers (
    number TEXT NOT NULL,
    -- order, transaction, page
    kind TEXT NOT NULL,
    payment_id TEXT NOT NULL REFERENCES payments (id),
    PRIMARY KEY (number, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX taken_numbers_of_a_payment ON taken_numbers (payment_id);

-- Order numbers that callbacks claimed for a pay-form.
CREATE TABLE claims (
    payment_id TEXT NOT NULL REFERENCES payments (id),
    number TEXT NOT NULL,
    provider TEXT,
    -- querying, unknown, pending, rejected, charged, unverifiable, mismatch, other_payment
    state TEXT NOT NULL,
    -- Why a charge could not be verified.
    reason TEXT,
    -- When a callback last named it.
    at INTEGER NOT NULL,
    -- When the gateway last responded about it.
    queried_at INTEGER,
    PRIMARY KEY (payment_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX claims_by_number ON claims (number);

-- Processed callbacks, by the hash of their deduplication key.
CREATE TABLE callbacks (
    payment_id TEXT NOT NULL REFERENCES payments (id),
    same BLOB NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (payment_id, same)
) STRICT, WITHOUT ROWID;

CREATE INDEX callbacks_by_age ON callbacks (at);

-- Status queries to send, and when. A lease moves the time forward.
CREATE TABLE due (
    payment_id TEXT PRIMARY KEY NOT NULL REFERENCES payments (id),
    at INTEGER NOT NULL,
    -- The class (0 hinted, 1 fresh, 2 old) times five, and the method (0 pay_form, 1 qr, 2 mbank, 3 megapay,
    -- 4 card).
    queue INTEGER NOT NULL,
    -- Start of its age: when the payment began, or when the last hint arrived.
    since INTEGER NOT NULL,
    queried_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX due_next ON due (queue, at);

-- Rate limit of status queries, shared by all workers: all queries (0), and by method (1 pay_form, 2 qr, 3 mbank,
-- 4 megapay, 5 card).
CREATE TABLE question_limit (
    bucket INTEGER PRIMARY KEY NOT NULL,
    tokens INTEGER NOT NULL,
    rate INTEGER NOT NULL,
    filled_at INTEGER NOT NULL,
    halved_at INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    recovers_at INTEGER NOT NULL,
    -- Of bucket 0: number of granted queries, which decides whose turn it is.
    turn INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The latest time seen, to notice a clock that was set back.
CREATE TABLE clock (
    only INTEGER PRIMARY KEY NOT NULL CHECK (only = 1),
    seen_at INTEGER NOT NULL
) STRICT;

-- Methods for which the gateway refused payments and asked to wait.
CREATE TABLE sending_pauses (
    method TEXT PRIMARY KEY NOT NULL,
    not_before INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    -- There is one writer, so this order is the order of commits.
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
-- For reconciliation and the daily charts: when payments ended or became unknown, by report or by staff.
CREATE INDEX events_of_ends ON events (at)
    WHERE kind IN ('payment.charged', 'payment.resolved', 'payment.rejected', 'payment.not_made', 'payment.unknown');

-- Delivery of a checkout's events, in order.
CREATE TABLE streams (
    checkout_id TEXT PRIMARY KEY NOT NULL REFERENCES checkouts (id),
    -- The last event that the shop accepted or that was skipped.
    delivered INTEGER NOT NULL DEFAULT 0,
    -- When to deliver the next one. Empty if all are delivered, or if delivery was given up.
    due_at INTEGER,
    failures INTEGER NOT NULL DEFAULT 0,
    failing_since INTEGER,
    -- How often the shop rejected the next one.
    refusals INTEGER NOT NULL DEFAULT 0,
    is_given_up INTEGER NOT NULL DEFAULT 0,
    -- The first one that the shop rejected and that was skipped.
    first_refused INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX streams_due ON streams (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX streams_failing ON streams (failing_since) WHERE failing_since IS NOT NULL AND is_given_up = 0;
CREATE INDEX streams_given_up ON streams (checkout_id) WHERE is_given_up = 1;
CREATE INDEX streams_refused ON streams (checkout_id) WHERE first_refused IS NOT NULL;

-- Events that the shop rejected and that were skipped, until they are replayed.
CREATE TABLE refused_events (
    seq INTEGER PRIMARY KEY NOT NULL REFERENCES events (seq),
    checkout_id TEXT NOT NULL REFERENCES checkouts (id),
    at INTEGER NOT NULL,
    -- The shop's last response.
    reason TEXT NOT NULL
) STRICT;

CREATE INDEX refused_events_of_a_checkout ON refused_events (checkout_id);

-- Client tokens. Only their SHA-256 is stored.
CREATE TABLE tokens (
    hash BLOB PRIMARY KEY NOT NULL,
    checkout_id TEXT NOT NULL REFERENCES checkouts (id),
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX tokens_of_a_checkout ON tokens (checkout_id);
CREATE INDEX tokens_by_age ON tokens (expires_at);

-- API keys of the shop's back ends and of staff. Only their SHA-256 is stored.
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY NOT NULL,
    -- shop, staff
    role TEXT NOT NULL,
    -- view, decide: permission on the staff pages.
    permission TEXT NOT NULL,
    name TEXT NOT NULL,
    hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- Staff sessions. Only the SHA-256 of the token is stored. Not in memory, because any server of a fleet may answer.
CREATE TABLE staff_sessions (
    hash BLOB PRIMARY KEY NOT NULL,
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    made_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX staff_sessions_of_a_key ON staff_sessions (key_id);
CREATE INDEX staff_sessions_by_age ON staff_sessions (expires_at);

-- How the last statement of the gateway was read: which of its columns is which. One row, as there is one merchant.
CREATE TABLE statement_mapping (
    id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
    mapping TEXT NOT NULL
) STRICT;

-- Callbacks to addresses that no payment of this database has, such as those of payments that began after the backup from which it was
-- restored. Anybody can send them. The newest ones, until a person has looked.
CREATE TABLE unknown_callbacks (
    payment_id TEXT PRIMARY KEY NOT NULL,
    number TEXT,
    amount TEXT,
    status TEXT,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    times INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    checkout_id TEXT NOT NULL REFERENCES checkouts (id),
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    payment_id TEXT NOT NULL REFERENCES payments (id),
    PRIMARY KEY (checkout_id, key)
) STRICT, WITHOUT ROWID;
