-- Unix time in milliseconds. The database's clock decides what is due, for all servers.
CREATE FUNCTION now_ms() RETURNS BIGINT LANGUAGE SQL VOLATILE
    AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- Texts are compared byte by byte, whatever the database's collation. Rows that are written with their parent in one transaction
-- have no foreign key, because each key costs a lookup in another table for each row.
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
    -- Last part of the hosted page's address. A repeated request gets the same address, so this is not a hash.
    page_secret TEXT COLLATE "C" NOT NULL UNIQUE,
    state TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL DEFAULT 0,
    -- Number of events about the checkout itself.
    events BIGINT NOT NULL DEFAULT 0,
    opened_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- When to check for expiry. Later than expires_at while a payment is in flight.
    expiry_due_at BIGINT NOT NULL,
    -- When it ended. Empty once the idempotency keys of its payments are deleted.
    keys_kept_since BIGINT,
    paid_by TEXT COLLATE "C",
    is_overpaid BOOLEAN NOT NULL DEFAULT FALSE,
    -- Number of surplus charges that staff have not yet marked as refunded.
    refunds_due BIGINT NOT NULL DEFAULT 0
-- Leaves room in the page for the next row version (HOT): each event writes one.
) WITH (fillfactor = 80);

-- For the staff's lists: newest first, all or one state.
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
    -- From the reference, to find a payment by them.
    gateway_number TEXT COLLATE "C",
    transaction_id TEXT COLLATE "C",
    page_url TEXT COLLATE "C",
    qr_text TEXT COLLATE "C",
    -- The only card data that is stored.
    card_last4 TEXT COLLATE "C",
    -- The last digits of the phone number. Of a mobile bank's phone, nothing else is stored.
    phone_last2 TEXT COLLATE "C",
    -- The phone of a MegaPay wallet, which the request with its PIN repeats. Empty as soon as no PIN can be sent any more.
    payer_phone TEXT COLLATE "C",
    -- Of a MegaPay wallet: the commission and the total in KGS, and when the PIN expires, if the gateway's response had them.
    commission TEXT COLLATE "C",
    total TEXT COLLATE "C",
    code_expires_at BIGINT,
    -- When the payer last said, by coming back from the gateway's page or by asking for the result, that they have paid.
    claimed_at BIGINT,
    -- When the server learned of the charge.
    charged_at BIGINT,
    failure_kind TEXT COLLATE "C",
    failure_code TEXT COLLATE "C",
    failure_reason TEXT COLLATE "C",
    begun_at BIGINT NOT NULL,
    -- Deadline: in prepared, for sending it; in sending, for a response.
    until BIGINT NOT NULL,
    -- The only process that may send it and record the result.
    sender TEXT COLLATE "C" NOT NULL,
    attempts_left BIGINT NOT NULL,
    -- Consecutive mismatches.
    mismatches BIGINT NOT NULL DEFAULT 0,
    mismatch_at BIGINT NOT NULL DEFAULT 0,
    -- A hint arrived before the response to the request that creates the payment.
    is_hinted BOOLEAN NOT NULL DEFAULT FALSE,
    is_stuck BOOLEAN NOT NULL DEFAULT FALSE,
    -- The gateway reported a charge that could not be verified, and staff have not decided yet.
    is_in_doubt BOOLEAN NOT NULL DEFAULT FALSE,
    -- Since when its outcome is unknown. Empty while it is known.
    unknown_since BIGINT,
    -- The outcome was decided by staff, not reported by the gateway.
    is_resolved BOOLEAN NOT NULL DEFAULT FALSE,
    -- Superseded: the payer began another payment, and this one accepts no one-time password any more.
    is_replaced BOOLEAN NOT NULL DEFAULT FALSE,
    -- Number of events about the payment.
    events BIGINT NOT NULL DEFAULT 0,
    UNIQUE (checkout_id, number)
) WITH (fillfactor = 80);

-- A checkout has at most one payment that may still be charged. Exceptions: a pay-form can be paid late at any time, and so can
-- a superseded QR code.
CREATE UNIQUE INDEX one_that_may_take_money ON payments (checkout_id)
    WHERE method <> 'pay_form' AND NOT is_replaced AND state IN ('prepared', 'sending', 'unknown', 'awaiting', 'confirming');

CREATE INDEX payments_on_their_way ON payments (until) WHERE state IN ('prepared', 'sending');

-- To count payments by state.
CREATE INDEX payments_that_may_take_money ON payments (state)
    WHERE state IN ('prepared', 'sending', 'unknown', 'awaiting', 'confirming', 'mismatch', 'unverifiable');
