package dev.kassa

import dev.kassa.internal.checkoutLabels
import dev.kassa.internal.CheckoutLabels as CoreCheckoutLabels

/**
 * The labels of a payment screen that do not depend on the state: buttons, fields, payment methods. None has a placeholder.
 *
 * ```
 * CheckoutLabels.of(Language.RUSSIAN).confirm // Подтвердить платёж
 * ```
 */
public class CheckoutLabels private constructor(private val core: CoreCheckoutLabels) {
    /** The screen's title. */
    public val title: String get() = core.title

    /** The label of the shop's reference, followed by a colon. */
    public val order: String get() = core.order

    /** The payment method: the gateway's own page. */
    public val payForm: String get() = core.payForm

    /** Its explanation for the payer. */
    public val payFormHint: String get() = core.payFormHint

    /** The payment method: a QR code. */
    public val qr: String get() = core.qr

    /** Its explanation for the payer. */
    public val qrHint: String get() = core.qrHint

    /** The payment method: the mobile bank; also the title of its form. */
    public val mbank: String get() = core.mbank

    /** Its explanation for the payer. */
    public val mbankHint: String get() = core.mbankHint

    /** The payment method: a MegaPay wallet; also the title of its form. */
    public val megapay: String get() = core.megapay

    /** Its explanation for the payer. */
    public val megapayHint: String get() = core.megapayHint

    /** The payment method: a card entered in the app. */
    public val card: String get() = core.card

    /** Its explanation for the payer. */
    public val cardHint: String get() = core.cardHint

    /** The title of the card form. */
    public val cardTitle: String get() = core.cardTitle

    /** The field for the phone. */
    public val phone: String get() = core.phone

    /** The hint below the phone field until the input is a phone number, with an example. */
    public val phoneExample: String get() = core.phoneExample

    /** The error if the input is not a phone number: an example, whatever rule is broken. */
    public val phoneWrong: String get() = core.phoneWrong

    /** The field for the code from the SMS. */
    public val code: String get() = core.code

    /** The error if the code is too short. */
    public val codeShort: String get() = core.codeShort

    /** The field for the card's number. */
    public val cardNumber: String get() = core.cardNumber

    /** The field for the card's expiry, month first. */
    public val cardExpiry: String get() = core.cardExpiry

    /** The field for the card's security code. */
    public val cardCvc: String get() = core.cardCvc

    /** Where to find the code on the card. */
    public val cardCvcHint: String get() = core.cardCvcHint

    /** The field for the name of the card's holder. */
    public val cardHolder: String get() = core.cardHolder

    /** The pay button while the amount is unknown. */
    public val pay: String get() = core.pay

    /** The button that continues after the phone number. */
    public val proceed: String get() = core.proceed

    /** The button that sends the code. */
    public val confirm: String get() = core.confirm

    /** The button that opens the gateway's page. */
    public val openPage: String get() = core.openPage

    /** The button that opens it again. */
    public val openPageAgain: String get() = core.openPageAgain

    /** The text above a page's URL if no app on this phone opens it. */
    public val noBrowser: String get() = core.noBrowser

    /** The button that copies the URL. */
    public val copyAddress: String get() = core.copyAddress

    /** The confirmation of that. */
    public val addressCopied: String get() = core.addressCopied

    /** The button that queries the status at once, while a page or a QR code can be paid. */
    public val havePaid: String get() = core.havePaid

    /** The button that queries the status at once, while the bank's answer is pending. */
    public val checkNow: String get() = core.checkNow

    /** The button that opens a bank's app on this phone. */
    public val openBankApp: String get() = core.openBankApp

    /** The text if there is no such app. */
    public val noBankApp: String get() = core.noBankApp

    /** The button that lists the banks whose apps open the code. */
    public val chooseBank: String get() = core.chooseBank

    /** The button that saves the picture of the QR code. */
    public val savePicture: String get() = core.savePicture

    /** The confirmation of that. */
    public val pictureSaved: String get() = core.pictureSaved

    /** The error if the picture could not be saved. */
    public val pictureNotSaved: String get() = core.pictureNotSaved

    /** The description of the QR code for screen readers. */
    public val qrPicture: String get() = core.qrPicture

    /** The heading above the other methods (or the button that shows them) beside a page, and the button that leaves a QR code. */
    public val otherWay: String get() = core.otherWay

    /** The warning beside it for a page: when not to switch. */
    public val otherWayHint: String get() = core.otherWayHint

    /** The warning beside it for a QR code: when not to switch. */
    public val otherThanCodeHint: String get() = core.otherThanCodeHint

    /** The button that leaves the form for the code from the SMS. */
    public val otherNumber: String get() = core.otherNumber

    /** The hint beside it: when to use it, and what happens to the code. */
    public val otherNumberHint: String get() = core.otherNumberHint

    /** The button that goes back. */
    public val back: String get() = core.back

    /** The button that goes back to the open payment. */
    public val backToCode: String get() = core.backToCode

    /** The button that closes the screen. */
    public val close: String get() = core.close

    /** The button that closes the screen after the payment. */
    public val done: String get() = core.done

    /** The text that covers the screen while the app is in the background. */
    public val covered: String get() = core.covered

    /** The name of a payment method. */
    public fun nameOf(method: PaymentMethod): String = when (method) {
        PaymentMethod.PAY_FORM -> payForm
        PaymentMethod.QR -> qr
        PaymentMethod.MBANK -> mbank
        PaymentMethod.MEGAPAY -> megapay
        PaymentMethod.CARD -> card
    }

    /** The explanation of a payment method for the payer. */
    public fun hintOf(method: PaymentMethod): String = when (method) {
        PaymentMethod.PAY_FORM -> payFormHint
        PaymentMethod.QR -> qrHint
        PaymentMethod.MBANK -> mbankHint
        PaymentMethod.MEGAPAY -> megapayHint
        PaymentMethod.CARD -> cardHint
    }

    override fun equals(other: Any?): Boolean = other is CheckoutLabels && core == other.core

    override fun hashCode(): Int = core.hashCode()

    /** All labels by their names. */
    override fun toString(): String = core.toString()

    /** Returns the labels in a language. */
    public companion object {
        /** The labels in a language. */
        @JvmStatic
        public fun of(language: Language): CheckoutLabels = CheckoutLabels(calling { checkoutLabels(language.toCore()) })
    }
}
