-- The moment, in milliseconds since the beginning of 1970. The database's clock says what is due, for all servers.
CREATE FUNCTION now_ms() RETURNS BIGINT LANGUAGE SQL VOLATILE
    AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- Texts are compared byte by byte, whatever the database's language. Of what is written with its parent, in one transaction,
-- no foreign key is looked after: each costs a look at another table for each row.
CREATE TABLE checkouts (
    id TEXT COLLATE "C" PRIMARY KEY,
    reference TEXT COLLATE "C" NOT NULL UNIQUE,
    fingerprint BYTEA NOT NULL,
    amount TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    methods TEXT COLLATE "C" NOT NULL,
    return_url TEXT COLLATE "C" NOT NULL,
    metadata TEXT COLLATE "C" NOT NULL,
    callback_secret TEXT COLLATE "C" NOT NULL UNIQUE,
    -- The end of its hosted page's address. Who asks for the checkout again gets the same one, so it is no hash.
    page_secret TEXT COLLATE "C" NOT NULL UNIQUE,
    state TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL DEFAULT 0,
    -- How many events are about the checkout alone.
    events BIGINT NOT NULL DEFAULT 0,
    opened_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- When to look whether it expires: later than it should where something of it is under way.
    expiry_due_at BIGINT NOT NULL,
    -- When it ended, as long as the idempotency keys of its payments are kept.
    keys_kept_since BIGINT,
    paid_by TEXT COLLATE "C",
    is_overpaid BOOLEAN NOT NULL DEFAULT FALSE,
    -- How many payments too many it was paid by, of which nobody has said yet that the money was given back.
    refunds_due BIGINT NOT NULL DEFAULT 0
-- Room for its next version beside it: each event writes one (HOT).
) WITH (fillfactor = 80);

-- The staff's lists: the newest first, all or those of one state.
CREATE INDEX checkouts_by_opening ON checkouts (opened_at, id);
CREATE INDEX checkouts_by_state ON checkouts (state, opened_at, id);
CREATE INDEX checkouts_to_refund ON checkouts (id) WHERE refunds_due > 0;

CREATE INDEX checkouts_that_expire ON checkouts (expiry_due_at) WHERE state = 'open';

CREATE INDEX checkouts_to_prune ON checkouts (keys_kept_since) WHERE keys_kept_since IS NOT NULL;

CREATE TABLE payments (
    id TEXT COLLATE "C" PRIMARY KEY,
    checkout_id TEXT COLLATE "C" NOT NULL REFERENCES checkouts (id),
    number BIGINT NOT NULL,
    method TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    -- The core's PaymentRef, as text.
    reference TEXT COLLATE "C" NOT NULL,
    order_number TEXT COLLATE "C" UNIQUE,
    -- Out of the reference, for who looks a payment up by them.
    gateway_number TEXT COLLATE "C",
    transaction_id TEXT COLLATE "C",
    page_url TEXT COLLATE "C",
    qr_text TEXT COLLATE "C",
    -- Nothing else of a card is kept.
    card_last4 TEXT COLLATE "C",
    -- Nothing else of a phone is kept.
    phone_last2 TEXT COLLATE "C",
    failure_kind TEXT COLLATE "C",
    failure_code TEXT COLLATE "C",
    failure_reason TEXT COLLATE "C",
    begun_at BIGINT NOT NULL,
    -- When it is no longer sent (prepared), or its sender has no answer (sending).
    until BIGINT NOT NULL,
    -- Who alone may send it, and say what came of it.
    sender TEXT COLLATE "C" NOT NULL,
    attempts_left BIGINT NOT NULL,
    -- Mismatches in a row.
    mismatches BIGINT NOT NULL DEFAULT 0,
    mismatch_at BIGINT NOT NULL DEFAULT 0,
    -- A hint came before the answer to the request that makes it.
    is_hinted BOOLEAN NOT NULL DEFAULT FALSE,
    is_stuck BOOLEAN NOT NULL DEFAULT FALSE,
    -- A charge was reported that cannot be believed, and no person has decided yet.
    is_in_doubt BOOLEAN NOT NULL DEFAULT FALSE,
    -- Since when nobody knows what became of it, while that is so.
    unknown_since BIGINT,
    -- A person decided what became of it; the gateway did not.
    is_resolved BOOLEAN NOT NULL DEFAULT FALSE,
    -- Its payer went another way: another payment was begun instead of it, and it takes no one-time password any more.
    is_replaced BOOLEAN NOT NULL DEFAULT FALSE,
    -- How many events are about it.
    events BIGINT NOT NULL DEFAULT 0,
    UNIQUE (checkout_id, number)
) WITH (fillfactor = 80);

