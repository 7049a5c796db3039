package dev.kassa.support

import dev.kassa.Gateway
import dev.kassa.PaymentRef
import dev.kassa.testing.FakeGateway
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

// For tests of deliveries, in which a fake gateway's clock is stopped.

fun inTime(block: suspend CoroutineScope.() -> Unit): Unit = runBlocking { withTimeout(PATIENCE_SECONDS.seconds) { block() } }

/** A charged payment about which no query was sent since. */
suspend fun FakeGateway.paid(gateway: Gateway, note: String): PaymentRef {
    val payment = gateway.withNote(note).createMbankPayment(mbankPayment()).payment
    charge(payment.orderNumber!!)
    gateway.check(payment)
    return payment
}

suspend fun FakeGateway.advanceUntil(condition: () -> Boolean) {
    while (!condition()) {
        advance(100.milliseconds)
        delay(2.milliseconds)
    }
}
