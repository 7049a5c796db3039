-- For looking things up: when a payment ended, amounts as numbers, and what was said in each exchange.
-- Amounts here are hundredths of the currency's unit, for order and sums alone; `amount` is the exact one. One that is beyond
-- everything counts as 100 billion, so that sums stay within an integer.
ALTER TABLE payments ADD COLUMN finished_at INTEGER;
ALTER TABLE payments ADD COLUMN amount_minor INTEGER GENERATED ALWAYS AS (
    CAST(MIN(ROUND(COALESCE(CAST(amount AS REAL), 0) * CASE kind WHEN 'qr' THEN 1 ELSE 100 END), 1e13) AS INTEGER)
) VIRTUAL;
UPDATE payments SET finished_at = (SELECT MAX(at) FROM state_changes WHERE payment_id = payments.id)
    WHERE status IN ('CHARGE', 'Reject');
CREATE INDEX payments_by_time ON payments (created_at, id);
CREATE INDEX payments_by_status ON payments (status, created_at, id);
CREATE INDEX payments_by_amount ON payments (amount_minor, id);

-- What was said, masked. payment_id is set where a request made a payment under no number of its own.
ALTER TABLE exchanges ADD COLUMN payment_id INTEGER;
ALTER TABLE exchanges ADD COLUMN took_us INTEGER;
ALTER TABLE exchanges ADD COLUMN request_head TEXT;
ALTER TABLE exchanges ADD COLUMN request_body TEXT;
ALTER TABLE exchanges ADD COLUMN reply_head TEXT;
ALTER TABLE exchanges ADD COLUMN reply_body TEXT;
CREATE INDEX exchanges_by_order_number ON exchanges (order_number) WHERE order_number IS NOT NULL;
CREATE INDEX exchanges_by_payment ON exchanges (payment_id) WHERE payment_id IS NOT NULL;

CREATE INDEX callbacks_by_payment ON callbacks (payment_id);
ALTER TABLE callback_attempts ADD COLUMN took_ms INTEGER;
ALTER TABLE callback_attempts ADD COLUMN reply_head TEXT;
ALTER TABLE callback_attempts ADD COLUMN reply_body TEXT;

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