CREATE INDEX payments_that_are_stuck ON payments (state) WHERE is_stuck;

-- What staff have to review.
CREATE INDEX payments_unknown ON payments (unknown_since) WHERE unknown_since IS NOT NULL;
CREATE INDEX payments_mismatch ON payments (checkout_id) WHERE state = 'mismatch';
CREATE INDEX payments_in_doubt ON payments (checkout_id) WHERE is_in_doubt;

CREATE INDEX payments_by_gateway_number ON payments (gateway_number) WHERE gateway_number IS NOT NULL;
CREATE INDEX payments_by_transaction ON payments (transaction_id) WHERE transaction_id IS NOT NULL;

-- Requests to the gateway about a payment and its responses, without secrets. A row fits in its page.
CREATE TABLE exchanges (
    payment_id TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    -- create, confirm, status, callback
    kind TEXT COLLATE "C" NOT NULL,
    -- The order number of the query, if a callback claimed it.
    claim TEXT COLLATE "C",
    outcome TEXT COLLATE "C" NOT NULL,
    http_status BIGINT,
    code TEXT COLLATE "C",
    words TEXT COLLATE "C",
    response TEXT COLLATE "C",
    -- How often the same response came, from first_at to last_at.
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    times BIGINT NOT NULL,
    -- The process that sent the last of them, for requests that are sent only once.
    sender TEXT COLLATE "C",
    PRIMARY KEY (payment_id, number)
-- Leaves room in the page for the next row version (HOT): each repeated response writes one.
) WITH (fillfactor = 80);

-- One payment at the gateway pays for one checkout. These are the numbers in use: the merchant's own, and claimed ones that were charged.
CREATE TABLE taken_numbers (
    number TEXT COLLATE "C" NOT NULL,
    -- order, transaction, page
    kind TEXT COLLATE "C" NOT NULL,
    payment_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (number, kind)
);

CREATE INDEX taken_numbers_of_a_payment ON taken_numbers (payment_id);

-- Order numbers that callbacks claimed for a pay-form.
CREATE TABLE claims (
    payment_id TEXT COLLATE "C" NOT NULL,
    number TEXT COLLATE "C" NOT NULL,
    provider TEXT COLLATE "C",
    -- querying, unknown, pending, rejected, charged, unverifiable, mismatch, other_payment
    state TEXT COLLATE "C" NOT NULL,
    -- Why a charge could not be verified.
    reason TEXT,
    -- When a callback last named it.
    at BIGINT NOT NULL,
    -- When the gateway last responded about it.
    queried_at BIGINT,
    PRIMARY KEY (payment_id, number)
);

CREATE INDEX claims_by_number ON claims (number);

-- Processed callbacks, by the hash of their deduplication key.
CREATE TABLE callbacks (
    payment_id TEXT COLLATE "C" NOT NULL,
    same BYTEA NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (payment_id, same)
);

CREATE INDEX callbacks_by_age ON callbacks (at);

