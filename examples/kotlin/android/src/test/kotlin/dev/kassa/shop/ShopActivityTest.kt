package dev.kassa.shop

import android.app.Activity
import android.content.Intent
import android.net.Uri
import android.os.Bundle
import android.os.Looper
import android.view.View
import android.view.ViewGroup
import android.widget.Button
import android.widget.TextView
import androidx.activity.ComponentActivity
import androidx.compose.ui.semantics.SemanticsActions
import androidx.compose.ui.semantics.SemanticsProperties
import androidx.compose.ui.test.SemanticsMatcher
import androidx.compose.ui.test.hasText
import androidx.compose.ui.test.isEnabled
import androidx.compose.ui.test.junit4.createEmptyComposeRule
import androidx.compose.ui.test.performClick
import androidx.compose.ui.test.performScrollTo
import androidx.compose.ui.test.performTextReplacement
import androidx.test.espresso.IdlingPolicies
import dev.kassa.sandbox.TestPhones
import org.junit.After
import org.junit.AfterClass
import org.junit.Assert.assertEquals
import org.junit.Before
import org.junit.BeforeClass
import org.junit.Rule
import org.junit.Test
import org.junit.rules.ExternalResource
import org.junit.runner.RunWith
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import org.robolectric.android.controller.ActivityController
import org.robolectric.annotation.Config
import org.robolectric.annotation.ConscryptMode
import org.robolectric.annotation.GraphicsMode
import java.time.Duration
import java.util.concurrent.TimeUnit

/** The app with the tests' back end. */
class ShopInTests : ShopApplication() {
    override val backendUrl: String get() = ShopActivityTest.backendUrl
}

/**
 * The upper bound of a wait, in seconds. The first test of a process also waits for Android and Compose to start, which can take more
 * than a minute. The environment variable `KASSA_PATIENCE` multiplies it on a slow machine.
 */
private val PATIENCE_SECONDS = (240 * (System.getenv("KASSA_PATIENCE") ?: "1").toDouble()).toLong()

/** The app on the oldest Android that is supported, with the real library, a real server and a sandbox behind it. */
@RunWith(RobolectricTestRunner::class)
@Config(application = ShopInTests::class, sdk = [26], qualifiers = "w360dp-h640dp-mdpi")
@GraphicsMode(GraphicsMode.Mode.NATIVE)
@ConscryptMode(ConscryptMode.Mode.OFF) // it asks the wrong one of the two Androids which version it is
class ShopActivityTest {
    /** Outermost. What is still posted when a test ends, Robolectric throws away, and Compose then waits for it for ever. */
    @get:Rule(order = 0)
    val drained = object : ExternalResource() {
        override fun after() = idleLong()
    }

    @get:Rule(order = 1)
    val rule = createEmptyComposeRule()

    private val opened = mutableListOf<ActivityController<out ComponentActivity>>()

