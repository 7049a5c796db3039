package dev.kassa

import dev.kassa.internal.payFormPaymentRef
import java.math.BigDecimal
import java.time.LocalDateTime
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import dev.kassa.internal.InternalException as CoreInternalException
import dev.kassa.internal.LocalDateTime as CoreLocalDateTime
import dev.kassa.internal.PaymentException as CorePaymentException

// The way between this package and the generated one, which is hidden behind it.

/**
 * Throws the core's errors as this package's, without their cause: it would only show generated code. Nothing reaches the generated code
 * but through here: where two threads begin with JNA at once, on different ways, they may wait for each other for ever.
 */
internal inline fun <T> calling(block: () -> T): T {
    Library.load()
    try {
        return block()
    } catch (error: CorePaymentException) {
        throw error.toKassa()
    } catch (defect: CoreInternalException) {
        throw InternalException(defect.message.orEmpty())
    }
}

/** A text that can be sent. Half a surrogate pair has no form in UTF-8, and the text is not to be shown: it may be a secret. */
internal fun sendable(field: String, text: String): String {
    if (!isUnicode(text)) {
        val sentence = "$field has half a surrogate pair in it, which is no text"
        throw PaymentException.Invalid(listOf(Violation(field, Rule.FORMAT, null, sentence)))
    }
    return text
}

@JvmName("sendableOrNull")
internal fun sendable(field: String, text: String?): String? = text?.let { sendable(field, it) }

internal fun isUnicode(text: String): Boolean {
    var at = 0
    while (at < text.length) {
        val char = text[at++]
        if (char.isSurrogate()) {
            val isPair = char.isHighSurrogate() && at < text.length && text[at].isLowSurrogate()
            if (!isPair) return false
            at++
        }
    }
    return true
}

/** An amount that can be written out. The core says whether it is one; only a gigantic one is not even written. */
internal fun sendable(amount: BigDecimal): BigDecimal {
    val mostDigits = 1_000
    if (amount.precision() > mostDigits || amount.scale() !in -mostDigits..mostDigits) {
        val sentence = "amount must be a decimal number of at most 28 digits"
        throw PaymentException.Invalid(listOf(Violation("amount", Rule.EXACT, null, sentence)))
    }
    return amount
}

/**
 * Refuses an amount that the core cannot hold exactly.
 *
 * @throws PaymentException.Invalid with the rule that the amount breaks
 */
internal fun requireRepresentable(amount: BigDecimal) {
    // A call into the core for each amount that it has just reported would cost more than reading the report.
    if (amount.precision() <= DIGITS && amount.scale() in 0..DIGITS) return
    // The core's own check of an amount: every reference to a payment with one makes it, and this one has nothing else.
    calling { payFormPaymentRef(sendable(amount)) }
}

/** The core always holds this many digits, and this many decimals. */
private const val DIGITS = 28

/** Whether the core can hold an amount exactly: [requireRepresentable]. */
internal fun isRepresentable(amount: BigDecimal): Boolean = try {
    requireRepresentable(amount)
    true
} catch (_: PaymentException.Invalid) {
    false
}

/** The core knows no negative time; it refuses zero, and names the field. */
internal fun sendable(time: Duration): java.time.Duration = time.coerceAtLeast(Duration.ZERO).toJavaDuration()

/** Two amounts are the same whatever zeros they end in. */
internal fun BigDecimal?.byValue(): BigDecimal? = this?.stripTrailingZeros()

internal fun CoreLocalDateTime.toKassa(): LocalDateTime = LocalDateTime.of(
    year, month.toInt(), day.toInt(), hour.toInt(), minute.toInt(), second.toInt(), nanosecond.toInt(),
)

internal fun LocalDateTime.toCore() = CoreLocalDateTime(
    year,
    monthValue.toUByte(),
    dayOfMonth.toUByte(),
    hour.toUByte(),
    minute.toUByte(),
    second.toUByte(),
    nano.toUInt(),
)
