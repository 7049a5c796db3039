package dev.kassa.checkout.commands

import com.github.ajalt.clikt.parameters.groups.OptionGroup
import com.github.ajalt.clikt.parameters.options.NullableOption
import com.github.ajalt.clikt.parameters.options.RawOption
import com.github.ajalt.clikt.parameters.options.convert
import com.github.ajalt.clikt.parameters.options.default
import com.github.ajalt.clikt.parameters.options.flag
import com.github.ajalt.clikt.parameters.options.help
import com.github.ajalt.clikt.parameters.options.multiple
import com.github.ajalt.clikt.parameters.options.option
import com.github.ajalt.clikt.parameters.types.int
import com.github.ajalt.clikt.parameters.types.path
import dev.kassa.Kassa
import dev.kassa.PaymentException
import dev.kassa.PaymentKind
import dev.kassa.PaymentRef
import dev.kassa.Provider
import dev.kassa.checkout.CardFields
import dev.kassa.checkout.Failure
import dev.kassa.checkout.Secrets
import dev.kassa.checkout.Settings
import java.math.BigDecimal
import java.nio.file.Path
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds

/** How to reach the gateway. */
class ConnectionOptions : OptionGroup("Gateway") {
    val baseUrl by option(envvar = "KASSA_URL", metavar = "URL")
        .help("The gateway's base URL; an embedded sandbox without it")
    val login by option(envvar = "KASSA_LOGIN").help("The merchant's login")
    val password by option(envvar = "KASSA_PASSWORD")
        .help("The merchant's password; better given by the environment or --secrets-stdin")
    private val secretsStdin by option().flag().help(
        "Read secrets from standard input: one line of JSON with any of the texts password, pan, expiry_month, expiry_year, " +
            "cvc, otp. They go before flags and environment",
    )
    val dialect by option(envvar = "KASSA_DIALECT", metavar = "FILE").path()
        .help("Read the gateway's replies by this dialect (JSON); for the embedded sandbox its own")
    val sandboxDb by option(metavar = "FILE").path()
        .help("Let the embedded sandbox keep its payments in this file, so that a later run finds them")
    val timeout by option(metavar = "TIME").time().default(30.seconds)
        .help("How long one call to the gateway may take, retries included; 30")
    val rootCertificates by option(metavar = "FILE").path().multiple()
        .help("Trust the certificates in this PEM file, too; may be given again")
    val statusAsQuery by option().flag()
        .help("Send status queries as a query string, for a proxy that drops the body of a GET")
    val secrets by lazy { if (secretsStdin) Secrets.fromStdin() else Secrets.NONE }
}

/** How to follow payments, and how to tell about them. */
class FollowingOptions : OptionGroup("Following payments") {
    val pollInterval by option(metavar = "TIME").time()
        .help("The time between two status queries, such as 10, 0.5 or 500ms; 10, with the embedded sandbox 1")
    val deadline by option(metavar = "TIME").time()
        .help("How long to follow an open payment; 20m, with the sandbox and its robot 1m")
    val callbackUrl by option(envvar = "KASSA_CALLBACK_URL", metavar = "URL")
        .help("A public URL that leads to this program's callback port; that port on 127.0.0.1 without it")
    val callbackPort by option(metavar = "PORT").int().default(0)
        .help("The port on 127.0.0.1 for callbacks and returning payers; 0 takes a free one")
    val callbackWait by option(metavar = "TIME").time().default(10.seconds)
        .help("How long to wait for a callback once the payment is over; 10")
    val state by option(envvar = "KASSA_STATE", metavar = "FILE").path().default(Path.of(".kassa-checkout.json"))
        .help("The file in which payments are kept before they are sent, and marked when they are over")
    val interactive by option().flag()
        .help("Let a person play the payer: print the pages' links, ask for one-time passwords")
    val json by option().flag().help(
        "Print the answer or the error as one line of JSON, the only one on standard output; the story goes to standard error",
    )
}

/** What the command line says of everything but the payment. */
fun settings(connection: ConnectionOptions, following: FollowingOptions) = Settings(
    baseUrl = connection.baseUrl,
    login = connection.login,
    password = connection.secrets.password ?: connection.password,
    dialect = connection.dialect,
    sandboxDb = connection.sandboxDb,
    timeout = connection.timeout,
    rootCertificates = connection.rootCertificates,
    isStatusAsQuery = connection.statusAsQuery,
    pollInterval = following.pollInterval,
    deadline = following.deadline,
    callbackUrl = following.callbackUrl,
    callbackPort = following.callbackPort,
    callbackWait = following.callbackWait,
    state = following.state,
    isInteractive = following.interactive,
    isJson = following.json,
)

