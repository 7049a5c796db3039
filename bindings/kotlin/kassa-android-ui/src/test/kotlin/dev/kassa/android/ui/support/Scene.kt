package dev.kassa.android.ui.support

import dev.kassa.android.ui.KassaCheckout.Result
import java.math.BigDecimal

/**
 * One of each state, as the server tells it.
 *
 * @property title of its screen in English
 * @property result what the sheet answers where it is closed in it
 * @property refusal why the server takes no payment, where it takes none
 */
enum class Scene(
    val title: String,
    val result: Result,
    private val state: String = "open",
    private val payment: String? = null,
    private val methods: String = """"pay_form", "qr", "mbank", "megapay", "card"""",
    val refusal: String? = null,
) {
    OPENING("One moment", Result.StillOpen),
    READY("How would you like to pay?", Result.NotPaid),
    SENDING("Your payment is on its way", Result.StillOpen, payment = """"method": "mbank", "state": "sending""""),
    ENTER_OTP("Enter the code", Result.StillOpen, payment = CODE),
    ENTER_OTP_ONLY("Enter the code", Result.StillOpen, payment = CODE, methods = """"mbank""""),
    ENTER_PIN("Enter the code", Result.StillOpen, payment = PIN),
    OPEN_PAGE("Pay on the bank's page", Result.StillOpen, payment = """"method": "pay_form", "state": "awaiting", "page_url": "$PAGE""""),
    SHOW_QR("Pay by QR code", Result.StillOpen, payment = """"method": "qr", "state": "awaiting", "qr_text": "$QR_TEXT", "can_be_replaced": true"""),
    SHOW_ELQR("Pay by QR code", Result.StillOpen, payment = """"method": "qr", "state": "awaiting", "qr_text": "$ELQR_TEXT", "can_be_replaced": true"""),
    WAITING("Waiting for the bank", Result.StillOpen, payment = """"method": "mbank", "state": "confirming""""),
    PAID("Paid", Result.Paid(BigDecimal("390.00"), "KGS"), state = "paid"),
    NOT_PAID("This order cannot be paid any more", Result.StillOpen, state = "cancelled"),
    PERSON_NEEDED("The shop has to look at this payment", Result.PersonNeeded, payment = """"method": "qr", "state": "mismatch""""),
    EXPIRED("The time to pay is over", Result.StillOpen, state = "expired"),
    TOKEN_EXPIRED("The payment has to be opened again", Result.StillOpen),
    NO_TRIES_LEFT("MBank", Result.NotPaid, methods = """"mbank"""", refusal = "no_attempts_left"),
    ;

    val token = "ct_$name"
    val isUnreachable = name == "OPENING"
    val isLockedOut = name == "TOKEN_EXPIRED"

    fun view(): String {
        val payments = payment?.let { """{"id": "pay_1", $it}""" }.orEmpty()
        return """{"id": "co_$name", "reference": "order-17", "amount": "390.00", "currency": "KGS", "description": "A jar of honey",
            "methods": [$methods], "return_url": "$RETURN_URL", "state": "$state", "version": 1,
            "expires_at_ms": 4000000000000, "payments": [$payments]}"""
    }
}

private const val CODE =
    """"method": "mbank", "state": "awaiting", "attempts_left": 3, "phone_last2": "56", "can_be_replaced": true"""
private const val PIN = """"method": "megapay", "state": "awaiting", "attempts_left": 3, "phone_last2": "01", "commission": "7.80",
    "total": "397.80", "code_expires_at_ms": 4000000000000, "can_be_replaced": true"""
const val PAGE = "http://127.0.0.1:9/page"
const val QR_TEXT = "https://qr.bank.example.kg/#00020101021132590015qr.bank.example"

/** A code in ELQR. */
const val ELQR_CODE = "00020101021232430013qr.example.kg0102021104TX171202121302125204581253034175405390005910HONEY%20SHOP630463e7"

/** The same, as the gateway's bank links it. */
const val ELQR_TEXT = "https://app.mbank.kg/qr/#$ELQR_CODE"
