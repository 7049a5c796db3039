package dev.kassa.android.ui

import dev.kassa.android.ui.support.Scene
import dev.kassa.android.ui.support.StandInTest
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner

/** The phone number that the code is sent to. */
@RunWith(RobolectricTestRunner::class)
class PhoneNumberTest : StandInTest() {
    @Test
    fun `number is shown before it is used, and is the one that is used`() {
        open(request(Scene.READY))
        click("MBank")
        for (typed in OF_COUNTRY) {
            type(FIELD, typed)
            awaitText("The code goes to +996\u00a0555\u00a0123\u00a0456")
            assertEquals("it stands as it was typed", typed, shownIn(FIELD))
            type(FIELD, "")
        }
        for (typed in OF_RUSSIA) {
            type(FIELD, typed)
            awaitText("The code goes to +77051234567")
            type(FIELD, "")
        }
        type(FIELD, OF_RUSSIA.first())
        click("Continue")
        await("the payment") { sent.any { "\"77051234567\"" in it } }
    }

    @Test
    fun `what is no number is an error of the field, stands as it was typed, and is not sent`() {
        open(request(Scene.READY))
        click("MBank")
        val before = sent.size
        for (typed in NONE.filter { it.isNotBlank() }) {
            type(FIELD, typed)
            assertFalse(typed, isShown("The code goes to"))
            assertFalse("of the one before", isShown(ERROR))
            click("Continue")
            awaitText(ERROR)
            assertEquals(typed, shownIn(FIELD))
        }
        assertEquals(emptyList<String>(), sent.drop(before).filter { "mbank" in it })
    }

    companion object {
        private const val FIELD = "Phone number"
        private const val ERROR = "Enter your phone number, such as 0555 123 456."

        private val OF_COUNTRY = listOf(
            "555123456", "0555123456", "0555 123 456", "996555123456", "+996555123456", "+996 0555 123 456", "00996 555 123 456",
            "+996 (555) 12-34-56", "555.123.456", "0(555)12/34/56", "tel:+996-555-123-456", "٠٥٥٥١٢٣٤٥٦", "＋９９６ ５５５ １２３ ４５６",
            "996\u00a0555\u202f123\u2009456", "996\u2011555\u2013123\u2212456", "\u202a+996 555 123 456\u202c", "\ufeff0555\u200b123456\u200e",
        )

        /** What is not seen before a plus does not hide it. */
        private val OF_RUSSIA = listOf(
            "\u202a+7 705 123 45 67\u202c", "+7 705 123 45 67", "\u200e+77051234567", "\ufeff+7 (705) 123-45-67", "\u00a0+7 705 1234567",
            "007 705 123 45 67", "77051234567",
        )

        /** Cut to nine digits, most of them would be somebody's. */
        private val NONE = listOf(
            "", " ", "5551234567", "055512345678", "+996 555 123 4567", "+996 555 123", "+0555123456", "8 705 123 45 67", "555 123 456, 002",
            "0555 123 456 / 457", "555123456x", "5551234567890123",
        )
    }
}