-- A checkout has at most one payment that may still take money. A pay-form's page can be paid late, whatever we do, and so can
-- the QR code that its payer left for another way.
CREATE UNIQUE INDEX one_that_may_take_money ON payments (checkout_id)
    WHERE method <> 'pay_form' AND NOT is_replaced AND state IN ('prepared', 'sending', 'unknown', 'awaiting', 'confirming');

CREATE INDEX payments_on_their_way ON payments (until) WHERE state IN ('prepared', 'sending');

-- For counting them.
CREATE INDEX payments_that_may_take_money ON payments (state)
    WHERE state IN ('prepared', 'sending', 'unknown', 'awaiting', 'confirming', 'mismatch', 'unverifiable');
CREATE INDEX payments_that_are_stuck ON payments (state) WHERE is_stuck;

-- What a person has to look at.
CREATE INDEX payments_unknown ON payments (unknown_since) WHERE unknown_since IS NOT NULL;
CREATE INDEX payments_mismatch ON payments (checkout_id) WHERE state = 'mismatch';
CREATE INDEX payments_in_doubt ON payments (checkout_id) WHERE is_in_doubt;

CREATE INDEX payments_by_gateway_number ON payments (gateway_number) WHERE gateway_number IS NOT NULL;
CREATE INDEX payments_by_transaction ON payments (transaction_id) WHERE transaction_id IS NOT NULL;

-- What the gateway was asked about a payment, and what it answered, without secrets. A row is written down within its page.
CREATE TABLE exchanges (
    payment_id TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    -- create, confirm, status, callback
    asked TEXT COLLATE "C" NOT NULL,
    -- The number that was asked by, where a callback claimed it.
    claim TEXT COLLATE "C",
    outcome TEXT COLLATE "C" NOT NULL,
    http_status BIGINT,
    code TEXT COLLATE "C",
    words TEXT COLLATE "C",
    response TEXT COLLATE "C",
    -- The same answer so many times, from the first to the last.
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    times BIGINT NOT NULL,
    -- Who sent the last of them, where it was a request that is sent once.
    sender TEXT COLLATE "C",
    PRIMARY KEY (payment_id, number)
-- Room for its next version beside it: each time the same is answered writes one (HOT).
) WITH (fillfactor = 80);

-- One payment at the gateway pays for one checkout: each number of the merchant's own, and each claimed one that paid.
CREATE TABLE taken_numbers (
    number TEXT COLLATE "C" NOT NULL,
    -- order, transaction, page
    kind TEXT COLLATE "C" NOT NULL,
    payment_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (number, kind)
);

CREATE INDEX taken_numbers_of_a_payment ON taken_numbers (payment_id);

-- Numbers that callbacks claim for a pay-form.
CREATE TABLE claims (
    payment_id TEXT COLLATE "C" NOT NULL,
    number TEXT COLLATE "C" NOT NULL,
    provider TEXT COLLATE "C",
    -- asked, unknown, pending, rejected, charged, unverifiable, mismatch, other_payment
    state TEXT COLLATE "C" NOT NULL,
    -- Why a charge is in doubt.
    reason TEXT,
    -- When a callback named it last.
    at BIGINT NOT NULL,
    -- When the gateway answered about it last.
    asked_at BIGINT,
    PRIMARY KEY (payment_id, number)
);

CREATE INDEX claims_by_number ON claims (number);

-- Callbacks that were dealt with, by the hash of what makes two of them the same.
CREATE TABLE callbacks (
    payment_id TEXT COLLATE "C" NOT NULL,
    same BYTEA NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (payment_id, same)
);

CREATE INDEX callbacks_by_age ON callbacks (at);

