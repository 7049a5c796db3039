package dev.kassa.checkout

import dev.kassa.Gateway
import dev.kassa.GatewayConfig
import dev.kassa.Journal
import dev.kassa.JournalEntry
import dev.kassa.PaymentException
import dev.kassa.PaymentRef
import dev.kassa.Verdict
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlin.io.path.Path
import kotlin.system.exitProcess

/** The note for the journal entry of each payment. In a shop it is the cart's number. */
const val NOTE = "two coffees"

/** An environment variable, or its default. */
fun setting(name: String, otherwise: String): String = System.getenv(name) ?: otherwise

/** Runs a program with the shop's gateway, which records payments in the journal before sending. Prints an error as one sentence. */
fun checkout(program: suspend (Gateway) -> Unit) = try {
    val journal = Journal.open(Path(setting("KASSA_JOURNAL", "payments")))
    Gateway(GatewayConfig.fromEnvironment(), journal).use { gateway ->
        runBlocking(Dispatchers.Default) { program(gateway.withNote(NOTE)) }
    }
} catch (error: PaymentException) {
    System.err.println(error.message)
    exitProcess(1)
}

// docs: begin follow
/** Polls a payment until it is final, and delivers what is paid. */
suspend fun end(gateway: Gateway, payment: PaymentRef) = when (val verdict = gateway.watch(payment).outcome()) {
    is Verdict.Charged -> deliver(gateway, entryOf(gateway, payment))
    is Verdict.Rejected -> println("not paid: $payment ${verdict.report.reason.orEmpty()}")
    else -> println("a person should look: $payment, $verdict")
}

/** This example prints a line. Make your delivery idempotent: a program may die before the payment is finished. */
suspend fun deliver(gateway: Gateway, entry: JournalEntry) {
    println("paid: deliver ${entry.note} for ${entry.id}")
    gateway.finish(entry)
}
// docs: end follow

/** The journal's entry of a payment. It reads the disk. */
suspend fun entryOf(gateway: Gateway, payment: PaymentRef): JournalEntry =
    withContext(Dispatchers.IO) { checkNotNull(gateway.journal?.entry(payment)) }
