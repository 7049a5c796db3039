package dev.kassa.checkout.commands

import com.github.ajalt.clikt.parameters.groups.provideDelegate
import com.github.ajalt.clikt.parameters.options.help
import com.github.ajalt.clikt.parameters.options.option
import com.github.ajalt.clikt.parameters.types.int
import dev.kassa.Callback
import dev.kassa.PaymentRef
import dev.kassa.Verdict
import dev.kassa.checkout.AS_EXPECTED
import dev.kassa.checkout.Arrival
import dev.kassa.checkout.Checked
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
    private val subject by SubjectOptions()
    private val askedFor by AskedForOptions()

    override suspend fun work(shop: Checkout): Ended {
        val named = askedFor.payment(subject)
        return file?.let { one(shop, read(it), named) } ?: listen(shop, named)
    }

    /**
     * Checks a callback against the payment that was named, else the one that this program stored before it was sent. What a callback
     * says of itself proves nothing.
     */
    private suspend fun weigh(shop: Checkout, callback: Callback, named: PaymentRef?): Checked {
        val payment = named ?: stored(shop, callback.orderNumber) ?: callback.paymentRef() ?: PaymentRef.qr(null)
        return check(shop.gateway, shop.narrator, callback, payment)
    }

    private fun stored(shop: Checkout, number: String): PaymentRef? =
        shop.store.entries().filter { it.gateway == shop.gatewayName }.map { it.paymentRef() }
            .findLast { it.orderNumber == number || it.transactionId == number }

    private suspend fun one(shop: Checkout, body: ByteArray, named: PaymentRef?): Ended {
        val callback = Callback.parse(body)
        val checked = weigh(shop, callback, named)
        val told = json("callbacks" to listOf(checked.seen.toJson()), "dedup_key" to callback.dedupKey())
        return Ended(exitCodeOf(checked.verdict), told)
    }

    private fun read(file: String): ByteArray = try {
        if (file == "-") System.`in`.readAllBytes() else File(file).readBytes()
    } catch (error: IOException) {
        throw Failure.Usage("$file cannot be read: $error")
    }

    private suspend fun listen(shop: Checkout, named: PaymentRef?): Ended {
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
                    val checked = weigh(shop, arrival.callback, named)
                    seen += checked.seen
                    exitCodes += exitCodeOf(checked.verdict)
                }
            }
        }
        if (count != null && seen.size < wanted) exitCodes += NOT_AS_EXPECTED
        return Ended(worst(exitCodes), json("callbacks" to seen.map { it.toJson() }))
    }
}

/** Only what the gateway itself reports of this payment is as expected; a callback that it knows nothing of is not. */
private fun exitCodeOf(verdict: Verdict?) = when (verdict) {
    is Verdict.Charged, is Verdict.Rejected -> AS_EXPECTED
    is Verdict.Contradicted -> NOT_AS_EXPECTED
    is Verdict.Open, is Verdict.Unverifiable, null -> NOT_KNOWN
}
