package dev.kassa.android.ui.support

import android.content.Intent
import android.os.Bundle
import android.os.Looper
import android.os.Parcel
import androidx.activity.ComponentActivity
import androidx.compose.ui.semantics.SemanticsProperties
import androidx.compose.ui.semantics.getOrNull
import androidx.compose.ui.test.SemanticsMatcher
import androidx.compose.ui.test.SemanticsNodeInteraction
import androidx.compose.ui.test.hasText
import androidx.compose.ui.test.isEnabled
import androidx.compose.ui.test.junit4.createEmptyComposeRule
import androidx.compose.ui.test.onNodeWithContentDescription
import androidx.compose.ui.test.performClick
import androidx.compose.ui.test.performScrollTo
import androidx.compose.ui.test.performTextReplacement
import androidx.test.espresso.IdlingPolicies
import dev.kassa.android.ui.CheckoutActivity
import dev.kassa.android.ui.KassaCheckout
import org.junit.After
import org.junit.Assert.assertFalse
import org.junit.Before
import org.junit.Rule
import org.junit.rules.ExternalResource
import org.robolectric.Robolectric
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import org.robolectric.android.controller.ActivityController
import org.robolectric.annotation.Config
import org.robolectric.annotation.ConscryptMode
import org.robolectric.annotation.GraphicsMode
import org.robolectric.shadows.ShadowLog
import java.time.Duration
import java.util.concurrent.TimeUnit

/** The sheet on the Android that Robolectric brings, with the real native library. */
@Config(sdk = [34], qualifiers = "w360dp-h640dp-mdpi")
@GraphicsMode(GraphicsMode.Mode.NATIVE)
@ConscryptMode(ConscryptMode.Mode.OFF) // it asks the wrong one of the two Androids which version it is
abstract class SheetTest {
    /** Outermost. What is still posted when a test ends, Robolectric throws away, and Compose then waits for it for ever. */
    @get:Rule(order = 0)
    val drained = object : ExternalResource() {
        override fun after() = idleLong()
    }

    @get:Rule(order = 1)
    val rule = createEmptyComposeRule()

    private val opened = mutableListOf<ActivityController<out ComponentActivity>>()
    private val secrets = mutableSetOf<String>()

    @Before
    fun patience() = IdlingPolicies.setMasterPolicyTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS)

    /** A screen that is left open breaks the next test. */
    @After
    fun closeAll() {
        opened.filterNot { it.get().isDestroyed }.forEach { it.pause().stop().destroy() }
        idleLong()
        val log = ShadowLog.getLogs().map { "${it.tag} ${it.msg} ${it.throwable}" }
        for (secret in secrets) assertFalse("a secret is in the log", log.any { secret in it })
    }

    /** Opens the sheet, anew or as the system brings it back with what it kept. */
    internal fun open(request: KassaCheckout.Request, state: Bundle? = null): ActivityController<CheckoutActivity> {
        secrets += request.clientToken
        val intent = KassaCheckout().createIntent(RuntimeEnvironment.getApplication(), request)
        return keep(Robolectric.buildActivity(CheckoutActivity::class.java, intent)).apply { if (state == null) setup() else setup(state) }
    }

    protected fun <A : ComponentActivity> keep(controller: ActivityController<A>) = controller.also { opened += it }

    /** The system ends the process: what is kept goes through bytes. */
    internal fun ActivityController<CheckoutActivity>.die(): Bundle {
        rule.waitForIdle()
        val state = Bundle()
        pause().stop().saveInstanceState(state).destroy()
        return state
    }

    /** What the sheet answers, once it is closed. */
    internal fun ActivityController<CheckoutActivity>.result(): KassaCheckout.Result {
        await("the end of the sheet") {
            rule.waitForIdle()
            get().isFinishing
        }
        return KassaCheckout().parseResult(shadowOf(get()).resultCode, shadowOf(get()).resultIntent)
    }

    /** What the sheet has started last: a page, an app. */
    internal fun ActivityController<CheckoutActivity>.awaitStarted(): Intent {
        var started: Intent? = null
        await("a page") {
            rule.waitForIdle()
            started = shadowOf(get()).nextStartedActivity
            started != null
        }
        return started!!
    }

    /** No app opens anything from now on. */
    protected fun nothingOpens() = shadowOf(RuntimeEnvironment.getApplication()).checkActivities(true)

    protected fun awaitText(text: String) = await("'$text'") { rule.onAllNodes(hasText(text, substring = true)).fetchSemanticsNodes().isNotEmpty() }

    protected fun click(label: String) {
        val button = hasText(label) and SemanticsMatcher.keyIsDefined(androidx.compose.ui.semantics.SemanticsActions.OnClick) and isEnabled()
        await("the button '$label'") { rule.onAllNodes(button).fetchSemanticsNodes().isNotEmpty() }
        rule.onNode(button).performScrollTo().performClick()
    }

    protected fun clickCross() = rule.onNodeWithContentDescription("Close").performClick()

    protected fun field(label: String): SemanticsNodeInteraction =
        rule.onNode(hasText(label) and SemanticsMatcher.keyIsDefined(SemanticsProperties.EditableText))

    protected fun type(label: String, text: String) {
        await("the field '$label'") { exists(hasText(label) and SemanticsMatcher.keyIsDefined(SemanticsProperties.EditableText)) }
        field(label).performScrollTo().performTextReplacement(text)
        rule.waitForIdle()
    }

    /** What is shown in a field. */
    protected fun shownIn(label: String): String =
        field(label).fetchSemanticsNode().config.getOrNull(SemanticsProperties.EditableText)?.text.orEmpty()

    protected fun exists(matcher: SemanticsMatcher) = rule.onAllNodes(matcher).fetchSemanticsNodes().isNotEmpty()

    protected fun isShown(text: String) = exists(hasText(text, substring = true))

    protected fun await(what: String, isThere: () -> Boolean) {
        val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)
        while (!isThere()) {
            if (System.nanoTime() > deadline) throw AssertionError("$what does not come; there is ${texts()}")
            Thread.sleep(10)
        }
    }

    private fun texts() = rule.onAllNodes(SemanticsMatcher.keyIsDefined(SemanticsProperties.Text)).fetchSemanticsNodes()
        .flatMap { it.config[SemanticsProperties.Text] }.map { it.text }

    private fun idleLong() = shadowOf(Looper.getMainLooper()).idleFor(Duration.ofSeconds(1))
}

/** What the system would keep of it, as it stands in memory. */
fun textsIn(state: Bundle): String {
    val parcel = Parcel.obtain()
    parcel.writeBundle(state)
    // Android writes texts in UTF-16.
    return parcel.marshall().filter { it != 0.toByte() }.toByteArray().toString(Charsets.ISO_8859_1)
}
