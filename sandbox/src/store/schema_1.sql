-- Times are milliseconds since 1970, amounts the exact digits as text.
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
    created_at        INTEGER NOT NULL
) STRICT;
CREATE INDEX payments_by_order_number ON payments (order_number);

CREATE TABLE state_changes (
    id         INTEGER PRIMARY KEY,
    payment_id INTEGER NOT NULL REFERENCES payments (id),
    status     TEXT NOT NULL,
    at         INTEGER NOT NULL
) STRICT;
CREATE INDEX state_changes_by_payment ON state_changes (payment_id);

-- next_attempt_at is NULL once a callback was delivered or given up.
CREATE TABLE callbacks (
    id              INTEGER PRIMARY KEY,
    payment_id      INTEGER NOT NULL REFERENCES payments (id),
    target          TEXT NOT NULL,
    body            TEXT NOT NULL,
    attempts        INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER
) STRICT;
CREATE INDEX callbacks_due ON callbacks (next_attempt_at) WHERE next_attempt_at IS NOT NULL;

CREATE TABLE callback_attempts (
    id          INTEGER PRIMARY KEY,
    callback_id INTEGER NOT NULL REFERENCES callbacks (id),
    attempt     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    http_status INTEGER,
    error       TEXT
) STRICT;
CREATE INDEX callback_attempts_by_callback ON callback_attempts (callback_id);

CREATE TABLE exchanges (
    id           INTEGER PRIMARY KEY,
    at           INTEGER NOT NULL,
    endpoint     TEXT NOT NULL,
    order_number TEXT,
    http_status  INTEGER NOT NULL
) STRICT;
