CREATE TABLE orders (
    number INTEGER PRIMARY KEY,
    reference TEXT NOT NULL UNIQUE,
    quantity INTEGER NOT NULL,
    gift_box INTEGER NOT NULL,
    amount TEXT NOT NULL,
    currency TEXT NOT NULL
);

-- What the server was asked to have paid. An order has another one where the time of the last one was over.
CREATE TABLE checkouts (
    number INTEGER PRIMARY KEY,
    -- The shop's own name of it: at the server it opens one checkout, for ever.
    reference TEXT NOT NULL UNIQUE,
    order_reference TEXT NOT NULL REFERENCES orders (reference),
    -- Sent again as it was, also by a shop that has another address by then.
    return_url TEXT NOT NULL,
    -- What the server has answered, as soon as it has.
    id TEXT,
    page_url TEXT
);

-- What the server has told. An event that comes again has the same id.
CREATE TABLE events (
    id TEXT PRIMARY KEY,
    checkout TEXT NOT NULL REFERENCES checkouts (reference),
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    payment TEXT,
    payment_state TEXT,
    after TEXT
) WITHOUT ROWID;

-- How each order stood when the shop's people were told of it the last time.
CREATE TABLE told (
    order_reference TEXT PRIMARY KEY REFERENCES orders (reference),
    state TEXT NOT NULL,
    owed INTEGER NOT NULL
) WITHOUT ROWID;