-- What the gateway is to be asked about, and when: the lease is the schedule. Narrow, as it is written again at each question:
-- room in its pages for new versions of rows, and cleaned often.
CREATE TABLE due (
    payment_id TEXT COLLATE "C" PRIMARY KEY,
    at BIGINT NOT NULL,
    -- The class (0 hinted, 1 fresh, 2 old) times four, and the method (0 pay_form, 1 qr, 2 mbank, 3 card).
    queue SMALLINT NOT NULL,
    -- From when its age counts: when it was begun, or last hinted at.
    since BIGINT NOT NULL,
    asked_at BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX due_next ON due (queue, at);

-- The rate of questions, for all workers: of all requests (0), and of each method's (1 pay_form, 2 qr, 3 mbank, 4 card).
CREATE TABLE question_limit (
    bucket SMALLINT PRIMARY KEY,
    tokens BIGINT NOT NULL,
    rate BIGINT NOT NULL,
    filled_at BIGINT NOT NULL,
    halved_at BIGINT NOT NULL,
    not_before BIGINT NOT NULL,
    recovers_at BIGINT NOT NULL,
    -- Of all requests: how many questions were granted, by which queues take turns.
    turn BIGINT NOT NULL DEFAULT 0
);

-- They fill at once.
INSERT INTO question_limit SELECT bucket, 0, 0, 0, 0, 0, 0 FROM generate_series(0, 4) AS bucket;

-- The latest moment that was seen, by which a clock is noticed that is put back.
CREATE TABLE clock (
    single SMALLINT PRIMARY KEY CHECK (single = 1),
    seen_at BIGINT NOT NULL
);

-- The gateway took no payment of a method, and asked to wait.
CREATE TABLE sending_pauses (
    method TEXT COLLATE "C" PRIMARY KEY,
    not_before BIGINT NOT NULL
);


CREATE TABLE events (
    -- Not the order of commits: another transaction that was given a lower one may come later.
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The place in the feed. Whoever reads the feed gives it, to what is committed by then: so nothing comes in behind a reader.
    seq BIGINT,
    event_id TEXT COLLATE "C" NOT NULL,
    checkout_id TEXT COLLATE "C" NOT NULL,
    payment_id TEXT COLLATE "C",
    number BIGINT NOT NULL,
    -- The checkout's. The order of its events, and their places in its stream.
    version BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    -- Of two who change a checkout at once, this refuses one.
    UNIQUE (checkout_id, version)
);

CREATE UNIQUE INDEX events_of_the_feed ON events (seq) WHERE seq IS NOT NULL;
CREATE INDEX events_not_in_the_feed ON events (id) WHERE seq IS NULL;
CREATE UNIQUE INDEX events_of_a_payment ON events (payment_id, number) WHERE payment_id IS NOT NULL;
-- For reconciliation and the charts of a day: when payments came to an end, or became unknown, by report or by a person.
CREATE INDEX events_of_ends ON events (at)
    WHERE kind IN ('payment.charged', 'payment.resolved', 'payment.rejected', 'payment.not_made', 'payment.unknown');

-- The delivery of a checkout's events, in order.
CREATE TABLE streams (
    checkout_id TEXT COLLATE "C" PRIMARY KEY,
    -- The version of the last event that the shop took, or that was stepped over.
    delivered BIGINT NOT NULL DEFAULT 0,
    -- When to deliver the next one; nothing where all were, or where it was given up.
    due_at BIGINT,
    failures BIGINT NOT NULL DEFAULT 0,
    failing_since BIGINT,
    -- How often the shop refused the next one.
    refusals BIGINT NOT NULL DEFAULT 0,
    is_given_up BOOLEAN NOT NULL DEFAULT FALSE,
    -- The version of the first one that the shop refused and that was stepped over.
    first_refused BIGINT
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX streams_due ON streams (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX streams_failing ON streams (failing_since) WHERE failing_since IS NOT NULL AND NOT is_given_up;
CREATE INDEX streams_given_up ON streams (checkout_id) WHERE is_given_up;
CREATE INDEX streams_refused ON streams (checkout_id) WHERE first_refused IS NOT NULL;

-- Events that the shop refused, and that were stepped over, until somebody delivers them again.
CREATE TABLE refused_events (
    checkout_id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    at BIGINT NOT NULL,
    -- What the shop said last.
    reason TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (checkout_id, version)
);

-- Client tokens, by their SHA-256 alone.
CREATE TABLE tokens (
    hash BYTEA PRIMARY KEY,
    checkout_id TEXT COLLATE "C" NOT NULL REFERENCES checkouts (id),
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT
);

CREATE INDEX tokens_of_a_checkout ON tokens (checkout_id);
CREATE INDEX tokens_by_age ON tokens (expires_at);

-- Keys of the shop's back ends, and of people of the merchant's (staff), by their SHA-256 alone.
CREATE TABLE api_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    -- shop, staff
    role TEXT COLLATE "C" NOT NULL,
    -- look, decide: what a person may do on the staff's pages.
    may TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    hash BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

-- Who of the staff is logged in, by the SHA-256 of the session's token alone. Here and not in memory, as any server may answer.
CREATE TABLE staff_sessions (
    hash BYTEA PRIMARY KEY,
    key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id),
    made_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX staff_sessions_of_a_key ON staff_sessions (key_id);
CREATE INDEX staff_sessions_by_age ON staff_sessions (expires_at);

CREATE TABLE idempotency (
    checkout_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL,
    payment_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (checkout_id, key)
);
