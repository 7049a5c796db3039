package dev.kassa.shop

import dev.kassa.Card
import dev.kassa.PaymentEntry
import dev.kassa.PaymentRef
import dev.kassa.WatchReport
import kotlinx.coroutines.flow.Flow
import java.math.BigDecimal

/**
 * The merchant's own server, as the app sees it. **The server has the merchant's credentials; the app never has**: they also open the
 * merchant's dashboard, and anybody can take them out of an app.
 *
 * The app speaks Kassa's words for what happened, so that a payment whose answer was lost on the way to the server is treated like one
 * whose answer was lost on the way to the gateway: as [dev.kassa.PaymentException.OutcomeUnknown].
 *
 * Any exception that is not one of Kassa's, such as an `IOException`, is taken to say nothing about the money.
 */
interface Backend {
    /**
     * Creates a card payment. It is sent once. What comes back has the page on which the payer confirms it (3DS), where there is one; it
     * is not paid yet.
     *
     * @param orderNumber made by the app, and stored there before this is called
     * @param returnUrl the app's deep link, to which the payer's browser goes at the end
     */
    suspend fun payByCard(orderNumber: String, amount: BigDecimal, card: Card, returnUrl: String): PaymentEntry

    /** Makes a QR code for another phone to scan: what comes back has its text. It moves no money. */
    suspend fun payByQr(amount: BigDecimal): PaymentEntry

    /** Follows a payment to its end. */
    fun watch(payment: PaymentRef): Watch
}

/** What asking about a payment brings. */
interface Watch {
    /** One report for each question; it asks while it is collected, and ends with the verdict that is the last one. */
    val reports: Flow<WatchReport>

    /** Asks at once: when the payer has just come back. */
    fun checkNow()
}
