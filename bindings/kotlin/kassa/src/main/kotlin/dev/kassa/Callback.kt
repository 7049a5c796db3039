package dev.kassa

import dev.kassa.internal.parseCallback
import java.math.BigDecimal
import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.time.LocalDateTime
import dev.kassa.internal.PaymentCallback as CoreCallback

/**
 * A callback (webhook): the gateway's notification that the status of a payment changed.
 *
 * **It is only a hint**: callbacks are not signed, so anybody can send one, and it can come late, twice or never. Verify it with
 * [Gateway.verifyCallback] before you ship anything.
 *
 * Only the order number is required. Any other field may be absent; [missing] names those that the interface requires.
 *
 * Amounts are compared by value: 100.10 equals 100.1.
 *
 * @property orderNumber the order number of the payment
 * @property amount the amount, if it can be read. **For QR payments the unit is not known** (som or tyiyn)
 * @property currency the currency, if given
 * @property status the status that the callback claims, read with the default status words, if given. To read it with a dialect:
 *   [statusBy]
 * @property dateCreated when the payment was made, if the text can be parsed: **without a time zone**, because the interface names none
 * @property dateCreatedText the date as received, if given
 * @property requisite the payee, only for QR payments
 * @property provider who processed the payment, if given
 * @property missing the required fields that are absent or cannot be read, by their names in the interface: `amount`, `status`,
 *   `dateCreated`, `provider`. The callback is a hint even without them
 * @property raw the whole body
 */
public data class Callback(
    public val orderNumber: String,
    public val amount: BigDecimal?,
    public val currency: String?,
    public val status: PaymentStatus?,
    public val dateCreated: LocalDateTime?,
    public val dateCreatedText: String?,
    public val requisite: String?,
    public val provider: Provider?,
    public val missing: List<String>,
    public val raw: String,
) {
    /**
     * A deduplication key: the same text for every copy of the same notification, however it is formatted. **Null if the callback has no
     * status**: the next callback about the same payment may look the same and mean something new, so treat each one as new.
     */
    @Throws(PaymentException::class)
    public fun dedupKey(): String? = calling { toCore().dedupKey() }

    /**
     * The status that the callback claims, **read with the gateway's dialect**, if given; [status] uses only the default status words.
     * The dialect's global lists apply; for a callback about a QR payment, which has a [requisite], those of the endpoint `qr_status` as
     * well.
     */
    @Throws(PaymentException::class)
    public fun statusBy(dialect: Dialect): PaymentStatus? = calling { toCore().statusBy(dialect.core)?.toKassa() }

    /**
     * A payment reference for status queries, for a merchant who has stored none; null for a QR payment, whose callback has no number
     * that can be queried. **Its number is only claimed** ([PaymentRef.isClaimed]), and the requested amount is unknown, so no check of
     * it ever returns [Verdict.Charged]: query with the reference that you stored at the sale.
     */
    @Throws(PaymentException::class)
    public fun paymentRef(): PaymentRef? = calling { toCore().paymentRef()?.toKassa() }

    private fun compared() = listOf(
        orderNumber, amount.byValue(), currency, status, dateCreated, dateCreatedText, requisite, provider, missing, raw,
    )

    override fun equals(other: Any?): Boolean = other is Callback && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()

    /** Parses callbacks. */
    public companion object {
        /**
         * Parses the body of a callback: a JSON object, or a form (`application/x-www-form-urlencoded`). Field names match in any case
         * (`OrderNumber`, `order_number`), also inside a member `data`. Unknown fields are kept in [raw].
         *
         * @throws PaymentException.Invalid if there is no order number
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun parse(body: String): Callback = calling { parseCallback(sendable("callback", body)).toKassa() }

        /**
         * Parses the body of a callback as received.
         *
         * @throws PaymentException.Invalid if there is no order number, or the bytes are not UTF-8
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun parse(body: ByteArray): Callback = parse(utf8(body))
    }
}

private fun utf8(body: ByteArray): String = try {
    Charsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString()
} catch (_: CharacterCodingException) {
    throw PaymentException.Invalid(listOf(Violation("callback", Rule.FORMAT, null, "callback is not UTF-8")))
}

internal fun CoreCallback.toKassa() = Callback(
    orderNumber,
    amount,
    currency,
    status?.toKassa(),
    dateCreated?.toKassa(),
    dateCreatedText,
    requisite,
    provider?.toKassa(),
    missing,
    raw,
)

internal fun Callback.toCore() = CoreCallback(
    sendable("orderNumber", orderNumber),
    amount?.let { sendable(it) },
    sendable("currency", currency),
    status?.toCore(),
    dateCreated?.toCore(),
    sendable("dateCreated", dateCreatedText),
    sendable("requisite", requisite),
    provider?.toCore(),
    missing.map { sendable("missing", it) },
    sendable("callback", raw),
)
