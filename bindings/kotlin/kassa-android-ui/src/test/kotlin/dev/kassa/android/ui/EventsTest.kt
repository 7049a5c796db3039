package dev.kassa.android.ui

import android.os.Looper
import dev.kassa.PaymentMethod
import dev.kassa.android.ui.KassaCheckout.Result
import dev.kassa.android.ui.KassaCheckoutEvents.Event
import dev.kassa.android.ui.support.Scene
import dev.kassa.android.ui.support.StandInTest
import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.shadows.ShadowLog

/** What the app's analytics are told. */
@RunWith(RobolectricTestRunner::class)
class EventsTest : StandInTest() {
    private val told = mutableListOf<Pair<Event, Boolean>>()

    @After
    fun forgetListener() {
        KassaCheckoutEvents.listener = null
    }

    @Test
    fun `each is told once, on the main thread, through turns and the end of the process`() {
        listen()
        val first = open(request(Scene.READY))
        click("Card")
        awaitText("Pay by card")
        first.recreate()
        awaitText("Pay by card")
        val state = first.die()
        val second = open(request(Scene.READY), state)
        awaitText("Pay by card")
        clickCross()
        assertEquals(Result.NotPaid, second.result())
        second.get().finish()
        assertTold(Event.Opened, Event.MethodChosen(PaymentMethod.CARD), Event.Ended(Result.NotPaid))
    }

    @Test
    fun `opened page is reported, and one that could not be opened is not`() {
        listen()
        val sheet = open(request(Scene.OPEN_PAGE))
        click("To the bank's page")
        sheet.awaitStarted()
        nothingOpens()
        click("To the bank's page")
        awaitText("No browser was found on this phone.")
        clickCross()
        assertEquals(Result.StillOpen, sheet.result())
        assertTold(Event.Opened, Event.PageOpened, Event.Ended(Result.StillOpen))
    }

    @Test
    fun `listener that fails disturbs no payer`() {
        KassaCheckoutEvents.listener = KassaCheckoutEvents.Listener { error("analytics are away") }
        val sheet = open(request(Scene.READY))
        click("Card")
        awaitText("Pay by card")
        clickCross()
        assertEquals(Result.NotPaid, sheet.result())
        val failures = ShadowLog.getLogsForTag("kassa").filter { it.throwable != null }
        assertEquals(listOf("opened", "method_chosen", "ended"), failures.map { it.msg.substringAfterLast(' ') })
    }

    private fun listen() {
        KassaCheckoutEvents.listener = KassaCheckoutEvents.Listener { told += it to (Looper.myLooper() == Looper.getMainLooper()) }
    }

    private fun assertTold(vararg events: Event) = assertEquals(events.map { it to true }, told)
}
