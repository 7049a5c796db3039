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
     * A new unique order number of 32 hexadecimal characters (0-9 and a-f).
     *
     * It begins with the time, so order numbers sort by creation time.
     */
    @JvmStatic
    public fun newOrderNumber(): String = calling { coreNewOrderNumber() }

    /**
     * A phone number as sent to the gateway, from the text that a person typed, pasted or autofilled; null if the text is not a phone
     * number or is ambiguous. Show the result in the form, so that the payer notices a mistake before the one-time password goes to
     * somebody else.
     *
     * A number of Kyrgyzstan becomes `996XXXXXXXXX`; one of another country, of 11 to 15 digits, stays as its digits.
     */
    @JvmStatic
    public fun normalizedPhone(typed: String): String? = if (isUnicode(typed)) calling { coreNormalizedPhone(typed) } else null

    /**
     * Converts an amount in som to whole tyiyn. It never rounds.
     *
     * @throws PaymentException.Invalid for an amount with a fraction of a tyiyn, or one that is too large
     */
    @JvmStatic
    @Throws(PaymentException::class)
    public fun somToTyiyn(som: BigDecimal): Long = calling { coreSomToTyiyn(sendable(som)) }

    /** Converts whole tyiyn to som. */
    @JvmStatic
    public fun tyiynToSom(tyiyn: Long): BigDecimal = calling { coreTyiynToSom(tyiyn) }

    /**
     * An amount with its currency, as people write it: `390,50 сом`, `1,000 som`. It has no decimals, or two at least, and is never broken
     * over two lines.
     */
    @JvmStatic
    public fun amountText(amount: BigDecimal, currency: String, language: Language): String =
        inWords(amount, currency) { coreAmountText(sendable(amount), currency, language.toCore()) }

    /** The text of the pay button, with the amount: `Pay 390.50 som`. Before the amount is known there is [CheckoutLabels.pay]. */
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
     * The hint below the phone field: to which number the code goes, normalized with [normalizedPhone]. Null if the input is not a phone
     * number; show [CheckoutLabels.phoneExample] then. **Always show the hint**, so that the payer notices a mistake before the code goes
     * to somebody else. The number has no-break spaces.
     */
    @JvmStatic
    public fun phoneHint(typed: String, language: Language): String? =
        if (isUnicode(typed)) calling { corePhoneHint(typed, language.toCore()) } else null

    /**
     * Sends all log events of Kassa to [sink] from now on; null discards them.
     *
     * By default, they go to the JVM's `System.Logger` named `dev.kassa` (which SLF4J and others can receive); Android has none, so an
     * app passes a sink that writes to `android.util.Log`. Events contain no secrets and no bodies.
     */
    @JvmStatic
    public fun logTo(sink: LogSink?): Unit = calling { Library.logTo(sink) }

    /**
     * Shows each request to the gateway that has ended to [observer], from now on and in the whole program, until the result is closed.
     *
     * ```
     * Kassa.onCall { println("${it.operation} ${it.outcome} ${it.duration}") }
     * ```
     *
     * Without an observer nothing is recorded. For OpenTelemetry there is [OpenTelemetryObserver].
     */
    @JvmStatic
    public fun onCall(observer: CallObserver): CallObservation = calling { CallObservers.add(observer) }
}
