-- Each index carries all that a filter asks of a payment, but texts: what does not match is passed over without a look at its row.
DROP INDEX payments_by_time;
DROP INDEX payments_by_status;
DROP INDEX payments_by_amount;
CREATE INDEX payments_by_time ON payments (created_at, id, status, provider, kind, amount_minor);
CREATE INDEX payments_by_status ON payments (status, created_at, id, provider, kind, amount_minor);
CREATE INDEX payments_by_amount ON payments (amount_minor, id, status, provider, kind, created_at);

-- What strangers send does not fill the disk: of requests that belong to no payment the newest 100,000 stay. Each is looked at once,
-- when it falls behind.
CREATE TRIGGER exchanges_of_nobody_end AFTER INSERT ON exchanges WHEN new.id % 1000 = 0 BEGIN
    DELETE FROM exchanges WHERE id > new.id - 101000 AND id <= new.id - 100000 AND payment_id IS NULL
        AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.order_number = exchanges.order_number)
        AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.gateway_number = exchanges.order_number);
END;
