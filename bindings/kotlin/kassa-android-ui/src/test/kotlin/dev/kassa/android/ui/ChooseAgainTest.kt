package dev.kassa.android.ui

import dev.kassa.android.ui.KassaCheckout.Result
import dev.kassa.android.ui.support.Scene
import dev.kassa.android.ui.support.StandInTest
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.android.controller.ActivityController

/** The payer leaves a code for another number or another way to pay, and loses nothing by looking. */
@RunWith(RobolectricTestRunner::class)
class ChooseAgainTest : StandInTest() {
    @Test
    fun `another number replaces the payment whose code went to somebody else`() {
        open(request(Scene.ENTER_OTP))
        awaitText("the number that ends in 56")
        awaitText("The code that was sent stops working once you begin another payment.")
        click(OTHER_NUMBER)
        awaitText("otherwise you pay twice")
        click("MBank")
        type("Phone number", "0705 765 432")
        click("Continue")
        await("the payment") { sent.any { "996705765432" in it && "instead_of" in it && "pay_1" in it } }
    }

    @Test
    fun `every way back from the list leads to the code, and closing it says that a payment is open`() {
        val sheet = open(request(Scene.ENTER_OTP))
        click(OTHER_NUMBER)
        awaitText(LIST)
        sheet.back()
        awaitText("Enter the code")
        click(OTHER_NUMBER)
        click("Back to the code")
        awaitText("Enter the code")
        assertFalse(sheet.get().isFinishing)
        click(OTHER_NUMBER)
        awaitText(LIST)
        clickCross()
        assertEquals(Result.StillOpen, sheet.result())
    }

    @Test
    fun `back from a form leads to the list, and from there to the QR code`() {
        val sheet = open(request(Scene.SHOW_QR))
        awaitText("Only if you have not paid by this code: otherwise you pay twice.")
        click("Pay another way")
        click("Card")
        awaitText("Pay by card")
        sheet.back()
        awaitText(LIST)
        sheet.back()
        awaitText("scan this one")
        assertFalse(sheet.get().isFinishing)
    }

    @Test
    fun `back from the form of the only way to pay leads to the code`() {
        val sheet = open(request(Scene.ENTER_OTP_ONLY))
        click(OTHER_NUMBER)
        awaitText("Choose here only if you have not paid yet: otherwise you pay twice.")
        type("Phone number", "0705")
        sheet.back()
        awaitText("Enter the code")
        assertFalse(sheet.get().isFinishing)
    }

    @Test
    fun `after the end of the process the code can be entered, and the phone is kept`() {
        val sheet = open(request(Scene.ENTER_OTP))
        click(OTHER_NUMBER)
        click("MBank")
        type("Phone number", "0705 765 431")
        val state = sheet.die()
        open(request(Scene.ENTER_OTP), state)
        awaitText("Enter the code")
        click(OTHER_NUMBER)
        awaitText(LIST)
        click("MBank")
        awaitText("The code goes to")
        assertEquals("0705 765 431", shownIn("Phone number"))
    }

    @Test
    fun `where no tries are left, nothing was paid, and the shop hears that`() {
        val sheet = open(request(Scene.NO_TRIES_LEFT))
        type("Phone number", "0705 765 430")
        click("Continue")
        awaitText("This order cannot be paid any more")
        assertFalse(isShown("Do not pay again"))
        clickCross()
        assertEquals(Result.NotPaid, sheet.result())
    }

    private fun ActivityController<CheckoutActivity>.back() = get().onBackPressedDispatcher.onBackPressed()

    companion object {
        private const val OTHER_NUMBER = "Another number, or another way to pay"
        private const val LIST = "How would you like to pay?"
    }
}
