package dev.kassa.android.ui

import android.content.Intent
import android.net.Uri
import dev.kassa.android.ui.KassaCheckout.Result
import dev.kassa.android.ui.support.RETURN_URL
import dev.kassa.android.ui.support.SheetTest
import dev.kassa.android.ui.support.Shop
import dev.kassa.android.ui.support.enterOtp
import dev.kassa.sandbox.TestCards
import dev.kassa.sandbox.TestPhones
import org.junit.After
import org.junit.AfterClass
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.BeforeClass
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner
import org.robolectric.Shadows.shadowOf
import org.robolectric.android.controller.ActivityController
import java.math.BigDecimal
import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.AtomicBoolean
import java.util.function.Function

/** Payers pay, with the real server and a sandbox behind the sheet. */
@RunWith(RobolectricTestRunner::class)
class FlowsTest : SheetTest() {
    private val paid = Result.Paid(BigDecimal("390"), "KGS")

    @After
    fun forgetRenewal() {
        KassaCheckout.renewal = null
    }

    @Test
    fun `by the mobile bank, with a wrong code first`() {
        val order = shop.order("mbank", "qr", "pay_form")
        val sheet = open(shop.request(order))
        awaitText(SUM)
        awaitText("A jar of honey")
        click("MBank")
        type("Phone number", "0555 000 101")
        assertEquals("0555 000 101", shownIn("Phone number"))
        awaitText("The code goes to +996\u00a0555\u00a0000\u00a0101")
        click("Continue")
        awaitText("Attempts left: 3")
        type("Code from the SMS", "999999")
        click("Confirm the payment")
        awaitText("This code was not accepted.")
        awaitText("Attempts left: 2")
        assertEquals("", shownIn("Code from the SMS"))
        type("Code from the SMS", TestPhones.MBANK_APPROVED.otp)
        click("Confirm the payment")
        awaitText("Thank you.")
        click("Done")
        assertEquals(paid, sheet.result())
        assertEquals(1, shop.timesCharged(order))
    }

    @Test
    fun `by the mobile bank, with somebody else's number first`() {
        val order = shop.order("mbank", "qr")
        val sheet = open(shop.request(order))
        click("MBank")
        type("Phone number", TestPhones.MBANK_DECLINED.phone)
        click("Continue")
        awaitText("the number that ends in 02")
        click("Another number, or another way to pay")
        click("MBank")
        type("Phone number", TestPhones.MBANK_APPROVED.phone)
        click("Continue")
        awaitText("the number that ends in 01")
        type("Code from the SMS", TestPhones.MBANK_APPROVED.otp)
        click("Confirm the payment")
        awaitText("Thank you.")
        click("Done")
        assertEquals(paid, sheet.result())
        assertEquals(1, shop.timesCharged(order))
    }

    @Test
    fun `by a QR code that another phone scans`() {
        val order = shop.order("qr", "mbank")
        val sheet = open(shop.request(order))
        click("QR code")
        awaitText("scan this one")
        shop.server.sandbox.approve(shop.payment(order))
        awaitText("Thank you.")
        clickCross()
        assertEquals(paid, sheet.result())
        assertEquals(1, shop.timesCharged(order))
    }

    @Test
    fun `on the bank's page, and back by the link`() {
        val order = shop.order("pay_form")
        val sheet = open(shop.request(order))
        click("Card or wallet")
        val page = sheet.awaitStarted()
        assertEquals(Intent.ACTION_VIEW, page.action)
        assertTrue("in a Custom Tab", page.hasExtra("android.support.customtabs.extra.SESSION"))
        sheet.pause().stop()
        shop.server.payByForm(page.dataString!!)
        sheet.comeBackByLink()
        awaitText("Thank you.")
        assertEquals("it is not opened a second time", null, shadowOf(sheet.get()).nextStartedActivity)
        clickCross()
        assertEquals(paid, sheet.result())
    }

    @Test
    fun `tab is closed without paying, and opened again`() {
        val order = shop.order("pay_form", "mbank")
        val sheet = open(shop.request(order))
        click("Card or wallet")
        val page = sheet.awaitStarted().dataString!!
        sheet.pause().stop().restart().start().resume()
        awaitText("Waiting for the bank")
        click("Pay another way")
        awaitText("otherwise you pay twice")
        click("To the bank's page again")
        assertEquals(page, sheet.awaitStarted().dataString)
        shop.server.payByForm(page)
        sheet.pause().resume()
        awaitText("Thank you.")
    }

