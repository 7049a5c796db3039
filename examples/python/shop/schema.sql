CREATE TABLE shop (
    -- Whose payments are in here: they can be asked about nowhere else.
    gateway TEXT NOT NULL
);

CREATE TABLE orders (
    reference TEXT PRIMARY KEY,
    quantity INTEGER NOT NULL,
    gift_box INTEGER NOT NULL,
    amount TEXT NOT NULL,
    currency TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE payments (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    order_reference TEXT NOT NULL REFERENCES orders,
    payment_ref TEXT NOT NULL,
    state TEXT NOT NULL,
    -- Counts the changes, so that a page knows whether it shows the latest.
    version INTEGER NOT NULL DEFAULT 1,
    -- What the payer is told beside the state.
    detail TEXT
);

-- However often a button is pressed: an order has one payment that may take money, or has taken it.
CREATE UNIQUE INDEX one_payment_of_an_order ON payments (order_reference) WHERE state NOT IN ('rejected', 'not_made');

-- Every number that names a payment, the shop's own and the gateway's. One payment pays for one order.
CREATE TABLE numbers (
    number TEXT PRIMARY KEY,
    payment_id TEXT NOT NULL REFERENCES payments (id)
) WITHOUT ROWID;

-- What callbacks and returning payers have said, kept until the gateway was asked about it.
CREATE TABLE hints (
    payment_id TEXT NOT NULL REFERENCES payments (id),
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    is_open INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (payment_id, key)
) WITHOUT ROWID;
