package dev.kassa.checkout.flows

import dev.kassa.Card
import dev.kassa.CardPayment
import dev.kassa.CardPaymentCreated
import dev.kassa.Kassa
import dev.kassa.NextStep
import dev.kassa.PaymentException
import dev.kassa.checkout.CardOrder
import dev.kassa.checkout.Checkout
import dev.kassa.checkout.Failure
import dev.kassa.checkout.Outcome
import dev.kassa.checkout.Report
import dev.kassa.checkout.Sale
import dev.kassa.checkout.follow
import dev.kassa.checkout.otpForm
import dev.kassa.checkout.otpOfCard
import dev.kassa.checkout.tellTestOtp
import dev.kassa.checkout.toJson

/** A card payment: created, confirmed by the payer on the 3DS page, followed. */
suspend fun takeCard(shop: Checkout, order: CardOrder): Report {
    val reference = Kassa.newOrderNumber()
    val payment = payment(shop, order, reference)
    shop.narrator.step(
        "ask",
        "card payment of ${payment.amount} ${payment.currency}, card ${payment.card.maskedNumber}, order ${payment.orderNumber}",
    )
    val sale = Sale.begin(shop, "card", payment.paymentRef(), reference, awaitsCallback = true)
    sale.advise(payment.advice())
    try {
        val created = shop.gateway.createCardPayment(payment)
        sale.answered(created.toJson(), created.payment)
        confirm(sale, order, created)
        if (!order.isFollowed) return sale.end(Outcome.CREATED)
    } catch (error: PaymentException) {
        if (!sale.failed(error)) return sale.end(Outcome.NOT_MADE)
    }
    return sale.follow()
}

private fun payment(shop: Checkout, order: CardOrder, reference: String) = CardPayment(
    orderNumber = order.orderNumber ?: Kassa.newOrderNumber(),
    description = order.description,
    amount = order.amount,
    currency = order.currency,
    card = with(order.card) { Card(pan, expiryMonth, year(expiryYear), cvc, name) },
    language = order.language,
    callbackUrl = shop.requiredCallbackUrl(reference),
    ip = order.ip,
    returnUrl = (order.returnUrl ?: shop.receiver.returnUrl(reference)).ifEmpty { null },
    email = order.email,
)

/** The text is not repeated: it may be a part of a real card. */
private fun year(text: String) =
    text.toIntOrNull() ?: throw Failure.Usage("the card's year of expiry must be four digits")

private suspend fun confirm(sale: Sale, order: CardOrder, created: CardPaymentCreated) {
    val accepted = "code ${created.code ?: "none"}, accepted"
    when (val next = created.nextStep) {
        is NextStep.OpenConfirmation -> {
            sale.narrator.step("gateway", "$accepted; the payer has to confirm it (3DS):")
            sale.narrator.step("page", "${next.url}")
            if (!order.isFollowed) return
            val otp = order.otp ?: otpOfCard(order.card.pan)
            sale.tellTestOtp(otp)
            val story = "opens the page and enters the one-time password of the bank"
            sale.shop.payer.go(sale.narrator, next.url, story, otp?.let { listOf(otpForm(it)) })
        }
        is NextStep.AskStatus -> {
            val status = "status \"${next.status ?: "none"}\", which settles nothing: we ask"
            sale.narrator.step("gateway", "$accepted; nothing to confirm, $status")
        }
    }
}