/** A card. Its fields are texts, so that no complaint about one repeats it. */
class CardOptions : OptionGroup("Card", "Better given by the environment or --secrets-stdin") {
    private val usual = CardFields()
    private val pan by option(envvar = "KASSA_CARD_PAN").default(usual.pan)
        .help("The card number, 13 to 20 digits; spaces and hyphens are left out")
    private val expiryMonth by option(envvar = "KASSA_CARD_EXPIRY_MONTH", metavar = "MM").default(usual.expiryMonth)
        .help("The month of expiry, two digits")
    private val expiryYear by option(envvar = "KASSA_CARD_EXPIRY_YEAR", metavar = "YYYY").default(usual.expiryYear)
        .help("The year of expiry, four digits")
    private val cvc by option(envvar = "KASSA_CARD_CVC").default(usual.cvc).help("The card's verification code")
    private val name by option(envvar = "KASSA_CARD_NAME").default(usual.name).help("The cardholder, first name first")

    /** The card. */
    fun fields() = CardFields(pan, expiryMonth, expiryYear, cvc, name)
}

/** Which payment a query is about. */
class SubjectOptions : OptionGroup("Payment") {
    /** The stored reference, which tells what was asked for. */
    val stored by option("--payment", metavar = "REF")
        .convert { text ->
            try {
                PaymentRef.parse(text)
            } catch (error: PaymentException.Invalid) {
                fail(error.message)
            }
        }
        .help("The payment as its stored reference (kassa1:...)")
    val orderNumber by option(metavar = "NUMBER").help("The merchant's order number; needs --provider")
    private val providerName by option("--provider").help("Who carries the payment out: Cards, MBank or MegaPay")
    val gatewayNumber by option(metavar = "NUMBER")
        .help("The gateway's own order number (the token of the confirmation page)")
    val transactionId by option(metavar = "ID").help("The identifier of a QR transaction")

    /** Who carries the payment out; there beside an order number. */
    val provider: Provider get() = providerName?.let(Provider::fromName) ?: throw Failure.Usage("--order-number needs --provider")

    /** True where the command line names a payment. It names no more than one, in one way. */
    fun isNamed(): Boolean {
        val named = listOfNotNull(stored, orderNumber, gatewayNumber, transactionId)
        if (named.size > 1) throw Failure.Usage("name one payment, in one way")
        if (orderNumber == null && providerName != null) throw Failure.Usage("--provider needs --order-number")
        return named.isNotEmpty()
    }
}

/** The command line has to name a payment. */
fun nothingNamed() = Failure.Usage(
    "name the payment: --payment REF, --order-number with --provider, --gateway-number, or --transaction-id",
)

/** What was asked for, where no stored reference tells it. */
class AskedForOptions : OptionGroup("What was asked for") {
    private val amount by option().amount()
        .help("The amount that was asked for, in units of the currency; needed where no --payment tells it")
    private val currency by option().default("KGS").help("The currency that was asked for")

    /** The payment that the command line names; null for none. */
    fun payment(subject: SubjectOptions): PaymentRef? = if (subject.isNamed()) subject.stored ?: payment(subject, amount()) else null

    private fun amount() =
        amount ?: throw Failure.Usage("say by --amount what was asked for, or name the payment by --payment REF")

    private fun payment(subject: SubjectOptions, amount: BigDecimal): PaymentRef {
        subject.transactionId?.let { return PaymentRef.qr(Kassa.somToTyiyn(amount)).withTransactionId(it) }
        val number = subject.orderNumber
            ?: return PaymentRef(PaymentKind.CARD, gatewayNumber = subject.gatewayNumber, amount = amount, currency = currency)
        return when (val provider = subject.provider) {
            Provider.Cards -> PaymentRef.card(number, amount, currency)
            // The request has whole som, so another amount is no such payment's, and contradicts what the gateway reports.
            Provider.MBank -> PaymentRef.mbank(number, 0).copy(amount = amount)
            else -> PaymentRef.payForm(amount).withClaimedNumber(number, provider)
        }
    }
}

/** Nobody waits longer, and no clock overflows before. */
private val LONGEST = 365.days
private val TIME = Regex("""(\d+(?:\.\d+)?)(ms|s|m)?""")
private val MILLIS = mapOf("ms" to 1L, "s" to 1_000L, "" to 1_000L, "m" to 60_000L)

/** A time: seconds, or a number with `ms`, `s` or `m`. */
private fun RawOption.time(): NullableOption<Duration, Duration> = convert { text -> time(text) ?: fail(NO_TIME) }

private const val NO_TIME = "a time is a number of seconds, or a number with ms, s or m; above zero, at most a year"

/** A time, where the text is one. */
fun time(text: String): Duration? {
    val (number, unit) = TIME.matchEntire(text)?.destructured ?: return null
    val nanos = BigDecimal(number).multiply(BigDecimal(MILLIS.getValue(unit))).movePointRight(6)
    if (nanos > BigDecimal(LONGEST.inWholeNanoseconds)) return null
    return nanos.toLong().nanoseconds.takeIf { it > Duration.ZERO }
}

/** An amount, exactly as its digits say. */
fun RawOption.amount(): NullableOption<BigDecimal, BigDecimal> =
    convert { it.toBigDecimalOrNull() ?: fail("an amount is a decimal number such as 100.10") }
