@file:OptIn(ExperimentalComposeUiApi::class)

package dev.kassa.android.ui

import android.view.View
import android.view.ViewGroup
import androidx.compose.ui.ExperimentalComposeUiApi
import androidx.compose.ui.autofill.AutofillTree
import androidx.compose.ui.autofill.AutofillType
import dev.kassa.android.ui.support.Scene
import dev.kassa.android.ui.support.StandInTest
import org.junit.Assert.assertEquals
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.android.controller.ActivityController

/** What the phone may fill in. */
@RunWith(RobolectricTestRunner::class)
class AutofillTest : StandInTest() {
    @Test
    fun `phone number`() {
        val sheet = open(request(Scene.READY))
        click("MBank")
        awaitText("Phone number")
        sheet.fill(AutofillType.PhoneNumber, "+996555123456")
        assertEquals("+996555123456", shownIn("Phone number"))
        awaitText("The code goes to +996\u00a0555\u00a0123\u00a0456")
    }

    @Test
    fun `code of an SMS`() {
        val sheet = open(request(Scene.ENTER_OTP))
        awaitText("Code from the SMS")
        sheet.fill(AutofillType.SmsOtpCode, "101101")
        assertEquals("101101", shownIn("Code from the SMS"))
    }

    @Test
    fun `card, which is offered in no other state`() {
        val sheet = open(request(Scene.READY))
        awaitText("How would you like to pay?")
        assertEquals(0, sheet.tree().children.size)
        click("Card")
        awaitText("Pay by card")
        sheet.fill(AutofillType.CreditCardNumber, "4111111111111111")
        sheet.fill(AutofillType.CreditCardExpirationDate, "08/2099")
        sheet.fill(AutofillType.CreditCardSecurityCode, "123")
        sheet.fill(AutofillType.PersonFullName, "Aibek Asanov")
        val shown = listOf("Card number", "Month / year", "CVC", "Cardholder name").map(::shownIn)
        assertEquals(listOf("4111 1111 1111 1111", "08/99", "123", "Aibek Asanov"), shown)
    }

    private fun ActivityController<CheckoutActivity>.fill(type: AutofillType, text: String) {
        rule.waitForIdle()
        tree().children.values.single { it.autofillTypes == listOf(type) }.onFill!!(text)
        rule.waitForIdle()
    }

    /** Compose shows it to the phone, and to nobody else. */
    private fun ActivityController<CheckoutActivity>.tree(): AutofillTree {
        val owner = views(get().window.decorView).first { it.javaClass.simpleName == "AndroidComposeView" }
        return owner.javaClass.getMethod("getAutofillTree").invoke(owner) as AutofillTree
    }

    private fun views(view: View): List<View> =
        listOf(view) + (view as? ViewGroup)?.let { group -> (0 until group.childCount).flatMap { views(group.getChildAt(it)) } }.orEmpty()
}
