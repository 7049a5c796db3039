package dev.kassa.sandbox

import java.nio.file.Path
import java.util.function.Consumer
import kotlin.time.Duration
import kotlin.time.DurationUnit
import kotlin.time.toKotlinDuration

/**
 * How a sandbox is started. The values are checked when it is.
 *
 * @property database an SQLite file that keeps payments and undelivered callbacks; in memory without one
 * @property port the port to listen on, on this machine only; 0 takes a free one
 * @property login the merchant's login
 * @property password the merchant's password
 * @property language the language of messages if a request names none
 * @property reusedOrderNumber how a reused order number is treated
 * @property statusNumbers which numbers the two status endpoints know
 * @property threeDs1Page whether 3DS 1.0 cards get a confirmation page, too
 * @property redirectDeclines whether a declined payer is redirected to the return URL, too
 * @property actsAs which gateway's responses it gives
 * @property mbankQuid for FINIPAY: where a confirmation carries the `quid` of an MBank payment
 * @property callbackPauses between attempts to deliver a callback, in whole seconds; the last one repeats. Without it, it starts
 *   with a second and grows to an hour
 * @property callbackTimeout how long a callback's receiver may take, in whole seconds; ten without it
 * @property demoPayments the number of generated payments at the start if the database is empty; up to a million
 * @property log receives each line of the sandbox's log on a separate thread; null discards it. By default it goes to the `System.Logger`
 *   named `dev.kassa.sandbox`
 */
public data class SandboxOptions(
    public val database: Path? = null,
    public val port: Int = 0,
    public val login: String = "kassa",
    public val password: String = "sandbox-password",
    public val language: PageLanguage = PageLanguage.ENGLISH,
    public val reusedOrderNumber: ReusedOrderNumber = ReusedOrderNumber.REFUSE,
    public val statusNumbers: StatusNumbers = StatusNumbers.STRICT,
    public val threeDs1Page: Boolean = false,
    public val redirectDeclines: Boolean = false,
    public val actsAs: DialectName = DialectName.INTERFACE,
    public val mbankQuid: MbankQuid = MbankQuid.FIELD,
    public val callbackPauses: List<Duration>? = null,
    public val callbackTimeout: Duration? = null,
    public val demoPayments: Int = 0,
    public val log: Consumer<String>? = SystemLog,
) {
    /** The settings, without the password. */
    override fun toString(): String = "SandboxOptions(database=$database, port=$port, login=$login, language=$language, " +
        "reusedOrderNumber=$reusedOrderNumber, statusNumbers=$statusNumbers, threeDs1Page=$threeDs1Page, " +
        "redirectDeclines=$redirectDeclines, actsAs=$actsAs, mbankQuid=$mbankQuid, callbackPauses=$callbackPauses, " +
        "callbackTimeout=$callbackTimeout, demoPayments=$demoPayments)"

    /** Makes options by their names, for Java. */
    public class Builder {
        private var options = SandboxOptions()

        /** An SQLite file that keeps payments and undelivered callbacks. */
        public fun database(file: Path): Builder = with { copy(database = file) }

        /** The port to listen on; 0 takes a free one. */
        public fun port(port: Int): Builder = with { copy(port = port) }

        /** The merchant's login and password. */
        public fun credentials(login: String, password: String): Builder = with { copy(login = login, password = password) }

        /** The language of messages if a request names none. */
        public fun language(language: PageLanguage): Builder = with { copy(language = language) }

        /** How a reused order number is treated. */
        public fun reusedOrderNumber(answer: ReusedOrderNumber): Builder = with { copy(reusedOrderNumber = answer) }

        /** Which numbers the two status endpoints know. */
        public fun statusNumbers(numbers: StatusNumbers): Builder = with { copy(statusNumbers = numbers) }

        /** Whether 3DS 1.0 cards get a confirmation page, too. */
        public fun threeDs1Page(isShown: Boolean): Builder = with { copy(threeDs1Page = isShown) }

        /** Whether a declined payer is redirected to the return URL, too. */
        public fun redirectDeclines(isRedirected: Boolean): Builder = with { copy(redirectDeclines = isRedirected) }

        /** Which gateway's responses it gives. */
        public fun actsAs(gateway: DialectName): Builder = with { copy(actsAs = gateway) }

        /** For FINIPAY: where a confirmation carries the `quid` of an MBank payment. */
        public fun mbankQuid(place: MbankQuid): Builder = with { copy(mbankQuid = place) }

        /** Between attempts to deliver a callback, in whole seconds; the last one repeats. */
        public fun callbackPauses(vararg pauses: java.time.Duration): Builder =
            with { copy(callbackPauses = pauses.map { it.toKotlinDuration() }) }

        /** How long a callback's receiver may take, in whole seconds. */
        public fun callbackTimeout(timeout: java.time.Duration): Builder =
            with { copy(callbackTimeout = timeout.toKotlinDuration()) }

        /** The number of generated payments at the start if the database is empty; up to a million. */
        public fun demoPayments(count: Int): Builder = with { copy(demoPayments = count) }

        /** Takes each line of the sandbox's log; null drops it. */
        public fun log(log: Consumer<String>?): Builder = with { copy(log = log) }

        /** The options. */
        public fun build(): SandboxOptions = options

        /** The settings so far, without the password. */
        override fun toString(): String = "Builder($options)"

        private inline fun with(change: SandboxOptions.() -> SandboxOptions) = apply { options = options.change() }
    }
}

internal fun SandboxOptions.arguments(): List<String> = buildList {
    database?.let { add("--db=$it") }
    addAll(listOf("--language", language.word, "--reused-order-number", reusedOrderNumber.word))
    addAll(listOf("--status-numbers", statusNumbers.word, "--as", actsAs.word, "--mbank-quid", mbankQuid.word))
    if (threeDs1Page) add("--three-ds-1-page")
    if (redirectDeclines) add("--redirect-declines")
    if (demoPayments != 0) add("--seed-demo=$demoPayments")
    callbackPauses?.let { add("--callback-pauses=${seconds("callbackPauses", it)}") }
    callbackTimeout?.let { add("--callback-timeout=${seconds("callbackTimeout", listOf(it))}") }
}

private fun seconds(setting: String, durations: List<Duration>): String {
    require(durations.isNotEmpty()) { "$setting: at least one is needed" }
    return durations.joinToString(",") { it.whole(setting, DurationUnit.SECONDS).toString() }
}
