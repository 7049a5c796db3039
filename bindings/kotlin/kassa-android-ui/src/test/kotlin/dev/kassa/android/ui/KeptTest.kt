package dev.kassa.android.ui

import androidx.compose.ui.test.onNodeWithContentDescription
import androidx.compose.ui.test.performClick
import androidx.compose.ui.test.performScrollTo
import dev.kassa.android.ui.support.Scene
import dev.kassa.android.ui.support.StandInTest
import dev.kassa.android.ui.support.textsIn
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner

/** What the system keeps of what the payer typed, and what it must not. */
@RunWith(RobolectricTestRunner::class)
class KeptTest : StandInTest() {
    @Test
    fun `phone and the way to pay are kept`() {
        val sheet = open(request(Scene.READY))
        click("MBank")
        type("Phone number", "555123456")
        sheet.recreate()
        awaitText("The code goes to")
        assertEquals("555123456", shownIn("Phone number"))
        val state = sheet.die()
        open(request(Scene.READY), state)
        awaitText("The code goes to")
        assertEquals("555123456", shownIn("Phone number"))
    }

    @Test
    fun `card is kept while the screen is turned, and is nowhere in what the system keeps`() {
        val sheet = open(request(Scene.READY))
        click("Card")
        type("Card number", CARD)
        type("CVC", "937")
        type("Cardholder name", "AIBEK ASANOV")
        sheet.recreate()
        awaitText("Pay by card")
        assertEquals("4111 1111 1111 1111", shownIn("Card number"))
        val state = sheet.die()
        val kept = textsIn(state)
        assertTrue("what is looked for is written like this", "SEEN_PAYMENTS".lowercase() in kept)
        for (secret in listOf(CARD, "4111 1111", "937", "AIBEK")) assertFalse("$secret is kept", secret in kept)
        open(request(Scene.READY), state)
        awaitText("Pay by card")
        assertEquals("", shownIn("Card number"))
    }

    @Test
    fun `code is not kept`() {
        val sheet = open(request(Scene.ENTER_OTP))
        type("Code from the SMS", "739182")
        val state = sheet.die()
        assertFalse("739182" in textsIn(state))
        open(request(Scene.ENTER_OTP), state)
        awaitText("Enter the code")
        assertEquals("", shownIn("Code from the SMS"))
    }

    @Test
    fun `card that was left is forgotten`() {
        open(request(Scene.READY))
        click("Card")
        type("Card number", CARD)
        rule.onNodeWithContentDescription("Back").performScrollTo().performClick()
        click("Card")
        awaitText("Pay by card")
        assertEquals("", shownIn("Card number"))
    }

    companion object {
        private const val CARD = "4111111111111111"
    }
}
