package dev.kassa.android.ui

import dev.kassa.CheckoutMessage
import dev.kassa.CheckoutState
import dev.kassa.MessageTopic
import dev.kassa.PaymentMethod
import dev.kassa.android.ui.KassaCheckout.Result
import org.junit.Assert.assertEquals
import org.junit.Test

class OutcomeTest {
    private val ready = CheckoutState.Ready(emptyList())
    private val choosingAgain = CheckoutState.Ready(emptyList(), canKeepMethod = true)
    private val enterOtp = CheckoutState.EnterOtp(PaymentMethod.MBANK, 3)
    private val qrCode = CheckoutState.ShowQr("a")
    private val noTriesLeft = CheckoutState.NotPaid(CheckoutMessage(MessageTopic.TOO_MANY_TRIES))
    private val ends = listOf(CheckoutState.Expired, CheckoutState.NotPaid(CheckoutMessage(MessageTopic.CANCELLED)))

    @Test
    fun `what was shown can still be paid after the checkout's end`() {
        val shown = listOf(
            CheckoutState.Sending(), enterOtp, CheckoutState.OpenPage("https://a", true), qrCode,
            CheckoutState.Waiting(), CheckoutState.PersonNeeded(CheckoutMessage(MessageTopic.MISMATCH)), choosingAgain,
        )
        for (end in ends) {
            for (state in shown) assertEquals("$state", Result.StillOpen, closedAfter(state, end))
            assertEquals("an earlier sheet may have shown it", Result.StillOpen, closedAfter(CheckoutState.Opening(), end))
            assertEquals(Result.NotPaid, closedAfter(ready, end))
            assertEquals(Result.NotPaid, closedAfter(qrCode, ready, end))
        }
    }

    @Test
    fun `while the payer chooses again a payment is open, and it is not where that has ended`() {
        assertEquals(Result.StillOpen, closedAfter(enterOtp, choosingAgain))
        assertEquals(Result.StillOpen, closedAfter(ready, choosingAgain))
        assertEquals(Result.NotPaid, closedAfter(qrCode, choosingAgain, ready))
        assertEquals(Result.NotPaid, closedAfter(qrCode, choosingAgain, qrCode, CheckoutState.Waiting(), ready))
    }

    @Test
    fun `QR code that was left for another payment can still be paid by whoever kept its picture`() {
        for (next in listOf(CheckoutState.Sending(), enterOtp, CheckoutState.OpenPage("https://a", true))) {
            for (last in ends + ready + noTriesLeft) {
                assertEquals("$next, $last", Result.StillOpen, closedAfter(qrCode, choosingAgain, next, CheckoutState.Waiting(), last))
            }
        }
        assertEquals("no code is good any more", Result.NotPaid, closedAfter(enterOtp, choosingAgain, CheckoutState.Sending(), ready))
    }

    @Test
    fun `where no tries are left, no payment is open`() {
        assertEquals(Result.NotPaid, closedAfter(noTriesLeft))
        assertEquals(Result.NotPaid, closedAfter(ready, CheckoutState.Sending(), noTriesLeft))
        assertEquals(Result.NotPaid, closedAfter(enterOtp.copy(attemptsLeft = 1), CheckoutState.Waiting(), noTriesLeft))
    }

    private fun closedAfter(vararg states: CheckoutState): Result =
        resultOf(states.last(), states.fold(Seen.PAYMENT) { seen, state -> seen.after(state) }.mayHavePaid)
}
