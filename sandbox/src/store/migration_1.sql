-- The first migration: every table as the first release has it.
-- Times are milliseconds since 1970, amounts the exact digits as text.

-- amount_minor is hundredths of the currency's unit, for order and sums alone; `amount` is the exact one. One that is
-- beyond everything counts as 100 billion, so that sums stay within an integer. Of a payment that is pending: since
-- when, how often its status was asked for, and the code of the reason it is to be rejected for; without one it is to
-- be charged.
CREATE TABLE payments (
    id                INTEGER PRIMARY KEY,
    kind              TEXT NOT NULL,
    order_number      TEXT NOT NULL,
    gateway_number    TEXT NOT NULL UNIQUE,
    provider          TEXT,
    amount            TEXT,
    currency          TEXT NOT NULL,
    description       TEXT NOT NULL,
    holder_name       TEXT,
    requisite         TEXT,
    masked_card       TEXT,
    masked_phone      TEXT,
    language          TEXT,
    return_url        TEXT,
    callback_url      TEXT,
    confirmation_page INTEGER NOT NULL,
    status            TEXT NOT NULL,
    reject_reason     TEXT,
    otp_attempts_left INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    finished_at       INTEGER,
    amount_minor      INTEGER GENERATED ALWAYS AS (
        CAST(MIN(ROUND(COALESCE(CAST(amount AS REAL), 0) * CASE kind WHEN 'qr' THEN 1 ELSE 100 END), 1e13) AS INTEGER)
    ) VIRTUAL,
    pending_since     INTEGER,
    pending_queries   INTEGER NOT NULL DEFAULT 0,
    pending_reason    TEXT
) STRICT;
CREATE INDEX payments_by_order_number ON payments (order_number);
CREATE INDEX payments_pending ON payments (pending_since) WHERE status = 'PENDING';
-- Each of these carries all that a filter asks of a payment, but texts: what does not match is passed over without a
-- look at its row.
CREATE INDEX payments_by_time ON payments (created_at, id, status, provider, kind, amount_minor);
CREATE INDEX payments_by_status ON payments (status, created_at, id, provider, kind, amount_minor);
CREATE INDEX payments_by_amount ON payments (amount_minor, id, status, provider, kind, created_at);

