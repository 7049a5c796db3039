package dev.kassa.android.ui

import dev.kassa.CheckoutMessage
import dev.kassa.CheckoutState
import dev.kassa.MessageTopic
import dev.kassa.android.ui.KassaCheckout.Result
import org.junit.Assert.assertEquals
import org.junit.Test

class OutcomeTest {
    @Test
    fun `what was shown can still be paid after the checkout's end`() {
        val ends = listOf(CheckoutState.Expired, CheckoutState.NotPaid(CheckoutMessage(MessageTopic.CANCELLED)))
        val shown = listOf(
            CheckoutState.Sending(), CheckoutState.EnterOtp(3), CheckoutState.OpenPage("https://a", true), CheckoutState.ShowQr("a"),
            CheckoutState.Waiting(), CheckoutState.PersonNeeded(CheckoutMessage(MessageTopic.CONTRADICTED)),
        )
        for (end in ends) {
            for (state in shown) assertEquals(Result.StillOpen, closedAfter(state, end))
            assertEquals("an earlier sheet may have shown it", Result.StillOpen, closedAfter(CheckoutState.Opening(), end))
            assertEquals(Result.NotPaid, closedAfter(CheckoutState.Ready(emptyList()), end))
            assertEquals(Result.NotPaid, closedAfter(CheckoutState.ShowQr("a"), CheckoutState.Ready(emptyList()), end))
        }
    }

    private fun closedAfter(vararg states: CheckoutState): Result = resultOf(states.last(), states.fold(true, ::mayHavePaid))
}
