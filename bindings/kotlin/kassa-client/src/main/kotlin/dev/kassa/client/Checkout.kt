package dev.kassa.client

import kotlinx.serialization.json.JsonObject
import java.math.BigDecimal
import java.time.Duration
import java.time.Instant

/** A value as the server sent it. Two are equal if all that the server sent is. */
public abstract class ServerValue internal constructor(private val source: JsonObject) {
    /** Everything that the server sent, as JSON: also the members that this version of the client does not know. */
    public val json: String get() = source.toString()

    final override fun equals(other: Any?): Boolean =
        other is ServerValue && other.javaClass == javaClass && other.source == source

    final override fun hashCode(): Int = source.hashCode()
}

/** A checkout: what is to be paid, and its payments. Its printed form leaves out the address of its page, which is a secret. */
public class Checkout internal constructor(source: JsonObject) : ServerValue(source) {
    /** Identifier of the checkout: `co_` and 32 digits. */
    public val id: String = source.text("id")

    /** The shop's reference for the checkout, such as an order number. */
    public val reference: String = source.text("reference")

    /** Amount in units of [currency]. */
    public val amount: BigDecimal = source.decimal("amount")

    /** Currency code of three letters, such as `KGS`. */
    public val currency: String = source.text("currency")

    /** Description of what is paid for. */
    public val description: String = source.text("description")

    /** The [payment methods][PaymentMethod] that the payer can choose from. */
    public val methods: List<String> = source.texts("methods")

    /** URL to which the payer returns. */
    public val returnUrl: String = source.text("return_url")

    /** A [CheckoutState], or the word of a newer server. **Deliver only if it is `paid`**: [isPaid]. */
    public val state: String = source.text("state")

    /** It increases with every change: [KassaClient.waitForChange] takes it. */
    public val version: Long = source.long("version")

    /** When the checkout can no longer be paid. */
    public val expiresAt: Instant = source.instant("expires_at_ms")

    /** The shop's own key-value pairs. */
    public val metadata: Map<String, String> = source.textMap("metadata")

    /** When the checkout was opened. */
    public val openedAt: Instant = source.instant("opened_at_ms")

    /** The payment page: send the payer there. **A secret**: whoever has it can pay. Null if the server has no pages. */
    public val pageUrl: String? = source.textOrNull("page_url")

    /** Identifier of the payment that paid the checkout; null if it is not paid. */
    public val paidBy: String? = source.textOrNull("paid_by")

    /** Whether more than one payment was charged: refund all but one. */
    public val isOverpaid: Boolean = source.flag("is_overpaid")

    /** The payments, the first one first. */
    public val payments: List<Payment> = source.objects("payments", ::Payment)

    /** Whether it is paid, the only reason to deliver. */
    public val isPaid: Boolean get() = state == CheckoutState.PAID

    /** The checkout without its secret page. */
    override fun toString(): String = "Checkout($id, reference=$reference, amount=$amount $currency, state=$state, version=$version)"
}

/** A payment of a checkout. */
public class Payment internal constructor(source: JsonObject) : ServerValue(source) {
    /** Identifier of the payment: `pay_` and 32 digits. */
    public val id: String = source.text("id")

    /** Its number within the checkout; the first is 1. */
    public val number: Int = source.int("number")

    /** A [PaymentMethod], or the word of a newer server. */
    public val method: String = source.text("method")

    /**
     * `prepared`, `sending`, `not_made`, `unknown`, `awaiting`, `confirming`, `charged`, `rejected`, `mismatch` or `unverifiable`, or
     * the word of a newer server.
     */
    public val state: String = source.text("state")

    /** The page that the payer opens to pay, or to confirm a card payment (3DS); null if there is none. */
    public val pageUrl: String? = source.textOrNull("page_url")

    /** Content of the QR code that the payer scans; null if there is none. */
    public val qrText: String? = source.textOrNull("qr_text")

    /** Last four digits of the card; null unless the payment is by card. */
    public val cardLast4: String? = source.textOrNull("card_last4")

    /** Last two digits of the phone that receives the one-time password or PIN; null with other methods. */
    public val phoneLast2: String? = source.textOrNull("phone_last2")

