package dev.kassa.shop

import android.content.Intent
import android.net.Uri
import android.os.Bundle
import android.os.Looper
import android.os.Parcel
import android.view.View
import android.view.ViewGroup
import android.widget.Button
import android.widget.EditText
import android.widget.ImageView
import android.widget.TextView
import dev.kassa.Credentials
import dev.kassa.GatewayConfig
import dev.kassa.sandbox.Endpoint
import dev.kassa.sandbox.FaultName
import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.TestCard
import dev.kassa.sandbox.TestCards
import kotlinx.coroutines.CompletableDeferred
import org.junit.After
import org.junit.AfterClass
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Before
import org.junit.BeforeClass
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import org.robolectric.android.controller.ActivityController
import org.robolectric.annotation.Config
import org.robolectric.annotation.ConscryptMode
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.TimeUnit.SECONDS

/** The app with the sandbox behind it. */
class ShopWithSandbox : ShopApplication() {
    override suspend fun newConfig(): GatewayConfig {
        CheckoutActivityTest.threads += Looper.myLooper() == Looper.getMainLooper()
        CheckoutActivityTest.gate.await()
        return GatewayConfig(CheckoutActivityTest.sandbox.baseUrl, Credentials("kassa", "sandbox"))
    }
}

/** The Activity itself, on the Android that Robolectric brings, with the real library and a real sandbox. */
@RunWith(RobolectricTestRunner::class)
@Config(application = ShopWithSandbox::class, sdk = [26])
@ConscryptMode(ConscryptMode.Mode.OFF) // it asks the wrong one of the two Androids which version it is
class CheckoutActivityTest {
    private val opened = mutableListOf<ActivityController<CheckoutActivity>>()

    @Before
    fun forget() = sandbox.reset()

    /** What an app asks about after its test would be counted in the next one. The next application is made before its test begins. */
    @After
    fun closeAppAndGate() {
        opened.filterNot { it.get().isDestroyed }.forEach { it.pause().stop().destroy() }
        gate = CompletableDeferred()
    }

    @Test
    fun `a card payment through 3DS`() {
        val app = start()
        payByCard(app)
        app.click("Confirm at your bank")
        val opened = shadowOf(app.get()).nextStartedActivity
        assertEquals(Intent.ACTION_VIEW, opened.action)
        val link = enterOtp(opened.dataString!!, TestCards.APPROVED.otp!!)
        app.pause().stop()
        app.newIntent(Intent(Intent.ACTION_VIEW, Uri.parse(link))).restart().start().resume()
        app.awaitText("Paid: 250.00 KGS. Thank you")
        assertEquals(1, sandbox.ledger().single().timesCharged)
    }

    @Test
    fun `process death in the middle of 3DS`() {
        val killed = start()
        payByCard(killed)
        val state = Bundle()
        killed.pause().saveInstanceState(state).stop().destroy()
        assertFalse("a card number is in what the system keeps", TestCards.APPROVED.pan in bytes(state))

        val app = newApp().setup(state)
        app.click("Confirm at your bank")
        enterOtp(shadowOf(app.get()).nextStartedActivity.dataString!!, TestCards.APPROVED.otp!!)
        app.pause().resume()
        app.awaitText("Paid: 250.00 KGS. Thank you")
        assertEquals(1, sandbox.ledger().single().timesCharged)
    }

    @Test
    fun `the screen is turned while the payment is confirmed`() {
        val app = start()
        payByCard(app)
        app.recreate()
        app.click("Confirm at your bank")
        enterOtp(shadowOf(app.get()).nextStartedActivity.dataString!!, TestCards.APPROVED.otp!!)
        app.pause().resume()
        app.awaitText("Paid: 250.00 KGS. Thank you")
        assertEquals(1, sandbox.ledger().size)
    }

    @Test
    fun `a lost answer is asked about, and nothing is sent again`() {
        val fault = sandbox.faults.add(FaultName.REPLY_LOST, endpoint = Endpoint.PAYMENT, times = 1)
        val app = start()
        type(app, TestCards.WITHOUT_3DS_APPROVED)
        repeat(2) { app.click("Pay 250.00 KGS by card") }
        app.awaitText("Paid: 250.00 KGS. Thank you")
        assertEquals(1, fault.struck)
        assertEquals(1, sandbox.ledger().single().timesCharged)
    }

    @Test
    fun `what is refused can be tried again`() {
        val app = start()
        app.click("Pay 250.00 KGS by card")
        app.awaitText("Nothing was paid.")
        payByCard(app)
        assertEquals(1, sandbox.ledger().size)
    }

    @Test
    fun `asking that has ended says nothing about the payment, and begins again when the payer comes back`() {
        sandbox.faults.add(FaultName.UNAUTHORIZED, endpoint = Endpoint.STATUS)
        val app = start()
        payByCard(app)
        // Three questions in a row end the asking.
        while (sandbox.requests().count { it.endpoint != Endpoint.PAYMENT } < 3) app.pause().resume()
        app.awaitText("Your payment may be open")
        sandbox.faults.clear()
        sandbox.approve(sandbox.ledger().single().orderNumber)
        app.click("Ask again")
        app.awaitText("Paid: 250.00 KGS. Thank you")
    }

