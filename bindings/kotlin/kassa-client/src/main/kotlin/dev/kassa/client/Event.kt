package dev.kassa.client

import kotlinx.serialization.json.JsonObject
import java.math.BigDecimal
import java.time.Instant

/**
 * An event: what happened to a checkout. An event can arrive twice, with the same [id]. After the server's database was restored, the same
 * payment gets a new one: deliver once for each [reference].
 */
public class Event internal constructor(source: JsonObject) : ServerValue(source) {
    private val data = source.child("data")

    /**
     * Identifier of the event, equal to the header `webhook-id`. A repeated delivery has the same one; after a restore of the server, an
     * event about the same payment has another one. So deliver once for each [reference], not for each identifier.
     */
    public val id: String = source.text("id")

    /** An [EventKind], or the word of a newer server: accept and ignore kinds that you do not know. In its JSON it is `type`. */
    public val kind: String = source.text("type")

    /** When it happened. */
    public val timestamp: Instant = source.instant("timestamp_ms")

    /** Identifier of the checkout. */
    public val checkout: String = data.text("checkout")

    /** The shop's reference for the checkout, such as an order number. */
    public val reference: String = data.text("reference")

    /** Amount of the checkout in units of [currency]. */
    public val amount: BigDecimal = data.decimal("amount")

    /** Currency code of three letters, such as `KGS`. */
    public val currency: String = data.text("currency")

    /** The [CheckoutState] after the event, or the word of a newer server. */
    public val checkoutState: String = data.text("checkout_state")

    /** Version of the checkout after the event. */
    public val version: Long = data.long("version")

    /** Its number among the events of its payment, or among those about the checkout only; the first is 1. */
    public val number: Long = data.long("number")

    /** The payment; null if the event is about the checkout only. */
    public val payment: EventPayment? = data.childOrNull("payment")?.let(::EventPayment)

    /** The previous state, if the change is unexpected, as a charge after the checkout expired, or if a person decided it. */
    public val after: String? = data.textOrNull("after")

    /** Why, as the gateway, the server or a person says; null if nobody does. */
    public val reason: String? = data.textOrNull("reason")

    /** Name of the person who decided; null if none did. */
    public val by: String? = data.textOrNull("by")

    /** The key through which the person decided; null if none did. */
    public val via: EventVia? = data.childOrNull("via")?.let { EventVia(it.text("role"), it.text("key")) }

    /** Whether the order is to be delivered: its kind is `checkout.paid`. */
    public val isPaid: Boolean get() = kind == EventKind.CHECKOUT_PAID

    /** The event in short. */
    override fun toString(): String = "Event($id, kind=$kind, reference=$reference, amount=$amount $currency)"
}

/** The payment that an event is about. */
public class EventPayment internal constructor(source: JsonObject) : ServerValue(source) {
    /** Identifier of the payment. */
    public val id: String = source.text("id")

    /** A [PaymentMethod], or the word of a newer server. */
    public val method: String = source.text("method")

    /** The state of the payment after the event, as in [Payment.state]. */
    public val state: String = source.text("state")

    /** What a MegaPay wallet pays in addition to the amount, in KGS; null if the gateway did not report it. */
    public val commission: BigDecimal? = source.decimalOrNull("commission")

    /** What a MegaPay wallet pays in total, in KGS; null without [commission]. */
    public val total: BigDecimal? = source.decimalOrNull("total")

    /** When the PIN of a MegaPay wallet expires; null if the gateway did not report it. */
    public val codeExpiresAt: Instant? = source.instantOrNull("code_expires_at_ms")

    /** The payment in short. */
    override fun toString(): String = "EventPayment($id, method=$method, state=$state)"
}

/**
 * The key through which a person decided.
 *
 * @property role `shop` or `staff`. With a shop's key the name of the person can be anyone's
 * @property key identifier of the key, which is not secret
 */
public data class EventVia(public val role: String, public val key: String)

/**
 * An event and its place among all events.
 *
 * @property cursor where to read on: store it unchanged, after you have dealt with the event
 * @property event the event, as it is delivered
 */
public class EventAt internal constructor(public val cursor: String, public val event: Event) {
    /** The event in short, and its cursor. */
    override fun toString(): String = "EventAt($cursor, $event)"
}

/** The kinds of events on which a shop acts. The other ones, `payment.…`, report progress; newer servers may have more. */
public object EventKind {
    /** **Deliver.** [Event.after] is `expired` or `cancelled` if the charge came late: deliver or refund. */
    public const val CHECKOUT_PAID: String = "checkout.paid"

    /** The time ran out: release the goods that are reserved. */
    public const val CHECKOUT_EXPIRED: String = "checkout.expired"

    /** The checkout was cancelled: release the goods that are reserved. */
    public const val CHECKOUT_CANCELLED: String = "checkout.cancelled"

    /** A second payment was charged: refund one. */
    public const val CHECKOUT_OVERPAID: String = "checkout.overpaid"

    /** A person recorded the refund of a surplus payment. */
    public const val CHECKOUT_REFUND_RECORDED: String = "checkout.refund_recorded"

    /** It is unknown whether the payment was made. The server polls it, or a person decides. */
    public const val PAYMENT_UNKNOWN: String = "payment.unknown"

    /** The gateway reports another order, amount or currency: a person decides. */
    public const val PAYMENT_MISMATCH: String = "payment.mismatch"

    /** The gateway reports a charge that nothing proves: a person decides. */
    public const val PAYMENT_UNVERIFIABLE: String = "payment.unverifiable"

    /** The payment has been open for too long: a person decides. */
    public const val PAYMENT_STUCK: String = "payment.stuck"

    /** A person decided about a further charge of a payment. */
    public const val PAYMENT_REVIEWED: String = "payment.reviewed"

    /** A person decided what became of the payment. */
    public const val PAYMENT_RESOLVED: String = "payment.resolved"
}
