package dev.kassa.android.ui

import androidx.activity.ComponentActivity
import androidx.activity.compose.setContent
import androidx.lifecycle.SavedStateHandle
import dev.kassa.CardInput
import dev.kassa.CheckoutDetails
import dev.kassa.CheckoutMessage
import dev.kassa.CheckoutState
import dev.kassa.DeclineReason
import dev.kassa.MessageTopic
import dev.kassa.PaymentMethod
import dev.kassa.Rule
import dev.kassa.Violation
import dev.kassa.android.ui.support.ELQR_TEXT
import dev.kassa.android.ui.support.QR_TEXT
import dev.kassa.android.ui.support.RETURN_URL
import dev.kassa.android.ui.support.SheetTest
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.ParameterizedRobolectricTestRunner
import org.robolectric.ParameterizedRobolectricTestRunner.Parameters
import org.robolectric.Robolectric
import org.robolectric.RuntimeEnvironment
import java.time.Instant

/** Every screen, as it is drawn in each language: in light and dark, and with large letters. */
@RunWith(ParameterizedRobolectricTestRunner::class)
class PicturesTest(private val look: String, private val qualifiers: String, private val fontScale: Float) : SheetTest() {
    @Test
    fun `screens look as they were accepted`() {
        RuntimeEnvironment.setQualifiers(qualifiers)
        RuntimeEnvironment.setFontScale(fontScale)
        val differences = screens().mapNotNull { (name, screen) -> runCatching { check("$look-$name", screen) }.exceptionOrNull()?.message }
        if (differences.isNotEmpty()) throw AssertionError(differences.joinToString("\n"))
    }

    private fun check(name: String, screen: Screen) {
        val activity = keep(Robolectric.buildActivity(ComponentActivity::class.java))
        activity.get().setTheme(R.style.Kassa_Sheet)
        activity.setup()
        activity.get().setContent {
            KassaTheme(language = null, KassaCheckout.Appearance()) {
                Sheet("Honey shop", onClose = {}) {
                    CheckoutScreen(Shown(screen.state, details(), screen.mayHavePaid), screen.typed, NoActions, NoDevice, onClose = {})
                }
            }
        }
        rule.waitForIdle()
        Pictures.check(name, activity.get().window.decorView)
        activity.pause().stop().destroy()
    }

    private class Screen(val state: CheckoutState, val mayHavePaid: Boolean = false, val typed: Typed = typed())

    private fun screens() = mapOf(
        "opening" to Screen(CheckoutState.Opening(CheckoutMessage(MessageTopic.NO_NETWORK))),
        "ready" to Screen(CheckoutState.Ready(PaymentMethod.entries)),
        "declined" to Screen(CheckoutState.Ready(PaymentMethod.entries - PaymentMethod.CARD, message = declined)),
        "phone" to Screen(CheckoutState.Ready(PaymentMethod.entries), typed = typed { choose(PaymentMethod.MBANK, "555123456") }),
        "phone-wrong" to Screen(CheckoutState.Ready(PaymentMethod.entries), typed = typed { choose(PaymentMethod.MBANK, "5551234567", wrong) }),
        "choose-again" to Screen(CheckoutState.Ready(PaymentMethod.entries - PaymentMethod.CARD, canKeepMethod = true)),
        "card" to Screen(CheckoutState.Ready(PaymentMethod.entries), typed = typed { chosen = PaymentMethod.CARD }),
        "card-typed" to Screen(CheckoutState.Ready(PaymentMethod.entries), typed = typed { chooseCard() }),
        "sending" to Screen(CheckoutState.Sending()),
        "code" to Screen(code(3), typed = typed { code = "1011" }),
        "code-refused" to Screen(code(2, CheckoutMessage(MessageTopic.CODE_REFUSED))),
        "code-total" to Screen(codeOfWallet),
        "page" to Screen(CheckoutState.OpenPage("https://bank.example.kg", false, listOf(PaymentMethod.QR))),
        "qr" to Screen(CheckoutState.ShowQr(QR_TEXT, canChangeMethod = true)),
        "qr-banks" to Screen(CheckoutState.ShowQr(ELQR_TEXT, canChangeMethod = true)),
        "waiting" to Screen(CheckoutState.Waiting("https://bank.example.kg", listOf(PaymentMethod.QR), unknown)),
        "paid" to Screen(CheckoutState.Paid(390.toBigDecimal(), "KGS")),
        "not-paid" to Screen(CheckoutState.NotPaid(CheckoutMessage(MessageTopic.CANCELLED))),
        "person" to Screen(CheckoutState.PersonNeeded(CheckoutMessage(MessageTopic.MISMATCH))),
        "expired" to Screen(CheckoutState.Expired),
        "expired-late" to Screen(CheckoutState.Expired, mayHavePaid = true),
        "token" to Screen(CheckoutState.TokenExpired),
    )

    private object NoActions : Actions {
        override fun choose(method: PaymentMethod) = Unit
        override fun pay(method: PaymentMethod) = Unit
        override fun confirm() = Unit
        override fun changeMethod() = Unit
        override fun keepMethod() = Unit
        override fun pageOpened(isAway: Boolean) = Unit
        override fun checkNow() = Unit
    }

    private object NoDevice : Device {
        override fun openPage(url: String) = true
        override fun openApp(link: String) = true
        override fun savePicture(png: ByteArray, saved: (Boolean?) -> Unit) = Unit
        override fun copy(text: String) = Unit
        override fun keepSecret(isSecret: Boolean) = Unit
        override fun brighten(isBright: Boolean) = Unit
    }

    companion object {
        private val declined = CheckoutMessage(MessageTopic.REJECTED, decline = DeclineReason.INSUFFICIENT_FUNDS)
        private val unknown = CheckoutMessage(MessageTopic.OUTCOME_UNKNOWN)
        private val wrong = Violation("phone", Rule.FORMAT, "9 to 15", "phone must be a phone number")

        private fun code(attemptsLeft: Int, message: CheckoutMessage? = null) =
            CheckoutState.EnterOtp(PaymentMethod.MBANK, attemptsLeft, message, phoneLast2 = "56", canChangeMethod = true)

        private val codeOfWallet = CheckoutState.EnterOtp(
            PaymentMethod.MEGAPAY, 3, phoneLast2 = "01", commission = "27.81".toBigDecimal(), total = "1418.31".toBigDecimal(),
            canChangeMethod = true,
        )

        private fun details() = CheckoutDetails(
            "order-17", "1390.50".toBigDecimal(), "KGS", "A jar of honey, two kilograms", PaymentMethod.entries, RETURN_URL, Instant.EPOCH,
        )

        private fun typed(type: Typed.() -> Unit = {}) = Typed(SavedStateHandle()).apply(type)

        private fun Typed.choose(method: PaymentMethod, number: String, vararg wrong: Violation) {
            chosen = method
            phone = number
            violations = wrong.toList()
        }

        private fun Typed.chooseCard() {
            chosen = PaymentMethod.CARD
            card = CardInput().asOf(2026, 11).withNumber("4111111111111112").withExpiry("0131").withCvc("123").withHolderName("AIBEK ASANOV")
        }

        @JvmStatic
        @Parameters(name = "{0}")
        fun looks() = listOf("en" to "en-rUS", "ru" to "ru", "ky" to "ky").flatMap { (name, language) ->
            listOf(
                arrayOf<Any>("$name-light", "+$language-h760dp-notnight", 1f),
                arrayOf<Any>("$name-dark", "+$language-h760dp-night", 1f),
                arrayOf<Any>("$name-large", "+$language-h1280dp-notnight", 2f),
            )
        }
    }
}
