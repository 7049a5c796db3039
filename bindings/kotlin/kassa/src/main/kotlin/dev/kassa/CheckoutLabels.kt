package dev.kassa

import dev.kassa.internal.checkoutLabels
import dev.kassa.internal.CheckoutLabels as CoreCheckoutLabels

/**
 * The words of a payment screen that are the same in every state: buttons, fields, ways to pay. None of them has a place to be filled in.
 *
 * ```
 * CheckoutLabels.of(Language.RUSSIAN).confirm // Подтвердить платёж
 * ```
 */
public class CheckoutLabels private constructor(private val core: CoreCheckoutLabels) {
    /** The screen's title. */
    public val title: String get() = core.title

    /** Before a colon and the shop's own reference. */
    public val order: String get() = core.order

    /** Before a colon and [CheckoutTexts.reason]. */
    public val reason: String get() = core.reason

    /** The way to pay by the gateway's own page. */
    public val payForm: String get() = core.payForm

    /** What the payer has to know about it. */
    public val payFormHint: String get() = core.payFormHint

    /** The way to pay by a QR code. */
    public val qr: String get() = core.qr

    /** What the payer has to know about it. */
    public val qrHint: String get() = core.qrHint

    /** The way to pay by the mobile bank, and the title of its form. */
    public val mbank: String get() = core.mbank

    /** What the payer has to know about it. */
    public val mbankHint: String get() = core.mbankHint

    /** The way to pay by a card that is typed into the app. */
    public val card: String get() = core.card

    /** What the payer has to know about it. */
    public val cardHint: String get() = core.cardHint

    /** The title of the form for a card. */
    public val cardTitle: String get() = core.cardTitle

    /** The field for the phone. */
    public val phone: String get() = core.phone

    /** Below it, as long as what was typed is no number: whose it is, and an example. */
    public val phoneExample: String get() = core.phoneExample

    /** Where what was typed is no number, whatever rule it breaks: an example says more than the rule. */
    public val phoneWrong: String get() = core.phoneWrong

    /** The field for the code from the SMS. */
    public val code: String get() = core.code

    /** Where too little of it was typed. */
    public val codeShort: String get() = core.codeShort

    /** The field for the card's number. */
    public val cardNumber: String get() = core.cardNumber

    /** The field for the card's expiry, month first. */
    public val cardExpiry: String get() = core.cardExpiry

    /** The field for the card's security code. */
    public val cardCvc: String get() = core.cardCvc

    /** Where it stands. */
    public val cardCvcHint: String get() = core.cardCvcHint

    /** The field for the name of the card's holder. */
    public val cardHolder: String get() = core.cardHolder

    /** The button that pays, where the amount is not known yet. */
    public val pay: String get() = core.pay

    /** The button that goes on after the phone was typed. */
    public val proceed: String get() = core.proceed

    /** The button that sends the code. */
    public val confirm: String get() = core.confirm

    /** The button that opens the gateway's page. */
    public val openPage: String get() = core.openPage

    /** The button that opens it again. */
    public val openPageAgain: String get() = core.openPageAgain

    /** Where nothing on this phone opens a page; above its address. */
    public val noBrowser: String get() = core.noBrowser

    /** The button that copies the address. */
    public val copyAddress: String get() = core.copyAddress

    /** What is said then. */
    public val addressCopied: String get() = core.addressCopied

    /** The button that asks at once how it ended, while a page or a QR code can be paid. */
    public val havePaid: String get() = core.havePaid

    /** The button that asks at once how it ended, while the bank is waited for. */
    public val checkNow: String get() = core.checkNow

    /** The button that opens an app of a bank on this phone. */
    public val openBankApp: String get() = core.openBankApp

    /** Where there is none. */
    public val noBankApp: String get() = core.noBankApp

    /** The button that shows the banks by name, for a code that opens in the app of each. */
    public val chooseBank: String get() = core.chooseBank

    /** The button that saves the picture of the QR code. */
    public val savePicture: String get() = core.savePicture

    /** What is said then. */
    public val pictureSaved: String get() = core.pictureSaved

    /** What is said where it was not. */
    public val pictureNotSaved: String get() = core.pictureNotSaved

    /** What the QR code is, for those who hear the screen. */
    public val qrPicture: String get() = core.qrPicture

    /** Above the other ways to pay, or the button that shows them, while a page is there; and the button that leaves a QR code. */
    public val otherWay: String get() = core.otherWay

    /** Beside it while a page is there: when not to. */
    public val otherWayHint: String get() = core.otherWayHint

    /** Beside it while a QR code is there: when not to. */
    public val otherThanCodeHint: String get() = core.otherThanCodeHint

    /** The button that leaves the question for the code from the SMS. */
    public val otherNumber: String get() = core.otherNumber

    /** Beside it: for whom it is, and what becomes of the code. */
    public val otherNumberHint: String get() = core.otherNumberHint

    /** The button that goes back. */
    public val back: String get() = core.back

    /** The button that goes back to the open payment. */
    public val backToCode: String get() = core.backToCode

    /** The button that closes the screen. */
    public val close: String get() = core.close

    /** The button that closes it where the payment is paid. */
    public val done: String get() = core.done

    /** What covers the screen while the app is not in front. */
    public val covered: String get() = core.covered

    /** The name of a way to pay. */
    public fun nameOf(method: PaymentMethod): String = when (method) {
        PaymentMethod.PAY_FORM -> payForm
        PaymentMethod.QR -> qr
        PaymentMethod.MBANK -> mbank
        PaymentMethod.CARD -> card
    }

    /** What the payer has to know about a way to pay. */
    public fun hintOf(method: PaymentMethod): String = when (method) {
        PaymentMethod.PAY_FORM -> payFormHint
        PaymentMethod.QR -> qrHint
        PaymentMethod.MBANK -> mbankHint
        PaymentMethod.CARD -> cardHint
    }

    override fun equals(other: Any?): Boolean = other is CheckoutLabels && core == other.core

    override fun hashCode(): Int = core.hashCode()

    /** All words, by their names. */
    override fun toString(): String = core.toString()

    /** Has them in a language. */
    public companion object {
        /** The words in a language. */
        @JvmStatic
        public fun of(language: Language): CheckoutLabels = CheckoutLabels(calling { checkoutLabels(language.toCore()) })
    }
}