-- Status queries to send, and when. A lease moves the time forward. Narrow, because each query rewrites the row:
-- pages keep room for new row versions, and autovacuum runs often.
CREATE TABLE due (
    payment_id TEXT COLLATE "C" PRIMARY KEY,
    at BIGINT NOT NULL,
    -- The class (0 hinted, 1 fresh, 2 old) times five, and the method (0 pay_form, 1 qr, 2 mbank, 3 megapay,
    -- 4 card).
    queue SMALLINT NOT NULL,
    -- Start of its age: when the payment began, or when the last hint arrived.
    since BIGINT NOT NULL,
    queried_at BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX due_next ON due (queue, at);

-- Rate limit of status queries, shared by all workers: all queries (0), and by method (1 pay_form, 2 qr, 3 mbank,
-- 4 megapay, 5 card).
CREATE TABLE question_limit (
    bucket SMALLINT PRIMARY KEY,
    tokens BIGINT NOT NULL,
    rate BIGINT NOT NULL,
    filled_at BIGINT NOT NULL,
    halved_at BIGINT NOT NULL,
    not_before BIGINT NOT NULL,
    recovers_at BIGINT NOT NULL,
    -- Of bucket 0: number of granted queries, which decides whose turn it is.
    turn BIGINT NOT NULL DEFAULT 0
);

-- They start full.
INSERT INTO question_limit SELECT bucket, 0, 0, 0, 0, 0, 0 FROM generate_series(0, 5) AS bucket;

-- The latest time seen, to notice a clock that was set back.
CREATE TABLE clock (
    single SMALLINT PRIMARY KEY CHECK (single = 1),
    seen_at BIGINT NOT NULL
);

-- Methods for which the gateway refused payments and asked to wait.
CREATE TABLE sending_pauses (
    method TEXT COLLATE "C" PRIMARY KEY,
    not_before BIGINT NOT NULL
);


CREATE TABLE events (
    -- Not the order of commits: a transaction with a lower number may commit later.
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Position in the feed. Readers of the feed assign it to what is committed by then, so nothing appears behind a reader.
    seq BIGINT,
    event_id TEXT COLLATE "C" NOT NULL,
    checkout_id TEXT COLLATE "C" NOT NULL,
    payment_id TEXT COLLATE "C",
    number BIGINT NOT NULL,
    -- The checkout's version: the order of its events and their positions in its stream.
    version BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    -- If two transactions change a checkout at once, one fails here.
    UNIQUE (checkout_id, version)
);

CREATE UNIQUE INDEX events_of_the_feed ON events (seq) WHERE seq IS NOT NULL;
CREATE INDEX events_not_in_the_feed ON events (id) WHERE seq IS NULL;
CREATE UNIQUE INDEX events_of_a_payment ON events (payment_id, number) WHERE payment_id IS NOT NULL;
-- For reconciliation and the daily charts: when payments ended or became unknown, by report or by staff.
CREATE INDEX events_of_ends ON events (at)
    WHERE kind IN ('payment.charged', 'payment.resolved', 'payment.rejected', 'payment.not_made', 'payment.unknown');

-- Delivery of a checkout's events, in order.
CREATE TABLE streams (
    checkout_id TEXT COLLATE "C" PRIMARY KEY,
    -- The version of the last event that the shop accepted or that was skipped.
    delivered BIGINT NOT NULL DEFAULT 0,
    -- When to deliver the next one. Empty if all are delivered, or if delivery was given up.
    due_at BIGINT,
    failures BIGINT NOT NULL DEFAULT 0,
    failing_since BIGINT,
    -- How often the shop rejected the next one.
    refusals BIGINT NOT NULL DEFAULT 0,
    is_given_up BOOLEAN NOT NULL DEFAULT FALSE,
    -- The version of the first one that the shop rejected and that was skipped.
    first_refused BIGINT
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX streams_due ON streams (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX streams_failing ON streams (failing_since) WHERE failing_since IS NOT NULL AND NOT is_given_up;
CREATE INDEX streams_given_up ON streams (checkout_id) WHERE is_given_up;
CREATE INDEX streams_refused ON streams (checkout_id) WHERE first_refused IS NOT NULL;

-- Events that the shop rejected and that were skipped, until they are replayed.
CREATE TABLE refused_events (
    checkout_id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    at BIGINT NOT NULL,
    -- The shop's last response.
    reason TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (checkout_id, version)
);

-- Client tokens. Only their SHA-256 is stored.
CREATE TABLE tokens (
    hash BYTEA PRIMARY KEY,
    checkout_id TEXT COLLATE "C" NOT NULL REFERENCES checkouts (id),
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT
);

CREATE INDEX tokens_of_a_checkout ON tokens (checkout_id);
CREATE INDEX tokens_by_age ON tokens (expires_at);

-- API keys of the shop's back ends and of staff. Only their SHA-256 is stored.
CREATE TABLE api_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    -- shop, staff
    role TEXT COLLATE "C" NOT NULL,
    -- view, decide: permission on the staff pages.
    permission TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    hash BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

-- Staff sessions. Only the SHA-256 of the token is stored. Not in memory, because any server of a fleet may answer.
CREATE TABLE staff_sessions (
    hash BYTEA PRIMARY KEY,
    key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id),
    made_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX staff_sessions_of_a_key ON staff_sessions (key_id);
CREATE INDEX staff_sessions_by_age ON staff_sessions (expires_at);

-- How the last statement of the gateway was read: which of its columns is which. One row, as there is one merchant.
CREATE TABLE statement_mapping (
    id SMALLINT PRIMARY KEY CHECK (id = 1),
    mapping TEXT COLLATE "C" NOT NULL
);

-- Callbacks to addresses that no payment of this database has, such as those of payments that began after the backup from which it was
-- restored. Anybody can send them. The newest ones, until a person has looked.
CREATE TABLE unknown_callbacks (
    payment_id TEXT COLLATE "C" PRIMARY KEY,
    number TEXT COLLATE "C",
    amount TEXT COLLATE "C",
    status TEXT COLLATE "C",
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    times BIGINT NOT NULL
);

CREATE TABLE idempotency (
    checkout_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL,
    payment_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (checkout_id, key)
);
