"""Copies of the shops with one mistake each, and the kinds of scenarios that find it."""

from __future__ import annotations

from dataclasses import dataclass

DELIVERS_ONCE = 'orders[event.reference] != "delivered"'
PAID_IN_NODE = 'event.type === "checkout.paid" &&'
VERIFIED_IN_NODE = "try { event = webhook.verify(body, request.headers); } catch { return [401]; }"
AT_IN_NODE = 'const at = new Date(request.headers["webhook-timestamp"] * 1000);\n'
RIGHT_IN_NODE = f'{AT_IN_NODE}  const right = webhook.sign(request.headers["webhook-id"], at, body);\n'
UPDATE = (
    "sql = \"UPDATE orders SET state = 'delivered', deliveries = deliveries + 1 WHERE id = ? AND state = 'open'\"\n"
)


@dataclass(frozen=True)
class Mutant:
    """One mistake: this text of a shop is replaced by that one."""

    name: str
    shop: str
    old: str
    new: str
    found_by: tuple[str, ...]
    """The kinds of scenarios that must find it."""
    also_by: tuple[str, ...] = ()
    """Kinds that may find it, too: the mistake shows there as well, or depends on the machine's timing."""
    in_every_run: bool = False


MUTANTS = [
    Mutant(
        "python delivers on every event",
        "python",
        "if event.is_paid and is_whole",
        "if is_whole",
        ("other-kind", "unknown-kind", "declined", "mismatch"),
        ("payers-at-once", "paid-late", "no-event-body", "overpaid"),
    ),
    Mutant(
        "python delivers each event",
        "python",
        f" and {DELIVERS_ONCE}",
        "",
        ("event-twice", "new-event-id", "out-of-order", "restored", "broken-off"),
        ("payers-at-once", "overpaid", "paid-late", "genuine-event"),
    ),
    Mutant(
        "python knows events by their identifier alone",
        "python",
        DELIVERS_ONCE,
        'event.id not in orders and orders.setdefault(event.id, "seen")',
        ("new-event-id", "restored"),
        in_every_run=True,
    ),
    Mutant(
        "python compares no amount",
        "python",
        'event.amount == 390 and event.currency == "KGS"',
        "True",
        ("another-amount", "another-currency"),
    ),
    Mutant(
        "python compares no currency",
        "python",
        'event.amount == 390 and event.currency == "KGS"',
        "event.amount == 390",
        ("another-currency",),
    ),
    Mutant(
        "python fails at kinds that it does not know",
        "python",
        "    with lock:",
        '    if not event.is_paid and not event.kind.startswith("payment.") and "." in event.kind[9:]:\n'
        "        abort(500)\n"
        '    if event.kind in ("checkout.gifted", "payment.paid"):\n'
        "        abort(500)\n"
        "    with lock:",
        ("unknown-kind",),
    ),
    Mutant(
        "python ignores events older than the last one",
        "python",
        "    with lock:",
        "    newest = int(orders.get(event.checkout, 0))\n"
        "    if event.version <= newest:\n"
        '        return "", 204\n'
        "    orders[event.checkout] = str(event.version)\n"
        "    with lock:",
        ("overpaid",),
        ("paid-late", "out-of-order", "unknown-kind", "event-twice", "payers-at-once"),
    ),
    Mutant(
        "python believes the return",
        "python",
        "state = orders.get(reference) or abort(404)",
        'state = "delivered" if request.args.get("statusCode") == "200" else orders.get(reference) or abort(404)',
        ("forged-return",),
        ("declined", "mismatch"),
    ),
    Mutant(
        "python delivers at the return",
        "python",
        "    state = orders.get(reference) or abort(404)",
        '    if "statusCode" in request.args and orders.get(reference) != "delivered":\n'
        '        orders[reference] = "delivered"\n'
        '        print("deliver", reference, flush=True)\n'
        "    state = orders.get(reference) or abort(404)",
        ("forged-return",),
        ("declined", "mismatch"),
    ),
    Mutant(
        "python looks first and delivers later",
        "python",
        f" and {DELIVERS_ONCE}:\n",
        f" and {DELIVERS_ONCE}:\n            lock.release(), threading.Event().wait(0.2), lock.acquire()\n",
        ("event-twice", "new-event-id"),
        ("broken-off", "overpaid", "out-of-order", "payers-at-once"),
    ),
    Mutant(
        "python ends at a bad signature",
        "python",
        "        abort(401)",
        "        os._exit(3)",
        ("forged-event",),
        # All that is played while it is down, and after it has forgotten its orders.
        ("*",),
    ),
    Mutant(
        "node verifies nothing",
        "node",
        VERIFIED_IN_NODE,
        "event = JSON.parse(body);",
        ("forged-event", "forged-callback"),
        in_every_run=True,
    ),
    Mutant(
        "node takes signatures of any age, and one alone",
        "node",
        VERIFIED_IN_NODE,
        f'{RIGHT_IN_NODE}  if (request.headers["webhook-signature"] !== right) return [401];\n  event = JSON.parse(body);',
        ("forged-event", "genuine-event"),
    ),
    Mutant(
        "node verifies what it has written anew",
        "node",
        "webhook.verify(body, request.headers)",
        "webhook.verify(JSON.stringify(JSON.parse(body)), request.headers)",
        ("genuine-event",),
        ("unknown-members",),
    ),
    Mutant(
        "node delivers on payment.charged, too",
        "node",
        PAID_IN_NODE,
        '["checkout.paid", "payment.charged"].includes(event.type) &&',
        ("other-kind",),
    ),
    Mutant(
        "node delivers on every event of a checkout",
        "node",
        PAID_IN_NODE,
        'event.type.startsWith("checkout.") &&',
        ("other-kind", "unknown-kind"),
        ("payers-at-once",),
    ),
    Mutant(
        "node reads the beginning of the kind",
        "node",
        PAID_IN_NODE,
        'event.type.startsWith("checkout.paid") &&',
        ("unknown-kind",),
    ),
    Mutant(
        "node ends at an event without content",
        "node",
        "event.data ?? {}",
        "event.data ?? process.exit(3)",
        ("no-event-body",),
        ("*",),
    ),
    Mutant(
        "php compares the beginning of a signature",
        "php",
        "hash_equals($right, $one)",
        "str_starts_with($right, $one)",
        ("forged-event",),
        in_every_run=True,
    ),
    Mutant("php takes signatures of any age", "php", "abs(time() - (int) $at) < 300", "true", ("forged-event",)),
    Mutant(
        "php looks first and delivers later",
        "php",
        "@fopen(ORDERS . \"/$reference.delivered\", 'x')",
        '!file_exists(ORDERS . "/$reference.delivered") && !usleep(200000) && touch(ORDERS . "/$reference.delivered")',
        ("event-twice", "new-event-id"),
        ("broken-off", "overpaid", "out-of-order", "payers-at-once"),
    ),
    Mutant(
        "the direct shop believes callbacks",
        "direct",
        "                # What a callback says proves nothing. It is the reason to ask.\n",
        '                if json.loads(body).get("status") == "CHARGE":\n'
        "                    with database() as connection:\n"
        "                        sql = \"UPDATE orders SET state = 'delivered', deliveries = 1 WHERE id = ?\"\n"
        '                        connection.execute(sql, (path.removeprefix("/callbacks/"),))\n',
        ("forged-callback", "another-order", "mismatch"),
        ("no-callback-body",),
        in_every_run=True,
    ),
    Mutant(
        "the direct shop compares no amount",
        "direct",
        'Decimal(str(data.get("amount"))) == Decimal(amount) and data.get("currency") == "KGS"',
        'data.get("currency") == "KGS"',
        ("mismatch",),
    ),
    Mutant("the direct shop compares no currency", "direct", ' and data.get("currency") == "KGS"', "", ("mismatch",)),
    Mutant("the direct shop compares no order", "direct", " and is_ours:", ":", ("mismatch",)),
    Mutant("the direct shop reads the code alone", "direct", ' and data.get("status") == "CHARGE"', "", ("mismatch",)),
    Mutant(
        "the direct shop never asks by itself",
        "direct",
        "threading.Thread(target=poll, daemon=True).start()\n",
        "",
        ("no-callback",),
    ),
    Mutant(
        "the direct shop takes a callback although it cannot ask",
        "direct",
        "threading.Thread(target=poll, daemon=True).start()\n",
        "ask = settle\n\n\ndef settle(order: str) -> None:\n"
        "    with suppress(OSError, HTTPException, ValueError, InvalidOperation):\n        ask(order)\n\n\n",
        ("status-down", "no-callback"),
    ),
    Mutant(
        "the direct shop believes the return",
        "direct",
        '{"order": row[0], "state": row[1], "deliveries": row[2]}',
        '{"order": row[0], "state": "delivered" if "statusCode=200" in self.path else row[1], "deliveries": row[2]}',
        ("forged-return",),
        ("declined", "forged-callback", "mismatch"),
    ),
    Mutant(
        "the direct shop looks first and delivers later",
        "direct",
        UPDATE,
        UPDATE.replace(" AND state = 'open'", "") + "            time.sleep(0.2)\n",
        ("callback-twice", "payers-at-once"),
        # Every callback, beside the shop's own polling.
        ("*",),
    ),
    Mutant(
        "the direct shop forgets its orders",
        "direct",
        "with database() as first:\n",
        "with suppress(OSError):\n    os.unlink(DATABASE)\nwith database() as first:\n",
        ("shop-killed",),
    ),
]
