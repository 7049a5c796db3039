package dev.kassa.checkout.flows

import dev.kassa.Kassa
import dev.kassa.MbankPayment
import dev.kassa.PaymentException
import dev.kassa.PaymentKind
import dev.kassa.PaymentRef
import dev.kassa.checkout.Checkout
import dev.kassa.checkout.Confirmation
import dev.kassa.checkout.Entry
import dev.kassa.checkout.Failure
import dev.kassa.checkout.MbankOrder
import dev.kassa.checkout.Outcome
import dev.kassa.checkout.Report
import dev.kassa.checkout.Sale
import dev.kassa.checkout.State
import dev.kassa.checkout.follow
import dev.kassa.checkout.inWords
import dev.kassa.checkout.otpOfPhone
import dev.kassa.checkout.toJson
import dev.kassa.sandbox.Sandbox
import kotlinx.serialization.json.JsonPrimitive

/** A mobile-bank payment: created, confirmed with the payer's one-time password, followed. */
suspend fun takeMbank(shop: Checkout, order: MbankOrder): Report {
    val reference = Kassa.newOrderNumber()
    val payment = MbankPayment(
        orderNumber = order.orderNumber ?: Kassa.newOrderNumber(),
        phone = order.phone,
        amountSom = order.amountSom,
        comment = order.comment,
        callbackUrl = shop.callbackUrl(reference).takeIf { order.wantsCallback },
    )
    val number = payment.orderNumber
    shop.narrator.step("ask", "MBank payment of ${payment.amountSom} KGS from ${payment.phone}, order $number")
    val sale = Sale.begin(shop, "mbank", payment.paymentRef(), reference, awaitsCallback = payment.callbackUrl != null)
    sale.advise(payment.advice())
    val created = try {
        shop.gateway.createMbankPayment(payment)
    } catch (error: PaymentException) {
        return if (sale.failed(error)) sale.follow() else sale.end(Outcome.NOT_MADE)
    }
    sale.answered(created.toJson(), created.payment)
    val code = created.code ?: "none"
    sale.narrator.step("gateway", "code $code, accepted, not paid; a one-time password goes to the phone")
    if (!order.isFollowed) return sale.end(Outcome.CREATED)
    val otp = try {
        askOtp(shop, order.otp, otpOfPhone(Sandbox.Provider.M_BANK, order.phone))
    } catch (failure: Failure.Usage) {
        sale.narrator.warn("payer", failure.message)
        sale.narrator.step("later", "checkout confirm --order-number $number goes on with it")
        return sale.end(Outcome.OPEN)
    }
    return confirm(sale, otp, isCreated = true, isFollowed = true)
}

/** Confirms a payment that an earlier run has created. */
suspend fun confirmMbank(shop: Checkout, confirmation: Confirmation): Report {
    val number = confirmation.orderNumber
    val stored = shop.store.entries().findLast { it.gateway == shop.gatewayName && it.isOpenMbank(number) }
    val otp = askOtp(shop, confirmation.otp, known = null)
    val sale = when (stored) {
        null -> Sale.begin(shop, "mbank", PaymentRef.mbank(number, amount(confirmation)), Kassa.newOrderNumber())
        else -> Sale.resume(shop, stored, "mbank")
    }
    confirmation.identifier?.let { sale.learned(sale.report.payment.copy(confirmIdentifier = asJson(it))) }
    return confirm(sale, otp, isCreated = stored != null, confirmation.isFollowed)
}

/** A payment that this program has not stored must be told apart by its amount, too. */
private fun amount(confirmation: Confirmation): Long = confirmation.amountSom
    ?: throw Failure.Usage("the state file does not know this payment: say by --amount how many som it is about")

/** A number stays one; anything else is a text. */
private fun asJson(identifier: String): String =
    if (NUMBER.matches(identifier)) identifier else "${JsonPrimitive(identifier)}"

private val NUMBER = Regex("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?")

private fun Entry.isOpenMbank(number: String): Boolean {
    val payment = paymentRef()
    return state == State.OPEN && payment.kind == PaymentKind.MBANK && payment.orderNumber == number
}

/** The one-time password: as given, as the robot knows it, or from a person. */
private suspend fun askOtp(shop: Checkout, given: String?, known: String?): String = when {
    given != null -> given
    known != null && shop.payer.isRobot -> known
    !shop.payer.isRobot || System.console() != null -> shop.payer.askOtp(shop.narrator)
    else -> throw Failure.Usage("no one-time password: give it by KASSA_OTP, --secrets-stdin or --otp")
}

/** Sends the confirmation and follows the payment. [isCreated] says whether this program knows that the payment exists. */
private suspend fun confirm(sale: Sale, otp: String, isCreated: Boolean, isFollowed: Boolean): Report {
    sale.narrator.step("payer", "reads the one-time password from the phone and hands it over; we confirm")
    try {
        val confirmed = sale.shop.gateway.confirmMbankPayment(sale.report.payment, otp)
        val status = "status \"${confirmed.status ?: "none"}\", which settles nothing: we ask"
        sale.narrator.step("gateway", "code ${confirmed.code ?: "none"}, took the confirmation, $status")
        sale.answered(confirmed.toJson(), confirmed.payment)
    } catch (error: PaymentException) {
        if (!sale.failed(error)) return afterRefusal(sale, isCreated)
    }
    return if (isFollowed) sale.follow() else sale.end(Outcome.CREATED)
}

/**
 * The confirmation did nothing: the payment stands where it stood, and one question tells where. It may have been created elsewhere, so
 * only where the gateway does not know it either there is none.
 */
private suspend fun afterRefusal(sale: Sale, isCreated: Boolean): Report {
    sale.report.outcome = if (isCreated) Outcome.OPEN else Outcome.NOT_MADE
    try {
        val verdict = sale.shop.gateway.check(sale.report.payment)
        sale.narrator.step("status", verdict.inWords())
        sale.heard(verdict)
    } catch (error: PaymentException) {
        sale.narrator.warn("status", "${error.kind}: ${error.message}")
    }
    return sale.end()
}
