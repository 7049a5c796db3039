package dev.kassa.android.ui

import androidx.compose.ui.semantics.LiveRegionMode
import androidx.compose.ui.semantics.SemanticsProperties
import androidx.compose.ui.semantics.getOrNull
import androidx.compose.ui.test.SemanticsMatcher
import androidx.compose.ui.test.hasText
import dev.kassa.PaymentMethod
import dev.kassa.android.ui.support.Scene
import dev.kassa.android.ui.support.StandInTest
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner

/** A wallet (MegaPay) is paid as the mobile bank is, and its payer reads the total before the code. */
@RunWith(RobolectricTestRunner::class)
class WalletTest : StandInTest() {
    @Test
    fun `MegaPay uses the phone form under its own title`() {
        val before = sent.size
        open(request(Scene.READY))
        click("MegaPay")
        val heading = hasText("MegaPay") and SemanticsMatcher.keyIsDefined(SemanticsProperties.Heading)
        await("the form") { exists(heading) }
        type("Phone number", "0755 000 201")
        awaitText("The code goes to +996\u00a0755\u00a0000\u00a0201")
        click("Continue")
        await("the payment") { sent.size > before }
        val payment = sent.drop(before).single()
        assertTrue(payment, "\"megapay\"" in payment && "996755000201" in payment)
    }

    @Test
    fun `total stands above the field for the code, and a screen reader says it`() {
        open(request(Scene.ENTER_PIN))
        awaitText(COST)
        val cost = rule.onNode(hasText(COST)).fetchSemanticsNode()
        assertTrue(cost.boundsInRoot.bottom <= field("Code from the SMS").fetchSemanticsNode().boundsInRoot.top)
        assertEquals(LiveRegionMode.Polite, cost.config.getOrNull(SemanticsProperties.LiveRegion))
        assertTrue(isShown("MegaPay has sent a code by SMS to the number that ends in 01."))
    }

    @Test
    fun `no total is shown without a commission`() {
        open(request(Scene.ENTER_OTP))
        awaitText("Attempts left: 3")
        assertFalse(isShown("You pay"))
    }

    @Test
    fun `methods that ask for a phone have a form`() {
        val byPhone = PaymentMethod.entries.filter { it.asksForPhone }
        assertEquals(listOf(PaymentMethod.MBANK, PaymentMethod.MEGAPAY), byPhone)
        assertEquals(byPhone + PaymentMethod.CARD, PaymentMethod.entries.filter { it.hasForm })
    }

    private companion object {
        const val COST = "You pay 397.80\u00a0som (amount 390\u00a0som, commission 7.80\u00a0som)."
    }
}
