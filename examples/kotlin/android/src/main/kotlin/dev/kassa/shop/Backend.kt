package dev.kassa.shop

import dev.kassa.Card
import dev.kassa.PaymentRef
import dev.kassa.WatchReport
import kotlinx.coroutines.flow.Flow
import java.math.BigDecimal
import java.net.URI

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
     * Creates a card payment. It is sent once.
     *
     * @param orderNumber made by the app, and stored there before this is called
     * @param returnUrl the app's deep link, to which the payer's browser goes at the end
     */
    suspend fun payByCard(orderNumber: String, amount: BigDecimal, card: Card, returnUrl: String): CardStarted

    /** Makes a QR code for another phone to scan. It moves no money. */
    suspend fun payByQr(amount: BigDecimal): QrStarted

    /** Follows a payment to its end. */
    fun watch(payment: PaymentRef): Watch
}

/** A card payment that the gateway has accepted. It is not paid yet. */
class CardStarted(
    val payment: PaymentRef,
    /** The page on which the payer confirms it (3DS); null where there is nothing to confirm. */
    val page: URI?,
)

/** A QR code that waits to be scanned. */
class QrStarted(val payment: PaymentRef, val text: String)

/** What asking about a payment brings. */
interface Watch {
    /** One report for each question; it asks while it is collected, and ends with the verdict that is the last one. */
    val reports: Flow<WatchReport>

    /** Asks at once: when the payer has just come back. */
    fun checkNow()
}