    /** What a MegaPay wallet pays in addition to the amount, in KGS; null if the gateway did not report it. */
    public val commission: BigDecimal? = source.decimalOrNull("commission")

    /** What a MegaPay wallet pays in total, in KGS; null without [commission]. */
    public val total: BigDecimal? = source.decimalOrNull("total")

    /** When the PIN of a MegaPay wallet expires; null if the gateway did not report it. */
    public val codeExpiresAt: Instant? = source.instantOrNull("code_expires_at_ms")

    /** Whether a new payment can replace this one. */
    public val canBeReplaced: Boolean = source.flag("can_be_replaced")

    /** Whether another payment has replaced this one. */
    public val isReplaced: Boolean = source.flag("is_replaced")

    /** Attempts to enter the one-time password or PIN that are left; null with other methods. */
    public val attemptsLeft: Int? = source.intOrNull("attempts_left")

    /** Why the payment was not made, or the last one-time password not accepted; null if neither. */
    public val failure: Failure? = source.childOrNull("failure")?.let {
        Failure(it.text("kind"), it.textOrNull("code"), it.textOrNull("reason"))
    }

    /** When the payment was started. */
    public val begunAt: Instant = source.instant("begun_at_ms")

    /** The merchant's order number at the gateway; null if the gateway assigns the number. */
    public val orderNumber: String? = source.textOrNull("order_number")

    /** The number that the gateway assigned; null if there is none. */
    public val gatewayNumber: String? = source.textOrNull("gateway_number")

    /** Identifier of the QR transaction at the gateway; null if there is none. */
    public val transactionId: String? = source.textOrNull("transaction_id")

    /** Whether a person has to look: it has been open for three days, or its QR code cannot be polled. */
    public val isStuck: Boolean = source.flag("is_stuck")

    /** Whether a charge was reported that cannot be trusted, so that a person must decide. */
    public val isInDoubt: Boolean = source.flag("is_in_doubt")

    /** What the server's dialect did not find in the gateway's response to a QR payment; usually empty. */
    public val advice: List<DialectAdvice> = source.objects("advice") { DialectAdvice(it.text("field"), it.text("text")) }

    /** The payment without its page and its QR code. */
    override fun toString(): String = "Payment($id, method=$method, state=$state)"
}

/**
 * Why a payment was not made, or a one-time password was not accepted.
 *
 * @property kind such as `Refused` or `Unavailable`
 * @property code the gateway's code; null if there is none
 * @property reason the gateway's message; null if there is none
 */
public data class Failure(public val kind: String, public val code: String?, public val reason: String?)

/**
 * A setting of the server's dialect that its operator should change.
 *
 * @property field key of the dialect, such as `dialect.endpoints.qr_data.transaction_id`
 * @property text what is missing, the consequence, and what to set
 */
public data class DialectAdvice(public val field: String, public val text: String)

/**
 * A client token: access to one checkout, for the payer's app.
 *
 * @property token the token itself, a secret: it is not printed, and the server shows it this once
 * @property lifetime how long it is valid
 */
public class Token internal constructor(public val token: String, public val lifetime: Duration) {
    /** Without the token. */
    override fun toString(): String = "Token((hidden), lifetime=$lifetime)"
}

/** The states of a checkout. Newer servers may have more. */
public object CheckoutState {
    /** It can be paid. */
    public const val OPEN: String = "open"

    /** It is paid: deliver. */
    public const val PAID: String = "paid"

    /** Its time ran out. A later charge still makes it paid. */
    public const val EXPIRED: String = "expired"

    /** The shop or its staff cancelled it. A later charge still makes it paid. */
    public const val CANCELLED: String = "cancelled"
}

/** The payment methods. Newer servers may have more. */
public object PaymentMethod {
    /** The gateway's own page. */
    public const val PAY_FORM: String = "pay_form"

    /** A QR code. */
    public const val QR: String = "qr"

    /** MBank, by phone and one-time password. Whole som only. */
    public const val MBANK: String = "mbank"

    /** A MegaPay wallet, by phone and PIN, where the server takes it. */
    public const val MEGAPAY: String = "megapay"

    /** A card, where the server takes cards. */
    public const val CARD: String = "card"
}
