-- One row: how many milliseconds the gateway's clock is ahead of the machine's.
CREATE TABLE clock (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    ahead_ms INTEGER NOT NULL
) STRICT;
INSERT INTO clock (id, ahead_ms) VALUES (1, 0);

-- Of a payment that is pending: since when, how often its status was asked for, and the code of the reason it is to be rejected for;
-- without one it is to be charged.
ALTER TABLE payments ADD COLUMN pending_since INTEGER;
ALTER TABLE payments ADD COLUMN pending_queries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE payments ADD COLUMN pending_reason TEXT;
UPDATE payments SET pending_since =
    (SELECT MAX(at) FROM state_changes WHERE payment_id = payments.id AND status = 'PENDING')
    WHERE status = 'PENDING';
CREATE INDEX payments_pending ON payments (pending_since) WHERE status = 'PENDING';
