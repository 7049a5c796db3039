package dev.kassa.android.ui

import android.app.Activity
import android.content.ClipboardManager
import android.content.ComponentName
import android.content.Intent
import android.content.IntentFilter
import android.content.pm.ActivityInfo
import android.graphics.BitmapFactory
import android.graphics.Color
import android.net.Uri
import android.view.View
import android.view.WindowManager.LayoutParams
import dev.kassa.QrCode
import dev.kassa.android.ui.support.ELQR_CODE
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
    fun `card is in no screenshot, and only a card`() {
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
    fun `screen is bright while a code is shown, and as it was after it`() {
        val sheet = open(request(Scene.SHOW_QR))
        awaitText("scan this one")
        assertEquals(LayoutParams.BRIGHTNESS_OVERRIDE_FULL, sheet.get().window.attributes.screenBrightness)
        sheet.get().setContentView(View(sheet.get()))
        rule.waitForIdle()
        assertEquals(LayoutParams.BRIGHTNESS_OVERRIDE_NONE, sheet.get().window.attributes.screenBrightness)
        assertEquals(0, sheet.get().window.attributes.flags and LayoutParams.FLAG_KEEP_SCREEN_ON)
    }

    @Test
    fun `code that is a link opens the app of a bank, where there is one, and no browser`() {
        val sheet = open(request(Scene.SHOW_QR))
        click("Open my bank's app")
        val started = sheet.awaitStarted()
        assertEquals(Intent.ACTION_VIEW to QR_TEXT, started.action to started.dataString)
        assertTrue("Android leaves browsers out", started.flags and Intent.FLAG_ACTIVITY_REQUIRE_NON_BROWSER != 0)
        nothingOpens()
        click("Open my bank's app")
        awaitText(NO_APP)
    }

    @Test
    @Config(sdk = [26])
    @Suppress("DEPRECATION") // an older phone has no others
    fun `on an older phone a browser is no app of a bank either`() {
        install("kg.browser", host = null)
        val sheet = open(request(Scene.SHOW_QR))
        click("Open my bank's app")
        awaitText(NO_APP)
        assertEquals(null, shadowOf(sheet.get()).nextStartedActivity)
        install("kg.bank", HOST)
        click("Open my bank's app")
        val bank = sheet.awaitStarted()
        assertEquals("kg.bank" to QR_TEXT, bank.component?.packageName to bank.dataString)
        install("kg.wallet", HOST)
        click("Open my bank's app")
        val chooser = sheet.awaitStarted()
        val first: Intent? = chooser.getParcelableExtra(Intent.EXTRA_INTENT)
        val others = chooser.getParcelableArrayExtra(Intent.EXTRA_INITIAL_INTENTS).orEmpty().map { it as Intent }
        assertEquals(setOf("kg.bank", "kg.wallet"), (others + first).map { it?.component?.packageName }.toSet())
    }

    @Test
    @Config(sdk = [26])
    fun `code in ELQR opens in the app of a bank, in a browser where it is not there, and nothing crashes without one`() {
        val sheet = open(request(Scene.SHOW_ELQR))
        click("Open my bank's app")
        val page = sheet.awaitStarted()
        assertTrue("in a Custom Tab", page.hasExtra("android.support.customtabs.extra.SESSION"))
        assertEquals("https://pay.payqr.kg/#$ELQR_CODE", page.dataString)
        install("kg.mbank", "app.mbank.kg")
        click("Choose my bank")
        click("MBank")
        val bank = sheet.awaitStarted()
        assertEquals("kg.mbank" to "https://app.mbank.kg/qr/#$ELQR_CODE", bank.component?.packageName to bank.dataString)
        nothingOpens()
        click("Bakai")
        awaitText(NO_APP)
    }

    @Test
    fun `picture of a code is saved among the pictures, black on white`() = assertBlackOnWhite(savedPicture())

    @Test
    fun `it is black on white in the dark, too`() {
        RuntimeEnvironment.setQualifiers("+night")
        assertBlackOnWhite(savedPicture())
    }

    private fun savedPicture(): ByteArray {
        val written = ByteArrayOutputStream()
        val resolver = shadowOf(RuntimeEnvironment.getApplication().contentResolver)
        open(request(Scene.SHOW_QR))
        // The first place that a resolver of Robolectric's gives.
        resolver.registerOutputStream(Uri.parse("content://media/external_primary/images/media/1"), written)
        click("Save the picture")
        awaitText("The picture is saved.")
        return written.toByteArray()
    }

    /** Each pixel is: the picture is read back as any app reads it. */
    private fun assertBlackOnWhite(png: ByteArray) {
        val picture = BitmapFactory.decodeByteArray(png, 0, png.size)
        val side = picture.width
        val drawn = IntArray(side * picture.height).also { picture.getPixels(it, 0, side, 0, 0, side, picture.height) }
        val modules = QrCode.encode(QR_TEXT).modules()
        val scale = side / (modules.size + 2 * QUIET_ZONE)
        val margin = (side - modules.size * scale) / 2
        val module = { pixel: Int -> Math.floorDiv(pixel - margin, scale) }
        val isDark = { x: Int, y: Int -> modules.getOrNull(module(y))?.getOrNull(module(x)) == true }
        assertArrayEquals(IntArray(side * side) { if (isDark(it % side, it / side)) Color.BLACK else Color.WHITE }, drawn)
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
    fun `page that was begun elsewhere is not opened by itself`() {
        val sheet = open(request(Scene.OPEN_PAGE))
        awaitText("Pay on the bank's page")
        assertEquals(null, shadowOf(sheet.get()).nextStartedActivity)
    }

    @Test
    fun `link that comes when no sheet is there shows the app`() {
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

    /** An app that opens links: those of a host, or as a browser all. */
    private fun install(app: String, host: String?) {
        val packages = shadowOf(RuntimeEnvironment.getApplication().packageManager)
        val activity = ActivityInfo()
        activity.packageName = app
        activity.name = "$app.Main"
        activity.exported = true
        packages.addOrUpdateActivity(activity)
        val filter = IntentFilter(Intent.ACTION_VIEW)
        filter.addCategory(Intent.CATEGORY_DEFAULT)
        filter.addCategory(Intent.CATEGORY_BROWSABLE)
        filter.addDataScheme("https")
        host?.let { filter.addDataAuthority(it, null) }
        packages.addIntentFilterForActivity(ComponentName(app, activity.name), filter)
    }

    private fun isSecret(activity: Activity) = activity.window.attributes.flags and LayoutParams.FLAG_SECURE != 0

    companion object {
        private const val NO_APP = "No bank app that opens this code was found on this phone."
        private const val HOST = "qr.bank.example.kg"

        /** The white round a code, in modules. */
        private const val QUIET_ZONE = 4
        private val PNG = byteArrayOf(0x89.toByte(), 0x50, 0x4e, 0x47)
    }
}