-- Materialized view: the payments of a day in Bishkek (UTC+6 all year) that are alike, counted. Triggers keep it; where
-- all payments are deleted, it has to be emptied with them. '' stands for NULL, so that the key finds it. took_ms is from
-- registration to the end, all of them together, 0 for open ones.
CREATE TABLE payments_by_day (
    day           INTEGER NOT NULL,
    kind          TEXT NOT NULL,
    provider      TEXT NOT NULL,
    status        TEXT NOT NULL,
    reject_reason TEXT NOT NULL,
    currency      TEXT NOT NULL,
    count         INTEGER NOT NULL,
    amount_minor  INTEGER NOT NULL,
    took_ms       INTEGER NOT NULL,
    PRIMARY KEY (day, kind, provider, status, reject_reason, currency)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER payments_counted AFTER INSERT ON payments BEGIN
    INSERT INTO payments_by_day VALUES
        ((new.created_at + 21600000) / 86400000, new.kind, IFNULL(new.provider, ''), new.status,
        IFNULL(new.reject_reason, ''), new.currency, 1, new.amount_minor, IFNULL(new.finished_at - new.created_at, 0))
    ON CONFLICT DO UPDATE SET count = count + excluded.count, amount_minor = amount_minor + excluded.amount_minor,
        took_ms = took_ms + excluded.took_ms;
END;

-- What it was is taken away, and what it is comes instead.
CREATE TRIGGER payments_counted_anew AFTER UPDATE OF provider, status, reject_reason, amount, finished_at ON payments
BEGIN
    INSERT INTO payments_by_day VALUES
        ((old.created_at + 21600000) / 86400000, old.kind, IFNULL(old.provider, ''), old.status,
        IFNULL(old.reject_reason, ''), old.currency, -1, -old.amount_minor,
        -IFNULL(old.finished_at - old.created_at, 0)),
        ((new.created_at + 21600000) / 86400000, new.kind, IFNULL(new.provider, ''), new.status,
        IFNULL(new.reject_reason, ''), new.currency, 1, new.amount_minor, IFNULL(new.finished_at - new.created_at, 0))
    ON CONFLICT DO UPDATE SET count = count + excluded.count, amount_minor = amount_minor + excluded.amount_minor,
        took_ms = took_ms + excluded.took_ms;
END;

-- Full-text index: every three characters in a row (trigrams) of what payments are searched for by. It is filled lazily:
-- it has the payments up to an id, as they were; since then those that are stale have got other texts.
CREATE VIRTUAL TABLE payments_text USING fts5 (
    order_number, gateway_number, masked_phone, masked_card, description,
    tokenize = 'trigram', content = '', contentless_delete = 1
);
CREATE TABLE payments_text_upto (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    upto INTEGER NOT NULL
) STRICT;
INSERT INTO payments_text_upto (id, upto) VALUES (1, 0);
CREATE TABLE payments_text_stale (
    payment_id INTEGER PRIMARY KEY
) STRICT;
CREATE TRIGGER payments_text_outdated
AFTER UPDATE OF order_number, gateway_number, masked_phone, masked_card, description ON payments
WHEN new.id <= (SELECT upto FROM payments_text_upto) BEGIN
    INSERT OR IGNORE INTO payments_text_stale (payment_id) VALUES (new.id);
END;

CREATE TABLE state_changes (
    id         INTEGER PRIMARY KEY,
    payment_id INTEGER NOT NULL REFERENCES payments (id),
    status     TEXT NOT NULL,
    at         INTEGER NOT NULL
) STRICT;
CREATE INDEX state_changes_by_payment ON state_changes (payment_id);

-- next_attempt_at is NULL once a callback was delivered or given up; held_back is 1 while it waits for the payment's
-- next callback to be delivered.
CREATE TABLE callbacks (
    id              INTEGER PRIMARY KEY,
    payment_id      INTEGER NOT NULL REFERENCES payments (id),
    target          TEXT NOT NULL,
    body            TEXT NOT NULL,
    attempts        INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER,
    fault           TEXT,
    held_back       INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX callbacks_due ON callbacks (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX callbacks_held_back ON callbacks (payment_id) WHERE held_back = 1;
CREATE INDEX callbacks_by_payment ON callbacks (payment_id);

CREATE TABLE callback_attempts (
    id          INTEGER PRIMARY KEY,
    callback_id INTEGER NOT NULL REFERENCES callbacks (id),
    attempt     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    http_status INTEGER,
    error       TEXT,
    took_ms     INTEGER,
    response_head  TEXT,
    response_body  TEXT
) STRICT;
CREATE INDEX callback_attempts_by_callback ON callback_attempts (callback_id);

-- What was said, masked. http_status is NULL where a fault kept the answer from the client; payment_id is set where a
-- request made a payment under no number of its own.
CREATE TABLE exchanges (
    id           INTEGER PRIMARY KEY,
    at           INTEGER NOT NULL,
    endpoint     TEXT NOT NULL,
    order_number TEXT,
    http_status  INTEGER,
    fault        TEXT,
    payment_id   INTEGER,
    took_us      INTEGER,
    request_head TEXT,
    request_body TEXT,
    response_head   TEXT,
    response_body   TEXT
) STRICT;
CREATE INDEX exchanges_by_order_number ON exchanges (order_number) WHERE order_number IS NOT NULL;
CREATE INDEX exchanges_by_payment ON exchanges (payment_id) WHERE payment_id IS NOT NULL;

-- What strangers send does not fill the disk: of requests that belong to no payment the newest 100,000 stay. Each is
-- looked at once, when it falls behind.
CREATE TRIGGER exchanges_of_nobody_end AFTER INSERT ON exchanges WHEN new.id % 1000 = 0 BEGIN
    DELETE FROM exchanges WHERE id > new.id - 101000 AND id <= new.id - 100000 AND payment_id IS NULL
        AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.order_number = exchanges.order_number)
        AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.gateway_number = exchanges.order_number);
END;

-- What came to the built-in receiver.
CREATE TABLE received (
    id          INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    name        TEXT NOT NULL,
    head        TEXT NOT NULL,
    body        TEXT NOT NULL,
    body_length INTEGER NOT NULL,
    answered    INTEGER NOT NULL
) STRICT;
CREATE INDEX received_by_name ON received (name, id);

-- One row: how many milliseconds the gateway's clock is ahead of the machine's.
CREATE TABLE clock (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    ahead_ms INTEGER NOT NULL
) STRICT;
INSERT INTO clock (id, ahead_ms) VALUES (1, 0);
