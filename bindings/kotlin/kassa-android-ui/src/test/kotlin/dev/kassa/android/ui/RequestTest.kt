package dev.kassa.android.ui

import android.graphics.Bitmap
import android.graphics.Canvas
import android.os.Bundle
import android.os.Parcel
import android.view.View
import dev.kassa.Language
import dev.kassa.PaymentMethod
import dev.kassa.android.ui.KassaCheckout.Appearance
import dev.kassa.android.ui.KassaCheckout.Request
import dev.kassa.android.ui.KassaCheckout.Result
import dev.kassa.android.ui.KassaCheckout.Theme
import dev.kassa.android.ui.support.Scene
import dev.kassa.android.ui.support.StandInTest
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment

/** What the app asks of the sheet. */
@RunWith(RobolectricTestRunner::class)
class RequestTest : StandInTest() {
    @Test
    fun `all of it reaches the sheet, and the phone is printed nowhere`() {
        val appearance = Appearance(Theme.DARK, ACCENT, YELLOW, cornerRadius = 0, font = 7)
        val request = Request("https://a", "ct_1", "order-17", "Honey shop", Language.KYRGYZ, PHONE, PaymentMethod.QR, appearance)
        val read = requestOf(throughBytes(request.toBundle()))!!
        assertEquals("$request", "$read")
        assertEquals(listOf("ct_1", PHONE), listOf(read.clientToken, read.phone))
        assertTrue("#ff6b2fa0" in "$request")
        assertFalse(PHONE in "$request")
        val plain = Request("https://a", "ct_1")
        assertEquals("$plain", "${requestOf(throughBytes(plain.toBundle()))}")
    }

    @Test
    fun `value that cannot work is named`() {
        val wrong = mapOf<String, () -> Any>(
            "phone" to { Request("https://a", "ct_1", phone = "5".repeat(101)) },
            "cornerRadius is -1" to { Appearance(cornerRadius = -1) },
            "cornerRadius is 33" to { Appearance(cornerRadius = 33) },
            "accentColour" to { Appearance(onAccentColour = YELLOW) },
            "onAccentColour" to { Appearance(accentColour = 0xFFFFFFFF.toInt(), onAccentColour = YELLOW) },
            "font" to { launched(Appearance(font = R.string.kassa_pay)) },
            "no such resource" to { launched(Appearance(font = 1)) },
        )
        for ((name, make) in wrong) {
            val problem = assertThrows(name, IllegalArgumentException::class.java) { make() }
            assertTrue("$name: ${problem.message}", name in problem.message.orEmpty())
        }
    }

    @Test
    fun `phone stands in the field, and the form that was chosen in the shop is open, once`() {
        val sheet = open(asking(Scene.READY, PaymentMethod.MBANK))
        awaitText("The code goes to +996\u00a0555\u00a0123\u00a0456")
        assertEquals(PHONE, shownIn("Phone number"))
        type("Phone number", "")
        sheet.get().onBackPressedDispatcher.onBackPressed()
        awaitText(LIST)
        sheet.recreate()
        awaitText(LIST)
        val state = sheet.die()
        open(asking(Scene.READY, PaymentMethod.MBANK), state)
        click("MBank")
        awaitText("Phone number")
        assertEquals("the payer emptied it", "", shownIn("Phone number"))
    }

    @Test
    fun `where the way that was chosen in the shop is the only one, back closes its form`() {
        val sheet = open(asking(Scene.NO_TRIES_LEFT, PaymentMethod.MBANK))
        awaitText("The code goes to")
        sheet.get().onBackPressedDispatcher.onBackPressed()
        assertEquals(Result.NotPaid, sheet.result())
    }

    @Test
    fun `nothing is begun without a tap, and what is open comes first`() {
        val before = sent.size
        val list = open(asking(Scene.READY, PaymentMethod.QR))
        awaitText(LIST)
        list.die()
        for (scene in listOf(Scene.OPEN_PAGE, Scene.ENTER_OTP, Scene.WAITING)) {
            val sheet = open(asking(scene, PaymentMethod.CARD))
            awaitText(scene.title)
            assertFalse("$scene", isShown("Pay by card"))
            sheet.die()
        }
        assertEquals(before, sent.size)
    }

    @Test
    fun `it has the colours of the shop, and is dark where the phone is not`() {
        val sheet = open(looking(Scene.PAID, Appearance(Theme.DARK, ACCENT)))
        awaitText("Thank you.")
        val drawn = colours(sheet.get().window.decorView)
        assertTrue("the button", ACCENT in drawn)
        assertTrue("the ground", DARK_GROUND in drawn)
    }

    private fun asking(scene: Scene, method: PaymentMethod) =
        request(scene).run { Request(serverUrl, clientToken, phone = PHONE, method = method) }

    private fun looking(scene: Scene, appearance: Appearance) =
        request(scene).run { Request(serverUrl, clientToken, appearance = appearance) }

    private fun launched(appearance: Appearance) =
        KassaCheckout().createIntent(RuntimeEnvironment.getApplication(), looking(Scene.READY, appearance))

    private fun throughBytes(bundle: Bundle): Bundle {
        val parcel = Parcel.obtain()
        parcel.writeBundle(bundle)
        parcel.setDataPosition(0)
        return parcel.readBundle(javaClass.classLoader)!!
    }

    private fun colours(view: View): Set<Int> {
        rule.waitForIdle()
        val bitmap = Bitmap.createBitmap(view.width, view.height, Bitmap.Config.ARGB_8888)
        view.draw(Canvas(bitmap))
        return IntArray(view.width * view.height).also { bitmap.getPixels(it, 0, view.width, 0, 0, view.width, view.height) }.toSet()
    }

    companion object {
        private const val LIST = "How would you like to pay?"
        private const val PHONE = "0555 123 456"
        private const val ACCENT = 0xFF6B2FA0.toInt()
        private const val YELLOW = 0xFFFFEE00.toInt()
        private const val DARK_GROUND = 0xFF181E26.toInt()
    }
}
