package dev.kassa.checkout

import java.math.BigDecimal
import java.nio.file.Path

// What is to be paid for, and how. The values are test values; every one of them can be given on the command line.

/** A card, as it was typed. It has no toString that shows it. */
class CardFields(
    val pan: String = "4111 1111 1111 1111",
    val expiryMonth: String = "12",
    val expiryYear: String = "2099",
    val cvc: String = "123",
    val name: String = "Aibek Usenov",
)

/** A card payment. */
class CardOrder(
    val orderNumber: String? = null,
    val description: String = "Two tickets",
    val amount: BigDecimal = BigDecimal("100.10"),
    val currency: String = "KGS",
    val language: String = "en",
    val ip: String = "203.0.113.7",
    val email: String? = null,
    /** Empty leaves it out; null is a page of this program. */
    val returnUrl: String? = null,
    val card: CardFields = CardFields(),
    val otp: String? = null,
    val isFollowed: Boolean = true,
)

/** A mobile-bank payment. */
class MbankOrder(
    val orderNumber: String? = null,
    val phone: String = "996555000101",
    val amountSom: Long = 250,
    val comment: String = "Lunch for two",
    val wantsCallback: Boolean = true,
    val otp: String? = null,
    val isFollowed: Boolean = true,
)

/** The confirmation of a mobile-bank payment. */
class Confirmation(
    val orderNumber: String,
    val otp: String? = null,
    /** Needed where the state file does not know the payment. */
    val amountSom: Long? = null,
    /** The one that the creation yielded, where the dialect names one; what the state file holds without it. */
    val identifier: String? = null,
    val isFollowed: Boolean = true,
)

/** What the robot picks on a pay-form. */
enum class PayWith { CARD, MBANK, MEGAPAY }

/** A hosted page. */
class PayFormOrder(
    val amount: BigDecimal = BigDecimal("75.50"),
    val serviceName: String = "A month of music",
    val returnUrl: String? = null,
    val payWith: PayWith = PayWith.MEGAPAY,
    val phone: String? = null,
    val card: CardFields = CardFields(),
    val otp: String? = null,
    val isFollowed: Boolean = true,
)

/** A dynamic QR code. */
class QrOrder(
    /** Null lets the payer name it. */
    val amountSom: BigDecimal? = BigDecimal("120.50"),
    val requisite: String = "Kassa Coffee, Bishkek",
    val wantsCallback: Boolean = true,
    /** Where to save the gateway's own picture, instead of drawing the code here. */
    val image: Path? = null,
    /** Whether the robot declines. */
    val isDeclined: Boolean = false,
    val isFollowed: Boolean = true,
)
