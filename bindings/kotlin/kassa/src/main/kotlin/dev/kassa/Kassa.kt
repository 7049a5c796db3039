package dev.kassa

import java.math.BigDecimal
import dev.kassa.internal.amountText as coreAmountText
import dev.kassa.internal.newOrderNumber as coreNewOrderNumber
import dev.kassa.internal.normalizedPhone as coreNormalizedPhone
import dev.kassa.internal.payText as corePayText
import dev.kassa.internal.phoneHint as corePhoneHint
import dev.kassa.internal.somToTyiyn as coreSomToTyiyn
import dev.kassa.internal.tyiynToSom as coreTyiynToSom

/** What belongs to no payment. */
public object Kassa {
    /**
     * Loads the native library, which otherwise happens at the first use of this package, whatever that is: [logTo], a [Card], a
     * [PaymentRef]. It takes some tenths of a second, so an app does it at its start, and not on the thread that draws. Before
     * it is done, that thread should use nothing of this package: it would wait.
     *
     * ```
     * val loaded = scope.launch(Dispatchers.IO) { Kassa.load() }
     * ```
     */
    @JvmStatic
    public fun load(): Unit = Library.load()

    /**
     * A new order number that no other call will ever return, 32 of the characters 0-9 and a-f.
     *
     * It begins with the time, so that order numbers sort by when they were made.
     */
    @JvmStatic
    public fun newOrderNumber(): String = calling { coreNewOrderNumber() }

    /**
     * A phone number as it is sent to the gateway, out of what a person typed, pasted or had filled in; null where it is none, or where it
     * is not certain which one is meant. A form that shows it lets the payer see a mistake before the one-time password goes to
     * somebody else.
     *
     * A number of Kyrgyzstan becomes `996XXXXXXXXX`; one of another country, of 11 to 15 digits, stays as its digits.
     */
    @JvmStatic
    public fun normalizedPhone(typed: String): String? = if (isUnicode(typed)) calling { coreNormalizedPhone(typed) } else null

    /**
     * An amount in som as a whole number of tyiyn. It refuses to round.
     *
     * @throws PaymentException.Invalid for an amount with a part of a tyiyn, or one that does not fit
     */
    @JvmStatic
    @Throws(PaymentException::class)
    public fun somToTyiyn(som: BigDecimal): Long = calling { coreSomToTyiyn(sendable(som)) }

    /** A whole number of tyiyn in som. */
    @JvmStatic
    public fun tyiynToSom(tyiyn: Long): BigDecimal = calling { coreTyiynToSom(tyiyn) }

    /**
     * An amount with its currency, as people write it: `390,50 сом`, `1,000 som`. It has no decimals, or two at least, and is never broken
     * over two lines.
     */
    @JvmStatic
    public fun amountText(amount: BigDecimal, currency: String, language: Language): String =
        inWords(amount, currency) { coreAmountText(sendable(amount), currency, language.toCore()) }

    /** The button that pays, with the amount: `Pay 390.50 som`. Before the amount is known there is [CheckoutLabels.pay]. */
    @JvmStatic
    public fun payText(amount: BigDecimal, currency: String, language: Language): String =
        inWords(amount, currency) { corePayText(sendable(amount), currency, language.toCore()) }

    /** A number that is none of the core's, which no server sends, is shown as it is. */
    private inline fun inWords(amount: BigDecimal, currency: String, form: () -> String): String = try {
        if (isUnicode(currency)) calling { form() } else null
    } catch (_: PaymentException.Invalid) {
        null
    } ?: "$amount\u00a0$currency"

    /**
     * What stands below the field for a phone: to which number the code goes, by the rule of [normalizedPhone]. Null where what was typed
     * is none; show [CheckoutLabels.phoneExample] then. **Show it**: a payer who sees it notices a mistake before the code is sent to
     * somebody else. The number is never broken over two lines.
     */
    @JvmStatic
    public fun phoneHint(typed: String, language: Language): String? =
        if (isUnicode(typed)) calling { corePhoneHint(typed, language.toCore()) } else null

    /**
     * Sends everything that Kassa logs to [sink] from now on; to nobody where it is null.
     *
     * Unless this is called, the JVM's `System.Logger` named `dev.kassa` gets it (SLF4J and the others take it from there);
     * Android has none, so an app gives a sink that writes to `android.util.Log`. There is no secret and no body in it.
     */
    @JvmStatic
    public fun logTo(sink: LogSink?): Unit = calling { Library.logTo(sink) }
}