    @Before
    fun reachTheBackend() {
        backendUrl = backend.url
        IdlingPolicies.setMasterPolicyTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS)
    }

    /** A screen that is left open breaks the next test. */
    @After
    fun closeAll() {
        opened.filterNot { it.get().isDestroyed }.forEach { it.pause().stop().destroy() }
        idleLong()
    }

    @Test
    fun `honey is paid by the mobile bank`() {
        val shop = open()
        val sheet = openSheet(shop.buy())
        enterPhone()
        type("Code from the SMS", TestPhones.MBANK_APPROVED.otp)
        click("Confirm the payment")
        click("Done")
        shop.receive(sheet)
        shop.awaitText("Paid: 390 KGS. Thank you")
        assertCharged()
    }

    @Test
    fun `system ends the app while the code is on its way`() {
        val killed = open()
        val launched = killed.buy()
        val killedSheet = openSheet(launched)
        enterPhone()
        awaitNode("Code from the SMS")
        val sheetState = killedSheet.die()
        val shopState = killed.die()

        val sheet = openSheet(launched, sheetState)
        type("Code from the SMS", TestPhones.MBANK_APPROVED.otp)
        click("Confirm the payment")
        click("Done")
        val shop = open(shopState)
        shop.receive(sheet)
        shop.awaitText("Paid: 390 KGS. Thank you")
        assertCharged()
    }

    @Test
    fun `link brings the payer back from the bank's page`() {
        val shop = open()
        val sheet = openSheet(shop.buy())
        click("Card or wallet")
        val page = sheet.awaitStarted()
        sheet.pause().stop()
        backend.server.payByForm(page.dataString!!)

        sheet.newIntent(follow("kassa-shop://paid")).restart().start().resume()
        click("Done")
        shop.receive(sheet)
        shop.awaitText("Paid: 390 KGS. Thank you")
        assertCharged()
    }

    @Test
    fun `order that may be paid is gone on with, and no second one is made`() {
        val before = backend.orders
        val shop = open()
        val left = openSheet(shop.buy())
        enterPhone()
        awaitNode("Code from the SMS")
        left.get().finish()
        shop.receive(left)
        shop.awaitText("Your payment is on its way")

        openSheet(shop.buy())
        awaitNode("Code from the SMS")
        assertEquals(before + 1, backend.orders)
    }

    @Test
    fun `back end that cannot be reached takes no money`() {
        backendUrl = "http://127.0.0.1:9"
        val shop = open()
        shop.button().performClick()
        shop.awaitText("The shop cannot be reached. Nothing was paid.")
    }

    private fun open(state: Bundle? = null): ActivityController<ShopActivity> =
        Robolectric.buildActivity(ShopActivity::class.java).also { opened += it }.apply { if (state == null) setup() else setup(state) }

    /** Presses the button; what the shop launches. */
    private fun ActivityController<ShopActivity>.buy(): Intent {
        button().performClick()
        return awaitStarted()
    }

    /** What Android would start for this Intent: the sheet's class is Kassa's own. */
    private fun openSheet(launched: Intent, state: Bundle? = null): ActivityController<out ComponentActivity> {
        val sheet = Class.forName(launched.component!!.className).asSubclass(ComponentActivity::class.java)
        return Robolectric.buildActivity(sheet, launched).also { opened += it }.apply { if (state == null) setup() else setup(state) }
    }

    /** What is started by who follows a link, as the manifest has it. */
    private fun follow(link: String): Intent {
        val app = RuntimeEnvironment.getApplication()
        val intent = Intent(Intent.ACTION_VIEW, Uri.parse(link)).addCategory(Intent.CATEGORY_BROWSABLE)
        val found = checkNotNull(intent.resolveActivityInfo(app.packageManager, 0)) { "nothing opens $link" }
        val opened = Class.forName(found.name).asSubclass(Activity::class.java)
        return shadowOf(Robolectric.buildActivity(opened, intent).create().get()).nextStartedActivity
    }

    /** Closes the sheet, and tells the shop how it ended. */
    private fun ActivityController<ShopActivity>.receive(sheet: ActivityController<out ComponentActivity>) {
        await("the end of the sheet") { sheet.get().isFinishing }
        val result = shadowOf(sheet.get())
        get().activityResultRegistry.dispatchResult(requestCode, result.resultCode, result.resultIntent)
    }

    private var requestCode = 0

    private fun ActivityController<out ComponentActivity>.awaitStarted(): Intent {
        await("another screen") { shadowOf(get()).peekNextStartedActivityForResult() != null }
        return shadowOf(get()).nextStartedActivityForResult.also { if (it.requestCode >= 0) requestCode = it.requestCode }.intent
    }

    /** The system ends the process. */
    private fun ActivityController<out ComponentActivity>.die(): Bundle {
        rule.waitForIdle()
        return Bundle().also { pause().stop().saveInstanceState(it).destroy() }
    }

    private fun enterPhone() {
        click("MBank")
        type("Phone number", TestPhones.MBANK_APPROVED.phone)
        click("Continue")
    }

    private fun click(label: String) {
        val button = hasText(label) and SemanticsMatcher.keyIsDefined(SemanticsActions.OnClick) and isEnabled()
        await("the button '$label'") { exists(button) }
        rule.onNode(button).performScrollTo().performClick()
    }

    private fun type(label: String, text: String) {
        val field = hasText(label) and SemanticsMatcher.keyIsDefined(SemanticsProperties.EditableText)
        await("the field '$label'") { exists(field) }
        rule.onNode(field).performScrollTo().performTextReplacement(text)
        rule.waitForIdle()
    }

    private fun awaitNode(text: String) = await("'$text'") { exists(hasText(text)) }

    private fun exists(matcher: SemanticsMatcher) = rule.onAllNodes(matcher).fetchSemanticsNodes(atLeastOneRootRequired = false).isNotEmpty()

    private fun ActivityController<ShopActivity>.button() = get().window.decorView.findAll<Button>().single()

    private fun ActivityController<ShopActivity>.awaitText(text: String) =
        await("'$text'") { get().window.decorView.findAll<TextView>().any { text in "${it.text}" } }

    /** Lets the thread that draws, and the sheet on it, do their work until it is there. */
    private fun await(what: String, isThere: () -> Boolean) {
        val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)
        while (!isThere()) {
            if (System.nanoTime() > deadline) throw AssertionError("$what does not come; there is ${texts()}")
            rule.waitForIdle()
            shadowOf(Looper.getMainLooper()).idle()
            Thread.sleep(10)
        }
    }

    private fun texts() = opened.last().get().window.decorView.findAll<TextView>().map { "${it.text}" } +
        rule.onAllNodes(SemanticsMatcher.keyIsDefined(SemanticsProperties.Text)).fetchSemanticsNodes(atLeastOneRootRequired = false)
            .flatMap { it.config[SemanticsProperties.Text] }

    private fun assertCharged() {
        backend.server.waitFor("checkout.paid", backend.newest, Duration.ofSeconds(PATIENCE_SECONDS))
        val checkout = backend.server.checkout(backend.newest)
        assertEquals(1, backend.server.sandbox.ledger().filter { it.orderNumber in checkout }.sumOf { it.timesCharged })
    }

    private fun idleLong() = shadowOf(Looper.getMainLooper()).idleFor(Duration.ofSeconds(1))

    companion object {
        private lateinit var backend: Backend

        @Volatile
        lateinit var backendUrl: String

        @JvmStatic
        @BeforeClass
        fun start() {
            backend = Backend()
            backendUrl = backend.url
        }

        @JvmStatic
        @AfterClass
        fun stop() = backend.close()
    }
}

private inline fun <reified V : View> View.findAll(): List<V> = all().filterIsInstance<V>()

private fun View.all(): List<View> =
    if (this is ViewGroup) listOf(this) + (0 until childCount).flatMap { getChildAt(it).all() } else listOf(this)
