package dev.kassa

import dev.kassa.internal.parseCallback
import java.math.BigDecimal
import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.time.LocalDateTime
import dev.kassa.internal.PaymentCallback as CoreCallback

/**
 * A notification that the gateway sends to the merchant when the status of a payment changes.
 *
 * **It is a hint**: the interface shows no signature, so anybody can send one, and it can come late, twice or never. Ask the
 * gateway with [Gateway.verifyCallback] before anything is shipped.
 *
 * It needs an order number and no more. Any other field may be absent; [missing] names those that the interface requires.
 *
 * Amounts are compared by value: 100.10 equals 100.1.
 *
 * @property orderNumber the order number of the payment
 * @property amount the amount, where it can be read. **For QR payments the unit is not known** (som or tyiyn)
 * @property currency the currency, where it is given
 * @property status the status that the callback claims, by the default words, where it is given; by a dialect's: [statusBy]
 * @property dateCreated when the payment was made, where the text of it is understood: **without a zone**, because the interface
 *   names none
 * @property dateCreatedText the same as it came, where it is given
 * @property requisite the payee, given for QR payments only
 * @property provider who carried the payment out, where it is given
 * @property missing the fields that the interface requires and that are absent or cannot be read, as the interface spells them:
 *   `amount`, `status`, `dateCreated`, `provider`. The callback is a hint without them
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
     * The same text for every copy of the same notification, however it is formatted: remember it, and a duplicate is seen. **Null
     * where the callback has no status**: the next one about the same payment may look the same and tell of something new, so treat
     * every such callback as a new one.
     */
    @Throws(PaymentException::class)
    public fun dedupKey(): String? = calling { toCore().dedupKey() }

    /**
     * The status that the callback claims, **by the words of the gateway's dialect**, where it is given; [status] is by the default
     * words alone. The lists of the whole dialect count; for a callback about a QR payment, which has a [requisite], those of the endpoint
     * `qr_status` as well.
     */
    @Throws(PaymentException::class)
    public fun statusBy(dialect: Dialect): PaymentStatus? = calling { toCore().statusBy(dialect.core)?.toKassa() }

    /**
     * What to ask about the payment with, for a merchant who has stored nothing; null for a QR payment, whose callback has no number
     * to ask by. **Its number is only claimed** ([PaymentRef.isClaimed]), and what was asked for is not known, so no check of it is
     * ever [Verdict.Charged]: ask with the reference that was stored at the sale.
     */
    @Throws(PaymentException::class)
    public fun paymentRef(): PaymentRef? = calling { toCore().paymentRef()?.toKassa() }

    private fun compared() = listOf(
        orderNumber, amount.byValue(), currency, status, dateCreated, dateCreatedText, requisite, provider, missing, raw,
    )

    override fun equals(other: Any?): Boolean = other is Callback && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()

    /** Reads callbacks. */
    public companion object {
        /**
         * Reads the body of a callback: a JSON object, or a form (`application/x-www-form-urlencoded`). Fields are found by their
         * names in any case (`OrderNumber`, `order_number`), also inside a member `data`. Fields that are not known are kept in [raw].
         *
         * @throws PaymentException.Invalid where there is no order number
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun parse(body: String): Callback = calling { parseCallback(sendable("callback", body)).toKassa() }

        /**
         * Reads the body of a callback as it came from the network.
         *
         * @throws PaymentException.Invalid where there is no order number, or the bytes are not UTF-8
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
