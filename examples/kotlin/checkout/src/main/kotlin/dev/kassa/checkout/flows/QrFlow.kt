package dev.kassa.checkout.flows

import dev.kassa.Kassa
import dev.kassa.PaymentException
import dev.kassa.QrCode
import dev.kassa.QrPayment
import dev.kassa.checkout.Checkout
import dev.kassa.checkout.Outcome
import dev.kassa.checkout.QrOrder
import dev.kassa.checkout.Report
import dev.kassa.checkout.Sale
import dev.kassa.checkout.follow
import dev.kassa.checkout.qrForm
import dev.kassa.checkout.toJson
import java.io.IOException
import java.net.URI
import java.nio.file.Files
import java.nio.file.Path

/** What the robot pays where the payer names the amount. */
private const val OPEN_AMOUNT = "42.50"

/** A dynamic QR code: drawn here, or saved as the gateway's own picture; then its payment is followed. */
suspend fun takeQr(shop: Checkout, order: QrOrder): Report {
    val reference = Kassa.newOrderNumber()
    val payment = QrPayment(
        sumTyiyn = order.amountSom?.let(Kassa::somToTyiyn),
        requisite = order.requisite.ifEmpty { null },
        callbackUrl = shop.callbackUrl(reference).takeIf { order.wantsCallback },
    )
    val shown = order.amountSom?.let { "$it KGS (${payment.sumTyiyn} tyiyn)" } ?: "an amount that the payer names"
    shop.narrator.step("ask", "a QR code for $shown, our reference $reference")
    val sale = Sale.begin(shop, "qr", payment.paymentRef(), reference, awaitsCallback = payment.callbackUrl != null)
    val page = try {
        if (order.image == null) data(sale, payment) else picture(sale, payment, order.image)
    } catch (error: PaymentException) {
        sale.failed(error)
        return sale.end(Outcome.NOT_MADE)
    }
    if (!order.isFollowed) return sale.end(Outcome.CREATED)
    if (page == null) sale.narrator.step("payer", "scan the picture with a phone") else pay(sale, order, page)
    return sale.follow()
}

/** Asks for the data and draws the code. The text in it is the link that a phone opens. */
private suspend fun data(sale: Sale, payment: QrPayment): URI? {
    val data = sale.shop.gateway.createQrData(payment)
    sale.answered(data.toJson(), data.payment)
    val payload = data.payload
    if (payload == null) {
        val text = "the reply holds no QR payload that the dialect finds; it is kept as `raw` with --json"
        sale.narrator.warn("gateway", text)
        return null
    }
    sale.narrator.step("gateway", "transaction ${data.transactionId ?: "not named"}; the code to scan:")
    sale.narrator.draw(QrCode.encode(payload))
    return runCatching { URI(payload) }.getOrNull()
}

/** Asks for the picture and saves it. It names no transaction. */
private suspend fun picture(sale: Sale, payment: QrPayment, file: Path): URI? {
    val image = sale.shop.gateway.createQrImage(payment)
    sale.answered(image.toJson(file), image.payment)
    try {
        Files.write(file, image.png)
        sale.narrator.step("gateway", "its picture, 400x400, is in $file")
    } catch (error: IOException) {
        sale.narrator.warn("gateway", "its picture cannot be saved in $file: $error")
    }
    return null
}

private suspend fun pay(sale: Sale, order: QrOrder, page: URI) {
    val amount = OPEN_AMOUNT.takeIf { order.amountSom == null }
    val story = if (order.isDeclined) "scans the code and declines" else "scans the code with a phone and approves"
    sale.shop.payer.go(sale.narrator, page, story, listOf(qrForm(order.isDeclined, amount)))
}
