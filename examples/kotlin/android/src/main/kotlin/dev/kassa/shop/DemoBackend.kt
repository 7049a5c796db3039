package dev.kassa.shop

import dev.kassa.Card
import dev.kassa.CardPayment
import dev.kassa.Credentials
import dev.kassa.Gateway
import dev.kassa.Kassa
import dev.kassa.PaymentEntry
import dev.kassa.PaymentException
import dev.kassa.PaymentRef
import dev.kassa.PollPolicy
import dev.kassa.QrPayment
import dev.kassa.WatchReport
import kotlinx.coroutines.flow.Flow
import java.math.BigDecimal

/**
 * Stands in for a server, and talks to the sandbox with the credentials that everybody knows. **For a demonstration only**: a real app
 * has a [Backend] that speaks to a real server, and this class belongs there.
 */
class DemoBackend(
    baseUrl: String = "http://127.0.0.1:8400",
    private val policy: PollPolicy = PollPolicy(),
) : Backend {
    private val gateway = Gateway(baseUrl, Credentials("kassa", "sandbox"))

    override suspend fun payByCard(
        orderNumber: String,
        amount: BigDecimal,
        card: Card,
        returnUrl: String,
    ): PaymentEntry {
        val created = gateway.createCardPayment(
            CardPayment(
                orderNumber = orderNumber,
                description = "A jar of honey",
                amount = amount,
                currency = "KGS",
                card = card,
                language = "en",
                callbackUrl = CALLBACK_URL,
                ip = "203.0.113.7",
                returnUrl = returnUrl,
            ),
        )
        return created.entry()
    }

    override suspend fun payByQr(amount: BigDecimal): PaymentEntry {
        val data = gateway.createQrData(QrPayment(Kassa.somToTyiyn(amount), requisite = "Honey, Bishkek"))
        if (data.payload == null || !data.payment.canBeAskedAbout) {
            throw PaymentException.Unexpected("the reply holds no QR code", body = data.raw)
        }
        return data.entry()
    }

    override fun watch(payment: PaymentRef): Watch {
        val watch = gateway.watch(payment, policy)
        return object : Watch {
            override val reports: Flow<WatchReport> = watch.reports

            override fun checkNow() = watch.checkNow()
        }
    }

    private companion object {
        /** A server's own address. Nobody listens there in the demonstration: the app asks instead. */
        const val CALLBACK_URL = "http://127.0.0.1:9/callback"
    }
}