    @Test
    fun `by card, confirmed at the bank`() {
        val order = shop.order("card", "mbank")
        val sheet = open(shop.request(order))
        click("Card")
        type("Card number", TestCards.APPROVED.pan)
        assertEquals("4111 1111 1111 1111", shownIn("Card number"))
        type("Month / year", "1299")
        type("CVC", "123")
        type("Cardholder name", "Aibek Asanov")
        click("Pay $SUM")
        val page = sheet.awaitStarted().dataString!!
        enterOtp(page, TestCards.APPROVED.otp!!)
        sheet.pause().resume()
        awaitText("Thank you.")
        assertEquals(1, shop.timesCharged(order))
    }

    @Test
    fun `what the bank declines can be tried again`() {
        val sheet = open(shop.request(shop.order("mbank")))
        type("Phone number", TestPhones.MBANK_DECLINED.phone)
        click("Continue")
        type("Code from the SMS", TestPhones.MBANK_DECLINED.otp)
        click("Confirm the payment")
        awaitText("The payment was declined. No money was taken.")
        assertEquals(TestPhones.MBANK_DECLINED.phone, shownIn("Phone number"))
        clickCross()
        assertEquals(Result.NotPaid, sheet.result())
    }

    @Test
    fun `server goes away in the middle, and comes back`() {
        val order = shop.order("mbank")
        open(shop.request(order))
        type("Phone number", TestPhones.MBANK_APPROVED.phone)
        shop.server.kill()
        try {
            click("Continue")
            awaitText("There is no connection. Nothing is lost")
        } finally {
            shop.server.restart()
        }
        type("Code from the SMS", TestPhones.MBANK_APPROVED.otp)
        click("Confirm the payment")
        awaitText("Thank you.")
        assertEquals(1, shop.timesCharged(order))
    }

    @Test
    fun `token that is not good any more is renewed`() {
        val order = shop.order("mbank")
        val asked = mutableListOf<String>()
        KassaCheckout.renewTokensBy { reference ->
            asked += reference
            shop.token(order)
        }
        open(KassaCheckout.Request(shop.server.url, "ct_of_yesterday", order.reference))
        awaitText(SUM)
        assertEquals(listOf(order.reference), asked)
    }

    @Test
    fun `token that cannot be renewed is requested again, as Java does it`() {
        val order = shop.order("mbank")
        // It fails until the payer has read of it: however slow this machine is.
        val isRead = AtomicBoolean()
        KassaCheckout.renewTokensBy(
            Function {
                if (isRead.get()) CompletableFuture.completedFuture(shop.token(order)) else CompletableFuture.failedFuture(IllegalStateException("no"))
            },
        )
        open(KassaCheckout.Request(shop.server.url, "ct_of_yesterday", order.reference))
        awaitText("The app cannot reach the shop right now. Nothing is lost")
        isRead.set(true)
        awaitText(SUM)
    }

    @Test
    fun `address that is no server's ends the sheet, and says nothing of the money`() {
        val sheet = open(KassaCheckout.Request("http://pay.example.kg", "ct_1"))
        assertEquals(Result.StillOpen, sheet.result())
    }

    private fun ActivityController<CheckoutActivity>.comeBackByLink() {
        val link = Intent(Intent.ACTION_VIEW, Uri.parse("$RETURN_URL?anything=at-all"))
        val back = Robolectric.buildActivity(ReturnActivity::class.java, link).create()
        assertTrue(back.get().isFinishing)
        val toSheet = shadowOf(back.get()).nextStartedActivity
        assertEquals(CheckoutActivity::class.java.name, toSheet.component!!.className)
        assertEquals(Intent.FLAG_ACTIVITY_CLEAR_TOP or Intent.FLAG_ACTIVITY_SINGLE_TOP, toSheet.flags)
        newIntent(toSheet).restart().start().resume()
    }

    companion object {
        private const val SUM = "390\u00a0som"
        private lateinit var shop: Shop

        @JvmStatic
        @BeforeClass
        fun openShop() {
            shop = Shop()
        }

        @JvmStatic
        @AfterClass
        fun closeShop() = shop.close()
    }
}
