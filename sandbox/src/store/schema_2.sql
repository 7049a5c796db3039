-- An answer may never have reached the client, and a fault may be why.
CREATE TABLE exchanges_2 (
    id           INTEGER PRIMARY KEY,
    at           INTEGER NOT NULL,
    endpoint     TEXT NOT NULL,
    order_number TEXT,
    http_status  INTEGER,
    fault        TEXT
) STRICT;
INSERT INTO exchanges_2 SELECT id, at, endpoint, order_number, http_status, NULL FROM exchanges;
DROP TABLE exchanges;
ALTER TABLE exchanges_2 RENAME TO exchanges;

ALTER TABLE callbacks ADD COLUMN fault TEXT;
-- 1 while it waits for the payment's next callback to be delivered.
ALTER TABLE callbacks ADD COLUMN held_back INTEGER NOT NULL DEFAULT 0;
CREATE INDEX callbacks_held_back ON callbacks (payment_id) WHERE held_back = 1;
