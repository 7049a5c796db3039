package dev.kassa.client

import java.math.BigDecimal

/** The README's shop in Kotlin, as it stands there. */
class HoneyShop(private val client: KassaClient, private val eventsSecret: String, private val orders: Orders) {
    /** The page to send the payer to. Repeating it is safe: one order is one checkout. */
    fun buy(order: String): String {
        val checkout = client.openCheckout(
            NewCheckout(order, BigDecimal("390"), "A jar of honey", returnUrl = "https://shop.example.kg/orders/$order"),
        )
        return checkNotNull(checkout.pageUrl) { "the server's pages are disabled" }
    }

    /** Receives an event, in any web framework; the status to answer with. */
    fun receive(body: ByteArray, headers: Map<String, *>): Int {
        val event = try {
            Events.verify(body, headers, eventsSecret)
        } catch (error: EventException) {
            println(error.message) // which rule it breaks, and what to do
            return 401
        }
        when (event.kind) {
            EventKind.CHECKOUT_PAID -> orders.deliverOnce(event.reference) // the same payment can come with another event.id
            EventKind.CHECKOUT_EXPIRED, EventKind.CHECKOUT_CANCELLED -> orders.release(event.reference)
        }
        return 200 // also for kinds that this shop does not know
    }
}

/** The table of orders. */
interface Orders {
    /** Delivers, and remembers it in the same transaction, unless the order is delivered already. */
    fun deliverOnce(order: String)
    fun release(order: String)
}
