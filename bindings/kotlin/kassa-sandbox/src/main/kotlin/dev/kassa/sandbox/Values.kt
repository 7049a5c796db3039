package dev.kassa.sandbox

import java.math.BigDecimal
import java.time.OffsetDateTime
import kotlin.time.Duration
import kotlin.time.DurationUnit
import kotlin.time.toDuration

/** A word that the sandbox writes and reads. */
internal interface Word {
    val word: String
}

internal inline fun <reified T> named(word: String): T where T : Enum<T>, T : Word =
    enumValues<T>().find { it.word == word } ?: throw SandboxException("this is not the sandbox of this package: $word is new")

/**
 * How a payment was created.
 *
 * @property word how the sandbox spells it
 */
public enum class Kind(override val word: String) : Word {
    /** As a card payment. */
    CARD("card"),

    /** As a mobile-bank payment. */
    MBANK("mbank"),

    /** From a MegaPay wallet, with a PIN. */
    MEGAPAY("megapay"),

    /** On the pay-form. */
    PAY_FORM("pay_form"),

    /** By a dynamic QR code. */
    QR("qr"),
}

/**
 * An endpoint of the gateway.
 *
 * @property word how the sandbox spells it
 */
public enum class Endpoint(override val word: String) : Word {
    /** Creates a card payment. */
    PAYMENT("payment"),

    /** Status by the gateway's number. */
    STATUS("status"),

    /** Creates a mobile-bank payment. */
    MBANK_PAY("mbank/pay"),

    /** Confirms a mobile-bank payment. */
    MBANK_CONFIRM("mbank/confirm"),

    /** Creates a pay-form. */
    PAY_FORM("pay-form"),

    /** Status by the merchant's number and the provider. */
    GET_STATUS("get-status"),

    /** Makes the picture of a QR code. */
    QR_DYNAMIC("qr/dynamic"),

    /** Creates the data of a QR code. */
    QR_DYNAMIC_DATA("qr/dynamic/data"),

    /** Status by a QR transaction's id. */
    QR_TRANSACTION_STATUS("qr/transaction/status"),

    /** Sends the payer of a MegaPay wallet a PIN, and returns the commission. */
    MEGA_CHECK("mega/check"),

    /** Pays from a MegaPay wallet, with the PIN. */
    MEGA_PAY("mega/pay"),
}

/**
 * The language of the sandbox's messages.
 *
 * @property word how the sandbox spells it
 */
public enum class PageLanguage(override val word: String) : Word {
    /** English. */
    ENGLISH("en"),

    /** Russian. */
    RUSSIAN("ru"),

    /** Kyrgyz. */
    KYRGYZ("ky"),
}

/**
 * How a reused order number is treated.
 *
 * @property word how the sandbox spells it
 */
public enum class ReusedOrderNumber(override val word: String) : Word {
    /** An error. */
    REFUSE("refuse"),

    /** The first answer once more. */
    REPLAY("replay"),

    /** A second payment. */
    CHARGE_TWICE("charge-twice"),
}

/**
 * Which numbers the two status endpoints know.
 *
 * @property word how the sandbox spells it
 */
public enum class StatusNumbers(override val word: String) : Word {
    /** `status` the gateway's, `get-status` the merchant's. */
    STRICT("strict"),

    /** Both know both. */
    ANY("any"),
}

/**
 * For FINIPAY: where a confirmation carries the `quid` of an MBank payment.
 *
 * @property word how the sandbox spells it
 */
public enum class MbankQuid(override val word: String) : Word {
    /** In `orderNumber`, instead of the merchant's number. */
    ORDER_NUMBER("order-number"),

    /** In a field `quid`, in addition to the merchant's number. */
    FIELD("field"),

    /** Nowhere: the merchant's number alone confirms. */
    NOT_SENT("not-sent"),
}

/**
 * A line of the ledger: what really happened.
 *
 * @property kind how it was created
 * @property orderNumber the merchant's number; of a pay-form the one that the gateway made; of a QR code its transaction id
 * @property gatewayNumber the gateway's own number: the `token` of its pages
 * @property transactionId the QR transaction's id; null for every other kind
 * @property provider who moves the money; null while the payer has not chosen on the pay-form
 * @property amount in the currency's main unit, of a QR code in tyiyn, digit for digit. Null for a QR code without a sum until its
 *   payer names one
 * @property currency the currency's code
 * @property status `CREATED`, `PENDING`, `CHARGE` or `Reject`
 * @property code the code of the status: `200` if the money was taken, `210` to `214` for a rejection and its reason
 * @property timesCharged how many times money was taken under this order number. More than once is what no client may ever cause
 * @property createdAt when it was registered
 */
public data class Payment(
    public val kind: Kind,
    public val orderNumber: String,
    public val gatewayNumber: String,
    public val transactionId: String?,
    public val provider: Sandbox.Provider?,
    public val amount: BigDecimal?,
    public val currency: String,
    public val status: String,
    public val code: String,
    public val timesCharged: Int,
    public val createdAt: OffsetDateTime,
) {
    /** Whether this payment took the money. */
    public val isCharged: Boolean get() = status == "CHARGE"
}

/**
 * A request that reached an endpoint.
 *
 * @property endpoint the endpoint
 * @property orderNumber the number in the request, if any
 * @property httpStatus the status of the response; null if a fault suppressed it
 * @property fault the fault that struck it
 * @property at when
 */
public data class Request(
    public val endpoint: Endpoint,
    public val orderNumber: String?,
    public val httpStatus: Int?,
    public val fault: FaultName?,
    public val at: OffsetDateTime,
)

/**
 * An attempt to deliver a callback.
 *
 * @property orderNumber the payment's number
 * @property url the URL that it was sent to
 * @property status the status it told
 * @property attempt 1 for the first
 * @property httpStatus the receiver's status, if it answered
 * @property error why there was no answer
 * @property fault the fault that made it, or made it late
 * @property body the body as sent
 * @property at when
 */
public data class CallbackAttempt(
    public val orderNumber: String,
    public val url: String,
    public val status: String,
    public val attempt: Int,
    public val httpStatus: Int?,
    public val error: String?,
    public val fault: FaultName?,
    public val body: String,
    public val at: OffsetDateTime,
)

/** A duration in whole units; one that is not whole is refused, not rounded. */
internal fun Duration.whole(setting: String, unit: DurationUnit): Long {
    val count = toLong(unit)
    require(count.toDuration(unit) == this && isFinite()) { "$setting: $this is not a whole number of ${unit.name.lowercase()}" }
    return count
}
