package dev.kassa.checkout.commands

import com.github.ajalt.clikt.parameters.groups.provideDelegate
import com.github.ajalt.clikt.parameters.options.convert
import com.github.ajalt.clikt.parameters.options.default
import com.github.ajalt.clikt.parameters.options.flag
import com.github.ajalt.clikt.parameters.options.help
import com.github.ajalt.clikt.parameters.options.option
import com.github.ajalt.clikt.parameters.options.required
import com.github.ajalt.clikt.parameters.types.enum
import com.github.ajalt.clikt.parameters.types.long
import com.github.ajalt.clikt.parameters.types.path
import dev.kassa.checkout.CardOrder
import dev.kassa.checkout.Checkout
import dev.kassa.checkout.Confirmation
import dev.kassa.checkout.MbankOrder
import dev.kassa.checkout.PayFormOrder
import dev.kassa.checkout.PayWith
import dev.kassa.checkout.QrOrder
import dev.kassa.checkout.Report
import dev.kassa.checkout.flows.confirmMbank
import dev.kassa.checkout.flows.takeCard
import dev.kassa.checkout.flows.takeMbank
import dev.kassa.checkout.flows.takePayForm
import dev.kassa.checkout.flows.takeQr
import dev.kassa.checkout.toJson
import java.util.Optional

/** A command that takes one payment. */
abstract class PaymentCommand(name: String, about: String, private val title: String) : ShopCommand(name, about) {
    protected val noWait by option().flag().help("Stop after the gateway's answer; `watch --resume` goes on")

    final override suspend fun work(shop: Checkout): Ended {
        shop.introduce()
        shop.narrator.title(title)
        val report = take(shop)
        return Ended(report.exitCode, report.toJson())
    }

    protected abstract suspend fun take(shop: Checkout): Report
}

/** `checkout card` */
class CardCommand : PaymentCommand(
    "card",
    "Take a card payment: create it, let the payer confirm it (3DS), follow it to its end",
    "Card payment",
) {
    private val usual = CardOrder()
    private val orderNumber by option(metavar = "NUMBER").help("The merchant's unique number of the payment; a new one without it")
    private val description by option().default(usual.description).help("What is paid for")
    private val amount by option().amount().default(usual.amount).help("The amount in units of the currency, at least 1")
    private val currency by option().default(usual.currency).help("The currency's three letters")
    private val language by option().default(usual.language).help("The payer's language, two letters")
    private val ip by option().default(usual.ip).help("The payer's IP address")
    private val email by option().help("The payer's e-mail")
    private val returnUrl by option(metavar = "URL")
        .help("Where the payer's browser goes after success; an empty text leaves it out; a page of this program without it")
    private val otp by option(envvar = "KASSA_OTP")
        .help("The one-time password that the robot enters on the 3DS page; that of the sandbox's test card without it")
    private val card by CardOptions()

    override suspend fun take(shop: Checkout): Report = takeCard(
        shop,
        CardOrder(
            orderNumber, description, amount, currency, language, ip, email, returnUrl,
            secrets.card(card.fields()), secrets.otp ?: otp, !noWait,
        ),
    )
}

/** `checkout mbank` */
class MbankCommand : PaymentCommand(
    "mbank",
    "Take a mobile-bank payment: create it, confirm it with the payer's one-time password, follow it",
    "MBank payment",
) {
    private val usual = MbankOrder()
    private val orderNumber by option(metavar = "NUMBER").help("The merchant's unique number of the payment; a new one without it")
    private val phone by option().default(usual.phone).help("The payer's phone number, to which the one-time password goes")
    private val amount by option(metavar = "SOM").long().default(usual.amountSom).help("The amount in whole som, at least 1")
    private val comment by option().default(usual.comment).help("What is paid for")
    private val noCallback by option().flag().help("Ask for no callback")
    private val otp by option(envvar = "KASSA_OTP")
        .help("The payer's one-time password; that of the sandbox's test phone without it, --interactive asks")

    override suspend fun take(shop: Checkout): Report = takeMbank(
        shop,
        MbankOrder(orderNumber, phone, amount, comment, !noCallback, secrets.otp ?: otp, !noWait),
    )
}

/** `checkout confirm` */
class ConfirmCommand : PaymentCommand(
    "confirm",
    "Confirm a mobile-bank payment that was created before, and follow it",
    "Confirmation of an MBank payment",
) {
    private val orderNumber by option(metavar = "NUMBER").required().help("The merchant's order number of the payment")
    private val otp by option(envvar = "KASSA_OTP")
        .help("The payer's one-time password; better given by the environment or --secrets-stdin; --interactive asks")
    private val amount by option(metavar = "SOM").long()
        .help("The amount in whole som; needed where the state file does not know the payment")
    private val identifier by option()
        .help("The identifier that the creation yielded, where the dialect names one; what the state file holds without it")

    override suspend fun take(shop: Checkout): Report =
        confirmMbank(shop, Confirmation(orderNumber, secrets.otp ?: otp, amount, identifier, !noWait))
}

/** `checkout pay-form` */
class PayFormCommand : PaymentCommand(
    "pay-form",
    "Make a hosted page on which the payer picks how to pay, and follow what is paid there",
    "Pay-form",
) {
    private val usual = PayFormOrder()
    private val amount by option().amount().default(usual.amount)
        .help("The amount in KGS, at least 1; MegaPay takes no less than 5")
    private val serviceName by option().default(usual.serviceName).help("What is paid for")
    private val returnUrl by option(metavar = "URL")
        .help("Where the payer's browser goes after success; a page of this program without it")
    private val payWith by option().enum<PayWith> { it.name.lowercase() }.default(usual.payWith)
        .help("What the robot picks on the page")
    private val phone by option()
        .help("The phone number that the robot enters for a wallet; the sandbox's approved test phone without it")
    private val otp by option(envvar = "KASSA_OTP")
        .help("The one-time password that the robot enters; that of the sandbox's test card or phone without it")
    private val card by CardOptions()

    override suspend fun take(shop: Checkout): Report = takePayForm(
        shop,
        PayFormOrder(
            amount, serviceName, returnUrl, payWith, phone, secrets.card(card.fields()), secrets.otp ?: otp, !noWait,
        ),
    )
}

/** `checkout qr` */
class QrCommand : PaymentCommand(
    "qr",
    "Make a dynamic QR code, draw it here or save the gateway's picture, and follow its payment",
    "QR payment",
) {
    private val usual = QrOrder()
    private val amount by option(metavar = "SOM")
        .convert { text ->
            val amount = text.toBigDecimalOrNull()
            if (amount == null && text != "open") fail("a decimal number of som, or `open`")
            Optional.ofNullable(amount)
        }
        .default(Optional.ofNullable(usual.amountSom))
        .help("The amount in som, to the tyiyn; `open` lets the payer name it (not with --image)")
    private val requisite by option().default(usual.requisite)
        .help("The payee: a phone number, or the name of the enterprise or branch; an empty text leaves it out")
    private val noCallback by option().flag().help("Ask for no callback")
    private val image by option(metavar = "FILE").path()
        .help("Ask for the gateway's own picture instead of the data, and save it here (PNG, 400x400)")
    private val decline by option().flag().help("Let the robot decline instead of approve")

    override suspend fun take(shop: Checkout): Report =
        takeQr(shop, QrOrder(amount.orElse(null), requisite, !noCallback, image, decline, !noWait))
}
