package dev.kassa.checkout.flows

import dev.kassa.Kassa
import dev.kassa.PayForm
import dev.kassa.PaymentException
import dev.kassa.checkout.Checkout
import dev.kassa.checkout.Form
import dev.kassa.checkout.Outcome
import dev.kassa.checkout.PayFormOrder
import dev.kassa.checkout.PayWith
import dev.kassa.checkout.Report
import dev.kassa.checkout.Sale
import dev.kassa.checkout.cardForm
import dev.kassa.checkout.follow
import dev.kassa.checkout.otpForm
import dev.kassa.checkout.otpOfCard
import dev.kassa.checkout.otpOfPhone
import dev.kassa.checkout.toJson
import dev.kassa.checkout.walletForm
import dev.kassa.sandbox.Sandbox.Provider
import dev.kassa.sandbox.TestPhones

/**
 * A hosted page on which the payer picks how to pay.
 *
 * The answer names no order: which payment was made there, its callback and its return claim, recognised by our own reference in their
 * URLs, and the gateway confirms.
 */
suspend fun takePayForm(shop: Checkout, order: PayFormOrder): Report {
    val reference = Kassa.newOrderNumber()
    val form = PayForm(
        amount = order.amount,
        serviceName = order.serviceName,
        callbackUrl = shop.requiredCallbackUrl(reference),
        returnUrl = order.returnUrl ?: shop.receiver.returnUrl(reference),
    )
    shop.narrator.step("ask", "a pay-form for ${form.amount} KGS, our reference $reference")
    val sale = Sale.begin(shop, "pay-form", form.paymentRef(), reference, awaitsCallback = true)
    sale.advise(form.advice())
    val created = try {
        shop.gateway.createPayForm(form)
    } catch (error: PaymentException) {
        sale.failed(error)
        return sale.end(Outcome.NOT_MADE)
    }
    sale.answered(created.toJson(), created.payment)
    sale.narrator.step("gateway", "the page is ready:")
    sale.narrator.step("page", "${created.payFormUrl}")
    if (!order.isFollowed) return sale.end(Outcome.CREATED)
    if (shop.isSandbox && !shop.payer.isRobot) {
        val text = "test cards, phones and their one-time passwords are listed in sandbox/README.md"
        sale.narrator.step("payer", text)
    }
    shop.payer.go(sale.narrator, created.payFormUrl, story(order.payWith), forms(order))
    return sale.follow()
}

private fun story(payWith: PayWith) = when (payWith) {
    PayWith.CARD -> "picks the card on the page, types it in and enters the one-time password"
    PayWith.MBANK -> "picks MBank on the page, types the phone number and the one-time password"
    PayWith.MEGAPAY -> "picks MegaPay on the page, types the phone number and the one-time password"
}

/** What the robot fills in: the choice, then the one-time password. */
private fun forms(order: PayFormOrder): List<Form>? {
    val (choice, known) = when (order.payWith) {
        PayWith.CARD -> cardForm(order.card) to otpOfCard(order.card.pan)
        PayWith.MBANK -> wallet(Provider.M_BANK, order.phone ?: TestPhones.MBANK_APPROVED.phone)
        PayWith.MEGAPAY -> wallet(Provider.MEGA_PAY, order.phone ?: TestPhones.MEGAPAY_APPROVED.phone)
    }
    return (order.otp ?: known)?.let { listOf(choice, otpForm(it)) }
}

private fun wallet(provider: Provider, phone: String): Pair<Form, String?> {
    val name = if (provider == Provider.M_BANK) "MBank" else "MegaPay"
    return walletForm(name, phone) to otpOfPhone(provider, phone)
}
