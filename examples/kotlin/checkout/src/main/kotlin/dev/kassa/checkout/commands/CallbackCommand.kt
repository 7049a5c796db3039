package dev.kassa.checkout.commands

import com.github.ajalt.clikt.parameters.options.default
import com.github.ajalt.clikt.parameters.options.help
import com.github.ajalt.clikt.parameters.options.option
import com.github.ajalt.clikt.parameters.types.int
import dev.kassa.Callback
import dev.kassa.CallbackVerdict
import dev.kassa.ExpectedPayment
import dev.kassa.PaymentKind
import dev.kassa.PaymentRef
import dev.kassa.checkout.AS_EXPECTED
import dev.kassa.checkout.Arrival
import dev.kassa.checkout.Checkout
import dev.kassa.checkout.Failure
import dev.kassa.checkout.NOT_AS_EXPECTED
import dev.kassa.checkout.NOT_KNOWN
import dev.kassa.checkout.SeenCallback
import dev.kassa.checkout.check
import dev.kassa.checkout.json
import dev.kassa.checkout.toJson
import kotlinx.coroutines.withTimeoutOrNull
import java.io.File
import java.io.IOException
import kotlin.time.TimeSource

/** `checkout callback`: receives callbacks and checks each with the gateway, or checks one from a file. */
class CallbackCommand : ShopCommand(
    "callback",
    "Receive callbacks and verify each with the gateway, or check one from a file",
) {
    private val file by option(metavar = "FILE")
        .help("Check one callback from this file (`-` is standard input) instead of listening")
    private val count by option(metavar = "NUMBER").int()
        .help("Stop after so many callbacks, duplicates not counted; at the deadline without it")
    private val orderNumber by option(metavar = "NUMBER").help("The order number that is expected; needs --amount")
    private val transactionId by option(metavar = "ID")
        .help("The transaction id that is expected, for a QR payment; needs --amount")
    private val amount by option().amount().help("The amount that is expected, in units of the currency")
    private val currency by option().default("KGS").help("The currency that is expected")

    override suspend fun work(shop: Checkout): Ended {
        val expected = expected()
        return file?.let { one(shop, read(it), expected) } ?: listen(shop, expected)
    }

    private fun expected(): ExpectedPayment? {
        if (orderNumber != null && transactionId != null) throw Failure.Usage("name one payment, in one way")
        if (amount == null && (orderNumber ?: transactionId) != null) throw Failure.Usage("what is expected needs --amount")
        val payment = transactionId?.let(PaymentRef::qr)
            ?: PaymentRef.unnumbered(PaymentKind.PAY_FORM).copy(orderNumber = orderNumber)
        return amount?.let { ExpectedPayment(payment, it, currency) }
    }

    private suspend fun one(shop: Checkout, body: ByteArray, expected: ExpectedPayment?): Ended {
        val callback = Callback.parse(body)
        val checked = check(shop.gateway, shop.narrator, callback, expected)
        val told = json("callbacks" to listOf(checked.seen.toJson()), "dedup_key" to callback.dedupKey())
        return Ended(exitCodeOf(checked.verdict), told)
    }

    private fun read(file: String): ByteArray = try {
        if (file == "-") System.`in`.readAllBytes() else File(file).readBytes()
    } catch (error: IOException) {
        throw Failure.Usage("$file cannot be read: $error")
    }

    private suspend fun listen(shop: Checkout, expected: ExpectedPayment?): Ended {
        val mailbox = shop.receiver.expectEverything()
        shop.introduce()
        shop.narrator.title("Waiting for callbacks")
        val deadline = TimeSource.Monotonic.markNow() + shop.policy.deadline
        val seen = mutableListOf<SeenCallback>()
        val exitCodes = mutableListOf<Int>()
        val wanted = count ?: Int.MAX_VALUE
        while (seen.size < wanted) {
            val arrival = withTimeoutOrNull(-deadline.elapsedNow()) { mailbox.arrivals.receive() } ?: break
            when {
                arrival is Arrival.OfReturn ->
                    shop.narrator.step("return", "the payer of order ${arrival.redirect.orderNumber} is back")
                arrival is Arrival.OfCallback && arrival.isDuplicate ->
                    shop.narrator.step("callback", "order ${arrival.callback.orderNumber}: the same once more")
                arrival is Arrival.OfCallback -> {
                    val checked = check(shop.gateway, shop.narrator, arrival.callback, expected)
                    seen += checked.seen
                    exitCodes += exitCodeOf(checked.verdict)
                }
            }
        }
        if (count != null && seen.size < wanted) exitCodes += NOT_AS_EXPECTED
        return Ended(worst(exitCodes), json("callbacks" to seen.map { it.toJson() }))
    }
}

/** Only what the gateway itself confirms is as expected; a callback that it knows nothing of is not. */
private fun exitCodeOf(verdict: CallbackVerdict?) = when (verdict) {
    is CallbackVerdict.Confirmed -> AS_EXPECTED
    is CallbackVerdict.Contradicted -> NOT_AS_EXPECTED
    is CallbackVerdict.Pending, CallbackVerdict.Unverifiable, null -> NOT_KNOWN
}
