package dev.kassa.android.ui

import android.app.Activity
import android.content.ClipboardManager
import android.content.Intent
import android.net.Uri
import android.view.View
import android.view.WindowManager.LayoutParams
import dev.kassa.android.ui.support.PAGE
import dev.kassa.android.ui.support.QR_TEXT
import dev.kassa.android.ui.support.Scene
import dev.kassa.android.ui.support.StandInTest
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import org.robolectric.annotation.Config
import java.io.ByteArrayOutputStream

/** What the sheet does with the phone around it. */
@RunWith(RobolectricTestRunner::class)
class PhoneTest : StandInTest() {
    @Test
    fun `a card is in no screenshot, and only a card`() {
        val sheet = open(request(Scene.READY))
        awaitText("How would you like to pay?")
        assertFalse(isSecret(sheet.get()))
        click("Card")
        awaitText("Pay by card")
        assertTrue(isSecret(sheet.get()))
        sheet.get().onBackPressedDispatcher.onBackPressed()
        awaitText("How would you like to pay?")
        assertFalse("back goes to the list", sheet.get().isFinishing)
        assertFalse(isSecret(sheet.get()))
    }

    @Test
    fun `the screen is bright while a code is shown, and as it was after it`() {
        val sheet = open(request(Scene.SHOW_QR))
        awaitText("scan this one")
        assertEquals(LayoutParams.BRIGHTNESS_OVERRIDE_FULL, sheet.get().window.attributes.screenBrightness)
        sheet.get().setContentView(View(sheet.get()))
        rule.waitForIdle()
        assertEquals(LayoutParams.BRIGHTNESS_OVERRIDE_NONE, sheet.get().window.attributes.screenBrightness)
        assertEquals(0, sheet.get().window.attributes.flags and LayoutParams.FLAG_KEEP_SCREEN_ON)
    }

    @Test
    fun `a code that is a link opens the app of a bank, where there is one`() {
        val sheet = open(request(Scene.SHOW_QR))
        click("Open the app of my bank")
        val started = sheet.awaitStarted()
        assertEquals(Intent.ACTION_VIEW to QR_TEXT, started.action to started.dataString)
        nothingOpens()
        click("Open the app of my bank")
        awaitText("No app on this phone opens this code.")
    }

    @Test
    fun `the picture of a code is saved among the pictures`() {
        val written = ByteArrayOutputStream()
        val resolver = shadowOf(RuntimeEnvironment.getApplication().contentResolver)
        open(request(Scene.SHOW_QR))
        // The first place that a resolver of Robolectric's gives.
        resolver.registerOutputStream(Uri.parse("content://media/external_primary/images/media/1"), written)
        click("Save the picture")
        awaitText("The picture is saved.")
        assertArrayEquals(PNG, written.toByteArray().copyOf(PNG.size))
    }

    @Test
    @Config(sdk = [26])
    fun `on an older phone the payer says where to save it`() {
        val written = ByteArrayOutputStream()
        val sheet = open(request(Scene.SHOW_QR))
        click("Save the picture")
        val asked = sheet.awaitStarted()
        assertEquals(Intent.ACTION_CREATE_DOCUMENT to "image/png", asked.action to asked.type)
        val place = Uri.parse("content://documents/1")
        shadowOf(sheet.get().contentResolver).registerOutputStream(place, written)
        shadowOf(sheet.get()).receiveResult(asked, Activity.RESULT_OK, Intent().setData(place))
        awaitText("The picture is saved.")
        assertArrayEquals(PNG, written.toByteArray().copyOf(PNG.size))
    }

    @Test
    fun `without a browser the payer gets the address`() {
        open(request(Scene.OPEN_PAGE))
        awaitText("Pay on the bank's page")
        nothingOpens()
        click("To the bank's page")
        awaitText("No browser was found on this phone.")
        awaitText(PAGE)
        click("Copy the address")
        awaitText("The address is copied.")
        val clipboard = RuntimeEnvironment.getApplication().getSystemService(ClipboardManager::class.java)
        assertEquals(PAGE, clipboard!!.primaryClip!!.getItemAt(0).text.toString())
    }

    @Test
    fun `a page that was begun elsewhere is not opened by itself`() {
        val sheet = open(request(Scene.OPEN_PAGE))
        awaitText("Pay on the bank's page")
        assertEquals(null, shadowOf(sheet.get()).nextStartedActivity)
    }

    @Test
    fun `a link that comes when no sheet is there shows the app`() {
        val sheet = keep(Robolectric.buildActivity(CheckoutActivity::class.java)).create()
        assertTrue(sheet.get().isFinishing)
    }

    @Test
    fun `nothing prints the token`() {
        val request = KassaCheckout.Request("https://pay.example.kg", "ct_secret", "order-17", "Honey shop")
        val intent = KassaCheckout().createIntent(RuntimeEnvironment.getApplication(), request)
        for (printed in listOf("$request", "$intent")) assertFalse("ct_secret" in printed)
        assertTrue("order-17" in "$request")
        assertEquals(null, intent.data)
    }

    private fun nothingOpens() = shadowOf(RuntimeEnvironment.getApplication()).checkActivities(true)

    private fun isSecret(activity: Activity) = activity.window.attributes.flags and LayoutParams.FLAG_SECURE != 0

    companion object {
        private val PNG = byteArrayOf(0x89.toByte(), 0x50, 0x4e, 0x47)
    }
}
