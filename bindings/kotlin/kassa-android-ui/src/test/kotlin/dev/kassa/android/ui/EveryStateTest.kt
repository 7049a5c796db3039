package dev.kassa.android.ui

import androidx.compose.ui.semantics.SemanticsActions
import androidx.compose.ui.semantics.SemanticsProperties
import androidx.compose.ui.test.SemanticsMatcher
import dev.kassa.android.ui.support.Scene
import dev.kassa.android.ui.support.StandInTest
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.ParameterizedRobolectricTestRunner
import org.robolectric.ParameterizedRobolectricTestRunner.Parameters

/** What holds in every state. */
@RunWith(ParameterizedRobolectricTestRunner::class)
class EveryStateTest(name: String) : StandInTest() {
    private val scene = Scene.valueOf(name)
    private val request = request(scene)

    @Test
    fun `it is there after a turn of the screen and after the end of the process, and its result is right`() {
        val first = open(request)
        awaitText(scene.title)
        first.recreate()
        awaitText(scene.title)
        val state = first.die()
        val second = open(request, state)
        awaitText(scene.title)
        awaitText("Honey shop")
        clickCross()
        assertEquals(scene.result, second.result())
    }

    @Test
    fun `back closes it, and a screen reader finds its way`() {
        val sheet = open(request)
        awaitText(scene.title)
        val heading = SemanticsMatcher.keyIsDefined(SemanticsProperties.Heading)
        assertEquals(1, rule.onAllNodes(heading).fetchSemanticsNodes().size)
        val panes = rule.onAllNodes(SemanticsMatcher.keyIsDefined(SemanticsProperties.PaneTitle)).fetchSemanticsNodes()
        assertEquals(listOf(scene.title), panes.map { it.config[SemanticsProperties.PaneTitle] })
        for (button in rule.onAllNodes(SemanticsMatcher.keyIsDefined(SemanticsActions.OnClick)).fetchSemanticsNodes()) {
            assertTrue("it has a name", NAMES.any { it in button.config })
            assertTrue("a finger meets it: ${button.size}", button.size.height >= FINGER && button.size.width >= FINGER)
        }
        sheet.get().onBackPressedDispatcher.onBackPressed()
        assertEquals(scene.result, sheet.result())
    }

    @Test
    fun `payer can have the status checked at once if they may have paid, and only then`() {
        open(request)
        awaitText(scene.title)
        assertEquals(scene in CHECKABLE, isShown("Check the payment"))
    }

    companion object {
        private val CHECKABLE = setOf(Scene.OPEN_PAGE, Scene.SHOW_QR, Scene.SHOW_ELQR, Scene.NOT_PAID, Scene.EXPIRED)
        private val NAMES = listOf(SemanticsProperties.Text, SemanticsProperties.ContentDescription, SemanticsProperties.EditableText)

        /** In pixels, of which there is one to a dp. */
        private const val FINGER = 48

        @JvmStatic
        @Parameters(name = "{0}")
        fun scenes() = Scene.entries.map { arrayOf(it.name) }
    }
}