    @Test
    fun `a QR code`() {
        val app = start()
        app.click("Pay 250.00 KGS by QR code")
        app.await("the code") { root -> root.findAll<ImageView>().any { it.visibility == View.VISIBLE && it.drawable != null } }
        sandbox.approve(sandbox.ledger().single().orderNumber)
        app.pause().resume()
        app.awaitText("Paid: 250.00 KGS. Thank you")
    }

    @Test
    fun `what another version of the app has stored could be a payment`() {
        val folder = RuntimeEnvironment.getApplication().noBackupFilesDir.resolve("kassa-journal/open/2026-01-01")
        folder.mkdirs()
        folder.resolve("order-2-817ecd563f9a6992a849132521cd42d9").writeText("kassa-journal2:new")
        val app = start()
        app.awaitText("Do not pay again")
        assertFalse(app.get().window.decorView.findAll<Button>().any { it.visibility == View.VISIBLE })
        // A question that another test's app sent as it ended may still arrive.
        assertEquals(0, sandbox.requests().count { it.endpoint == Endpoint.PAYMENT || it.endpoint == Endpoint.QR_DYNAMIC_DATA })
        assertTrue(sandbox.ledger().isEmpty())
    }

    @Test
    fun `nothing is begun before the library is loaded, on another thread`() {
        val app = newApp().setup()
        app.awaitText("One moment")
        assertFalse(app.get().window.decorView.findAll<Button>().any { it.visibility == View.VISIBLE })
        gate.complete(Unit)
        app.awaitText("A jar of honey")
        assertEquals(setOf(false), threads)
    }

    @Test
    fun `the manifest's link leads to the activity`() {
        val text = Files.readString(Path.of("src/main/AndroidManifest.xml"))
        val link = URI(RETURN_URL)
        assertTrue("android:scheme=\"${link.scheme}\"" in text && "android:host=\"${link.host}\"" in text)
    }

    private fun start(): ActivityController<CheckoutActivity> {
        gate.complete(Unit)
        return newApp().setup()
    }

    private fun newApp() = Robolectric.buildActivity(CheckoutActivity::class.java).also { opened += it }

    private fun type(app: ActivityController<CheckoutActivity>, card: TestCard): Map<String, EditText> {
        app.awaitText("KGS by card")
        val fields = app.get().window.decorView.findAll<EditText>().associateBy { "${it.hint}" }
        fields.getValue("Card number").setText(card.pan)
        fields.getValue("Month, two digits").setText("12")
        fields.getValue("Year, four digits").setText("2099")
        fields.getValue("CVC").setText("123")
        fields.getValue("Name on the card").setText("Aibek Asanov")
        return fields
    }

    private fun payByCard(app: ActivityController<CheckoutActivity>) {
        val fields = type(app, TestCards.APPROVED)
        app.click("Pay 250.00 KGS by card")
        app.awaitText("Your bank wants you to confirm the payment")
        assertEquals("what was typed is gone", "", "${fields.getValue("Card number").text}")
    }

    private fun ActivityController<CheckoutActivity>.click(label: String) {
        awaitText(label)
        get().window.decorView.findAll<Button>().single { "${it.text}" == label }.performClick()
    }

    private fun ActivityController<CheckoutActivity>.awaitText(text: String) =
        await(text) { root -> root.findAll<TextView>().any { text in "${it.text}" && it.visibility == View.VISIBLE } }

    /** Lets the thread that draws do its work until it is there. */
    private fun ActivityController<CheckoutActivity>.await(what: String, isThere: (View) -> Boolean) {
        val deadline = System.nanoTime() + SECONDS.toNanos(60)
        while (!isThere(get().window.decorView)) {
            if (System.nanoTime() > deadline) throw AssertionError("$what does not come; there is ${texts()}")
            shadowOf(Looper.getMainLooper()).idle()
            Thread.sleep(10)
        }
    }

    private fun ActivityController<CheckoutActivity>.texts() =
        get().window.decorView.findAll<TextView>().filter { it.visibility == View.VISIBLE }.map { "${it.text}" }

    companion object {
        lateinit var sandbox: Sandbox

        /** Open once the library is said to be loaded. */
        @Volatile
        var gate = CompletableDeferred<Unit>()

        /** Whether the backend was made on the thread that draws. */
        val threads: MutableSet<Boolean> = ConcurrentHashMap.newKeySet()

        @JvmStatic
        @BeforeClass
        fun startSandbox() {
            sandbox = Sandbox.start()
        }

        @JvmStatic
        @AfterClass
        fun stopSandbox() = sandbox.close()
    }
}

/** What the payer's browser does on the bank's page; where it is sent to then. */
private fun enterOtp(page: String, otp: String): String {
    val request = HttpRequest.newBuilder(URI(page))
        .header("Content-Type", "application/x-www-form-urlencoded")
        .POST(BodyPublishers.ofString("otp=$otp"))
        .build()
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).headers().firstValue("Location").orElseThrow()
}

private inline fun <reified T : View> View.findAll(): List<T> = everything(this).filterIsInstance<T>()

private fun everything(view: View): List<View> =
    listOf(view) + (view as? ViewGroup)?.let { (0 until it.childCount).flatMap { at -> everything(it.getChildAt(at)) } }.orEmpty()

private fun bytes(state: Bundle): String {
    val parcel = Parcel.obtain()
    parcel.writeBundle(state)
    // Android writes texts in UTF-16.
    return parcel.marshall().filter { it != 0.toByte() }.toByteArray().toString(Charsets.ISO_8859_1)
}
